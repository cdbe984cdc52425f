// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * What a trace is made of, and how the other bundles read and write one: plain data and small interfaces, nothing but
 * the JDK. Times are nanoseconds of one monotonic clock, addresses are unsigned 64-bit numbers in a {@code long}, all
 * ranges are half-open {@code [start, end)}.
 */
package org.memtrace.model;
