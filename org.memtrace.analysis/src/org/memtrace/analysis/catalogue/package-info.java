// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Finding a trace among many, and what its program is called. */
package org.memtrace.analysis.catalogue;
