// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.report;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * Numbers of the pictures of one structure. A row is a touched page (or the part of one that belongs to a block), in the order of blocks
 * and addresses; above a limit, it is several of them that follow each other, of which the maximum counts.
 */
final class ReportColumns {
	/** Rows and columns of memory over time. */
	static final int TIME_ROWS = 512;
	static final int SLICES = 200;
	static final int NOBODY = 0xffff;
	/** Bits of a cell of memory over time. */
	static final int READ = 1;
	static final int WRITTEN = 2;
	static final int SEVERAL = 4;

	final GroupFacts group;
	/** Touched pages. */
	int pages;
	/** Touched pages that are one row. */
	int pagesPerRow = 1;
	int rows;
	/** By row: number of the first page in its block, and the thread that touches it first. */
	int[] page;
	int[] first;
	/** {@code [row * threads + thread]}: the largest count of a page of the row. */
	long[] reads;
	long[] writes;
	/** {@code [row * SLICES + slice]}: a thread (of several the lowest one), and what was done; fewer rows than pages in large structures. */
	int timeRows;
	int[] who;
	byte[] what;
	/** Stack of the allocation of the first block, -1 none. */
	int stack = -1;

	private ReportColumns(GroupFacts group) {
		this.group = group;
	}

	/** Number of the row of a touched page. */
	int row(int touchedPage) {
		return touchedPage / pagesPerRow;
	}

	/** Touched pages of these groups, in order. */
	private static final class Index {
		/** Group and number of the touched page in it by leaf; -1 of other leaves. */
		final int[] group;
		final int[] ordinal;

		Index(int leaves) {
			group = new int[leaves];
			Arrays.fill(group, -1);
			ordinal = new int[leaves];
		}
	}

	/**
	 * Reads the numbers of some groups in one pass.
	 *
	 * @param mostRows rows of all groups together, at most
	 * @param ordinals gets for each producer the number of its touched page in its group, -1 for others
	 */
	static ReportColumns[] read(TraceStore store, TraceFacts facts, List<GroupFacts> groups, int mostRows, int[] ordinals, Progress progress)
			throws MemtraceException {
		ProducerTree tree = store.producers();
		int threads = facts.threads().size();
		int[] groupOf = new int[facts.structures().size()];
		Arrays.fill(groupOf, -1);
		ReportColumns[] all = new ReportColumns[groups.size()];
		for (int g = 0; g < all.length; g++) {
			all[g] = new ReportColumns(groups.get(g));
			for (int s : groups.get(g).structures) {
				groupOf[s] = g;
			}
			all[g].stack = facts.structures().get(groups.get(g).structures.get(0)).stack();
		}
		Index index = new Index(tree.size());
		Arrays.fill(ordinals, -1);
		long total = 0;
		for (int p = 0; p < tree.size(); p++) {
			int s = tree.isLeaf(p) ? tree.structure(p) : -1;
			if (s >= 0 && groupOf[s] >= 0) {
				index.group[p] = groupOf[s];
				index.ordinal[p] = all[groupOf[s]].pages++;
				ordinals[p] = index.ordinal[p];
				total++;
			}
		}
		int perRow = 1;
		while (total / perRow > mostRows) {
			perRow *= 2;
		}
		for (ReportColumns c : all) {
			c.pagesPerRow = c.pages > 4096 ? perRow : 1;
			c.rows = (c.pages + c.pagesPerRow - 1) / c.pagesPerRow;
			c.page = new int[c.rows];
			c.first = new int[c.rows];
			Arrays.fill(c.first, NOBODY);
			c.reads = new long[c.rows * threads];
			c.writes = new long[c.rows * threads];
			c.timeRows = Math.min(TIME_ROWS, c.pages);
			c.who = new int[c.timeRows * SLICES];
			Arrays.fill(c.who, NOBODY);
			c.what = new byte[c.timeRows * SLICES];
		}
		for (int p = tree.size() - 1; p >= 0; p--) {
			if (index.group[p] >= 0) {
				ReportColumns c = all[index.group[p]];
				long start = facts.structures().get(tree.structure(p)).startAddress();
				int pageBytes = Math.max(1, facts.info().pageSizeBytes());
				c.page[c.row(index.ordinal[p])] = (int) Math.min(Integer.MAX_VALUE,
						Long.divideUnsigned(tree.startAddress(p), pageBytes) - Long.divideUnsigned(start, pageBytes));
			}
		}
		long startNs = facts.info().startNs();
		double slice = Math.max(1, (double) facts.info().durationNs() / SLICES);
		AccessScan.of(store, progress).run(AccessQuery.ALL, COLUMNS, "Reading pages", progress,
				(from, to) -> new Rows(all, index, threads, startNs, slice));
		return all;
	}

	private static final Set<AccessColumn> COLUMNS = EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD, AccessColumn.READS,
			AccessColumn.WRITES);

	/** Adds the rows of a run. A page is in one run only; rows of several pages and rows over time may be in two. */
	private static final class Rows implements AccessScan.Part {
		private final ReportColumns[] all;
		private final Index index;
		private final int threads;
		private final long startNs;
		private final double slice;
		private final long[] reads;
		private final long[] writes;
		private int open = -1;
		private int first = -1;

		Rows(ReportColumns[] all, Index index, int threads, long startNs, double slice) {
			this.all = all;
			this.index = index;
			this.threads = threads;
			this.startNs = startNs;
			this.slice = slice;
			reads = new long[threads];
			writes = new long[threads];
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			for (int l = leafFrom; l < leafTo; l++) {
				int leaf = c.leaf[l];
				if (leaf != open) {
					end();
					open = leaf;
				}
				if (index.group[leaf] < 0) {
					continue;
				}
				ReportColumns g = all[index.group[leaf]];
				int timeRow = (int) ((long) index.ordinal[leaf] * g.timeRows / g.pages) * SLICES;
				synchronized (g) {
					for (int r = c.leafFrom[l]; r < c.leafFrom[l + 1]; r++) {
						int t = c.thread[r] < threads ? c.thread[r] : -1;
						int from = Math.clamp((long) ((c.startNs(r) - startNs) / slice), 0, SLICES - 1);
						int to = Math.clamp((long) Math.ceil((c.endNs(r) - startNs) / slice), from + 1, SLICES);
						byte flags = (byte) ((c.reads[r] > 0 ? READ : 0) | (c.writes[r] > 0 ? WRITTEN : 0));
						for (int s = timeRow + from; s < timeRow + to; s++) {
							if (t >= 0) {
								g.what[s] |= g.who[s] != NOBODY && g.who[s] != t ? SEVERAL : 0;
								g.who[s] = Math.min(g.who[s], t); // the same in whatever order runs come
							}
							g.what[s] |= flags;
						}
						if (t >= 0) {
							first = first < 0 ? t : first;
							reads[t] += c.reads[r];
							writes[t] += c.writes[r];
						}
					}
				}
			}
		}

		@Override
		public void end() {
			if (open >= 0 && index.group[open] >= 0) {
				ReportColumns g = all[index.group[open]];
				int row = g.row(index.ordinal[open]);
				synchronized (g) {
					if (first >= 0) {
						g.first[row] = Math.min(g.first[row], first);
					}
					for (int t = 0; t < threads; t++) {
						g.reads[row * threads + t] = Math.max(g.reads[row * threads + t], reads[t]);
						g.writes[row * threads + t] = Math.max(g.writes[row * threads + t], writes[t]);
					}
				}
			}
			Arrays.fill(reads, 0);
			Arrays.fill(writes, 0);
			first = -1;
			open = -1;
		}
	}
}
