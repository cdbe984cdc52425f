// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.build;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.aggregation.AccessDetails;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.engine.RandomModels;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.time.TimeSlices;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.storage.Stores;

/** From access records to values: slices, metrics, viewpoints, windows, subtrees. */
public class ModelTest {
	private static final long START = 1000;
	private static final long END = 1100;
	private final AccessBatch batch = new AccessBatch(100_000);

	/** Two structures A (pages 2, 3) and B (pages 5, 6) below the root. */
	private AccessTable table() throws Exception {
		ProducerTreeBuilder tree = new ProducerTreeBuilder(4096);
		tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
		for (int s = 0; s < 2; s++) {
			long address = 0x10000 * (s + 1);
			tree.begin(ProducerKind.STRUCTURE, s == 0 ? "A" : "B", address, address + 8192, -1);
			tree.leaf(ProducerKind.PAGE, null, address, address + 4096, -1);
			tree.leaf(ProducerKind.PAGE, null, address + 4096, address + 8192, -1);
			tree.end();
		}
		tree.end();
		TraceCatalogue catalogue = Stores.inMemory();
		try (TraceWriter w = catalogue.create("t")) {
			List<ThreadInfo> threads = new ArrayList<>();
			for (int t = 0; t < 3; t++) {
				threads.add(new ThreadInfo(t, 0, 100 + t, "t", START, END, "", t == 0));
			}
			w.threads(threads);
			w.structures(List.of());
			w.cpuSets(List.of(bits(0), bits(1), bits(0, 1)));
			w.producers(tree.build());
			w.accesses(batch);
			w.intervals(List.of());
			TraceInfo info = w.commit(new TraceInfo(-1, "t", "t", TraceInfo.TYPE_MEMTRACE, "t", "h", "Linux", 2, batch.count, 7,
					START, END, Instant.EPOCH, 4096, "", Map.of()), "{}", Progress.NONE);
			return AccessTable.load(catalogue.open(info.id()), Progress.NONE);
		}
	}

	private static BitSet bits(int... cpus) {
		BitSet set = new BitSet();
		for (int c : cpus) {
			set.set(c);
		}
		return set;
	}

	private void add(long start, long end, int producer, int thread, int cpuSet, int reads, int writes, int sharing, int node) {
		batch.add(start, end, producer, thread, cpuSet, reads, writes, sharing, node, 0, 0);
	}

	private static double total(MicroscopicModel m) {
		double sum = 0;
		for (double t : m.totals()) {
			sum += t;
		}
		return sum;
	}

	@Test
	void sliceBoundsAreExact() {
		Random random = new Random(1);
		for (int i = 0; i < 2000; i++) {
			long start = random.nextLong() >> 2;
			long d = 1 + (random.nextLong() >>> 1 + random.nextInt(60) + 2);
			int t = 1 + random.nextInt(300);
			TimeSlices s = new TimeSlices(start, start + d, t);
			assertEquals(start, s.boundNs(0));
			assertEquals(start + d, s.boundNs(t));
			int k = random.nextInt(t);
			long expected = java.math.BigInteger.valueOf(d).multiply(java.math.BigInteger.valueOf(k))
					.divide(java.math.BigInteger.valueOf(t)).longValueExact();
			assertEquals(start + expected, s.boundNs(k), "d = " + d + ", T = " + t + ", i = " + k);
			long at = start + (long) (random.nextDouble() * (d - 1));
			int slice = s.sliceOf(at);
			assertTrue(s.boundNs(slice) <= at && at < s.boundNs(slice + 1), "slice of " + at + " is " + slice);
			assertEquals(t - 1, s.sliceOf(start + d));
		}
		assertThrows(IllegalArgumentException.class, () -> new TimeSlices(5, 5, 3));
	}

	/** The defects of the reference: an interval that starts on a slice boundary was dropped. */
	@Test
	void intervalsThatStartOnABoundary() throws Exception {
		add(1011, 1020, 2, 0, 0, 9, 0, 1, 0);
		add(1020, 1057, 2, 0, 0, 37, 0, 1, 0);
		MicroscopicModel m = new AccessModels(table()).model(new ModelRequest(BasicDimensions.TYPE, Metric.ACCESSES, 10, START, END, -1, null),
				Progress.NONE);
		assertEquals(9, m.value(0, 1, 0), 1e-12);
		assertEquals(10, m.value(0, 2, 0), 1e-12);
		assertEquals(10, m.value(0, 3, 0), 1e-12);
		assertEquals(10, m.value(0, 4, 0), 1e-12);
		assertEquals(7, m.value(0, 5, 0), 1e-12);
		assertEquals(46, total(m), 1e-9);
	}

	@Test
	void moreSlicesThanTicks() throws Exception {
		add(1003, 1007, 2, 0, 0, 4, 4, 1, 0);
		MicroscopicModel m = new AccessModels(table()).model(new ModelRequest(BasicDimensions.READ_WRITE, Metric.ACCESSES, 64, 1000, 1010,
				-1, null),
				Progress.NONE);
		assertEquals(8, total(m), 1e-12);
		assertEquals(1, m.value(0, new TimeSlices(1000, 1010, 64).sliceOf(1005), 0), 1e-12);
	}

	@Test
	void windowTakesItsPart() throws Exception {
		add(1000, 1040, 2, 0, 0, 40, 0, 1, 0);
		AccessTable t = table();
		ModelRequest all = new ModelRequest(BasicDimensions.TYPE, Metric.ACCESSES, 7, START, END, -1, null);
		assertEquals(40, total(new AccessModels(t).model(all, Progress.NONE)), 1e-9);
		assertEquals(15, total(new AccessModels(t).model(all.withWindow(1010, 1025), Progress.NONE)), 1e-9);
		assertEquals(0, total(new AccessModels(t).model(all.withWindow(1040, 1100), Progress.NONE)), 0);
		assertEquals(1, total(new AccessModels(t).model(all.withMetric(Metric.EVENTS), Progress.NONE)), 0);
		assertEquals(0, total(new AccessModels(t).model(all.withMetric(Metric.EVENTS).withWindow(1010, 1025), Progress.NONE)), 0);
	}

	@Test
	void viewpoints() throws Exception {
		add(1000, 1010, 2, 0, 0, 3, 1, 1, 0);
		add(1000, 1010, 2, 1, 2, 4, 0, 2, 1);
		add(1020, 1030, 5, -1, -1, 0, 2, 1, -1);
		AccessTable t = table();
		ModelRequest r = new ModelRequest(BasicDimensions.TYPE, Metric.ACCESSES, 10, START, END, -1, null);
		MicroscopicModel sharing = new AccessModels(t).model(r, Progress.NONE);
		assertEquals(List.of("Private_Read", "Private_Write", "Shared_Read", "Shared_Write"),
				sharing.types().stream().map(ModelType::name).toList());
		assertEquals(3, sharing.value(0, 0, 0));
		assertEquals(1, sharing.value(0, 0, 1));
		assertEquals(4, sharing.value(0, 0, 2));
		MicroscopicModel threads = new AccessModels(t).model(r.withViewpoint(BasicDimensions.THREAD), Progress.NONE);
		assertEquals(List.of("t #0", "t #1", "unknown"), threads.types().stream().map(ModelType::name).toList());
		assertEquals(2, threads.value(2, 2, 2));
		MicroscopicModel cpus = new AccessModels(t).model(r.withViewpoint(BasicDimensions.CPU), Progress.NONE);
		assertEquals(6, cpus.value(0, 0, 0), "own 4 and half of the other 4");
		assertEquals(2, cpus.value(0, 0, 1));
		MicroscopicModel nodes = new AccessModels(t).model(r.withViewpoint(BasicDimensions.NODE), Progress.NONE);
		assertEquals(3, nodes.typeCount());
		MicroscopicModel reads = new AccessModels(t).model(r.withMetric(Metric.READS), Progress.NONE);
		assertEquals(7, total(reads));
		assertEquals(3, total(new AccessModels(t).model(r.withMetric(Metric.WRITES), Progress.NONE)));
		assertEquals(2, new AccessModels(t).model(r.withViewpoint(BasicDimensions.THREAD).withMetric(Metric.THREADS), Progress.NONE).sums(0,
				1, 0, 1)[0]
				+ new AccessModels(t).model(r.withViewpoint(BasicDimensions.THREAD).withMetric(Metric.THREADS), Progress.NONE).sums(0, 1, 0, 1)[1]);
		MicroscopicModel shared = new AccessModels(t).model(r.withTypes(Pattern.compile("Shared")), Progress.NONE);
		assertEquals(2, shared.typeCount());
		assertEquals(4, total(shared));
		assertEquals(1, new AccessModels(t).model(r.withTypes(Pattern.compile("nothing at all")), Progress.NONE).typeCount());
		MicroscopicModel b = new AccessModels(t).model(r.withProducer(4), Progress.NONE);
		assertEquals(2, b.hierarchy().leafCount());
		assertEquals(2, total(b));
	}

	@Test
	void threadsAreCountedOnce() throws Exception {
		add(1000, 1010, 2, 0, 0, 3, 1, 1, 0);
		add(1010, 1020, 2, 0, 0, 3, 0, 1, 0);
		add(1010, 1020, 2, 1, 0, 3, 0, 1, 0);
		add(1010, 1020, 2, -1, 0, 3, 0, 1, 0);
		MicroscopicModel m = new AccessModels(table()).model(new ModelRequest(BasicDimensions.READ_WRITE, Metric.THREADS, 2, START, START
				+ 40, -1, null),
				Progress.NONE);
		assertEquals(2, m.value(0, 0, 0), "threads 0 and 1 read; nobody is not a thread");
		assertEquals(1, m.value(0, 0, 1));
		MicroscopicModel byThread = new AccessModels(table()).model(new ModelRequest(BasicDimensions.THREAD, Metric.THREADS, 2, START, START
				+ 40, -1, null),
				Progress.NONE);
		assertEquals(List.of("t #0", "t #1"), byThread.types().stream().map(ModelType::name).toList());
		assertEquals(2, total(byThread), "one use by each of two threads, none by unknown");
	}

	/** An interval that ends where a slice begins is not in that slice. */
	@Test
	void aThreadIsNotInTheSliceAfterItsInterval() throws Exception {
		add(1000, 1010, 2, 0, 0, 3, 0, 1, 0);
		add(1010, 1020, 2, 1, 0, 3, 0, 1, 0);
		MicroscopicModel m = new AccessModels(table()).model(new ModelRequest(BasicDimensions.READ_WRITE, Metric.THREADS, 4, START, START
				+ 40, -1, null),
				Progress.NONE);
		assertEquals(1, m.value(0, 0, 0));
		assertEquals(1, m.value(0, 1, 0), "thread 1 alone");
		assertEquals(0, m.value(0, 2, 0));
		assertEquals(2, total(m));
	}

	public static List<Dimension> dimensions() {
		return List.of(BasicDimensions.TYPE, BasicDimensions.THREAD, BasicDimensions.READ_WRITE, BasicDimensions.CPU,
				BasicDimensions.NODE);
	}

	/** Threads of each cell, in windows that cut records and slices of less than a tick, against their definition. */
	@ParameterizedTest
	@MethodSource("dimensions")
	void threadsAreThoseOfTheDefinition(Dimension viewpoint) throws Exception {
		Random random = new Random(18);
		for (int i = 0; i < 120; i++) {
			long start = START + random.nextInt(99);
			add(start, Math.min(END, start + 1 + random.nextInt(i % 3 == 0 ? 40 : 4)), new int[] { 2, 3, 5, 6 }[random.nextInt(4)],
					random.nextInt(4) - 1, random.nextInt(4) - 1, i % 3, i % 3 == 0 ? 1 : random.nextInt(2), 1 + random.nextInt(2),
					random.nextInt(3) - 1);
		}
		sortBatch();
		AccessTable table = table();
		for (int slices : new int[] {1, 7, 73, 200}) {
			MicroscopicModel m = new AccessModels(table).model(new ModelRequest(viewpoint, Metric.THREADS, slices, START + 10, START + 83, -1, null),
					Progress.NONE);
			double sum = 0;
			for (int leaf = 0; leaf < 4; leaf++) {
				int producer = m.hierarchy().producer(m.hierarchy().leafNode(leaf));
				for (int t = 0; t < slices; t++) {
					for (int k = 0; k < m.typeCount(); k++) {
						BitSet seen = new BitSet();
						for (int i = 0; i < batch.count; i++) {
							if (batch.producer[i] == producer && overlap(i, m.slices().boundNs(t), m.slices().boundNs(t + 1)) > 0
									&& amount(m, i, m.types().get(k)) > 0
									&& batch.thread[i] >= 0) {
								seen.set(batch.thread[i]);
							}
						}
						assertEquals(seen.cardinality(), m.value(leaf, t, k), viewpoint + ", slice " + t + " of " + slices);
						sum += seen.cardinality();
					}
				}
			}
			assertTrue(sum > 4);
		}
	}

	/** Of records that begin at the same time the one with the lowest producer, then the first one, tells who came first. */
	@Test
	void whoCameFirst() throws Exception {
		add(1000, 1010, 2, -1, 0, 1, 0, 1, 0);
		add(1005, 1010, 3, 2, 0, 1, 0, 1, 0);
		add(1005, 1010, 3, 1, 0, 1, 0, 1, 0);
		add(1005, 1010, 5, 0, 0, 1, 0, 1, 0);
		add(1006, 1010, 2, 1, 0, 1, 0, 1, 0);
		AccessDetails d = table().details(0);
		assertEquals(2, d.firstThread(), "the first of the earliest with a thread, in the order of the tree");
		assertEquals(1000, d.firstNs());
		assertArrayEquals(new int[] { 1, 0, 1 }, d.firstTouchPages(), "page 3: thread 2, page 5: 0; page 2: not known, its first record has none");
		assertEquals(0, table().details(4, 7, START, END).firstThread());
		assertEquals(-1, table().details(0, 7, 1000, 1005).firstThread());
	}

	@Test
	void innerProducersWithAccesses() throws Exception {
		add(1000, 1010, 1, 0, 0, 5, 0, 1, 0);
		add(1000, 1010, 2, 0, 0, 1, 0, 1, 0);
		AccessTable t = table();
		AccessModels models = new AccessModels(t);
		MicroscopicModel m = models.model(models.wholeRequest(), Progress.NONE);
		assertEquals(5, m.hierarchy().leafCount(), "an artificial leaf for A itself");
		assertTrue(m.hierarchy().isArtificial(m.hierarchy().leafNode(0)));
		assertEquals(6, total(m), 1e-12);
		assertEquals(5, m.sums(0, 1, 0, m.sliceCount())[0], 1e-12);
	}

	@ParameterizedTest
	@MethodSource("dimensions")
	void nothingIsLost(Dimension viewpoint) throws Exception {
		Random random = new Random(7);
		double reads = 0;
		for (int i = 0; i < 5000; i++) {
			long start = START + random.nextInt(90);
			int r = 1 + random.nextInt(9);
			reads += r;
			add(start, start + 1 + random.nextInt((int) (END - start)), new int[] {2, 3, 5, 6}[random.nextInt(4)],
					random.nextInt(4) - 1, random.nextInt(4) - 1, r, 0, random.nextInt(4), random.nextInt(3) - 1);
		}
		// the writer wants batches ordered by start: sort by rebuilding
		sortBatch();
		AccessTable t = table();
		for (int slices : new int[] {1, 3, 10, 97, 250}) {
			MicroscopicModel m = new AccessModels(t).model(new ModelRequest(viewpoint, Metric.ACCESSES, slices, START, END, -1, null),
					Progress.NONE);
			assertEquals(reads, total(m), 1e-6 * reads, viewpoint + " with " + slices + " slices");
		}
		AccessDetails d = t.details(0);
		assertEquals(reads, d.accesses(), 1e-6);
		assertEquals(4, d.pages());
		assertFalse(d.threads().isEmpty());
		double halves = t.details(0, 7, START, START + 33).accesses() + t.details(0, 7, START + 33, END).accesses();
		assertEquals(reads, halves, 1e-6 * reads);
	}

	private void sortBatch() {
		Integer[] order = new Integer[batch.count];
		java.util.Arrays.setAll(order, i -> i);
		java.util.Arrays.sort(order, (a, b) -> Long.compare(batch.startNs[a], batch.startNs[b]));
		AccessBatch copy = new AccessBatch(batch.count);
		for (int i : order) {
			copy.add(batch.startNs[i], batch.endNs[i], batch.producer[i], batch.thread[i], batch.cpuSet[i], batch.reads[i],
					batch.writes[i], batch.sharing[i], batch.node[i], 0, 0);
		}
		batch.count = 0;
		for (int i = 0; i < copy.count; i++) {
			batch.add(copy.startNs[i], copy.endNs[i], copy.producer[i], copy.thread[i], copy.cpuSet[i], copy.reads[i],
					copy.writes[i], copy.sharing[i], copy.node[i], 0, 0);
		}
	}

	/** The value of a cell does not depend on the window that shows it, when slices agree. */
	@ParameterizedTest
	@ValueSource(longs = {91, 92})
	void zoomShowsTheSameValues(long seed) throws Exception {
		Random random = new Random(seed);
		for (int i = 0; i < 300; i++) {
			long start = START + i % 95;
			add(start, start + 1 + random.nextInt((int) (END - start)), 2 + i % 2, i % 3, 0, 1 + i % 4, i % 2, 1, 0);
		}
		sortBatch();
		AccessTable t = table();
		MicroscopicModel all = new AccessModels(t).model(new ModelRequest(BasicDimensions.TYPE, Metric.ACCESSES, 20, START, END, -1, null),
				Progress.NONE);
		MicroscopicModel part = new AccessModels(t).model(new ModelRequest(BasicDimensions.TYPE, Metric.ACCESSES, 8, START + 30, START + 70,
				-1, null),
				Progress.NONE);
		for (int leaf = 0; leaf < 2; leaf++) {
			for (int s = 0; s < 8; s++) {
				for (int k = 0; k < 4; k++) {
					assertEquals(all.value(leaf, s + 6, k), part.value(leaf, s, k), 1e-9, "seed " + seed);
				}
			}
		}
	}

	/** Sums of large blocks come from an index; they are those of the single values. */
	@ParameterizedTest
	@ValueSource(longs = {31, 32, 33})
	void sumsOfLargeBlocksAreThoseOfTheirValues(long seed) {
		Random random = new Random(seed);
		Hierarchy h = Hierarchy.of(RandomModels.tree(random, 6000));
		MicroscopicModel m = RandomModels.model(h, RandomModels.values(random, h.leafCount(), 7, 3));
		assertTrue(h.leafCount() > 2000);
		for (int i = 0; i < 30; i++) {
			int from = random.nextInt(h.leafCount());
			int to = from + 1 + random.nextInt(h.leafCount() - from);
			int first = random.nextInt(7);
			int end = first + 1 + random.nextInt(7 - first);
			double[] expected = new double[3];
			for (int leaf = from; leaf < to; leaf++) {
				for (int t = first; t < end; t++) {
					for (int k = 0; k < 3; k++) {
						expected[k] += m.value(leaf, t, k);
					}
				}
			}
			assertArrayEquals(expected, m.sums(from, to, first, end), 1e-6, "seed " + seed);
		}
	}

	/** Every viewpoint and metric in a window that cuts records, against their definitions, cell by cell. */
	@ParameterizedTest
	@MethodSource("dimensions")
	void valuesAreThoseOfTheDefinition(Dimension viewpoint) throws Exception {
		Random random = new Random(17);
		for (int i = 0; i < 200; i++) {
			long start = START + random.nextInt(99);
			boolean a = random.nextBoolean();
			add(start, Math.min(END, start + 1 + random.nextInt(i % 3 == 0 ? 60 : 4)), (a ? 2 : 5) + random.nextInt(2),
					random.nextInt(4) - 1, random.nextInt(4) - 1, i % 3, i % 3 == 0 ? 1 : random.nextInt(2), 1 + random.nextInt(2),
					random.nextInt(3) - 1);
		}
		sortBatch();
		AccessTable table = table();
		for (Metric metric : List.of(Metric.ACCESSES, Metric.READS, Metric.WRITES, Metric.EVENTS)) {
			for (int slices : new int[] {1, 7, 90}) {
				ModelRequest request = new ModelRequest(viewpoint, metric, slices, START + 10, START + 83, -1, null);
				MicroscopicModel m = new AccessModels(table).model(request, Progress.NONE);
				for (int leaf = 0; leaf < 4; leaf++) {
					for (int t = 0; t < slices; t++) {
						for (int k = 0; k < m.typeCount(); k++) {
							assertEquals(naive(m, m.hierarchy().producer(m.hierarchy().leafNode(leaf)), t, m.types().get(k)),
									m.value(leaf, t, k), 1e-9, viewpoint + " " + metric + " " + slices);
						}
					}
				}
				assertEquals(naiveTotal(m), java.util.Arrays.stream(m.totals()).sum(), 1e-6, viewpoint + " " + metric);
			}
		}
	}

	/** Sum over everything of what falls into the window, so that no type is missing. */
	private double naiveTotal(MicroscopicModel m) {
		double sum = 0;
		for (int i = 0; i < batch.count; i++) {
			long r = m.metric() == Metric.WRITES ? 0 : batch.reads[i];
			long w = m.metric() == Metric.READS ? 0 : batch.writes[i];
			if (m.metric() == Metric.EVENTS) {
				boolean two = m.viewpoint() == BasicDimensions.TYPE || m.viewpoint() == BasicDimensions.READ_WRITE;
				sum += batch.startNs[i] < m.slices().startNs() || batch.startNs[i] >= m.slices().endNs() ? 0
						: two ? (r > 0 ? 1 : 0) + (w > 0 ? 1 : 0) : 1;
			} else {
				sum += (r + w) * overlap(i, m.slices().startNs(), m.slices().endNs());
			}
		}
		return sum;
	}

	/** Share of a record in a piece of time. */
	private double overlap(int i, long from, long to) {
		return Math.max(0, Math.min(to, batch.endNs[i]) - Math.max(from, batch.startNs[i]))
				/ (double) (batch.endNs[i] - batch.startNs[i]);
	}

	private double naive(MicroscopicModel m, int producer, int slice, ModelType type) {
		TimeSlices s = m.slices();
		double sum = 0;
		for (int i = 0; i < batch.count; i++) {
			if (batch.producer[i] != producer) {
				continue;
			}
			double amount = amount(m, i, type);
			if (m.metric() == Metric.EVENTS) {
				boolean here = batch.startNs[i] >= s.startNs() && batch.startNs[i] < s.endNs()
						&& s.sliceOf(batch.startNs[i]) == slice;
				sum += here ? amount : 0;
			} else {
				sum += amount * overlap(i, s.boundNs(slice), s.boundNs(slice + 1));
			}
		}
		return sum;
	}

	/** What a record adds to a type if all of it counts. */
	private double amount(MicroscopicModel m, int i, ModelType type) {
		double reads = m.metric() == Metric.WRITES ? 0 : batch.reads[i];
		double writes = m.metric() == Metric.READS ? 0 : batch.writes[i];
		int threads = batch.sharing[i];
		double both = reads + writes;
		if (m.metric() == Metric.EVENTS) {
			reads = Math.signum(reads);
			writes = Math.signum(writes);
			both = 1;
		}
		BitSet cpus = batch.cpuSet[i] < 0 ? bits() : List.of(bits(0), bits(1), bits(0, 1)).get(batch.cpuSet[i]);
		return switch (type.role()) {
		case PRIVATE_READ -> threads == 1 ? reads : 0;
		case PRIVATE_WRITE -> threads == 1 ? writes : 0;
		case SHARED_READ -> threads > 1 ? reads : 0;
		case SHARED_WRITE -> threads > 1 ? writes : 0;
		case NOT_KNOWN_READ -> threads == AccessBatch.SHARING_NOT_KNOWN ? reads : 0;
		case NOT_KNOWN_WRITE -> threads == AccessBatch.SHARING_NOT_KNOWN ? writes : 0;
		case READ -> reads;
		case WRITE -> writes;
		case THREAD -> batch.thread[i] == type.index() ? both : 0;
		case NODE -> batch.node[i] == type.index() ? both : 0;
		case CPU -> cpus.get(type.index()) ? both / cpus.cardinality() : 0;
		default -> switch (m.viewpoint().id()) {
		case "thread" -> batch.thread[i] < 0 ? both : 0;
		case "node" -> batch.node[i] < 0 ? both : 0;
		default -> cpus.isEmpty() ? both : 0;
		};
		};
	}

	/** The 95th percentile by time: of a hundred equal cells five are denser, and a long sparse slice counts for what it lasts. */
	@Test
	void densitiesAreWeightedByTime() {
		double[][][] v = new double[1][100][1];
		for (int t = 0; t < 100; t++) {
			v[0][t][0] = 1 + t * 37 % 100;
		}
		MicroscopicModel even = RandomModels.model(Hierarchy.of(new int[] {-1, 0}), v);
		assertEquals(95 / 1000.0, even.densities().reference(), 1e-12);
		assertEquals(0.05, even.densities().above(), 1e-12);
		assertEquals(100 / 1000.0, even.densities().most(), 1e-12);
		MicroscopicModel uneven = MicroscopicModel.ofDense(Hierarchy.of(new int[] {-1, 0}), TimeSlices.of(new long[] {0, 96, 100}),
				RandomModels.types(1), Metric.ACCESSES, null, new double[][][] {{{96}, {20}}});
		assertEquals(1, uneven.densities().reference(), 1e-12);
		assertEquals(0.04, uneven.densities().above(), 1e-12);
		assertEquals(5, uneven.densities().most(), 1e-12);
	}
}
