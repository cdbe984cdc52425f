// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Sums of accesses, events and time: by one property (pie), over time (density), and by several at once. */
package org.memtrace.analysis.statistics;
