// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.ArrayList;

/** The p whose partitions are known, and what is kept to find those between them; by increasing p. Not for several threads. */
final class KnownPartitions {
	/** What is left out of a programme is worse than the best by this part of gain and loss of the root: far more than all ties together. */
	static final double MARGIN = 1e-8;
	/** p whose deficits are kept, at most. */
	private static final int MOST_ANCHORS = 64;
	/** p whose partitions are kept, at most. */
	private static final int MOST_KNOWN = 4096;
	/** Part of the steps of a programme with everything that one with what is left may take, for the same time. */
	private static final double MOST_LEFT = 0.25;
	/** Bytes for kept deficits: as much as the gains take, between these. */
	private static final long LEAST_ANCHOR_BYTES = 64_000_000;
	private static final long MOST_ANCHOR_BYTES = 400_000_000;

	private final BlockValues values;
	private final ArrayList<KnownPartition> anchors = new ArrayList<>();
	/** Bytes of deficits that may be kept. */
	private final long room;
	/** Steps of a programme of what is left that is still worth it. */
	private final double mostSteps;

	/** @param allSteps of a programme with everything */
	KnownPartitions(BlockValues values, double allSteps) {
		this.values = values;
		this.mostSteps = MOST_LEFT * allSteps;
		this.room = Math.min(MOST_ANCHOR_BYTES, Math.max(LEAST_ANCHOR_BYTES, values.qualities.memoryBytes()));
	}

	long room() {
		return room;
	}

	/** Index of the first p that is not below this one. */
	int at(double p) {
		int at = 0;
		while (at < anchors.size() && anchors.get(at).p < p) {
			at++;
		}
		return at;
	}

	/** null behind the ends. */
	KnownPartition get(int a) {
		return a >= 0 && a < anchors.size() ? anchors.get(a) : null;
	}

	/** The next one with deficits, upwards or downwards from an index on; null for none. */
	KnownPartition withDeficits(int from, boolean upwards) {
		for (int a = from; a >= 0 && a < anchors.size(); a += upwards ? 1 : -1) {
			if (anchors.get(a).deficits != null) {
				return anchors.get(a);
			}
		}
		return null;
	}

	/** Value of the best of the known partitions at p, divided by the scale, or the given one. */
	double best(double p, double atLeast) {
		double best = atLeast;
		for (KnownPartition a : anchors) {
			best = Math.max(best, (p * a.partition.gain() - (1 - p) * a.partition.loss()) / values.scale);
		}
		return best;
	}

	void add(int at, KnownPartition found) {
		anchors.add(at, found);
	}

	/** Looks what is left at both sides of one that was added, and frees the deficits that this makes useless. */
	void leave(int at) {
		KnownPartition below = get(at - 1);
		KnownPartition found = anchors.get(at);
		KnownPartition above = get(at + 1);
		if (found.isExact() && below != null && above != null) {
			left(below, found);
			left(found, above);
			for (int a = at - 1; a <= at + 1; a++) {
				release(a);
			}
		}
	}

	/** The partitions stay. */
	void forgetDeficits() {
		for (KnownPartition a : anchors) {
			a.deficits = null;
			a.left = null;
			a.tooMuch = false;
		}
	}

	long memoryBytes() {
		long bytes = deficitBytes();
		KnownPartition.Left last = null;
		for (KnownPartition a : anchors) {
			bytes += a.left == null || a.left == last ? 0 : a.left.survivors().memoryBytes();
			last = a.left;
		}
		return bytes;
	}

	/** Frees the deficits of a known p that nobody will ask for: at both sides it is known what is left. */
	private void release(int a) {
		KnownPartition known = anchors.get(a);
		if (known.isExact() && (a == 0 || isLeftKnown(a - 1)) && (a == anchors.size() - 1 || isLeftKnown(a))) {
			known.deficits = null;
		}
	}

	private boolean isLeftKnown(int a) {
		return anchors.get(a).left != null || anchors.get(a).partition.sameBlocks(anchors.get(a + 1).partition);
	}

	/** Frees memory, but not what belongs to the p that was just found. */
	void forget(KnownPartition found) {
		while (anchors.size() > MOST_KNOWN) {
			anchors.remove(dropNearest(found, false));
		}
		while (anchors.stream().filter(a -> a.deficits != null).count() > MOST_ANCHORS || deficitBytes() > room) {
			int drop = dropNearest(found, true);
			if (drop < 0) {
				found.deficits = null;
				return;
			}
			anchors.get(drop).deficits = null;
		}
	}

	/** What is left between two neighbours, or null. */
	KnownPartition.Left left(KnownPartition below, KnownPartition above) {
		if (below.left != null || below.tooMuch || !below.isExact() && !above.isExact()) {
			return below.left;
		}
		Survivors survivors = Survivors.of(values, below.deficits, above.deficits, span(below, above), mostSteps);
		below.left = survivors == null ? null : new KnownPartition.Left(below, above, survivors);
		below.tooMuch = below.left == null;
		return below.left;
	}

	Survivors.Span span(KnownPartition low, KnownPartition high) {
		return span(low, low.isExact(), high, high.isExact());
	}

	/** What is asked of blocks and divisions between two p, see {@link Survivors}. */
	Survivors.Span span(KnownPartition low, boolean lowKnown, KnownPartition high, boolean highKnown) {
		double gain = high.partition.gain() - low.partition.gain();
		double loss = high.partition.loss() - low.partition.loss();
		double cross = gain + loss > 0 ? loss / (gain + loss) : 0.5;
		cross = Math.min(high.p, Math.max(low.p, cross));
		double weight = (cross - low.p) / (high.p - low.p);
		double line = (1 - weight) * low.value + weight * high.value;
		double known = Math.max(cross * low.partition.gain() - (1 - cross) * low.partition.loss(),
				cross * high.partition.gain() - (1 - cross) * high.partition.loss()) / values.scale;
		double allowed = Math.max(0, line - known) * (1 + 1e-5) + (lowKnown && highKnown ? 1 : Survivors.NEAR) * MARGIN;
		return new Survivors.Span(weight, allowed, lowKnown, highKnown, MARGIN);
	}

	/** The known p whose neighbours are closest to each other, of those that have deficits if that is asked for; -1 when there is none. */
	private int dropNearest(KnownPartition but, boolean deficits) {
		int drop = -1;
		double least = Double.POSITIVE_INFINITY;
		for (int a = 0; a < anchors.size(); a++) {
			double from = a == 0 ? 0 : anchors.get(a - 1).p;
			double to = a == anchors.size() - 1 ? 1 : anchors.get(a + 1).p;
			if (anchors.get(a) != but && to - from < least && (!deficits || anchors.get(a).deficits != null)) {
				least = to - from;
				drop = a;
			}
		}
		if (drop > 0 && !deficits) {
			anchors.get(drop - 1).left = null;
			anchors.get(drop - 1).tooMuch = true;
		}
		return drop;
	}

	private long deficitBytes() {
		return anchors.stream().mapToLong(a -> a.deficits == null ? 0 : a.deficits.memoryBytes()).sum();
	}
}
