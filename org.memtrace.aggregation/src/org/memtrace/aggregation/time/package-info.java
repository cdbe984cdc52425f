// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** When: times of accesses, slices of a window, how much happened when. */
package org.memtrace.aggregation.time;
