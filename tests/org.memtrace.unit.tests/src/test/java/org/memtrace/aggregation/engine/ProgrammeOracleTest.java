// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.RandomTrace;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.SharingGaps;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.time.Slicing;
import org.memtrace.aggregation.time.TimeSlices;
import org.memtrace.importer.ImportOperation;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.Stores;

/**
 * The engine against {@link PlainProgramme}, on models of the recorded traces in testdata/traces and on made ones: qualities of all
 * blocks, partitions at many p, asked of an aggregator that knows nothing and of one that knows others, and the list of levels.
 */
class ProgrammeOracleTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root", "../..")).toAbsolutePath().normalize();

	@TempDir
	static Path temp;

	/** One model and how it is aggregated. Levels need not have the same blocks where several partitions have the same gain and loss. */
	private static final class Case {
		final String name;
		final MicroscopicModel model;
		final AggregationOptions options;
		final PlainProgramme plain;

		Case(String name, MicroscopicModel model, AggregationOptions options) {
			this.name = name;
			this.model = model;
			this.options = options;
			this.plain = new PlainProgramme(model, options.tree(model.hierarchy()), options.equalTypes());
		}

		SpatiotemporalAggregator engine() throws Exception {
			return SpatiotemporalAggregator.prepare(model, options, Progress.NONE);
		}

		void checkAll(Random random, int places) throws Exception {
			qualities(engine());
			SpatiotemporalAggregator used = engine();
			List<Double> ps = new ArrayList<>(List.of(0.0, 1.0, 0.5, 1e-6));
			for (int i = 0; i < places; i++) {
				ps.add(i % 3 == 0 ? random.nextDouble() : i % 3 == 1 ? Math.pow(random.nextDouble(), 5) : random.nextInt(1025) / 1024.0);
			}
			Collections.shuffle(ps, random);
			for (double p : ps) {
				partition(engine().partition(p), p, ", first");
				partition(used.partition(p), p, ", after others of " + ps);
			}
			// close to each other, where the engine can make most of what it knows
			double middle = ps.get(random.nextInt(ps.size()));
			for (int i = 0; i < 4; i++) {
				double p = Math.min(1, Math.max(0, middle * (1 + 0.1 * (random.nextDouble() - 0.5))));
				partition(used.partition(p), p, ", beside " + middle);
			}
			levels(engine());
			levels(used);
		}

		private void qualities(SpatiotemporalAggregator a) {
			for (int n = 0; n < plain.tree.size(); n++) {
				for (int i = 0; i < plain.slices; i++) {
					for (int j = i; j < plain.slices; j++) {
						String where = name + ", node " + n + ", slices " + i + ".." + j;
						assertEquals(plain.gain[n][i][j], a.gain(n, i, j + 1), plain.rounding, where);
						assertEquals(plain.loss[n][i][j], a.loss(n, i, j + 1), plain.rounding, where);
					}
				}
			}
		}

		/** As good as the best one, with the figures it has; and the very same where that is not decided by rounding. */
		private void partition(Partition e, double p, String about) {
			String where = name + ", p = " + p + about;
			AggregationLawsTest.assertCover(e);
			PlainProgramme.Best wanted = plain.best(p);
			PlainProgramme.Best found = plain.of(e.at(p));
			assertEquals(found.gain(), e.gain(), plain.rounding * 10, where);
			assertEquals(found.loss(), e.loss(), plain.rounding * 10, where);
			assertEquals(wanted.value(), found.value(), plain.allowed(p), where + ": " + wanted.blocks().size() + " blocks are best, found "
					+ found.blocks().size());
			if (wanted.robust() && !plain.same(wanted, found)) {
				List<String> missing = new ArrayList<>(wanted.texts());
				missing.removeAll(found.texts());
				List<String> more = new ArrayList<>(found.texts());
				more.removeAll(wanted.texts());
				fail(where + ": not found " + missing + ", instead of it " + more + ", worth less by "
						+ (wanted.value() - found.value()) / plain.scale);
			}
		}

		private void levels(SpatiotemporalAggregator a) throws Exception {
			SignificantLevels levels = SignificantLevels.compute(a, Progress.NONE);
			List<PlainProgramme.Best> wanted = plain.levels();
			StringBuilder expected = new StringBuilder();
			StringBuilder actual = new StringBuilder();
			boolean robust = wanted.stream().allMatch(PlainProgramme.Best::robust);
			for (PlainProgramme.Best b : wanted) {
				expected.append(b.p()).append('\n');
			}
			double last = -1;
			for (SignificantLevels.Level level : levels.levels()) {
				actual.append(level.p()).append('\n');
				partition(level.partition(), level.p(), ", level");
				assertTrue(level.p() > last, name + ": levels out of order\n" + actual);
				last = level.p();
			}
			if (robust) {
				assertEquals(expected.toString(), actual.toString(), name);
			}
			SignificantLevels.Level before = null;
			double slack = plain.allowed(0.5);
			for (SignificantLevels.Level level : levels.breakpoints()) {
				if (before != null) {
					String where = name + ", breakpoints " + before.p() + " and " + level.p();
					assertEquals(plain.of(before.partition().at(level.p())).value(), plain.of(level.partition().at(level.p())).value(), slack, where);
					assertTrue(level.p() >= before.p() - 1e-9, where);
					assertTrue(level.partition().gain() >= before.partition().gain() - slack, where);
					assertTrue(level.partition().loss() >= before.partition().loss() - slack, where);
				}
				before = level;
			}
			SignificantLevels.Level first = SignificantLevels.balanced(a, Progress.NONE);
			partition(first.partition(), first.p(), ", first level");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = {"matmul-naive", "matmul-blocked", "bucketsort-dynamic", "bucketsort-fair", "stencil-serial", "stencil-parallel",
			"heap-reuse"})
	void recordedTraces(String trace) throws Exception {
		Path database = temp.resolve(trace + ".db");
		new ImportOperation(ROOT.resolve("testdata/traces").resolve(trace), name -> Stores.createFile(database, notice -> {
		})).call(Progress.NONE);
		try (TraceStore store = Stores.openFile(database)) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			Random random = new Random(trace.hashCode());
			Hierarchy pages = new AccessModels(table).hierarchy(ModelRequest.WHOLE_TREE, Progress.NONE);
			int number = 0;
			for (Dimension viewpoint : List.of(BasicDimensions.TYPE, BasicDimensions.THREAD, BasicDimensions.READ_WRITE, BasicDimensions.CPU)) {
				for (int slices : new int[] {1, 12, 25}) {
					number++;
					if ((number + trace.length()) % 3 == 0) {
						continue; // other traces have it
					}
					Metric metric = List.of(Metric.ACCESSES, Metric.WRITES, Metric.THREADS, Metric.EVENTS).get(number % 4);
					int rows = new int[] {20, 60, pages.leafCount() <= 300 && slices < 25 ? 0 : 30}[(number / 2) % 3];
					boolean grouped = number % 5 == 3;
					boolean equalTypes = number % 4 == 1;
					ModelRequest request = new AccessModels(table).wholeRequest().withViewpoint(viewpoint).withMetric(metric).withSlices(slices)
							.withSlicing(number % 2 == 0 ? Slicing.ADAPTIVE : Slicing.UNIFORM);
					Hierarchy h = grouped ? pages.grouped(store.producers(), 20) : pages;
					MicroscopicModel m = SharingGaps.closed(new AccessModels(table).model(request, h, Progress.NONE));
					AggregationOptions options = AggregationOptions.EXACT.withMinRows(rows == 0 ? 0 : h.leafCount() / rows)
							.withEqualTypes(equalTypes);
					new Case(trace + ", " + viewpoint + ", " + metric + ", " + request.slicing() + ", " + slices + " slices, " + rows + " rows"
							+ (grouped ? ", groups" : "") + (equalTypes ? ", equal types" : ""), m, options).checkAll(random, 6);
				}
			}
		}
	}

	/** Values as recorded programs have them, and those that binary arithmetic finds hard. */
	private static double[][][] values(Random random, int leaves, int slices, int types) {
		int kind = random.nextInt(7);
		double[][][] v = new double[leaves][slices][types];
		int one = random.nextInt(leaves * slices);
		for (int l = 0; l < leaves; l++) {
			for (int t = 0; t < slices; t++) {
				for (int k = 0; k < types; k++) {
					v[l][t][k] = switch (kind) {
					case 0 -> random.nextInt(3) == 0 ? 0 : 1L << random.nextInt(20);
					case 1 -> random.nextInt(9) == 0 ? 1 + random.nextInt(4) : 0;
					case 2 -> l * slices + t == one ? 8 : 0;
					case 3 -> random.nextInt(4) == 0 ? 1e12 + random.nextInt(1000) : random.nextInt(5);
					case 4 -> (l * 4 / leaves + t * 3 / slices) % (k + 2) == 0 ? 7 : 0;
					case 5 -> (l * 5 / leaves + t * 4 / slices + k) % 3 * 10 + random.nextInt(3);
					// a band that moves through memory
					default -> Math.abs(l * (double) slices / leaves - t) < 1.5 && random.nextInt(4) > 0 ? 1 + random.nextInt(6) : 0;
					};
				}
			}
		}
		return v;
	}

	/** The seed is the argument, and so in the name of the test. */
	@ParameterizedTest
	@ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30})
	void madeModels(long seed) throws Exception {
		Random random = new Random(seed);
		int slices = new int[] {1, 2, 4, 7, 8, 16, 21}[random.nextInt(7)];
		int nodes = 1 + random.nextInt(seed % 3 == 0 ? 8 : 70);
		Hierarchy h = Hierarchy.of(RandomModels.tree(random, nodes));
		if (seed % 4 == 0) {
			int[] weights = new int[h.leafCount()];
			for (int l = 0; l < weights.length; l++) {
				weights[l] = 1 + random.nextInt(5);
			}
			h = h.withLeafWeights(weights);
		}
		TimeSlices time = new TimeSlices(0, 1000L * slices, slices);
		if (seed % 5 == 2) {
			TreeSet<Long> bounds = new TreeSet<>(List.of(0L, 1_000_000L));
			while (bounds.size() <= slices) {
				bounds.add(1 + (long) (999_998 * Math.pow(random.nextDouble(), 3)));
			}
			time = TimeSlices.of(bounds.stream().mapToLong(x -> x).toArray());
		}
		double[][][] v = values(random, h.leafCount(), slices, 1 + random.nextInt(4));
		MicroscopicModel m = MicroscopicModel.ofDense(h, time, RandomModels.types(v[0][0].length), Metric.ACCESSES, null, v);
		AggregationOptions options = AggregationOptions.EXACT.withMinRows(random.nextInt(3) == 0 ? 0 : 1 + random.nextInt(8))
				.withEqualTypes(seed % 6 == 1);
		new Case("seed " + seed, m, options).checkAll(random, 10);
	}

	/** Traces of random accesses, as groups of pages. */
	@ParameterizedTest
	@ValueSource(longs = {1, 2, 3, 4, 5, 6})
	void madeTraces(long seed) throws Exception {
		Random random = new Random(seed);
		TraceCatalogue catalogue = Stores.inMemory();
		try (TraceWriter writer = catalogue.create("random")) {
			RandomTrace.write(writer, random, 100, 2000);
		}
		try (TraceStore store = catalogue.open(catalogue.list().get(0).id())) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			Hierarchy h = new AccessModels(table).hierarchy(ModelRequest.WHOLE_TREE, Progress.NONE).grouped(store.producers(), 20);
			AccessModels models = new AccessModels(table);
			MicroscopicModel m = models.model(models.wholeRequest().withViewpoint(BasicDimensions.THREAD).withSlices(3
					+ random.nextInt(15))
					.withSlicing(Slicing.ADAPTIVE), h, Progress.NONE);
			new Case("seed " + seed, m, AggregationOptions.EXACT.withMinRows(random.nextInt(10))).checkAll(random, 6);
		}
	}
}
