// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What a trace shows in words: the summary of a memory trace and that of a trace of another tool. */
package org.memtrace.analysis.findings;
