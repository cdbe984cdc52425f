// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** How a structure is used in a window of time: swept, strided, at random, by all, in blocks; with the numbers that say so. */
package org.memtrace.analysis.pattern;
