// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.model;

/**
 * What means of states are made of, for each cell of a model: so the mean of a block does not depend on how its cells
 * were grouped before.
 *
 * @param durationNs time in states inside of the slice, summed
 * @param overlapping states that overlap the slice
 * @param begun those of them that are in no earlier slice of the window
 */
public record StateCounts(long[] durationNs, int[] overlapping, int[] begun) {
}
