// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.place.NodeTimes;
import org.memtrace.aggregation.place.NodeTimes.Place;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.statistics.DensityModel;
import org.memtrace.analysis.statistics.DensityPicture;
import org.memtrace.analysis.statistics.Statistics.Sum;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.storage.Stores;

/** Memory of nodes, and near and far accesses, over time. */
class MachineTimesTest {
	private static final long START = 1_000;
	private static final int PAGE = 4096;

	/** A row: interval of 16 ns, page, CPU (-1 unknown), node, reads, flags. */
	private record Row(int interval, int page, int cpu, int node, int reads, int flags) {
		Row(int interval, int page, int cpu, int node, int reads) {
			this(interval, page, cpu, node, reads, 0);
		}
	}

	/** Each page is a structure that dies at a time, {@link Long#MAX_VALUE} never. */
	private static TraceStore store(int intervals, long[] deaths, List<Row> rows) throws Exception {
		TraceCatalogue catalogue = Stores.inMemory();
		try (TraceWriter w = catalogue.create("t")) {
			w.threads(List.of(new ThreadInfo(0, 0, 1, "main", 0, Long.MAX_VALUE, "", true)));
			ProducerTreeBuilder tree = new ProducerTreeBuilder(PAGE);
			List<Structure> structures = new ArrayList<>();
			tree.begin(ProducerKind.ROOT, "root", 0, 0, -1);
			for (int i = 0; i < deaths.length; i++) {
				structures.add(new Structure(i, 0, StructureKind.HEAP, "s" + i, i * 8192L, i * 8192L + PAGE, START, deaths[i], 1, -1, ""));
				tree.begin(ProducerKind.STRUCTURE, "s" + i, i * 8192L, i * 8192L + PAGE, i);
				tree.leaf(ProducerKind.PAGE, "page " + i, i * 8192L, i * 8192L + PAGE, i);
				tree.end();
			}
			tree.end();
			var producers = tree.build();
			w.structures(structures);
			w.producers(producers);
			List<BitSet> sets = new ArrayList<>();
			for (int cpu = 0; cpu < 16; cpu++) {
				sets.add(BitSet.valueOf(new long[] {1L << cpu}));
			}
			w.cpuSets(sets);
			AccessBatch batch = new AccessBatch(Math.max(1, rows.size()));
			for (Row r : rows.stream().sorted(java.util.Comparator.comparingInt(Row::interval)).toList()) {
				batch.add(START + 16L * r.interval, START + 16L * r.interval + 16, 2 + 2 * r.page, 0, r.cpu, r.reads, 0, 1, r.node, r.flags, 0);
			}
			w.accesses(batch);
			TraceInfo info = w.commit(new TraceInfo(-1, "t", "t", TraceInfo.TYPE_MEMTRACE, "", "", "", 1, 0, producers.size(), START,
					START + 16L * intervals, Instant.EPOCH, PAGE, "", Map.of()), "{}", Progress.NONE);
			return catalogue.open(info.id());
		}
	}

	/** So many nodes with two CPUs each. */
	private static MachineTopology machine(int nodes, boolean recorded) {
		List<MachineObject> packages = new ArrayList<>();
		BitSet all = new BitSet();
		all.set(0, 2 * nodes);
		for (int n = 0; n < nodes; n++) {
			BitSet here = new BitSet();
			here.set(2 * n, 2 * n + 2);
			List<MachineObject> cpus = new ArrayList<>();
			for (int c = 2 * n; c < 2 * n + 2; c++) {
				BitSet one = new BitSet();
				one.set(c);
				cpus.add(new MachineObject(Type.PU, "CPU", c, c, 0, one, List.of(), List.of()));
			}
			packages.add(new MachineObject(Type.PACKAGE, "Package", n, n, 0, here,
					List.of(new MachineObject(Type.NODE, "NUMA node", n, n, 1L << 30, here, List.of(), List.of())), cpus));
		}
		return new MachineTopology(new MachineObject(Type.MACHINE, "Machine", -1, 0, 0, all, List.of(), packages), "this machine", recorded);
	}

	private static MachineTimes times(int nodes, int intervals, int slices, long[] deaths, List<Row> rows) throws Exception {
		try (TraceStore store = store(intervals, deaths, rows)) {
			return MachineTimes.of(machine(nodes, true), AccessTable.load(store, Progress.NONE), -1, store.info().startNs(),
					store.info().endNs(), slices, Progress.NONE);
		}
	}

	private static final long NEVER = Long.MAX_VALUE;

	@Test
	void pagesAreOnTheNodeWhereTheyWereSeenLastUntilTheirStructureDies() throws Exception {
		MachineTimes t = times(2, 4, 4, new long[] {NEVER, START + 32, NEVER}, List.of( //
				new Row(0, 0, 0, 0, 3), // local
				new Row(2, 0, 3, 1, 5), // moved, local again
				new Row(1, 1, 0, 1, 2), // remote; freed at the end of the interval
				new Row(1, 2, -1, -1, 7), // neither node nor CPU
				new Row(3, 2, 1, 0, 1)));
		assertEquals("""
				from_ns,to_ns,node_0_bytes,node_1_bytes,unknown_node_bytes,accesses,local,remote,unknown
				1000,1016,4096,0,0,3,3,0,0
				1016,1032,4096,4096,4096,9,0,2,7
				1032,1048,0,4096,4096,5,5,0,0
				1048,1064,4096,4096,0,1,1,0,0
				""", t.toCsv());
		assertEquals(List.of(), t.notes());
		assertTrue(t.text().contains("\n from     to   node 0   node 1  unknown node  records"), t.text());
		assertTrue(t.text().contains("16 ns  32 ns  4.0 KiB  4.0 KiB       4.0 KiB        9    0 %  22.2 %   77.8 %"), t.text());
	}

	@Test
	void fourNodesAndSlicesAcrossIntervals() throws Exception {
		List<Row> rows = new ArrayList<>();
		for (int page = 0; page < 8; page++) {
			rows.add(new Row(page % 2, page, 2 * (page % 4), page % 4, 10)); // local
			rows.add(new Row(2, page, 2 * ((page + 1) % 4), page % 4, 30)); // remote
		}
		MachineTimes t = times(4, 4, 2, new long[] {NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER}, rows);
		// even pages are on nodes 0 and 2 from the start, odd ones on 1 and 3 from the middle of the first slice
		assertEquals("""
				from_ns,to_ns,node_0_bytes,node_1_bytes,node_2_bytes,node_3_bytes,unknown_node_bytes,accesses,local,remote,unknown
				1000,1032,8192,4096,8192,4096,0,80,80,0,0
				1032,1064,8192,8192,8192,8192,0,240,0,240,0
				""", t.toCsv());
	}

	@Test
	void aPageFromBeforeTheWindowIsThere() throws Exception {
		try (TraceStore store = store(4, new long[] {NEVER, START + 40}, List.of(new Row(0, 0, 0, 0, 1), new Row(0, 1, 0, 1, 1)))) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			NodeTimes t = MachineTimes.of(machine(2, true), table, -1, START + 32, START + 64, 2, Progress.NONE).times();
			assertEquals(4096, t.bytes(0, 0));
			assertEquals(2048, t.bytes(1, 0), 1e-9, "half of the slice");
			assertEquals(0, t.bytes(1, 1));
			assertEquals(0, t.accesses(0) + t.accesses(1), "nothing happened");
			assertEquals(0, MachineTimes.of(machine(2, true), table, 1, START, START + 64, 1, Progress.NONE).times().bytes(1, 0),
					"another structure");
		}
	}

	@Test
	void aPageThatMayNotHaveBeenTouchedIsNotThere() throws Exception {
		MachineTimes t = times(2, 2, 2, new long[] {NEVER, NEVER}, List.of(new Row(0, 0, 0, -1, 1, AccessBatch.FLAG_MAYBE_UNTOUCHED),
				new Row(0, 1, 0, 1, 1, AccessBatch.FLAG_MAYBE_UNTOUCHED)));
		assertEquals(0, t.times().bytes(-1, 0));
		assertEquals(4096, t.times().bytes(1, 1), "its node is known, so it is there");
	}

	@Test
	void oneNodeIsSaidAsItIs() throws Exception {
		MachineTimes t = times(1, 1, 1, new long[] {NEVER}, List.of(new Row(0, 0, 0, -1, 1)));
		assertEquals(List.of("The machine has one NUMA node: all memory is on it, also what is unknown, and every access is local."
				+ " Recorders do not ask for nodes there."), t.notes());
		assertEquals(4096, t.times().bytes(-1, 0));
		assertEquals(1, t.times().accesses(Place.UNKNOWN, 0));
		MachineTimes two = times(2, 1, 1, new long[] {NEVER}, List.of(new Row(0, 0, 0, -1, 1)));
		assertEquals(List.of("The trace does not tell on which node any page was: all is unknown."), two.notes());
		try (TraceStore store = store(1, new long[] {NEVER}, List.of(new Row(0, 0, 0, -1, 1)))) {
			MachineTimes none = MachineTimes.of(machine(2, false), AccessTable.load(store, Progress.NONE), -1, START, START + 16, 3, Progress.NONE);
			assertEquals(2, none.notes().size());
			assertEquals("The trace does not say on which machine it was recorded: this is this machine.", none.notes().get(0));
			assertEquals(4, none.toCsv().lines().count());
			assertFalse(none.text().contains("NaN"), none.text());
		}
	}

	/** Against a table of each nanosecond. */
	@Test
	void randomTracesAsCountedByNanosecond() throws Exception {
		for (long seed = 1; seed <= 60; seed++) {
			Random random = new Random(seed);
			int nodes = new int[] {1, 2, 4}[random.nextInt(3)];
			int intervals = 1 + random.nextInt(8);
			int length = 16 * intervals;
			long[] deaths = random.longs(1 + random.nextInt(5), START, START + length + 20L).map(d -> random.nextInt(3) == 0 ? NEVER : d).toArray();
			List<Row> rows = new ArrayList<>();
			for (int i = 0; i < 20; i++) {
				rows.add(new Row(random.nextInt(intervals), random.nextInt(deaths.length), random.nextInt(2 * nodes + 1) - 1, 0,
						1 + random.nextInt(4) << random.nextInt(20)));
			}
			// a page has one node in an interval
			rows.replaceAll(r -> new Row(r.interval, r.page, r.cpu, Math.floorMod(7 * r.interval + 3 * r.page, nodes + 1) - 1, r.reads));
			double[][] bytes = new double[nodes + 1][length];
			double[][] accesses = new double[3][length];
			MachineTopology machine = machine(nodes, true);
			for (int page = 0; page < deaths.length; page++) {
				int here = page;
				int last = rows.stream().filter(r -> r.page == here).mapToInt(Row::interval).max().orElse(-1);
				long end = deaths[page] >= START + length ? length : Math.max(deaths[page] - START, 16L * last + 16);
				Integer node = null;
				for (int t = 0; t < Math.min(end, length) && last >= 0; t++) {
					for (Row r : rows) {
						if (r.page == page && r.interval == t / 16 && (node == null || r.node >= 0)) {
							node = r.node;
						}
					}
					if (node != null) {
						bytes[node + 1][t] += PAGE;
					}
				}
			}
			for (Row r : rows) {
				int place = MachineUse.place(machine, r.cpu < 0 ? new int[0] : new int[] {r.cpu}, r.node).ordinal();
				for (int t = 16 * r.interval; t < 16 * r.interval + 16; t++) {
					accesses[place][t] += r.reads / 16.0;
				}
			}
			int from = random.nextInt(length);
			int to = from + 1 + random.nextInt(length - from);
			try (TraceStore store = store(intervals, deaths, rows)) {
				NodeTimes got = MachineTimes.of(machine, AccessTable.load(store, Progress.NONE), -1, START + from, START + to,
						1 + random.nextInt(12), Progress.NONE).times();
				for (int bin = 0; bin < got.bins(); bin++) {
					int a = (int) (got.boundNs(bin) - START);
					int b = (int) (got.boundNs(bin + 1) - START);
					String where = "seed " + seed + ", ns " + a + " to " + b;
					for (int node = -1; node < nodes; node++) {
						assertEquals(sum(bytes[node + 1], a, b) / (b - a), got.bytes(node, bin), 1e-3, where + ", node " + node);
					}
					for (Place place : Place.values()) {
						double want = sum(accesses[place.ordinal()], a, b);
						assertEquals(want, got.accesses(place, bin), 1e-9 * (1 + want), where + ", " + place);
					}
				}
			}
		}
	}

	private static double sum(double[] of, int from, int to) {
		double sum = 0;
		for (int i = from; i < to; i++) {
			sum += of[i];
		}
		return sum;
	}

	@Test
	void aDensityDrawsIt() throws Exception {
		try (TraceStore store = store(4, new long[] {NEVER, NEVER, NEVER}, List.of(new Row(0, 0, 0, 0, 1), new Row(1, 1, 0, 1, 1),
				new Row(2, 2, 0, -1, 1)))) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			DensityModel m = DensityModel.of(table, Sum.MEMORY, BasicDimensions.NODE, START, START + 64, -1, 4, Progress.NONE);
			assertEquals("from_ns,to_ns,node 0,node 1,unknown\n1000,1016,4096,0,0\n1016,1032,4096,4096,0\n1032,1048,4096,4096,4096\n"
					+ "1048,1064,4096,4096,4096\n", m.toCsv());
			DensityPicture p = DensityPicture.build(m, 500, 300, Palette.LIGHT, TextMeter.DEFAULT, 12);
			List<String> texts = p.scene().shapes().stream().filter(Shape.Text.class::isInstance).map(s -> ((Shape.Text) s).text()).toList();
			assertTrue(texts.contains("Memory, mean of 16 ns") && texts.contains("10.0 KiB"), texts.toString());
			String tip = p.textAt(p.plotX() + p.plotWidth() - 1, p.plotY() + p.plotHeight() - 1);
			assertTrue(tip.contains("\n12.0 KiB") && tip.contains("▸ Node 0: 4.0 KiB, 33.3 %"), tip);
			DensityModel one = DensityModel.of(table, Sum.MEMORY, null, START, START + 64, -1, 4, Progress.NONE);
			assertEquals(1, one.series().size());
			assertEquals(12288, one.max());
			assertEquals(0, DensityModel.of(table, Sum.MEMORY, null, START, START + 64, 1, 4, Progress.NONE).total(3) - 4096);
		}
	}
}
