// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * What a trace is made of: plain data, progress and errors, nothing but the JDK. Memory, trees and the interfaces to stored traces
 * have their own packages. Times are nanoseconds of one monotonic clock, addresses are unsigned 64-bit numbers in a {@code long}, all
 * ranges are half-open {@code [start, end)}.
 */
package org.memtrace.model;
