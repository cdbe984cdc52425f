// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Rows of accesses and events of any number, and figures of all structures, sorted and filtered by column. */
package org.memtrace.analysis.table;
