// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.tree;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

import org.memtrace.importer.rows.RowBatch;
import org.memtrace.model.memory.Structure;

/**
 * Finds the structure of an access among many that are at one place, where {@link StructureIndex} would look at each of them. A tree
 * over addresses and lives, halved by one of the four borders after the other; each node knows the best that a structure below it can be,
 * so that only those are looked at that may be better than what was found. Immutable, and safe for all threads.
 */
final class LifeTree {
	/** Structures of a leaf. */
	private static final int FEW = 8;
	private static final List<Comparator<Structure>> BORDERS = List.of(Comparator.comparingLong(s -> biased(s.startAddress())),
			Comparator.comparingLong(s -> biased(s.endAddress())), Comparator.comparingLong(Structure::birthNs),
			Comparator.comparingLong(Structure::deathNs));

	private final Structure[] all;
	/** Of the node that stands for a range, by the middle of the range. */
	private final long[] leastStart;
	private final long[] greatestEnd;
	private final long[] firstBirth;
	private final long[] lastBirth;
	private final long[] lastDeath;
	private final long[] leastSize;
	private final int[] leastRank;
	private final int[] leastId;

	LifeTree(Structure[] structures) {
		all = structures.clone();
		int n = all.length;
		leastStart = new long[n];
		greatestEnd = new long[n];
		firstBirth = new long[n];
		lastBirth = new long[n];
		lastDeath = new long[n];
		leastSize = new long[n];
		leastRank = new int[n];
		leastId = new int[n];
		build(0, n, 0);
	}

	private static long biased(long address) {
		return address ^ Long.MIN_VALUE;
	}

	private void build(int from, int to, int depth) {
		if (from >= to) {
			return;
		}
		int node = from + to >>> 1;
		leastStart[node] = Long.MAX_VALUE;
		greatestEnd[node] = Long.MIN_VALUE;
		firstBirth[node] = Long.MAX_VALUE;
		lastBirth[node] = Long.MIN_VALUE;
		lastDeath[node] = Long.MIN_VALUE;
		leastSize[node] = Long.MAX_VALUE;
		leastRank[node] = Integer.MAX_VALUE;
		leastId[node] = Integer.MAX_VALUE;
		for (int i = from; i < to; i++) {
			Structure s = all[i];
			leastStart[node] = Math.min(leastStart[node], biased(s.startAddress()));
			greatestEnd[node] = Math.max(greatestEnd[node], biased(s.endAddress()));
			firstBirth[node] = Math.min(firstBirth[node], s.birthNs());
			lastBirth[node] = Math.max(lastBirth[node], s.birthNs());
			lastDeath[node] = Math.max(lastDeath[node], s.deathNs());
			leastSize[node] = Math.min(leastSize[node], biased(s.sizeBytes()));
			leastRank[node] = Math.min(leastRank[node], StructureOrder.rank(s));
			leastId[node] = Math.min(leastId[node], s.id());
		}
		if (to - from > FEW) {
			Comparator<Structure> border = BORDERS.get(depth % BORDERS.size());
			Arrays.sort(all, from, to, border.thenComparingInt(Structure::id));
			build(from, node, depth + 1);
			build(node + 1, to, depth + 1);
		}
	}

	/** What an access asks for, and the best structure so far. */
	private static final class Question {
		private final long address;
		private final long startNs;
		private final long endNs;
		private final long firstNs;
		private Structure best;

		Question(long address, long startNs, long endNs, long firstNs) {
			this.address = address;
			this.startNs = startNs;
			this.endNs = endNs;
			this.firstNs = firstNs;
		}

		void look(Structure s) {
			if (s.birthNs() < endNs && s.deathNs() > startNs && StructureOrder.contains(s, address)
					&& (best == null || StructureOrder.better(s, best, startNs, endNs, firstNs))) {
				best = s;
			}
		}
	}

	/** The best structure that contains the address and lives during some of the interval; null when there is none. */
	Structure best(long address, long startNs, long endNs, long firstNs) {
		Question question = new Question(address, startNs, endNs, firstNs);
		best(0, all.length, question);
		return question.best;
	}

	private void best(int from, int to, Question q) {
		if (from >= to || !mayBeBetter(from + to >>> 1, q)) {
			return;
		}
		int node = from + to >>> 1;
		if (to - from <= FEW) {
			for (int i = from; i < to; i++) {
				q.look(all[i]);
			}
			return;
		}
		q.look(all[node]);
		// what was born later is more often the answer
		best(node + 1, to, q);
		best(from, node, q);
	}

	/** Whether a structure of a node can be the answer, as far as its borders tell. The order is that of {@link StructureOrder#better}. */
	private boolean mayBeBetter(int node, Question q) {
		long address = biased(q.address);
		if (leastStart[node] > address || greatestEnd[node] <= address || firstBirth[node] >= q.endNs || lastDeath[node] <= q.startNs) {
			return false;
		}
		Structure best = q.best;
		if (best == null) {
			return true;
		}
		boolean anyTime = q.firstNs == RowBatch.NO_TIME;
		boolean gone = !anyTime && lastDeath[node] <= q.firstNs;
		int whenBest = StructureOrder.when(best, q.firstNs);
		int order = Boolean.compare(gone, whenBest == StructureOrder.GONE);
		if (order == 0) {
			order = Integer.compare(leastRank[node], StructureOrder.rank(best));
		}
		if (order == 0) {
			int when = anyTime ? StructureOrder.ALIVE : gone ? StructureOrder.GONE
					: firstBirth[node] > q.firstNs ? StructureOrder.TO_COME : StructureOrder.ALIVE;
			order = Integer.compare(when, whenBest);
		}
		if (order == 0) {
			order = Long.compare(StructureOrder.overlap(best, q.startNs, q.endNs),
					Math.min(q.endNs, lastDeath[node]) - Math.max(q.startNs, firstBirth[node]));
		}
		if (order == 0) {
			order = Long.compare(leastSize[node], biased(best.sizeBytes()));
		}
		if (order == 0) {
			order = Long.compare(best.birthNs(), lastBirth[node]);
		}
		return order == 0 ? leastId[node] < best.id() : order < 0;
	}

	/** The structure that contains the address and is nearest in time to the interval, in which none of them lives; null: there is none. */
	Structure nearest(long address, long startNs, long endNs) {
		return nearest(0, all.length, new Question(address, startNs, endNs, RowBatch.NO_TIME)).best;
	}

	private Question nearest(int from, int to, Question q) {
		int node = from + to >>> 1;
		long address = biased(q.address);
		if (from >= to || leastStart[node] > address || greatestEnd[node] <= address) {
			return q;
		}
		if (q.best != null) {
			long least = lastDeath[node] <= q.startNs ? q.startNs - lastDeath[node]
					: firstBirth[node] >= q.endNs ? firstBirth[node] - q.endNs : 0;
			long known = StructureOrder.distance(q.best, q.startNs, q.endNs);
			if (least > known || least == known && leastId[node] > q.best.id()) {
				return q;
			}
		}
		if (to - from <= FEW) {
			for (int i = from; i < to; i++) {
				lookNearest(all[i], q);
			}
			return q;
		}
		lookNearest(all[node], q);
		nearest(node + 1, to, q);
		return nearest(from, node, q);
	}

	private static void lookNearest(Structure s, Question q) {
		if (StructureOrder.contains(s, q.address) && (q.best == null || StructureOrder.nearer(s, q.best, q.startNs, q.endNs))) {
			q.best = s;
		}
	}
}
