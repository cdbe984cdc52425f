// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.binding;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/** Laws of the search for a binding, and comparison with all assignments. */
class BindingSearchTest {
	private static final int SEEDS = 60;

	/** Distances of places in a tree: arities from the root down. */
	private static int[][] tree(int... arity) {
		int n = Arrays.stream(arity).reduce(1, (a, b) -> a * b);
		int[][] d = new int[n][n];
		for (int a = 0; a < n; a++) {
			for (int b = 0; b < n; b++) {
				int size = 1;
				for (int level = arity.length - 1, h = 1; level >= 0; level--, h++) {
					d[a][b] = a / size == b / size ? d[a][b] : h;
					size *= arity[level];
				}
			}
		}
		return d;
	}

	/** Some places of a larger machine, some of them twice. */
	private static int[][] some(Random random, int[][] whole, int n) {
		int[] place = random.ints(n, 0, whole.length).sorted().toArray();
		int[][] d = new int[n][n];
		for (int a = 0; a < n; a++) {
			for (int b = 0; b < n; b++) {
				d[a][b] = whole[place[a]][place[b]];
			}
		}
		return d;
	}

	private static double[][] weights(Random random, int n) {
		double[][] w = new double[n][n];
		int kind = random.nextInt(3);
		for (int a = 0; a < n; a++) {
			for (int b = 0; b < a; b++) {
				w[a][b] = kind == 0 ? random.nextInt(3) == 0 ? random.nextInt(1000) : 0 : kind == 1 ? random.nextInt(4) : random.nextDouble();
				w[b][a] = w[a][b];
			}
		}
		return w;
	}

	private static int[] identity(int n) {
		return IntStream.range(0, n).toArray();
	}

	private static BindingSearch.Found search(double[][] w, int[][] d) throws CancelledException {
		return BindingSearch.search(w, d, List.of(identity(w.length)), Progress.NONE);
	}

	/** The least mean of all permutations. */
	private static double least(double[][] w, int[][] d, int[] at, int from) {
		if (from == at.length) {
			return BindingSearch.mean(w, d, at);
		}
		double least = Double.MAX_VALUE;
		for (int i = from; i < at.length; i++) {
			swap(at, from, i);
			least = Math.min(least, least(w, d, at, from + 1));
			swap(at, from, i);
		}
		return least;
	}

	private static void swap(int[] at, int i, int k) {
		int t = at[i];
		at[i] = at[k];
		at[k] = t;
	}

	@Test
	void upToSevenThreadsItIsTheBestOfAll() throws CancelledException {
		for (int seed = 1; seed <= SEEDS; seed++) {
			Random random = new Random(seed);
			int n = random.nextInt(7) + 1;
			double[][] w = weights(random, n);
			int[][] d = some(random, tree(2, 2, 2, 2), n);
			BindingSearch.Found found = search(w, d);
			double least = least(w, d, identity(n), 0);
			assertTrue(found.proven());
			assertEquals(least, BindingSearch.mean(w, d, found.placeOf()), 1e-9, "seed " + seed);
			assertEquals(least, BindingSearch.mean(w, d, BindingSearch.exact(w, d)), 1e-9, "seed " + seed);
			assertTrue(BindingSearch.bound(w, d) <= least + 1e-9, "seed " + seed);
			assertArrayEquals(identity(n), Arrays.stream(found.placeOf()).sorted().toArray(), "seed " + seed);
		}
	}

	/** On a machine of two halves no swap of two threads of different halves is left that would help. */
	@Test
	void aDivisionCannotBeImprovedByASwap() throws CancelledException {
		int[][] d = new int[12][12];
		for (int a = 0; a < 12; a++) {
			for (int b = 0; b < 12; b++) {
				d[a][b] = a / 6 == b / 6 ? 0 : 1;
			}
		}
		for (int seed = 1; seed <= SEEDS; seed++) {
			double[][] w = weights(new Random(seed), 12);
			int[] at = BindingSearch.divided(w, d);
			assertArrayEquals(identity(12), Arrays.stream(at).sorted().toArray(), "seed " + seed);
			double mean = BindingSearch.mean(w, d, at);
			for (int a = 0; a < 12; a++) {
				for (int b = 0; b < a; b++) {
					swap(at, a, b);
					assertTrue(BindingSearch.mean(w, d, at) >= mean - 1e-9, "seed " + seed + ", threads " + a + " and " + b);
					swap(at, a, b);
				}
			}
		}
	}

	@Test
	void itIsNeverWorseThanWhatIsGiven() throws CancelledException {
		for (int seed = 1; seed <= SEEDS; seed++) {
			Random random = new Random(seed);
			int n = 10 + random.nextInt(30);
			double[][] w = weights(random, n);
			int[][] d = some(random, tree(2, 4, 4, 2), n);
			List<Integer> any = new ArrayList<>(IntStream.range(0, n).boxed().toList());
			Collections.shuffle(any, random);
			int[] given = any.stream().mapToInt(i -> i).toArray();
			BindingSearch.Found found = BindingSearch.search(w, d, List.of(identity(n), given), Progress.NONE);
			double mean = BindingSearch.mean(w, d, found.placeOf());
			assertFalse(found.proven());
			assertTrue(mean <= BindingSearch.mean(w, d, identity(n)) + 1e-9, "seed " + seed);
			assertTrue(mean <= BindingSearch.mean(w, d, given) + 1e-9, "seed " + seed);
			assertTrue(BindingSearch.bound(w, d) <= mean + 1e-9, "seed " + seed);
			assertArrayEquals(identity(n), Arrays.stream(found.placeOf()).sorted().toArray(), "seed " + seed);
			assertArrayEquals(found.placeOf(), BindingSearch.search(w, d, List.of(identity(n), given), Progress.NONE).placeOf(), "seed " + seed);
		}
	}

	/** Threads in groups of the sizes of the machine's parts, shuffled: the groups must be found again, at any number of threads. */
	@Test
	void plantedGroupsAreFoundWhateverTheNumbersOfTheThreads() throws CancelledException {
		for (int[] arity : new int[][] {{2, 4, 2}, {4, 4, 4}, {2, 2, 8, 4}}) {
			int[][] d = tree(arity);
			int n = d.length;
			for (int seed = 1; seed <= 3; seed++) {
				Random random = new Random(seed);
				List<Integer> number = new ArrayList<>(IntStream.range(0, n).boxed().toList());
				Collections.shuffle(number, random);
				double[][] w = new double[n][n];
				int[] right = new int[n];
				for (int a = 0; a < n; a++) {
					right[number.get(a)] = a;
					for (int b = 0; b < n; b++) {
						w[number.get(a)][number.get(b)] = a == b ? 0 : Math.pow(10, arity.length - d[a][b]);
					}
				}
				BindingSearch.Found found = search(w, d);
				assertEquals(BindingSearch.mean(w, d, right), BindingSearch.mean(w, d, found.placeOf()), 1e-9,
						Arrays.toString(arity) + " seed " + seed);
			}
		}
	}

	@Test
	void otherNumbersOfTheThreadsGiveTheSameFigure() throws CancelledException {
		for (int seed = 1; seed <= SEEDS; seed++) {
			Random random = new Random(seed);
			int n = 2 + random.nextInt(BindingSearch.MOST_EXACT - 2);
			double[][] w = weights(random, n);
			int[][] d = some(random, tree(2, 3, 2), n);
			List<Integer> number = new ArrayList<>(IntStream.range(0, n).boxed().toList());
			Collections.shuffle(number, random);
			double[][] other = new double[n][n];
			for (int a = 0; a < n; a++) {
				for (int b = 0; b < n; b++) {
					other[number.get(a)][number.get(b)] = w[a][b];
				}
			}
			assertEquals(BindingSearch.mean(w, d, search(w, d).placeOf()), BindingSearch.mean(other, d, search(other, d).placeOf()), 1e-9,
					"seed " + seed);
		}
	}

	@Test
	void theHeuristicOfManyThreadsDoesNotDependOnTheirNumbers() throws CancelledException {
		for (int seed = 1; seed <= 10; seed++) {
			Random random = new Random(seed);
			int n = 24;
			double[][] w = new double[n][n];
			for (int a = 0; a < n; a++) {
				for (int b = 0; b < a; b++) {
					w[a][b] = random.nextInt(1 << 20);
					w[b][a] = w[a][b];
				}
			}
			int[][] d = tree(2, 3, 4);
			List<Integer> number = new ArrayList<>(IntStream.range(0, n).boxed().toList());
			Collections.shuffle(number, random);
			double[][] other = new double[n][n];
			int[] given = new int[n];
			for (int a = 0; a < n; a++) {
				given[number.get(a)] = a;
				for (int b = 0; b < n; b++) {
					other[number.get(a)][number.get(b)] = w[a][b];
				}
			}
			int[] one = search(w, d).placeOf();
			int[] two = BindingSearch.search(other, d, List.of(given), Progress.NONE).placeOf();
			for (int a = 0; a < n; a++) {
				assertEquals(one[a], two[number.get(a)], "seed " + seed);
			}
		}
	}

	@Test
	void nothingSharedKeepsTheOrder() throws CancelledException {
		for (int n : new int[] {1, 2, 5, 12}) {
			int[][] d = some(new Random(n), tree(2, 2, 2), n);
			assertArrayEquals(identity(n), search(new double[n][n], d).placeOf());
			assertEquals(0, BindingSearch.mean(new double[n][n], d, identity(n)));
			assertEquals(0, BindingSearch.bound(new double[n][n], d));
		}
		assertArrayEquals(new int[0], search(new double[0][0], new int[0][0]).placeOf());
	}

	@Test
	void whatIsAsGoodAsAnythingIsKept() throws CancelledException {
		double[][] ring = new double[8][8];
		for (int a = 0; a < 8; a++) {
			ring[a][(a + 1) % 8] = 5;
			ring[(a + 1) % 8][a] = 5;
		}
		assertArrayEquals(identity(8), search(ring, tree(2, 2, 2)).placeOf());
	}

	@Test
	void hugeWeightsDoNotOverflow() throws CancelledException {
		for (int exponent : new int[] {1000, 62, -1000}) {
			for (int seed = 1; seed <= 5; seed++) {
				for (int n : new int[] {6, 16}) {
					double[][] w = weights(new Random(seed), n);
					double[][] huge = Arrays.stream(w).map(row -> Arrays.stream(row).map(v -> Math.scalb(v, exponent)).toArray()).toArray(double[][]::new);
					int[][] d = some(new Random(seed), tree(2, 4, 2), n);
					assertArrayEquals(search(w, d).placeOf(), search(huge, d).placeOf(), "seed " + seed + " n " + n + " exponent " + exponent);
				}
			}
		}
		double m = Double.MAX_VALUE;
		double[][] most = {{0, m, 0, m}, {m, 0, m, 0}, {0, m, 0, m}, {m, 0, m, 0}};
		assertEquals(1.5, BindingSearch.mean(most, tree(2, 2), search(most, tree(2, 2)).placeOf()), 1e-12);
		assertTrue(BindingSearch.bound(most, tree(2, 2)) <= 1.5);
		assertThrows(IllegalArgumentException.class, () -> search(new double[][] {{0, -1}, {-1, 0}}, tree(2)));
		assertThrows(IllegalArgumentException.class, () -> search(new double[][] {{0, Double.NaN}, {Double.NaN, 0}}, tree(2)));
	}

	@Test
	void theUserMayStopIt() {
		assertThrows(CancelledException.class,
				() -> BindingSearch.search(weights(new Random(1), 40), tree(2, 20), List.of(identity(40)), Progress.cancelledWhen(() -> true)));
	}
}
