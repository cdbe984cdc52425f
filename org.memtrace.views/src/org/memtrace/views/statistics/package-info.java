// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Sums by type, structure, thread, CPU, node as a pie and a table. */
package org.memtrace.views.statistics;
