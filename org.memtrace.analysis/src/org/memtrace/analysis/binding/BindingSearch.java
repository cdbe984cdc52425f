// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.binding;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * Puts threads on places so that the sum of weight times distance over all pairs is small (a quadratic assignment). Up to
 * {@link #MOST_EXACT} threads all assignments are tried, without those that are dearer already (branch and bound). For more, threads are
 * divided from the root of the topology down, as TreeMatch (Jeannot, Mercier, Tessier 2014) groups them from the leaves up: each part of
 * the machine is filled with the threads that share most with those in it, swaps between parts improve the division, and the parts are
 * divided in turn. Then pairs of threads are swapped as long as that helps, from there, from the given assignments and from some seeded
 * random ones. The result is never dearer than a given assignment, is one of those when nothing is cheaper, and is the same each time.
 *
 * <p>Weights may be as large as a double: they are scaled by a power of two first, so that no sum overflows.
 */
final class BindingSearch {
	/** Threads up to which the best assignment is found for certain. */
	static final int MOST_EXACT = 9;
	/** Random starts, for so few threads that they take no time. */
	private static final int STARTS = 16;
	private static final int MOST_FOR_STARTS = 128;
	private static final int MOST_SWEEPS = 50;
	private static final long SEED = 1;
	/** Gains below this part of the sum of all weights are rounding. */
	private static final double ROUNDING = 1e-12;

	/**
	 * What was found.
	 *
	 * @param placeOf place of each thread
	 * @param proven whether there is no cheaper one
	 */
	record Found(int[] placeOf, boolean proven) {
	}

	private final int n;
	/** Weights of threads in an order that does not depend on their numbers, scaled; symmetric, 0 with itself. */
	private final double[][] w;
	private final int[][] d;
	/** Thread at each position of the order. */
	private final int[] order;
	private final double total;
	private final Progress progress;

	private BindingSearch(double[][] weights, int[][] distances, Progress progress) {
		n = weights.length;
		d = distances;
		this.progress = progress;
		double[][] scaled = scaled(weights);
		order = order(scaled);
		w = new double[n][n];
		double sum = 0;
		for (int a = 0; a < n; a++) {
			for (int b = 0; b < n; b++) {
				w[a][b] = a == b ? 0 : scaled[order[a]][order[b]];
				sum += w[a][b];
			}
		}
		total = sum / 2;
	}

	/** The weights divided by a power of two, so that the largest one is below 1. Exact, but for what is 10^300 times smaller. */
	static double[][] scaled(double[][] weights) {
		double most = 0;
		for (double[] row : weights) {
			for (double v : row) {
				if (v < 0 || Double.isNaN(v) || Double.isInfinite(v)) {
					throw new IllegalArgumentException("weight " + v);
				}
				most = Math.max(most, v);
			}
		}
		int exponent = most == 0 ? 0 : Math.getExponent(most) + 1;
		double[][] result = new double[weights.length][];
		for (int a = 0; a < weights.length; a++) {
			result[a] = Arrays.stream(weights[a]).map(v -> Math.scalb(v, -exponent)).toArray();
		}
		return result;
	}

	/**
	 * Searches.
	 *
	 * @param weights symmetric, not negative, any size
	 * @param distances between places, as many as threads; symmetric, each at most the larger one of the two over a third place
	 * @param given assignments to compare with, the preferred ones first; none may be missing a thread
	 */
	static Found search(double[][] weights, int[][] distances, List<int[]> given, Progress progress) throws CancelledException {
		return new BindingSearch(weights, distances, progress).search(given);
	}

	/** Sum of weight times distance over all pairs divided by the sum of the weights; 0 when there is none. */
	static double mean(double[][] weights, int[][] distances, int[] placeOf) {
		double[][] s = scaled(weights);
		double sum = 0;
		double all = 0;
		for (int a = 0; a < s.length; a++) {
			for (int b = 0; b < a; b++) {
				sum += s[a][b] * distances[placeOf[a]][placeOf[b]];
				all += s[a][b];
			}
		}
		return all == 0 ? 0 : sum / all;
	}

	/**
	 * A mean that no assignment is below: each thread alone, on the place that suits it best, with its weights from the largest one down
	 * on the places from the nearest one on (the bound of Gilmore and Lawler without its assignment).
	 */
	static double bound(double[][] weights, int[][] distances) {
		double[][] s = scaled(weights);
		int n = s.length;
		List<int[]> profiles = new ArrayList<>();
		for (int p = 0; p < n; p++) {
			int place = p;
			int[] near = IntStream.range(0, n).filter(q -> q != place).map(q -> distances[place][q]).sorted().toArray();
			if (profiles.stream().noneMatch(known -> Arrays.equals(known, near))) {
				profiles.add(near);
			}
		}
		double sum = 0;
		double all = 0;
		for (int a = 0; a < n; a++) {
			int thread = a;
			double[] rising = IntStream.range(0, n).filter(b -> b != thread).mapToDouble(b -> s[thread][b]).sorted().toArray();
			double least = Double.MAX_VALUE;
			for (int[] near : profiles) {
				double here = 0;
				for (int i = 0; i < n - 1; i++) {
					here += rising[n - 2 - i] * near[i];
				}
				least = Math.min(least, here);
			}
			sum += n < 2 ? 0 : least;
			all += Arrays.stream(rising).sum();
		}
		return all == 0 ? 0 : sum / all;
	}

	/** Threads by their weights: by the sum, then by the sorted weights with the ranks of the others, twice; last by number. */
	private static int[] order(double[][] s) {
		int n = s.length;
		int[] rank = new int[n];
		Integer[] threads = IntStream.range(0, n).boxed().toArray(Integer[]::new);
		for (int round = 0; round < 3; round++) {
			double[][] keys = new double[n][];
			int[] before = rank;
			for (int a = 0; a < n; a++) {
				int thread = a;
				Integer[] others = IntStream.range(0, n).filter(b -> b != thread).boxed().toArray(Integer[]::new);
				Arrays.sort(others, Comparator.comparingDouble((Integer b) -> -s[thread][b]).thenComparingInt(b -> before[b]));
				double[] key = new double[2 * n - 1];
				key[0] = before[thread];
				for (int i = 0; i < others.length; i++) {
					key[2 * i + 1] = -s[thread][others[i]];
					key[2 * i + 2] = before[others[i]];
				}
				keys[a] = key;
			}
			Arrays.sort(threads, (a, b) -> Arrays.compare(keys[a], keys[b]));
			int[] next = new int[n];
			for (int i = 1; i < n; i++) {
				boolean equal = Arrays.equals(keys[threads[i]], keys[threads[i - 1]]);
				next[threads[i]] = equal ? next[threads[i - 1]] : i;
			}
			rank = next;
		}
		return Arrays.stream(threads).mapToInt(Integer::intValue).toArray();
	}

	private Found search(List<int[]> given) throws CancelledException {
		List<int[]> starts = new ArrayList<>();
		int[] best = null;
		for (int[] g : given) {
			int[] ordered = new int[n];
			for (int i = 0; i < n; i++) {
				ordered[i] = g[order[i]];
			}
			starts.add(ordered);
			best = better(best, ordered);
		}
		int[] divided = new int[n];
		divide(IntStream.range(0, n).toArray(), IntStream.range(0, n).toArray(), divided);
		starts.add(0, divided);
		if (n <= MOST_FOR_STARTS) {
			SplittableRandom random = new SplittableRandom(SEED);
			for (int i = 0; i < STARTS; i++) {
				int[] shuffled = IntStream.range(0, n).toArray();
				for (int k = n - 1; k > 0; k--) {
					int o = random.nextInt(k + 1);
					int t = shuffled[k];
					shuffled[k] = shuffled[o];
					shuffled[o] = t;
				}
				starts.add(shuffled);
			}
		}
		for (int[] start : starts) {
			int[] improved = start.clone();
			swap(improved);
			best = better(best, improved);
		}
		boolean proven = n <= MOST_EXACT;
		if (proven) {
			best = new Exact(best).run();
		}
		return new Found(byThread(best), proven);
	}

	private int[] byThread(int[] at) {
		int[] placeOf = new int[n];
		for (int i = 0; i < n; i++) {
			placeOf[order[i]] = at[i];
		}
		return placeOf;
	}

	/** The best assignment, by trying all from the order on, without the heuristics; for tests. */
	static int[] exact(double[][] weights, int[][] distances) throws CancelledException {
		BindingSearch search = new BindingSearch(weights, distances, Progress.NONE);
		return search.byThread(search.new Exact(IntStream.range(0, search.n).toArray()).run());
	}

	/** What dividing the machine gives, without swaps of single threads afterwards; for tests. */
	static int[] divided(double[][] weights, int[][] distances) throws CancelledException {
		BindingSearch search = new BindingSearch(weights, distances, Progress.NONE);
		int[] at = new int[search.n];
		search.divide(IntStream.range(0, search.n).toArray(), IntStream.range(0, search.n).toArray(), at);
		return search.byThread(at);
	}

	/** The second one when it is cheaper. */
	private int[] better(int[] a, int[] b) {
		return a == null || cost(b) < cost(a) - ROUNDING * total ? b : a;
	}

	private double cost(int[] at) {
		double sum = 0;
		for (int a = 0; a < n; a++) {
			for (int b = 0; b < a; b++) {
				sum += w[a][b] * d[at[a]][at[b]];
			}
		}
		return sum;
	}

	/** Divides threads among the parts of the machine that have the places, and puts each on a place. */
	private void divide(int[] threads, int[] places, int[] at) throws CancelledException {
		progress.check();
		if (threads.length == 0) {
			return;
		}
		int widest = 0;
		for (int p : places) {
			widest = Math.max(widest, d[places[0]][p]);
		}
		if (widest == 0) {
			for (int i = 0; i < threads.length; i++) {
				at[threads[i]] = places[i];
			}
			return;
		}
		// places nearer to each other than the widest distance are a part, as distances are those of a tree
		List<int[]> parts = new ArrayList<>();
		boolean[] taken = new boolean[places.length];
		for (int i = 0; i < places.length; i++) {
			if (!taken[i]) {
				List<Integer> part = new ArrayList<>();
				for (int k = i; k < places.length; k++) {
					if (!taken[k] && (k == i || d[places[i]][places[k]] < widest)) {
						taken[k] = true;
						part.add(places[k]);
					}
				}
				parts.add(part.stream().mapToInt(Integer::intValue).toArray());
			}
		}
		parts.sort(Comparator.comparingInt(p -> -p.length));
		int[] partOf = new int[n];
		fill(threads, parts, partOf);
		exchange(threads, partOf);
		for (int p = 0; p < parts.size(); p++) {
			int part = p;
			divide(Arrays.stream(threads).filter(t -> partOf[t] == part).toArray(), parts.get(p), at);
		}
	}

	/** Each part in turn takes the thread that shares most with the others that are left, then those that share most with its own. */
	private void fill(int[] threads, List<int[]> parts, int[] partOf) {
		List<Integer> left = new ArrayList<>();
		for (int t : threads) {
			left.add(t);
		}
		for (int p = 0; p < parts.size(); p++) {
			double[] with = new double[n];
			for (int a : left) {
				for (int b : left) {
					with[a] += w[a][b];
				}
			}
			for (int i = 0; i < parts.get(p).length; i++) {
				Integer most = left.get(0);
				for (Integer t : left) {
					most = with[t] > with[most] ? t : most;
				}
				left.remove(most);
				partOf[most] = p;
				for (int t : left) {
					with[t] = (i == 0 ? 0 : with[t]) + w[most][t];
				}
			}
		}
	}

	/** Swaps threads of different parts as long as less is shared between parts. */
	private void exchange(int[] threads, int[] partOf) throws CancelledException {
		boolean changed = true;
		for (int sweep = 0; sweep < MOST_SWEEPS && changed; sweep++) {
			changed = false;
			for (int a : threads) {
				progress.check();
				for (int b : threads) {
					if (b >= a || partOf[a] == partOf[b]) {
						continue;
					}
					double gain = -2 * w[a][b];
					for (int c : threads) {
						gain += partOf[c] == partOf[b] ? w[a][c] - w[b][c] : partOf[c] == partOf[a] ? w[b][c] - w[a][c] : 0;
					}
					if (gain > ROUNDING * total) {
						int p = partOf[a];
						partOf[a] = partOf[b];
						partOf[b] = p;
						changed = true;
					}
				}
			}
		}
	}

	/** Swaps pairs of threads as long as the sum becomes smaller. */
	private void swap(int[] at) throws CancelledException {
		boolean changed = true;
		for (int sweep = 0; sweep < MOST_SWEEPS && changed; sweep++) {
			changed = false;
			for (int a = 0; a < n; a++) {
				progress.check();
				for (int b = 0; b < a; b++) {
					int[] ofA = d[at[a]];
					int[] ofB = d[at[b]];
					if (ofA[at[b]] == 0) {
						continue;
					}
					double gain = 0;
					for (int c = 0; c < n; c++) {
						if (c != a && c != b) {
							gain += (w[a][c] - w[b][c]) * (ofA[at[c]] - ofB[at[c]]);
						}
					}
					if (gain > ROUNDING * total) {
						int p = at[a];
						at[a] = at[b];
						at[b] = p;
						changed = true;
					}
				}
			}
		}
	}

	/** All assignments. */
	private final class Exact {
		private int[] best;
		private double least;
		private final int[] at = new int[n];
		private final boolean[] used = new boolean[n];

		Exact(int[] known) {
			best = known;
			least = cost(known);
		}

		int[] run() throws CancelledException {
			place(0, 0);
			return best;
		}

		private void place(int thread, double cost) throws CancelledException {
			if (cost >= least - ROUNDING * total) {
				return;
			}
			if (thread == n) {
				least = cost;
				best = at.clone();
				return;
			}
			if (thread < 4) {
				progress.check();
			}
			for (int p = 0; p < n; p++) {
				if (used[p]) {
					continue;
				}
				double more = 0;
				for (int b = 0; b < thread; b++) {
					more += w[thread][b] * d[p][at[b]];
				}
				used[p] = true;
				at[thread] = p;
				place(thread + 1, cost + more);
				used[p] = false;
			}
		}
	}
}
