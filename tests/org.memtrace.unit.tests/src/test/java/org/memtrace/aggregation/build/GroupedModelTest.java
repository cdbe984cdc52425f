// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.build;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessCube;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.FewValues;
import org.memtrace.aggregation.RandomTrace;
import org.memtrace.aggregation.SavedSumsTest;
import org.memtrace.aggregation.base.SavedNumbers;
import org.memtrace.aggregation.engine.AggregationOptions;
import org.memtrace.aggregation.engine.BlockTree;
import org.memtrace.aggregation.engine.PartLosses;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.aggregation.engine.TemporalAggregator;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.SharingGaps;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.time.Slicing;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.storage.Stores;

/** A model of groups of pages has the sums, gains and losses of that of the pages; the saved one is the one that the accesses give. */
class GroupedModelTest {
	private static final long SEED = 99887766L;
	private static final int MOST_SINGLE = 20;

	private static TraceStore trace(Random random, int mostPages, int rows) throws MemtraceException {
		TraceCatalogue catalogue = Stores.inMemory();
		try (TraceWriter writer = catalogue.create("random")) {
			RandomTrace.write(writer, random, mostPages, rows);
		}
		return catalogue.open(catalogue.list().get(0).id());
	}

	private static double f(double v) {
		return v > 0 ? v * Math.log(v) / Math.log(2) : 0;
	}

	private static void assertNear(double wanted, double found, double scale, String about) {
		assertEquals(wanted, found, 1e-9 * Math.max(1, Math.abs(scale)), about);
	}

	private static byte[] bytes(MicroscopicModel model) {
		SavedNumbers.Out out = new SavedNumbers.Out("");
		model.write(out);
		return out.seal();
	}

	@Test
	void groupsLieInOneStructureAndAreSubtreesOrRunsOfSiblings() throws Exception {
		System.out.println("seed " + SEED);
		int several = 0;
		for (int i = 0; i < 40; i++) {
			Random random = new Random(SEED + i);
			try (TraceStore store = trace(random, 1 + random.nextInt(3000), 300)) {
				ProducerTree tree = store.producers();
				Hierarchy pages = Hierarchy.of(tree);
				Hierarchy h = pages.grouped(tree, MOST_SINGLE);
				if (pages.leafCount() <= MOST_SINGLE) {
					assertSame(pages, h);
					continue;
				}
				int groups = 0;
				for (int from = 0; from < h.leafCount(); from = h.groupEnd(from)) {
					int to = h.groupEnd(from);
					assertTrue(h.startsGroup(from) && to > from);
					groups++;
					several += to - from > 1 ? 1 : 0;
					int top = h.smallestContaining(from, to);
					ProducerKind kind = h.producer(top) < 0 ? ProducerKind.ROOT : tree.kind(h.producer(top));
					assertTrue(kind != ProducerKind.ROOT && kind != ProducerKind.IMAGE, "within one structure");
					boolean whole = h.leafFrom(top) == from && h.leafTo(top) == to;
					for (int c = h.firstChild(top); c >= 0 && !whole; c = h.nextSibling(c)) {
						boolean in = h.leafFrom(c) >= from && h.leafTo(c) <= to;
						boolean out = h.leafTo(c) <= from || h.leafFrom(c) >= to;
						assertTrue(in || out, "a child is cut");
					}
				}
				BlockTree blocks = BlockTree.of(h, h::weight, 1 + random.nextInt(20));
				for (int b = 0; b < blocks.size(); b++) {
					assertTrue(h.startsGroup(blocks.leafFrom(b)), "a block begins within a group");
					assertTrue(blocks.leafTo(b) == h.leafCount() || h.startsGroup(blocks.leafTo(b)), "a block ends within a group");
				}
				assertEquals(h.leafCount(), blocks.leafTo(0));
				assertTrue(groups <= h.leafCount());
			}
		}
		assertTrue(several > 0);
	}

	@Test
	void sumsGainsAndLossesAreThoseOfThePages() throws Exception {
		System.out.println("seed " + SEED);
		int groups = 0;
		int several = 0;
		int compared = 0;
		for (int i = 0; i < 24; i++) {
			Random random = new Random(SEED + i);
			try (TraceStore store = trace(random, 1 + random.nextInt(i % 4 == 0 ? 3000 : 60), 1 + random.nextInt(4000))) {
				AccessTable table = AccessTable.load(store, Progress.NONE);
				ModelRequest request = ModelRequest.firstPicture(store.info().startNs(), store.info().endNs())
						.withSlicing(random.nextBoolean() ? Slicing.UNIFORM : Slicing.ADAPTIVE).withSlices(1 + random.nextInt(12))
						.withViewpoint(List.of(BasicDimensions.TYPE, BasicDimensions.THREAD, BasicDimensions.CPU).get(random.nextInt(3)))
						.withMetric(List.of(Metric.ACCESSES, Metric.WRITES, Metric.EVENTS, Metric.THREADS).get(random.nextInt(4)));
				Hierarchy pages = new AccessModels(table).hierarchy(-1, Progress.NONE);
				Hierarchy grouped = pages.grouped(store.producers(), MOST_SINGLE);
				MicroscopicModel wanted = new AccessModels(table).model(request, pages, Progress.NONE);
				MicroscopicModel found = new AccessModels(table).model(request, grouped, Progress.NONE);
				assertEquals(wanted.types(), found.types());
				assertEquals(grouped.isGrouped(), found.isGrouped());
				int t = wanted.sliceCount();
				double all = 0;
				for (double v : wanted.totals()) {
					all += v;
				}
				for (int from = 0; grouped.isGrouped() && from < grouped.leafCount(); from = grouped.groupEnd(from)) {
					groups++;
					several += grouped.groupEnd(from) - from > 1 ? 1 : 0;
					for (int slice = 0; slice < t; slice++) {
						double[] a = wanted.sums(from, grouped.groupEnd(from), slice, slice + 1);
						double[] b = found.sums(from, grouped.groupEnd(from), slice, slice + 1);
						for (int k = 0; k < a.length; k++) {
							assertNear(a[k], b[k], a[k], "sum");
						}
					}
				}
				if (SharingGaps.closed(wanted) != wanted) {
					continue; // what is not known is closed by page or by group, which are other values
				}
				boolean equalTypes = random.nextBoolean() && all > 0;
				BlockTree.Measure rows = grouped::weight;
				AggregationOptions options = new AggregationOptions(rows, random.nextInt(3) == 0 ? 0 : 1 + random.nextInt(30), equalTypes);
				SpatiotemporalAggregator aggregator = SpatiotemporalAggregator.prepare(found, options, Progress.NONE);
				PartLosses byPages = PartLosses.of(wanted, sections(grouped), equalTypes);
				PartLosses byGroups = PartLosses.of(found, sections(grouped), equalTypes);
				double[] weight = wanted.sliceWeights();
				double[] scale = wanted.totals();
				for (double p : new double[] {0, 0.3, 0.8, 1}) {
					Partition partition = aggregator.partition(p, Progress.NONE);
					for (int b = 0; b < partition.blockCount(); b++) {
						double loss = 0;
						double size = 0;
						double[] sums = new double[wanted.typeCount()];
						double largest = 0;
						for (int slice = partition.firstSlice(b); slice < partition.endSlice(b); slice++) {
							size += weight == null ? 1 : weight[slice];
						}
						for (int leaf = partition.leafFrom(b); leaf < partition.leafTo(b); leaf++) {
							for (int slice = partition.firstSlice(b); slice < partition.endSlice(b); slice++) {
								for (int k = 0; k < sums.length; k++) {
									double v = wanted.value(leaf, slice, k) / (equalTypes && scale[k] > 0 ? scale[k] : 1);
									sums[k] += v;
									loss += f(v) - (v > 0 && weight != null ? v * Math.log(weight[slice]) / Math.log(2) : 0);
								}
							}
						}
						for (double s : sums) {
							double mean = s / ((partition.leafTo(b) - partition.leafFrom(b)) * size);
							loss -= s > 0 ? s * Math.log(mean) / Math.log(2) : 0;
							largest += Math.abs(f(s)) + s;
						}
						if (!equalTypes) {
							assertNear(loss, partition.loss(b), largest * 10, i + " loss of a block at " + p);
						}
					}
					double unit = equalTypes ? wanted.typeCount() : Math.max(1, f(all)); // where nothing is lost, shares of it are rounding
					for (int part = 0; part < byPages.count() && partition.rootLoss() > 1e-6 * unit; part++) {
						compared++;
						assertEquals(byPages.percent(partition, part), byGroups.percent(partition, part), 1e-4, i + " loss of a part");
					}
				}
				if (grouped.isGrouped()) {
					assertThrows(IllegalStateException.class, () -> TemporalAggregator.prepare(found));
					assertThrows(IllegalStateException.class, found::collapsed);
				}
			}
		}
		System.out.println(groups + " groups, " + several + " of several pages, " + compared + " losses of parts");
		assertTrue(compared > 50);
		assertTrue(several > 100);
	}

	private static int[] sections(Hierarchy h) {
		List<Integer> nodes = new ArrayList<>();
		for (int c = h.firstChild(0); c >= 0; c = h.nextSibling(c)) {
			nodes.add(c);
		}
		return nodes.isEmpty() ? new int[] {0} : nodes.stream().mapToInt(n -> n).toArray();
	}

	@Test
	void firstPicturesAreSavedAndAreThoseThatTheAccessesGive() throws Exception {
		System.out.println("seed " + SEED);
		Dimension structure = Dimensions.find("structure", Dimension.Use.COLOUR);
		List<Dimension> viewpoints = List.of(BasicDimensions.TYPE, BasicDimensions.THREAD, structure);
		int compared = 0;
		for (int i = 0; i < 12; i++) {
			Random random = new Random(SEED + i);
			try (TraceStore store = trace(random, 20 + random.nextInt(5000), 1 + random.nextInt(3000))) {
				ModelRequest first = ModelRequest.firstPicture(store.info().startNs(), store.info().endNs());
				AccessTable plain = AccessTable.of(store, store.accessSource(Progress.NONE));
				Hierarchy grouped = new AccessModels(plain).hierarchy(-1, Progress.NONE).grouped(store.producers(), MOST_SINGLE);
				if (!grouped.isGrouped()) {
					continue;
				}
				List<MicroscopicModel> wanted = new ArrayList<>();
				for (Dimension viewpoint : viewpoints) {
					wanted.add(new AccessModels(plain).model(first.withViewpoint(viewpoint), grouped, Progress.NONE));
				}
				assertTrue(Preparation.save(AccessTable.load(store, Progress.NONE), List.of(BasicDimensions.THREAD, structure, BasicDimensions.CPU),
						AccessCube.MOST_CELLS, MOST_SINGLE, Progress.NONE));
				assertTrue(store.readCache("pre-aggregates/picture-cpu").isEmpty(), "not of sums");
				AccessTable saved = AccessTable.ofSaved(store, new SavedSumsTest.Unreadable(store.accessSource(Progress.NONE)));
				Hierarchy savedGroups = new AccessModels(saved).hierarchy(-1, Progress.NONE).grouped(store.producers(), MOST_SINGLE);
				for (int v = 0; v < viewpoints.size(); v++) {
					MicroscopicModel found = new AccessModels(saved).model(first.withViewpoint(viewpoints.get(v)), savedGroups, Progress.NONE);
					assertEquals(wanted.get(v).types(), found.types());
					assertEquals(viewpoints.get(v), found.viewpoint());
					assertArrayEquals(bytes(wanted.get(v)), bytes(found), "without a look at the accesses");
					assertEquals(wanted.get(v).densities(), found.densities());
					compared++;
				}
				int which = random.nextInt(viewpoints.size());
				String key = "pre-aggregates/picture" + List.of("", "-thread", "-structure").get(which);
				byte[] good = store.readCache(key).orElseThrow();
				byte[] bad = good.clone();
				bad[5 + random.nextInt(bad.length - 5)] ^= (byte) (1 << random.nextInt(8));
				store.writeCache(key, bad);
				List<String> told = new ArrayList<>();
				AccessTable damaged = AccessTable.load(store, Progress.NONE).telling(told::add);
				assertArrayEquals(bytes(wanted.get(which)),
						bytes(new AccessModels(damaged).model(first.withViewpoint(viewpoints.get(which)), grouped, Progress.NONE)));
				assertEquals(1, told.size(), told.toString());
			}
		}
		assertTrue(compared >= 15, compared + " pictures");
	}

	@Test
	void aFirstPictureThatIsNotThereIsSavedWhenItIsAskedFor() throws Exception {
		try (TraceStore store = trace(new Random(SEED), 3000, 2000)) {
			ModelRequest byThread = ModelRequest.firstPicture(store.info().startNs(), store.info().endNs()).withViewpoint(BasicDimensions.THREAD);
			assertTrue(Preparation.save(AccessTable.load(store, Progress.NONE), List.of(), AccessCube.MOST_CELLS, MOST_SINGLE, Progress.NONE));
			assertTrue(store.readCache("pre-aggregates/picture-thread").isEmpty());
			AccessTable table = AccessTable.load(store, Progress.NONE);
			Hierarchy grouped = new AccessModels(table).hierarchy(-1, Progress.NONE).grouped(store.producers(), MOST_SINGLE);
			assertTrue(grouped.isGrouped());
			MicroscopicModel made = new AccessModels(table).model(byThread, grouped, Progress.NONE);
			assertFalse(store.readCache("pre-aggregates/picture-thread").isEmpty());
			AccessTable saved = AccessTable.ofSaved(store, new SavedSumsTest.Unreadable(store.accessSource(Progress.NONE)));
			Hierarchy savedGroups = new AccessModels(saved).hierarchy(-1, Progress.NONE).grouped(store.producers(), MOST_SINGLE);
			assertArrayEquals(bytes(made), bytes(new AccessModels(saved).model(byThread, savedGroups, Progress.NONE)));
		}
	}

	/** Of many structures those with the most accesses have colours: the saved sums tell which, as the accesses do. */
	@Test
	void structuresWithColoursAreKnownFromTheSavedSums() throws Exception {
		Dimension structure = Dimensions.find("structure", Dimension.Use.COLOUR);
		for (int i = 0; i < 4; i++) {
			TraceCatalogue catalogue = Stores.inMemory();
			try (TraceWriter writer = catalogue.create("many")) {
				RandomTrace.write(writer, new Random(SEED + i), 3, 3000, 120);
			}
			try (TraceStore store = catalogue.open(catalogue.list().get(0).id())) {
				FewValues wanted = (FewValues) FewValues.of(structure, AccessTable.of(store, store.accessSource(Progress.NONE)), Progress.NONE);
				assertTrue(Preparation.save(store, Progress.NONE));
				AccessTable saved = AccessTable.ofSaved(store, new SavedSumsTest.Unreadable(store.accessSource(Progress.NONE)));
				FewValues found = (FewValues) FewValues.of(structure, saved, Progress.NONE);
				assertEquals(FewValues.MOST, found.names().size());
				assertEquals(wanted.names(), found.names(), "seed " + (SEED + i));
			}
		}
	}

	@Test
	void smallTreesAndOtherQuestionsHaveNoGroups() throws Exception {
		try (TraceStore store = trace(new Random(SEED), 2000, 100)) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			Hierarchy pages = new AccessModels(table).hierarchy(-1, Progress.NONE);
			assertFalse(pages.isGrouped());
			assertSame(pages, pages.grouped(store.producers()));
			assertFalse(new AccessModels(table).model(new AccessModels(table).wholeRequest(), Progress.NONE).isGrouped());
		}
	}
}
