// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.memtrace.aggregation.base.Entropy;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.MicroscopicModel;

/**
 * The engine against the formulas in 34 decimal digits: gains of all blocks, and the value of the best partition, on small random
 * problems with the values that binary arithmetic finds hard: small whole numbers, powers of two, one cell, nothing, equal cells,
 * very large beside very small.
 */
class ExactReferenceTest {
	private static final long SEED = 1307;
	private static final int ROUNDS = 12;
	private static final MathContext EXACT = MathContext.DECIMAL128;
	private static final BigDecimal LN2 = ln(BigDecimal.TWO);
	private static final double[] PS = {0, 1e-6, 0.02, 0.1, 0.25, 1 / 3.0, 0.5, 0.75, 0.999, 1};

	private final Map<BigDecimal, BigDecimal> known = new HashMap<>();

	enum Values {
		SMALL {
			@Override
			double next(Random r) {
				return r.nextInt(4);
			}
		},
		POWERS {
			@Override
			double next(Random r) {
				return r.nextInt(3) == 0 ? 0 : Math.scalb(1.0, r.nextInt(41));
			}
		},
		EQUAL {
			@Override
			double next(Random r) {
				return 0.1;
			}
		},
		FEW {
			@Override
			double next(Random r) {
				return r.nextInt(12) == 0 ? 8 : 0;
			}
		},
		NOTHING {
			@Override
			double next(Random r) {
				return 0;
			}
		},
		EXTREME {
			@Override
			double next(Random r) {
				return r.nextInt(2) == 0 ? 1 : r.nextInt(3) == 0 ? 1e15 : 0;
			}
		},
		ANY {
			@Override
			double next(Random r) {
				return r.nextDouble() * 10;
			}
		};

		abstract double next(Random r);
	}

	/** Halley's iteration on exp, from the double. */
	private static BigDecimal ln(BigDecimal x) {
		BigDecimal y = new BigDecimal(Math.log(x.doubleValue()));
		for (int i = 0; i < 3; i++) {
			BigDecimal e = exp(y);
			y = y.add(x.subtract(e).multiply(BigDecimal.TWO).divide(x.add(e), EXACT), EXACT);
		}
		return y;
	}

	private static BigDecimal exp(BigDecimal y) {
		BigDecimal small = y.divide(BigDecimal.valueOf(256), EXACT);
		BigDecimal sum = BigDecimal.ONE;
		BigDecimal term = BigDecimal.ONE;
		for (int i = 1; i < 30; i++) {
			term = term.multiply(small, EXACT).divide(BigDecimal.valueOf(i), EXACT);
			sum = sum.add(term, EXACT);
		}
		return sum.pow(256, EXACT);
	}

	private BigDecimal f(BigDecimal x) {
		return x.signum() <= 0 ? BigDecimal.ZERO
				: known.computeIfAbsent(x.stripTrailingZeros(), v -> v.multiply(ln(v), EXACT).divide(LN2, EXACT));
	}

	/** One problem: exact gain and loss of every (node, first slice, last slice). */
	private final class Problem {
		final Hierarchy h;
		final double[][][] values;
		final int slices;
		final BigDecimal[][][] gain;
		final BigDecimal[][][] loss;

		Problem(Hierarchy h, double[][][] values) {
			this.h = h;
			this.values = values;
			this.slices = values[0].length;
			this.gain = new BigDecimal[h.size()][slices][slices];
			this.loss = new BigDecimal[h.size()][slices][slices];
			for (int n = 0; n < h.size(); n++) {
				for (int i = 0; i < slices; i++) {
					for (int j = i; j < slices; j++) {
						quality(n, i, j);
					}
				}
			}
		}

		private void quality(int n, int i, int j) {
			BigDecimal g = BigDecimal.ZERO;
			BigDecimal total = BigDecimal.ZERO;
			for (int k = 0; k < values[0][0].length; k++) {
				BigDecimal sum = BigDecimal.ZERO;
				BigDecimal information = BigDecimal.ZERO;
				for (int leaf = h.leafFrom(n); leaf < h.leafTo(n); leaf++) {
					for (int t = i; t <= j; t++) {
						BigDecimal v = new BigDecimal(values[leaf][t][k]);
						sum = sum.add(v);
						information = information.add(f(v));
					}
				}
				g = g.add(f(sum)).subtract(information);
				total = total.add(sum);
			}
			BigDecimal cells = BigDecimal.valueOf((long) (h.leafTo(n) - h.leafFrom(n)) * (j - i + 1));
			gain[n][i][j] = g;
			loss[n][i][j] = total.multiply(ln(cells), EXACT).divide(LN2, EXACT).subtract(g);
		}

		BigDecimal value(int n, int i, int j, BigDecimal p) {
			return p.multiply(gain[n][i][j]).subtract(BigDecimal.ONE.subtract(p).multiply(loss[n][i][j]));
		}

		/** The recurrence, without any short cut. */
		BigDecimal best(BigDecimal p) {
			BigDecimal[][][] best = new BigDecimal[h.size()][slices][slices];
			for (int n = h.size() - 1; n >= 0; n--) {
				BigDecimal[][] base = new BigDecimal[slices][slices];
				for (int i = 0; i < slices; i++) {
					for (int j = i; j < slices; j++) {
						base[i][j] = value(n, i, j, p);
						if (!h.isLeaf(n)) {
							BigDecimal split = BigDecimal.ZERO;
							for (int c = n + 1; c < h.end(n); c = h.end(c)) {
								split = split.add(best[c][i][j]);
							}
							base[i][j] = base[i][j].max(split);
						}
					}
				}
				for (int i = 0; i < slices; i++) {
					for (int j = i; j < slices; j++) {
						best[n][i][j] = base[i][j];
						for (int c = i + 1; c <= j; c++) {
							best[n][i][j] = best[n][i][j].max(best[n][i][c - 1].add(base[c][j]));
						}
					}
				}
			}
			return best[0][0][slices - 1];
		}

		BigDecimal value(Partition e, BigDecimal p) {
			BigDecimal sum = BigDecimal.ZERO;
			for (int b = 0; b < e.blockCount(); b++) {
				sum = sum.add(value(e.node(b), e.firstSlice(b), e.endSlice(b) - 1, p));
			}
			return sum;
		}
	}

	@ParameterizedTest
	@EnumSource(Values.class)
	void gainsAndBestPartitions(Values kind) {
		for (int round = 0; round < ROUNDS; round++) {
			String name = "seed " + SEED + ", " + kind + ", round " + round;
			Random random = new Random(SEED + 100 * kind.ordinal() + round);
			Hierarchy h = Hierarchy.of(RandomModels.tree(random, 1 + random.nextInt(9)));
			int slices = 1 + random.nextInt(7);
			int types = 1 + random.nextInt(2);
			double[][][] values = new double[h.leafCount()][slices][types];
			for (double[][] leaf : values) {
				for (double[] cell : leaf) {
					for (int k = 0; k < types; k++) {
						cell[k] = kind.next(random);
					}
				}
			}
			Problem exact = new Problem(h, values);
			MicroscopicModel model = RandomModels.model(h, values);
			SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(model);
			double whole = exact.gain[0][0][slices - 1].add(exact.loss[0][0][slices - 1]).doubleValue();
			double information = 0;
			for (double[][] leaf : values) {
				for (double[] cell : leaf) {
					for (double v : cell) {
						information += Math.abs(Entropy.f(v));
					}
				}
			}
			double rounding = 2e-14 * (whole + information);
			for (int n = 0; n < h.size(); n++) {
				for (int i = 0; i < slices; i++) {
					for (int j = i; j < slices; j++) {
						double g = a.gain(n, i, j + 1);
						assertTrue(g >= 0, name + ": negative gain " + g);
						assertEquals(exact.gain[n][i][j].doubleValue(), g, rounding, name + " node " + n + " " + i + ".." + j);
						assertEquals(exact.loss[n][i][j].doubleValue(), a.loss(n, i, j + 1), rounding, name + " node " + n);
					}
				}
			}
			// by one that knows other p, in an order that makes use of it, and by one that knows nothing
			double[] order = PS.clone();
			for (int x = order.length - 1; x > 0; x--) {
				int other = random.nextInt(x + 1);
				double swapped = order[x];
				order[x] = order[other];
				order[other] = swapped;
			}
			for (double p : order) {
				BigDecimal at = new BigDecimal(p);
				double best = exact.best(at).doubleValue();
				double allowed = (4 + 2.0 * h.leafCount() * slices) * Aggregator.TOLERANCE * whole + 1e-9 * whole * (p == 0 || p == 1 ? 1 : 0)
						+ rounding;
				for (SpatiotemporalAggregator by : new SpatiotemporalAggregator[] {a, SpatiotemporalAggregator.prepare(model)}) {
					Partition e = by.partition(p);
					AggregationLawsTest.assertCover(e);
					assertEquals(best, exact.value(e, at).doubleValue(), allowed, name + ", p = " + p);
				}
			}
		}
	}
}
