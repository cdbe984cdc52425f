// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.binding;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;

/**
 * How many pages each two threads have in common, and on which CPUs each thread was seen. The weight of two threads is a number of
 * <em>cells</em> in which both were seen: a page in a monitoring interval, or a page in the whole window. Immutable.
 */
public final class SharingGraph {
	/** Pairs of a matrix for each block of the time: more threads get fewer blocks. */
	private static final int MOST_CELLS = 1 << 23;
	private static final int MOST_BLOCKS = 60;
	/** Threads with accesses that can be told apart. */
	public static final int MOST_THREADS = 1024;
	private static final int MOST_SETS = 50_000;

	/** Which cells count for two threads. */
	public enum Sharing {
		/** At least one of the two wrote the page. */
		WRITTEN,
		/** Both used it. */
		ALL
	}

	/** What a cell is. */
	public enum Cells {
		/** A page in a monitoring interval: both used it at about the same time, again and again. */
		INTERVALS,
		/** A page: both used it, whenever. */
		PAGES
	}

	/**
	 * What is asked for.
	 *
	 * @param active threads that are seen in a smaller part of the time than this part of that of the busiest thread are left out, 0 to 1:
	 *            one that waits for the others needs no CPU
	 */
	public record Question(Sharing sharing, Cells cells, double active) {
	}

	private final Question question;
	private final List<ThreadInfo> threads = new ArrayList<>();
	/** By block, pairs in the order of {@link #pair}: what certainly counts, and what may count as well. */
	private long[][] certain;
	private long[][] perhaps;
	/** Rows of each thread by set of CPUs; the last column is "not known". */
	private long[][] seen;
	private List<BitSet> cpuSets;
	private final List<ThreadInfo> rare = new ArrayList<>();
	private final List<ThreadInfo> others = new ArrayList<>();
	private long cells;
	private long unknownThread;
	private long maybeUntouched;

	private SharingGraph(Question question) {
		this.question = question;
	}

	/** Reads the accesses of a query, in two passes. */
	public static SharingGraph of(AccessTable table, AccessQuery query, Question question, Progress progress) throws MemtraceException {
		return of(table, query, question, MOST_SETS, progress);
	}

	static SharingGraph of(AccessTable table, AccessQuery query, Question question, int mostSets, Progress progress) throws MemtraceException {
		SharingGraph graph = new SharingGraph(question);
		List<ThreadInfo> all = table.threads();
		graph.cpuSets = table.cpuSets();
		List<Seen> found = table.scan().run(query, EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD, AccessColumn.CPU_SET, AccessColumn.FLAGS),
				"Looking for threads", progress, (from, to) -> new Seen(query, all.size(), graph.cpuSets.size()));
		Map<Integer, Records> sum = new HashMap<>();
		for (Seen part : found) {
			graph.unknownThread += part.unknownThread;
			graph.maybeUntouched += part.maybeUntouched;
			part.threads.forEach((t, records) -> sum.merge(t, records, Records::add));
		}
		int busiest = sum.values().stream().mapToInt(r -> r.parts.cardinality()).max().orElse(0);
		int[] numberOf = new int[all.size()];
		Arrays.fill(numberOf, -1);
		// task numbers rise as threads are created, births as they begin to run
		for (ThreadInfo thread : all.stream().sorted(Comparator.comparingInt(ThreadInfo::image).thenComparing(t -> !t.main())
				.thenComparingLong(ThreadInfo::taskId).thenComparingInt(ThreadInfo::index)).toList()) {
			Records records = sum.get(thread.index());
			if (records == null) {
				graph.others.add(thread);
			} else if (records.parts.cardinality() < question.active * busiest) {
				graph.rare.add(thread);
			} else {
				numberOf[thread.index()] = graph.threads.size();
				graph.threads.add(thread);
			}
		}
		int n = graph.threads.size();
		if (n > MOST_THREADS) {
			throw new MemtraceException(table.info().alias() + " has " + n + " threads with accesses in this window; the sharing of up to "
					+ MOST_THREADS + " is compared: choose a shorter window, or a structure");
		}
		graph.seen = new long[n][];
		for (int t = 0; t < n; t++) {
			graph.seen[t] = sum.get(graph.threads.get(t).index()).bySet;
		}
		int pairs = n * (n - 1) / 2;
		int blocks = (int) Math.max(4, Math.min(MOST_BLOCKS, (long) MOST_CELLS / Math.max(1, pairs)));
		graph.certain = new long[blocks][pairs];
		graph.perhaps = new long[blocks][pairs];
		if (n > 1) {
			table.scan().run(query, EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD, AccessColumn.READS, AccessColumn.WRITES, AccessColumn.FLAGS),
					"Comparing threads", progress, (from, to) -> graph.new Pages(query, numberOf, mostSets));
		}
		return graph;
	}

	/** What there is of a thread: rows by set of CPUs, and in which parts of the window. */
	private record Records(long[] bySet, BitSet parts) {
		Records add(Records o) {
			Arrays.setAll(bySet, i -> bySet[i] + o.bySet[i]);
			parts.or(o.parts);
			return this;
		}
	}

	/** Which threads are there, and on which CPUs. */
	private static final class Seen implements AccessScan.Part {
		private final AccessQuery query;
		private final int most;
		private final int sets;
		final Map<Integer, Records> threads = new HashMap<>();
		long unknownThread;
		long maybeUntouched;

		Seen(AccessQuery query, int most, int sets) {
			this.query = query;
			this.most = most;
			this.sets = sets;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			for (int l = leafFrom; l < leafTo; l++) {
				for (int r = c.leafFrom[l]; r < c.leafFrom[l + 1]; r++) {
					if (!overlaps(query, c, r)) {
						continue;
					}
					if ((c.flags[r] & AccessBatch.FLAG_MAYBE_UNTOUCHED) != 0) {
						maybeUntouched++;
					} else if (c.thread[r] < 0 || c.thread[r] >= most) {
						unknownThread++;
					} else {
						Records records = threads.computeIfAbsent(c.thread[r], t -> new Records(new long[sets + 1], new BitSet()));
						records.bySet[c.cpuSet[r] >= 0 && c.cpuSet[r] < sets ? c.cpuSet[r] : sets]++;
						records.parts.set(part(query, MOST_BLOCKS, c.startNs(r)));
					}
				}
			}
		}
	}

	/** In which of equal parts of the window a time is. */
	private static int part(AccessQuery query, int parts, long timeNs) {
		double length = Math.max(1, ((double) query.toNs() - query.fromNs()) / parts);
		return (int) Math.max(0, Math.min(parts - 1.0, ((double) timeNs - query.fromNs()) / length));
	}

	private static boolean overlaps(AccessQuery query, AccessChunk c, int r) {
		return c.startNs(r) < query.toNs() && c.endNs(r) > query.fromNs();
	}

	/** Threads that were seen in a cell. */
	private record Users(BitSet users, BitSet writers, BitSet perhaps, int block) {
	}

	/** Goes through the pages, one after the other. Cells with the same users are counted, not looked at again. */
	private final class Pages implements AccessScan.Part {
		private final AccessQuery query;
		private final int[] numberOf;
		private final int mostSets;
		private final Map<Users, long[]> found = new HashMap<>();
		private BitSet users = new BitSet();
		private BitSet writers = new BitSet();
		private BitSet vague = new BitSet();
		private int open = -1;
		private long startNs;

		Pages(AccessQuery query, int[] numberOf, int mostSets) {
			this.query = query;
			this.numberOf = numberOf;
			this.mostSets = mostSets;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			for (int l = leafFrom; l < leafTo; l++) {
				for (int r = c.leafFrom[l]; r < c.leafFrom[l + 1]; r++) {
					int thread = c.thread[r];
					if (!overlaps(query, c, r) || (c.flags[r] & AccessBatch.FLAG_MAYBE_UNTOUCHED) != 0 || thread < 0
							|| thread >= numberOf.length || numberOf[thread] < 0) {
						continue;
					}
					if (open != c.leaf[l] || question.cells == Cells.INTERVALS && startNs != c.startNs(r)) {
						cell();
						open = c.leaf[l];
						startNs = c.startNs(r);
					}
					users.set(numberOf[thread]);
					if (c.writes[r] > 0) {
						writers.set(numberOf[thread]);
					} else if ((c.flags[r] & AccessBatch.FLAG_DIRECTION_UNKNOWN) != 0) {
						vague.set(numberOf[thread]);
					}
				}
			}
		}

		@Override
		public void end() {
			cell();
			flush();
		}

		private void cell() {
			if (users.cardinality() > 1) {
				// pages have no time: they are divided at random, always in the same way
				int block = question.cells == Cells.PAGES ? (int) Long.remainderUnsigned((open + 1L) * 0x9E3779B97F4A7C15L >>> 20, certain.length)
						: part(query, certain.length, startNs);
				found.computeIfAbsent(new Users(users, writers, vague, block), k -> new long[1])[0]++;
				users = new BitSet();
				writers = new BitSet();
				vague = new BitSet();
				if (found.size() >= mostSets) {
					flush();
				}
			} else {
				users.clear();
				writers.clear();
				vague.clear();
			}
		}

		private void flush() {
			synchronized (SharingGraph.this) {
				found.forEach((u, count) -> {
					cells += count[0];
					int[] list = u.users.stream().toArray();
					for (int i = 0; i < list.length; i++) {
						boolean wrote = question.sharing == Sharing.ALL || u.writers.get(list[i]);
						boolean might = u.perhaps.get(list[i]);
						for (int k = 0; k < i; k++) {
							if (wrote || u.writers.get(list[k])) {
								certain[u.block][pair(list[i], list[k])] += count[0];
							} else if (might || u.perhaps.get(list[k])) {
								perhaps[u.block][pair(list[i], list[k])] += count[0];
							}
						}
					}
				});
			}
			found.clear();
		}
	}

	private static int pair(int a, int b) {
		return a > b ? a * (a - 1) / 2 + b : b * (b - 1) / 2 + a;
	}

	public Question question() {
		return question;
	}

	/**
	 * Threads with accesses that are seen often enough: by process, the main thread first, then by task number, which is the order in which
	 * they were created. The other methods number them in this order.
	 */
	public List<ThreadInfo> threads() {
		return List.copyOf(threads);
	}

	/** Threads with accesses that are seen too rarely: they need no CPU for themselves. */
	public List<ThreadInfo> rare() {
		return List.copyOf(rare);
	}

	/** Threads of the trace without accesses in the window. */
	public List<ThreadInfo> others() {
		return List.copyOf(others);
	}

	/** Cells that several threads used. */
	public long cells() {
		return cells;
	}

	/** Records without a thread, which are in no weight. */
	public long unknownThread() {
		return unknownThread;
	}

	/** Records of pages that may not have been touched, which are in no weight. */
	public long maybeUntouched() {
		return maybeUntouched;
	}

	/** Number of parts of the time, or of the pages, for which weights are known. */
	public int blocks() {
		return certain.length;
	}

	/** Weight of two threads: what counts, and what may count because it is not known whether it was written. */
	public long weight(int a, int b) {
		long sum = 0;
		for (int k = 0; a != b && k < blocks(); k++) {
			sum += certain[k][pair(a, b)] + perhaps[k][pair(a, b)];
		}
		return sum;
	}

	/** Sum of the weights of all pairs. */
	public long total() {
		long sum = 0;
		for (int k = 0; k < blocks(); k++) {
			sum += Arrays.stream(certain[k]).sum() + Arrays.stream(perhaps[k]).sum();
		}
		return sum;
	}

	/** The part of {@link #total} of which it is not known whether it was written. */
	public long vague() {
		return Arrays.stream(perhaps).mapToLong(p -> Arrays.stream(p).sum()).sum();
	}

	/** Weights of some parts, each as often as it says. */
	double[][] weights(int[] times, boolean withVague) {
		int n = threads.size();
		double[][] w = new double[n][n];
		for (int k = 0; k < times.length; k++) {
			for (int a = 0; times[k] > 0 && a < n; a++) {
				for (int b = 0; b < a; b++) {
					w[a][b] += (double) times[k] * (certain[k][pair(a, b)] + (withVague ? perhaps[k][pair(a, b)] : 0));
				}
			}
		}
		for (int a = 0; a < n; a++) {
			for (int b = 0; b < a; b++) {
				w[b][a] = w[a][b];
			}
		}
		return w;
	}

	/** Weights of everything. */
	double[][] weights(boolean withVague) {
		int[] once = new int[blocks()];
		Arrays.fill(once, 1);
		return weights(once, withVague);
	}

	/** Sums over all pairs, by part: weight, and weight times each of some distances. */
	double[][] sums(double[][]... distances) {
		double[][] sums = new double[blocks()][distances.length + 1];
		for (int k = 0; k < blocks(); k++) {
			for (int a = 0; a < threads.size(); a++) {
				for (int b = 0; b < a; b++) {
					double w = (double) certain[k][pair(a, b)] + perhaps[k][pair(a, b)];
					sums[k][distances.length] += w;
					for (int i = 0; i < distances.length && w > 0; i++) {
						sums[k][i] += w * distances[i][a][b];
					}
				}
			}
		}
		return sums;
	}

	/**
	 * The shares of a thread's records on each CPU of a machine. A record with several CPUs is divided equally.
	 *
	 * @return by CPU in the order of the machine; the last one: not known, or on a CPU that the machine does not have
	 */
	double[] cpus(int thread, CpuDistances machine) {
		double[] share = new double[machine.cpus() + 1];
		long all = Arrays.stream(seen[thread]).sum();
		for (int s = 0; s < seen[thread].length; s++) {
			if (seen[thread][s] == 0) {
				continue;
			}
			double part = (double) seen[thread][s] / all;
			BitSet set = s < cpuSets.size() ? cpuSets.get(s) : new BitSet();
			if (set.isEmpty()) {
				share[machine.cpus()] += part;
			}
			for (int cpu = set.nextSetBit(0); cpu >= 0; cpu = set.nextSetBit(cpu + 1)) {
				int at = machine.cpu(cpu);
				share[at < 0 ? machine.cpus() : at] += part / set.cardinality();
			}
		}
		return share;
	}

	/** The operating system's numbers of the CPUs on which a thread was seen. */
	public BitSet seenOn(int thread) {
		BitSet all = new BitSet();
		for (int s = 0; s < cpuSets.size(); s++) {
			if (seen[thread][s] > 0) {
				all.or(cpuSets.get(s));
			}
		}
		return all;
	}

	/** The images of processes whose threads are among them. */
	Set<Integer> processes() {
		return new TreeSet<>(threads.stream().map(ThreadInfo::image).toList());
	}
}
