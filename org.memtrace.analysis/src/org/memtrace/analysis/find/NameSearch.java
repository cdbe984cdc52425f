// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.find;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * Looks for what a person types, letter by letter, in one index of names: what has the longer word in it is among what had the shorter one.
 * One search at a time.
 */
final class NameSearch {
	/** Answers that are kept, for the letters that are deleted again. */
	private static final int MOST_KEPT = 32;
	private static final int CHECK_EVERY = 0xfff;

	/** What was found for some words. */
	private record Answer(List<String> words, int[] found) {
	}

	/** A name that fits. */
	record Match(int index, int rank, double weight) {
	}

	/**
	 * @param best the first in order of rank, weight and index
	 * @param total how many fit
	 */
	record Result(List<Match> best, int total) {
	}

	private static final Comparator<Match> ORDER = Comparator.comparingInt(Match::rank).thenComparing(Comparator.comparingDouble(Match::weight)
			.reversed()).thenComparingInt(Match::index);

	private final NameIndex names;
	private final double[] weight;
	/** Of shorter and shorter words. */
	private final Deque<Answer> kept = new ArrayDeque<>();

	/** @param weight of two names that fit equally well the heavier one comes first */
	NameSearch(NameIndex names, IntToDoubleFunction weight) {
		this.names = names;
		this.weight = IntStream.range(0, names.size()).mapToDouble(weight).toArray();
	}

	/** @param words folded */
	synchronized Result find(List<String> words, int most, Progress progress) throws CancelledException {
		int[] found = matches(words, progress);
		String typed = String.join(" ", words);
		PriorityQueue<Match> best = new PriorityQueue<>(most + 1, ORDER.reversed());
		for (int k = 0; k < found.length; k++) {
			if ((k & CHECK_EVERY) == 0) {
				progress.check();
			}
			int rank = names.rank(found[k], words, typed);
			double heavy = weight[found[k]];
			Match worst = best.size() < most ? null : best.peek();
			// of equal ones the first stays
			if (worst == null || rank < worst.rank() || rank == worst.rank() && heavy > worst.weight()) {
				best.add(new Match(found[k], rank, heavy));
				if (worst != null) {
					best.poll();
				}
			}
		}
		List<Match> list = new ArrayList<>(best);
		list.sort(ORDER);
		return new Result(list, found.length);
	}

	private int[] matches(List<String> words, Progress progress) throws CancelledException {
		while (!kept.isEmpty() && !narrows(words, kept.peek().words())) {
			kept.pop();
		}
		Answer before = kept.peek();
		if (before != null && before.words().equals(words)) {
			return before.found();
		}
		int[] found = names.find(words, before == null ? null : before.found(), progress);
		kept.push(new Answer(words, found));
		if (kept.size() > MOST_KEPT) {
			kept.removeLast();
		}
		return found;
	}

	/** Whether all that has these words in it has the others, too. */
	private static boolean narrows(List<String> words, List<String> others) {
		return others.stream().allMatch(o -> words.stream().anyMatch(w -> w.contains(o)));
	}

	/** How well a name fits that is the beginning of a text in an index. */
	static int rank(String name, List<String> words, Match match) {
		return NameIndex.fold(name).equals(String.join(" ", words)) ? NameIndex.WHOLE : match.rank();
	}
}
