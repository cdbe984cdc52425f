// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.base.PackedColumn;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.build.ModelTest;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.analysis.MadeTrace;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.statistics.PageUse;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.ChunkInfo;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;

/** Whatever the chunks are, also such in the middle of a page, packed or not: the answers are the same. */
class AccessScanTest {
	private static final long SEED = 20261122;
	private static final Set<AccessColumn> ALL = EnumSet.allOf(AccessColumn.class);

	private final Random random = new Random(SEED);
	private TraceStore store;
	private AccessTable table;

	@BeforeEach
	void setUp() throws Exception {
		System.out.println("seed " + SEED);
		store = SyntheticTrace.matrixMultiplication(64, 30);
		table = AccessTable.load(store, Progress.NONE);
	}

	@AfterEach
	void tearDown() {
		store.close();
	}

	private Rechunked rechunked(int most) throws MemtraceException {
		return new Rechunked(store.accessSource(Progress.NONE), random, most);
	}

	private static String text(MicroscopicModel m) {
		StringBuilder b = new StringBuilder(m.types().toString());
		for (int leaf = 0; leaf < m.hierarchy().leafCount(); leaf++) {
			b.append(Arrays.toString(m.sums(leaf, leaf + 1, 0, m.sliceCount()))).append(Arrays.toString(m.sums(leaf, leaf + 1, 1, 4)));
		}
		return b.toString();
	}

	private static String text(AccessDetails d) {
		return d.records() + " " + d.reads() + " " + d.writes() + " " + d.sharedReads() + " " + d.sharedWrites() + " " + d.threads()
				+ Arrays.toString(d.accessesByThread()) + d.pages() + " " + d.sharedPages() + " " + d.writeSharedPages() + " "
				+ d.writeSharedIntervals() + " " + d.multiThreadPages() + " " + d.handedOnPages() + " " + d.firstNs() + " " + d.lastNs() + " "
				+ d.firstThread() + Arrays.toString(d.firstTouchPages());
	}

	@Test
	void modelsAndDetailsDoNotDependOnTheChunks() throws Exception {
		for (int most : new int[] {1, 2, 7, 64, 1000, 1 << 20}) {
			AccessTable other = AccessTable.of(store, rechunked(most));
			for (Dimension v : ModelTest.dimensions()) {
				for (Metric metric : new Metric[] {Metric.ACCESSES, Metric.WRITES, Metric.EVENTS, Metric.THREADS}) {
					ModelRequest request = new AccessModels(table).wholeRequest().withViewpoint(v).withMetric(metric).withSlices(12);
					assertEquals(text(new AccessModels(table).model(request, Progress.NONE)), text(new AccessModels(other).model(request, Progress.NONE)),
							v + " " + metric + " in chunks of " + most);
				}
			}
			for (int id = 0; id < store.producers().size(); id += 17) {
				assertEquals(text(table.details(id)), text(other.details(id)), "producer " + id + " in chunks of " + most);
			}
		}
	}

	/**
	 * A page that goes on in the next chunk: the first thread stays, also when it has number 0; one that is known comes after one that is not.
	 */
	@Test
	void firstTouchesDoNotDependOnTheChunks() throws Exception {
		MadeTrace made = new MadeTrace(3, 4, 100);
		int a = made.structure("A", 4);
		made.access(0, a, 0, 0, 1, 0);
		made.access(0, a, 0, 1, 1, 0);
		made.access(0, a, 0, 2, 0, 1);
		made.access(1, a, 0, 2, 0, 1);
		made.access(1, a, 1, 2, 1, 0);
		made.access(1, a, 1, 0, 1, 0);
		made.access(2, a, 2, 1, 1, 0);
		made.access(3, a, 2, 0, 1, 0);
		try (TraceStore small = made.open()) {
			for (int most : new int[] {1, 2, 3, 100}) {
				FirstTouches f = AccessTable.of(small, new Rechunked(small.accessSource(Progress.NONE), random, most))
						.firstTouches(Progress.NONE);
				assertEquals("0 2 1", f.thread(0) + " " + f.thread(1) + " " + f.thread(2), "in chunks of " + most);
				assertEquals(MadeTrace.START_NS, f.startNs(0));
			}
		}
		FirstTouches whole = table.firstTouches(Progress.NONE);
		for (int most : new int[] {1, 5, 64}) {
			FirstTouches f = AccessTable.of(store, rechunked(most)).firstTouches(Progress.NONE);
			assertEquals(whole.count(), f.count());
			for (int i = 0; i < f.count(); i++) {
				assertEquals(whole.producer(i) + " " + whole.thread(i) + " " + whole.startNs(i) + " " + whole.endNs(i),
						f.producer(i) + " " + f.thread(i) + " " + f.startNs(i) + " " + f.endNs(i), "in chunks of " + most);
			}
		}
	}

	/** What a thread without a name may have touched first is nobody's: not that of the thread that is known next. */
	@Test
	void theFirstThatIsKnownIsNotTheFirst() throws Exception {
		MadeTrace made = new MadeTrace(3, 4, 100);
		int a = made.structure("A", 4);
		made.access(0, a, 0, -1, 1, 0); // in an interval before
		made.access(1, a, 0, 1, 1, 0);
		made.access(0, a, 1, 1, 1, 0); // in the same interval, nobody knows when
		made.first(7, 1);
		made.access(0, a, 1, -1, 1, 0);
		made.access(0, a, 2, 2, 1, 0); // in the same interval, later
		made.first(7, 1);
		made.access(0, a, 2, -1, 1, 0);
		made.first(9, 1);
		made.access(0, a, 3, 2, 1, 0); // in an interval after
		made.access(1, a, 3, -1, 1, 0);
		try (TraceStore small = made.open()) {
			for (int most : new int[] {1, 2, 3, 100}) {
				AccessTable t = AccessTable.of(small, new Rechunked(small.accessSource(Progress.NONE), random, most));
				FirstTouches f = t.firstTouches(Progress.NONE);
				assertEquals("-1 -1 2 2", f.thread(0) + " " + f.thread(1) + " " + f.thread(2) + " " + f.thread(3), "in chunks of " + most);
				assertEquals("[0, 0, 2]", Arrays.toString(t.details(0, small.producers().size(), Long.MIN_VALUE, Long.MAX_VALUE).firstTouchPages()));
				List<String> pages = new ArrayList<>();
				PageUse.visit(t, AccessFilter.of(AccessQuery.ALL), Progress.NONE, p -> pages.add(p.firstThread() + "/" + p.firstWriter()));
				assertEquals("[-1/-1, -1/-1, 2/-1, 2/-1]", pages.toString());
			}
		}
	}

	@Test
	void detailsOfManyRangesAreThoseOfEach() throws Exception {
		AccessTable other = AccessTable.of(store, rechunked(50));
		int n = store.producers().size();
		int[] from = {0, n / 5, n / 2, n / 2 + 1, n - 3};
		int[] to = {n / 5, n / 3, n / 2 + 1, n - 10, n};
		long start = store.info().startNs() + 30_000_000; // at the bounds of intervals: sums are whole numbers
		List<AccessDetails> all = other.details(from, to, start, start + 110_000_000, Progress.NONE);
		for (int i = 0; i < from.length; i++) {
			assertEquals(text(table.details(from[i], to[i], start, start + 110_000_000)), text(all.get(i)), "range " + i);
		}
	}

	@Test
	void packedChunksAreTheSame() throws Exception {
		Rechunked plain = rechunked(300);
		for (long limit : new long[] {0, 2_000, 20_000, Long.MAX_VALUE / 2}) {
			PackedSource packed = new PackedSource(plain, limit);
			AccessChunk a = new AccessChunk();
			AccessChunk b = new AccessChunk();
			for (int i = 0; i < 500; i++) {
				int chunk = random.nextInt(plain.chunks());
				EnumSet<AccessColumn> wanted = EnumSet.noneOf(AccessColumn.class);
				for (AccessColumn c : AccessColumn.values()) {
					if (random.nextInt(3) == 0) {
						wanted.add(c);
					}
				}
				plain.read(chunk, wanted, a);
				packed.read(chunk, wanted, b);
				assertEquals(text(a, wanted), text(b, wanted), wanted + " of chunk " + chunk + ", limit " + limit);
			}
			assertTrue(packed.memoryBytes() <= limit, packed.memoryBytes() + " > " + limit);
			if (limit == 0 || limit > 1 << 30) { // between them the sources of tests before, which no collection has found yet, may take all
				assertEquals(limit > 0, packed.memoryBytes() > 0);
			}
		}
	}

	private static String text(AccessChunk c, Set<AccessColumn> columns) {
		StringBuilder b = new StringBuilder(c.rows + " " + c.leaves + Arrays.toString(Arrays.copyOf(c.leaf, c.leaves))
				+ Arrays.toString(Arrays.copyOf(c.leafFrom, c.leaves + 1)));
		for (int r = 0; r < c.rows; r++) {
			for (AccessColumn column : columns) {
				b.append(' ').append(switch (column) {
				case TIME -> c.startNs(r) + "-" + c.endNs(r);
				case THREAD -> c.thread[r];
				case CPU_SET -> c.cpuSet[r];
				case READS -> c.reads[r];
				case WRITES -> c.writes[r];
				case SHARING -> c.sharing[r];
				case NODE -> c.node[r];
				case FLAGS -> c.flags[r];
				case IP -> c.ip[r];
				case READ_OFFSET -> c.readOffset[r];
				case WRITE_OFFSET -> c.writeOffset[r];
				case FIRST -> c.firstNs[r];
				});
			}
		}
		return b.toString();
	}

	@Test
	void columnsOfExtremeNumbersArePacked() {
		for (long[] values : new long[][] {{}, {5}, {5, 5}, {0, 255}, {0, 256}, {-1, 254}, {-1, 65534}, {-1, 65535}, {7, 7 + 0xffffffffL},
			{7, 8 + 0xffffffffL}, {Long.MIN_VALUE, Long.MAX_VALUE, 0, -1}, {1L << 40, 3}}) {
			PackedColumn c = PackedColumn.of(values, values.length);
			long[] out = new long[values.length];
			c.copyTo(out);
			assertArrayEquals(values, out);
		}
		int[] ints = {Integer.MIN_VALUE, -1, 0, Integer.MAX_VALUE};
		int[] out = new int[ints.length];
		PackedColumn.of(ints).copyTo(out);
		assertArrayEquals(ints, out);
		assertEquals(1, PackedColumn.of(new long[] {0, 255}, 2).width());
		assertEquals(2, PackedColumn.of(new long[] {0, 256}, 2).width());
		assertEquals(0, PackedColumn.of(new long[] {9, 9}, 2).width());
	}

	@Test
	void aDamagedChunkIsSkippedAndCountedOnce() throws Exception {
		Rechunked source = rechunked(200);
		source.damaged = source.chunks() / 2;
		AccessTable other = AccessTable.of(store, source);
		assertTrue(other.lost().isNone());
		ChunkInfo lost = source.info(source.damaged);
		for (int i = 0; i < 3; i++) {
			AccessDetails all = table.details(0);
			AccessDetails some = other.details(0);
			assertEquals(all.records() - lost.rows(), some.records());
			assertEquals(all.reads() - lost.reads(), some.reads());
			assertEquals(all.writes() - lost.writes(), some.writes());
			new AccessModels(other).model(new AccessModels(other).wholeRequest(), Progress.NONE);
		}
		assertEquals(1, other.lost().chunks());
		assertEquals(lost.rows(), other.lost().accesses());
		assertTrue(other.lost().text().contains("test.db: chunk " + source.damaged), other.lost().text());
		AccessMask mask = new AccessMask();
		mask.keep(BasicDimensions.THREAD, BasicDimensions.THREAD.values(other, Progress.NONE), t -> t == 1);
		assertEquals(1, other.filtered(mask).lost().chunks(), "filters lose no losses");
	}

	/** A record that reads and writes has a half that is wanted, and one that is not. */
	@Test
	void whatIsNotWantedOfARecordIsItsOtherHalf() throws Exception {
		AccessTable all = AccessTable.of(store, rechunked(77));
		for (int type = 0; type < 2; type++) { // reads are even, writes odd
			long wanted = type;
			AccessMask one = new AccessMask();
			one.keep(BasicDimensions.TYPE, BasicDimensions.TYPE.values(all, Progress.NONE), t -> t % 2 == wanted);
			AccessMask none = new AccessMask();
			none.keepAny(List.of(one), true);
			AccessDetails in = all.filtered(one).details(0);
			AccessDetails out = all.filtered(none).details(0);
			assertEquals(all.details(0).reads(), in.reads() + out.reads());
			assertEquals(all.details(0).writes(), in.writes() + out.writes());
			assertTrue(in.records() + out.records() > all.records(), "some do both");
			assertEquals(0, type == 0 ? out.reads() + in.writes() : out.writes() + in.reads());
		}
	}

	@Test
	void rowsByNumberAreThoseOfTheScan() throws Exception {
		AccessTable other = AccessTable.of(store, rechunked(77));
		AccessMask mask = new AccessMask();
		mask.keep(BasicDimensions.THREAD, BasicDimensions.THREAD.values(other, Progress.NONE), t -> t != 2);
		mask.keep(BasicDimensions.TYPE, BasicDimensions.TYPE.values(other, Progress.NONE), t -> t != 1);
		for (AccessTable t : List.of(other, other.filtered(mask))) {
			DimensionValues values = BasicDimensions.THREAD.values(t, Progress.NONE);
			AccessCursor cursor = t.cursor(ALL, values, Progress.NONE);
			long[] sums = new long[4];
			for (int i = 0; i < t.records(); i++) {
				cursor.at(i);
				sums[0] += cursor.reads();
				sums[1] += cursor.writes();
				assertEquals(cursor.thread(), cursor.property());
			}
			for (int i = 0; i < 200; i++) {
				cursor.at(random.nextInt((int) t.records()));
			}
			AccessDetails d = t.details(0);
			assertEquals(d.records(), t.records());
			assertEquals(d.reads(), sums[0]);
			assertEquals(d.writes(), sums[1]);
			assertEquals(t.records(), t.rowsBefore(store.producers().size(), Progress.NONE));
		}
	}

	@Test
	void partsCoverTheRangeInOrderWithoutSharingAPage() throws Exception {
		AccessTable other = AccessTable.of(store, rechunked(9));
		AccessQuery query = new AccessQuery(Long.MIN_VALUE, Long.MAX_VALUE, 5, store.producers().size() - 5);
		record Seen(int from, int to, List<Integer> leaves) implements AccessScan.Part {
			@Override
			public void chunk(AccessChunk chunk, int leafFrom, int leafTo) {
				for (int l = leafFrom; l < leafTo; l++) {
					leaves.add(chunk.leaf[l]);
				}
			}
		}
		List<Seen> parts = other.scan().run(query, ALL, "test", Progress.NONE, (from, to) -> new Seen(from, to, new ArrayList<>()));
		assertTrue(parts.size() > 4 && parts.size() <= AccessScan.MOST_RUNS, parts.size() + " parts");
		int at = query.producerFrom();
		for (Seen part : parts) {
			assertEquals(at, part.from());
			assertTrue(part.leaves().stream().allMatch(l -> l >= part.from() && l < part.to()), part.toString());
			at = part.to();
		}
		assertEquals(query.producerTo(), at);
	}
}
