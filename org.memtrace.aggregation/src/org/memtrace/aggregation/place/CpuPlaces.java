// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.place;

import java.util.Arrays;

/**
 * Where the CPUs of a trace are among the leaves of a hierarchy of a machine. Immutable.
 */
public final class CpuPlaces {
	private final int[] placeOfCpu;
	private final int count;

	/**
	 * Places.
	 *
	 * @param placeOfCpu leaf of each CPU, by the number that the operating system gives it; -1 for one that the machine does not have
	 * @param count number of leaves
	 */
	public CpuPlaces(int[] placeOfCpu, int count) {
		if (Arrays.stream(placeOfCpu).anyMatch(p -> p < -1 || p >= count)) {
			throw new IllegalArgumentException("a place is not in 0.." + (count - 1));
		}
		this.placeOfCpu = placeOfCpu.clone();
		this.count = count;
	}

	/** Number of leaves. */
	public int count() {
		return count;
	}

	/** Leaf of a CPU, -1 when the machine does not have it. */
	public int place(int cpu) {
		return cpu >= 0 && cpu < placeOfCpu.length ? placeOfCpu[cpu] : -1;
	}

	/** The place of each CPU of some sets. */
	public int[][] columns(int[][] sets) {
		return Arrays.stream(sets).map(set -> Arrays.stream(set).map(this::place).toArray()).toArray(int[][]::new);
	}
}
