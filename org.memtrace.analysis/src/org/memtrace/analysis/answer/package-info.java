// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What does the answer to a statement look like: as text, as a table, as a chart, and in the other views? */
package org.memtrace.analysis.answer;
