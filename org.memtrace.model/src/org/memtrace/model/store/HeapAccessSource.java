// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.columns.ChunkInfo;

/**
 * Chunks of a store that keeps its accesses by time: all of them are on the heap, some 60 bytes each. For small traces, for
 * databases of FrameSoc, and for trees whose order is not that of the stored chunks.
 */
public final class HeapAccessSource implements AccessSource {
	private static final int CHUNK_ROWS = 1 << 16;
	private static final int BATCH = 1 << 14;

	private final List<AccessBatch> batches = new ArrayList<>();
	/** Rows in the order of the chunks. */
	private final int[] order;
	private final ChunkInfo[] infos;
	/** Number of the time of each row as it was read. */
	private int[] time;
	private long[] timeStartNs;
	private long[] timeEndNs;

	private HeapAccessSource(TraceStore store, Progress progress) throws MemtraceException {
		int producers = store.producers().size();
		store.visitAccesses(AccessQuery.ALL, b -> {
			for (int i = 0; i < b.count; i++) {
				if (b.producer[i] < 0 || b.producer[i] >= producers) {
					throw new MemtraceException(
							"an access refers to event producer " + b.producer[i] + ", but there are " + producers);
				}
				if (batches.isEmpty() || batches.getLast().isFull()) {
					if (batches.size() == Integer.MAX_VALUE / BATCH) {
						throw new MemtraceException("the trace has too many accesses to put them in order on the heap");
					}
					batches.add(new AccessBatch(BATCH));
				}
				batches.getLast().addFrom(b, i);
			}
		}, progress);
		int n = batches.isEmpty() ? 0 : (batches.size() - 1) * BATCH + batches.getLast().count;
		order = new int[n];
		int[] next = new int[producers + 1];
		for (int r = 0; r < n; r++) {
			next[batch(r).producer[r % BATCH] + 1]++;
		}
		for (int p = 0; p < producers; p++) {
			next[p + 1] += next[p];
		}
		int[] first = next.clone();
		for (int r = 0; r < n; r++) { // they come by start, so that within a leaf only those of the same start change places
			int producer = batch(r).producer[r % BATCH];
			int to = next[producer]++;
			while (to > first[producer] && compare(order[to - 1], r) > 0) {
				order[to] = order[--to];
			}
			order[to] = r;
		}
		sortTimes(n);
		infos = new ChunkInfo[(n + CHUNK_ROWS - 1) / CHUNK_ROWS];
		for (int c = 0; c < infos.length; c++) {
			infos[c] = describe(c * CHUNK_ROWS, Math.min(n, (c + 1) * CHUNK_ROWS));
		}
	}

	/** Numbers the different times in their order. */
	private void sortTimes(int n) {
		Map<Time, Integer> known = new HashMap<>();
		Time last = null;
		int lastNumber = -1;
		time = new int[n];
		for (int r = 0; r < n; r++) {
			AccessBatch b = batch(r);
			int i = r % BATCH;
			if (last == null || last.startNs != b.startNs[i] || last.endNs != b.endNs[i]) {
				last = new Time(b.startNs[i], b.endNs[i]);
				lastNumber = known.computeIfAbsent(last, key -> known.size());
			}
			time[r] = lastNumber;
		}
		Time[] sorted = known.keySet().toArray(Time[]::new);
		Arrays.parallelSort(sorted);
		int[] place = new int[sorted.length];
		timeStartNs = new long[sorted.length];
		timeEndNs = new long[sorted.length];
		for (int t = 0; t < sorted.length; t++) {
			place[known.get(sorted[t])] = t;
			timeStartNs[t] = sorted[t].startNs;
			timeEndNs[t] = sorted[t].endNs;
		}
		for (int r = 0; r < n; r++) {
			time[r] = place[time[r]];
		}
	}

	private record Time(long startNs, long endNs) implements Comparable<Time> {
		@Override
		public int compareTo(Time other) {
			int c = Long.compare(startNs, other.startNs);
			return c != 0 ? c : Long.compare(endNs, other.endNs);
		}
	}

	/** Reads all accesses of a store and puts them in order. */
	public static AccessSource of(TraceStore store, Progress progress) throws MemtraceException {
		return new HeapAccessSource(store, progress);
	}

	private AccessBatch batch(int row) {
		return batches.get(row / BATCH);
	}

	private int compare(int a, int b) {
		AccessBatch x = batch(a);
		AccessBatch y = batch(b);
		int i = a % BATCH;
		int k = b % BATCH;
		int c = Integer.compare(x.producer[i], y.producer[k]);
		return c != 0 ? c : AccessBatch.compareTimes(x, i, y, k); // the sort is stable
	}

	private ChunkInfo describe(int from, int to) {
		long start = Long.MAX_VALUE;
		long end = Long.MIN_VALUE;
		long reads = 0;
		long writes = 0;
		for (int r = from; r < to; r++) {
			AccessBatch b = batch(order[r]);
			int i = order[r] % BATCH;
			start = Math.min(start, b.startNs[i]);
			end = Math.max(end, b.endNs[i]);
			reads += b.reads[i];
			writes += b.writes[i];
		}
		return new ChunkInfo(to - from, producer(from), producer(to - 1) + 1, start, end, reads, writes, from);
	}

	private int producer(int place) {
		return batch(order[place]).producer[order[place] % BATCH];
	}

	@Override
	public int chunks() {
		return infos.length;
	}

	@Override
	public ChunkInfo info(int chunk) {
		return infos[chunk];
	}

	@Override
	public long rows() {
		return order.length;
	}

	@Override
	public void read(int chunk, Set<AccessColumn> wanted, AccessChunk into) {
		int from = Math.toIntExact(infos[chunk].firstRow());
		int n = infos[chunk].rows();
		into.reserve(n, n, n);
		into.rows = n;
		into.leaves = 0;
		into.times = 0;
		int[] used = new int[n];
		for (int r = 0; r < n; r++) {
			used[r] = time[order[from + r]];
			into.time[r] = used[r];
		}
		Arrays.sort(used);
		for (int r = 0; r < n; r++) {
			if (r == 0 || used[r] != used[into.times - 1]) {
				into.timeStartNs[into.times] = timeStartNs[used[r]];
				into.timeEndNs[into.times] = timeEndNs[used[r]];
				used[into.times++] = used[r];
			}
		}
		for (int r = 0; r < n; r++) {
			AccessBatch b = batch(order[from + r]);
			int i = order[from + r] % BATCH;
			if (into.leaves == 0 || into.leaf[into.leaves - 1] != b.producer[i]) {
				into.leaf[into.leaves] = b.producer[i];
				into.leafFrom[into.leaves++] = r;
			}
			into.time[r] = Arrays.binarySearch(used, 0, into.times, into.time[r]);
			into.thread[r] = b.thread[i];
			into.cpuSet[r] = b.cpuSet[i];
			into.reads[r] = b.reads[i];
			into.writes[r] = b.writes[i];
			into.sharing[r] = b.sharing[i];
			into.node[r] = b.node[i];
			into.flags[r] = b.flags[i];
			into.ip[r] = b.ip[i];
			into.readOffset[r] = b.readOffset[i];
			into.writeOffset[r] = b.writeOffset[i];
			into.firstNs[r] = b.firstNs[i];
		}
		into.leafFrom[into.leaves] = n;
	}
}
