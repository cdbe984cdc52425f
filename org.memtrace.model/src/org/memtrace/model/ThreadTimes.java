// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * CPU time of threads (user and system, in nanoseconds) as the recorder saw it grow: samples of the sum since the start of the thread, in
 * the order of thread and time. A recorder leaves out samples of threads that hardly ran, so what a sample adds was used just before it,
 * not in all of the time since the last sample. Immutable.
 */
public final class ThreadTimes {
	/** Nothing is known. */
	public static final ThreadTimes NONE = new Builder().build();

	private final int[] thread;
	private final long[] timeNs;
	private final long[] cpuNs;
	/** Median time between two looks at a thread; 1 when no thread has two samples. */
	private final long periodNs;

	/** Collects samples in any order. */
	public static final class Builder {
		private int count;
		private int[] thread = new int[64];
		private long[] timeNs = new long[64];
		private long[] cpuNs = new long[64];

		/** Until {@code time}, the thread with this index had used so much. */
		public Builder add(int index, long time, long cpu) {
			if (count == thread.length) {
				thread = Arrays.copyOf(thread, 2 * count);
				timeNs = Arrays.copyOf(timeNs, 2 * count);
				cpuNs = Arrays.copyOf(cpuNs, 2 * count);
			}
			thread[count] = index;
			timeNs[count] = time;
			cpuNs[count++] = cpu;
			return this;
		}

		/** All samples. */
		public ThreadTimes build() {
			return new ThreadTimes(this);
		}
	}

	private ThreadTimes(Builder b) {
		int n = b.count;
		int[] order = isSorted(b) ? IntStream.range(0, n).toArray()
				: IntStream.range(0, n).boxed().sorted(Comparator.comparingInt((Integer i) -> b.thread[i]).thenComparingLong(i -> b.timeNs[i])
						.thenComparingLong(i -> b.cpuNs[i])).mapToInt(Integer::intValue).toArray();
		int[] t = new int[n];
		long[] ns = new long[n];
		long[] cpu = new long[n];
		int size = 0;
		long[] gaps = new long[n];
		int gapCount = 0;
		for (int i = 0; i < n; i++) {
			int k = order[i];
			boolean follows = size > 0 && t[size - 1] == b.thread[k];
			long before = follows ? cpu[size - 1] : 0;
			if (follows && ns[size - 1] == b.timeNs[k]) {
				size--; // the same time again: the larger one counts
			} else if (follows) {
				gaps[gapCount++] = b.timeNs[k] - ns[size - 1];
			}
			t[size] = b.thread[k];
			ns[size] = b.timeNs[k];
			cpu[size++] = Math.max(before, b.cpuNs[k]);
		}
		thread = Arrays.copyOf(t, size);
		timeNs = Arrays.copyOf(ns, size);
		cpuNs = Arrays.copyOf(cpu, size);
		Arrays.sort(gaps, 0, gapCount);
		periodNs = gapCount == 0 ? 1 : gaps[gapCount / 2];
	}

	private static boolean isSorted(Builder b) {
		for (int i = 1; i < b.count; i++) {
			if (b.thread[i] < b.thread[i - 1] || b.thread[i] == b.thread[i - 1] && (b.timeNs[i] < b.timeNs[i - 1]
					|| b.timeNs[i] == b.timeNs[i - 1] && b.cpuNs[i] < b.cpuNs[i - 1])) {
				return false;
			}
		}
		return true;
	}

	/** Number of samples. */
	public int size() {
		return thread.length;
	}

	/** Thread of a sample. */
	public int thread(int sample) {
		return thread[sample];
	}

	/** Time of a sample. */
	public long timeNs(int sample) {
		return timeNs[sample];
	}

	/** CPU time of the thread until that time. */
	public long cpuNs(int sample) {
		return cpuNs[sample];
	}

	private int firstOf(int index) {
		int low = 0;
		int high = thread.length;
		while (low < high) {
			int middle = low + high >>> 1;
			if (thread[middle] < index) {
				low = middle + 1;
			} else {
				high = middle;
			}
		}
		return low;
	}

	/** CPU time of a thread in the whole run; -1 when it is not known. */
	public long total(int index) {
		int end = firstOf(index + 1);
		return end > firstOf(index) ? cpuNs[end - 1] : -1;
	}

	/** CPU time that a thread used in {@code [fromNs, toNs)}; -1 when it is not known. */
	public double used(int index, long fromNs, long toNs) {
		int first = firstOf(index);
		int end = firstOf(index + 1);
		if (first == end) {
			return -1;
		}
		return until(first, end, toNs) - until(first, end, fromNs);
	}

	private double until(int first, int end, long ns) {
		int at = Arrays.binarySearch(timeNs, first, end, ns);
		if (at >= 0) {
			return cpuNs[at];
		}
		int next = -at - 1;
		double before = next == first ? 0 : cpuNs[next - 1];
		if (next == end) {
			return before;
		}
		// what was added needs at least as much time, and at least the time between two looks, but began after the last sample
		double grown = cpuNs[next] - before;
		double span = Math.max(grown, periodNs);
		if (next > first) {
			span = Math.min(span, (double) timeNs[next] - timeNs[next - 1]);
		}
		double part = span <= 0 ? 1 : (ns - (timeNs[next] - span)) / span;
		return before + grown * Math.clamp(part, 0, 1);
	}
}
