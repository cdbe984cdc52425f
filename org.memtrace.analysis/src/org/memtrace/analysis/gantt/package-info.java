// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The Gantt chart: its rows, their records as cells, the drawing, what is at a place, and markers. */
package org.memtrace.analysis.gantt;
