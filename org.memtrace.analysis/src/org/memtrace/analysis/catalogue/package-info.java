// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Finding a trace among many. */
package org.memtrace.analysis.catalogue;
