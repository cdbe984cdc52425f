// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Which accesses and events count: conditions, sets of them, and the bit sets that they become for a trace. */
package org.memtrace.analysis.filter;
