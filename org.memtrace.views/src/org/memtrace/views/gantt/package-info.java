// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The Gantt chart: what each producer, thread or CPU did when, with markers. */
package org.memtrace.views.gantt;
