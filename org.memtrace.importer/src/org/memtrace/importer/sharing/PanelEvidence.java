// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.sharing;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.model.store.AccessBatch;

/**
 * What the panel of a fine clock says of pages where one thread was seen. Pages of the panel are drawn at random and looked at many times
 * in a row, so that of them it is known whether one thread uses them or several. For a page between pages of the panel it is assumed that
 * it behaves like them, where all of them, of the same structure and near in time, agree. Whether that holds is not assumed: each page of
 * the panel is also foretold by the others. Where that goes wrong too often nothing is said.
 *
 * <p>Used by one thread.
 */
public final class PanelEvidence {
	/** Nothing is known. */
	public static final PanelEvidence NONE = new PanelEvidence(List.of());
	/** A page in no structure: its neighbours say nothing. */
	public static final int NO_GROUP = -1;
	private static final int ALL = -2;
	/** Looks at pages on either side that must agree. */
	private static final int SIDE = 5;
	/** Pages called private that are shared, and the other way round, at most. */
	private static final double WRONG_PRIVATE = 0.01;
	private static final double WRONG_SHARED = 0.05;
	/** Fewer looks that find one thread say little against others: pages of which a fifth is theirs look so in 7 of 100 cases. */
	private static final int CLEAR = 12;
	/** In one structure; there are few pages of the panel in it. */
	private static final double WRONG_IN_GROUP = 0.1;
	/** A second thread with a fifth of the uses stays unseen in a look. */
	private static final double UNSEEN = 0.8;
	/** What is near in time: so many stays long, at least. */
	private static final int NEAR_STAYS = 4;

	/**
	 * A stay of a page in the panel.
	 *
	 * @param page its address divided by the page size
	 * @param group of pages that may behave alike, by address: the structures of one name and place; or {@link #NO_GROUP}
	 * @param active looks after which somebody came
	 * @param users how many threads came
	 * @param thread the one that came most
	 */
	public record Stay(long page, int group, long startNs, long endNs, int active, int users, int thread) {
	}

	/** How often the others were right about a page of the panel. */
	private static final class Trials {
		private double calls;
		private double wrong;

		/** @param weight how sure it is what the page is */
		void add(boolean right, double weight) {
			calls += weight;
			wrong += right ? 0 : weight;
		}

		/** The expected share of wrong ones. */
		double share() {
			return (wrong + 1.0) / (calls + 2.0);
		}
	}

	private final List<Stay> stays;
	private final long longestNs;
	private final long nearNs;
	private final Trials privateTrials = new Trials();
	private final Trials sharedTrials = new Trials();
	/** By group; those of both kinds. */
	private final Map<Integer, Trials> ofGroup = new HashMap<>();
	// the window that was asked for last: by group, by page
	private long windowFromNs = Long.MAX_VALUE;
	private long windowToNs;
	private Map<Integer, List<Stay>> window = Map.of();

	/** @param stays in any order; those in which nobody came say nothing */
	public PanelEvidence(List<Stay> stays) {
		this.stays = stays.stream().filter(s -> s.active > 0).sorted(Comparator.comparingLong(Stay::startNs)).toList();
		longestNs = this.stays.stream().mapToLong(s -> s.endNs - s.startNs).max().orElse(0);
		nearNs = NEAR_STAYS * (long) this.stays.stream().mapToLong(s -> s.endNs - s.startNs).average().orElse(0);
		for (Stay s : this.stays) {
			foretell(s);
		}
	}

	public boolean isEmpty() {
		return stays.isEmpty();
	}

	/**
	 * How many threads use a page in an interval.
	 *
	 * @param group as of a {@link Stay}
	 * @param thread the one that was seen
	 * @param looks that saw it, at least
	 * @return 1, at least 2, or {@link AccessBatch#SHARING_NOT_KNOWN}
	 */
	public int sharing(long page, int group, int thread, long startNs, long endNs, int looks) {
		if (stays.isEmpty() || thread == AccessBatch.NO_THREAD) {
			return AccessBatch.SHARING_NOT_KNOWN;
		}
		int own = own(near(ALL, startNs, endNs), page, thread, startNs, endNs, looks);
		if (own > 1 || group == NO_GROUP) {
			return own;
		}
		int like = like(near(group, startNs, endNs), page, thread, own == 1);
		if (own == 1) { // by chance, among shared ones
			return like > 1 ? AccessBatch.SHARING_NOT_KNOWN : own;
		}
		Trials trials = ofGroup.get(group);
		if (trials != null && trials.wrong > 0 && trials.share() > WRONG_IN_GROUP) {
			return AccessBatch.SHARING_NOT_KNOWN;
		}
		boolean sure = like == 1 ? privateTrials.share() * Math.pow(UNSEEN, looks) <= WRONG_PRIVATE
				: like > 1 && sharedTrials.share() <= WRONG_SHARED;
		return sure ? like : AccessBatch.SHARING_NOT_KNOWN;
	}

	/** What the stays of the page itself say. */
	private static int own(List<Stay> near, long page, int thread, long startNs, long endNs, int looks) {
		int seen = looks;
		int most = 1;
		for (int i = from(near, page); i < near.size() && near.get(i).page == page; i++) {
			Stay s = near.get(i);
			if (s.startNs < endNs && s.endNs > startNs) {
				seen += s.active;
				most = Math.max(most, s.users > 1 ? s.users : s.thread == thread ? 1 : 2);
			}
		}
		return most > 1 ? most : seen > looks && seen >= SharingEvidence.LOOKS ? 1 : AccessBatch.SHARING_NOT_KNOWN;
	}

	/** What the stays of pages around a page say, on both sides. */
	private static int like(List<Stay> near, long page, int thread, boolean without) {
		int at = from(near, page);
		int below = side(near, at - 1, -1, page, thread, without);
		if (below == AccessBatch.SHARING_NOT_KNOWN) {
			return below;
		}
		return below == side(near, at, 1, page, thread, without) ? below : AccessBatch.SHARING_NOT_KNOWN;
	}

	/** What those on a side say; @param without the page itself */
	private static int side(List<Stay> near, int from, int step, long page, int thread, boolean without) {
		int looks = 0;
		for (int i = from; i >= 0 && i < near.size(); i += step) {
			Stay s = near.get(i);
			if (without && s.page == page) {
				continue;
			}
			if (s.users > 1) {
				return looks == 0 ? 2 : AccessBatch.SHARING_NOT_KNOWN;
			}
			if (s.thread == thread) {
				looks += s.active;
				if (looks >= SIDE) {
					return 1;
				}
			} else if (looks > 0 || s.active >= SIDE) {
				return AccessBatch.SHARING_NOT_KNOWN;
			}
		}
		return AccessBatch.SHARING_NOT_KNOWN;
	}

	/** Asks the others of the group what a page of the panel is, which is known. */
	private void foretell(Stay s) {
		boolean shared = s.users > 1;
		if (s.group == NO_GROUP) {
			return;
		}
		int like = like(near(s.group, s.startNs, s.endNs), s.page, s.thread, true);
		if (like == 1 || like > 1 && s.active >= CLEAR) {
			boolean right = like > 1 == shared;
			double weight = shared ? 1 : 1 - Math.pow(UNSEEN, s.active);
			(like > 1 ? sharedTrials : privateTrials).add(right, weight);
			ofGroup.computeIfAbsent(s.group, g -> new Trials()).add(right, weight);
		}
	}

	/** The first of those at a page or above it. */
	private static int from(List<Stay> near, long page) {
		int low = 0;
		int high = near.size();
		while (low < high) {
			int middle = low + high >>> 1;
			if (near.get(middle).page < page) {
				low = middle + 1;
			} else {
				high = middle;
			}
		}
		return low;
	}

	/** The stays of a group that overlap an interval, or are near, by page. */
	private List<Stay> near(int group, long startNs, long endNs) {
		long more = Math.max(0, nearNs - (endNs - startNs)) / 2;
		if (windowFromNs != startNs - more || windowToNs != endNs + more) {
			windowFromNs = startNs - more;
			windowToNs = endNs + more;
			window = new HashMap<>();
			for (int i = firstAfter(windowFromNs - longestNs); i < stays.size() && stays.get(i).startNs < windowToNs; i++) {
				Stay s = stays.get(i);
				if (s.endNs > windowFromNs) {
					window.computeIfAbsent(s.group, g -> new ArrayList<>()).add(s);
					window.computeIfAbsent(ALL, g -> new ArrayList<>()).add(s);
				}
			}
			window.values().forEach(list -> list.sort(Comparator.comparingLong(Stay::page)));
		}
		return window.getOrDefault(group, List.of());
	}

	private int firstAfter(long timeNs) {
		int low = 0;
		int high = stays.size();
		while (low < high) {
			int middle = low + high >>> 1;
			if (stays.get(middle).startNs < timeNs) {
				low = middle + 1;
			} else {
				high = middle;
			}
		}
		return low;
	}
}
