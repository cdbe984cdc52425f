// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.stream.Stream;
import java.util.Map;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.aggregation.AccessDetails;
import org.memtrace.aggregation.AccessMask;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.place.AccessPlaces;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.findings.TraceSummary;
import org.memtrace.analysis.gantt.GanttModel;
import org.memtrace.analysis.gantt.GanttSource;
import org.memtrace.analysis.gantt.GanttSources;
import org.memtrace.analysis.machine.MachineUse;
import org.memtrace.analysis.statistics.DensityModel;
import org.memtrace.analysis.statistics.PageUse;
import org.memtrace.analysis.statistics.Statistics;
import org.memtrace.analysis.table.StructureTable;
import org.memtrace.analysis.text.Units;
import org.memtrace.cli.Ran;
import org.memtrace.model.CountUnit;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.storage.Stores;

/**
 * Counts above 2^40: everything that adds accesses says the same. One thread has few records with huge counts, the other many with
 * counts just above 2^31, so that a count that is cut to 31 bits makes the other one the larger.
 */
class LargeCountsTest {
	private static final int PAGE = 4096;
	private static final int INTERVALS = 20;
	private static final long SLICE_NS = 1_000_000;
	private static final long HUGE_READS = (1L << 41) + 12345;
	private static final long HUGE_WRITES = (1L << 40) + 1;
	private static final long MANY_READS = (1L << 31) + 5;
	private static final int MANY_THREADS = 70_000;
	private static final long READS = HUGE_READS + INTERVALS * MANY_READS;
	private static final long WRITES = HUGE_WRITES;

	@TempDir
	Path temp;
	private Path database;
	private TraceStore store;
	private AccessTable table;

	@BeforeEach
	void write() throws Exception {
		database = temp.resolve("large.db");
		ProducerTreeBuilder tree = new ProducerTreeBuilder(PAGE);
		tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
		tree.begin(ProducerKind.STRUCTURE, "grid", 0x10000, 0x10000 + 2 * PAGE, 0);
		int first = tree.leaf(ProducerKind.PAGE, null, 0x10000, 0x11000, 0);
		int second = tree.leaf(ProducerKind.PAGE, null, 0x11000, 0x12000, 0);
		tree.end();
		tree.end();
		AccessBatch batch = new AccessBatch(INTERVALS + 1);
		batch.add(0, SLICE_NS, first, 0, 0, HUGE_READS, HUGE_WRITES, MANY_THREADS, 0, 0, 0);
		for (int i = 0; i < INTERVALS; i++) {
			batch.add(i * SLICE_NS, (i + 1) * SLICE_NS, second, 1, 1, MANY_READS, 0, 1, 1, 0, 0);
		}
		try (TraceWriter w = Stores.createFile(database, notice -> {
		})) {
			w.threads(List.of(new ThreadInfo(0, 0, 10, "few", 0, Long.MAX_VALUE, "", true),
					new ThreadInfo(1, 0, 11, "many", 0, Long.MAX_VALUE, "", false)));
			w.structures(List.of(new Structure(0, 0, StructureKind.HEAP, "grid", 0x10000, 0x10000 + 2 * PAGE, 0, Long.MAX_VALUE, 10,
					-1, "a.c:1")));
			w.cpuSets(List.of(BitSet.valueOf(new long[] {1}), BitSet.valueOf(new long[] {2})));
			w.producers(tree.build());
			w.accesses(batch);
			w.commit(new TraceInfo(-1, "large", "large", TraceInfo.TYPE_MEMTRACE, "app", "host", "Linux", 2, batch.count, 0, 0,
					INTERVALS * SLICE_NS, Instant.EPOCH, PAGE, "", Map.of()), "{}", Progress.NONE);
		}
		store = Stores.openFile(database);
		table = AccessTable.load(store, Progress.NONE);
	}

	@AfterEach
	void close() {
		store.close();
	}

	private String run(String... arguments) {
		return Ran.ok(Stream.concat(Stream.of(arguments), Stream.of(database.toString())).toArray(String[]::new));
	}

	@Test
	void sumsAndGroupsRankThreadsTheSame() {
		List<String> sums = run("query", "--what", "sums", "--by", "thread", "--format", "csv").lines().toList();
		assertTrue(sums.get(1).startsWith("few #0," + (HUGE_READS + HUGE_WRITES) + ","), sums.toString());
		assertTrue(sums.get(2).startsWith("many #1," + INTERVALS * MANY_READS + ","), sums.toString());
		assertEquals(
				List.of("thread,records,reads,writes", "few #0,1," + HUGE_READS + "," + HUGE_WRITES,
						"many #1," + INTERVALS + "," + INTERVALS * MANY_READS + ",0"),
				run("query", "--what", "groups", "--by", "thread", "--format", "csv").lines().toList());
	}

	@Test
	void statisticsByEverythingAddUpToTheSame() throws Exception {
		for (Dimension by : Statistics.keysOfAccesses()) {
			List<Statistics.Item> items = Statistics.of(table, Statistics.Sum.ACCESSES, by, 0, INTERVALS * SLICE_NS, -1,
					Progress.NONE);
			assertEquals((double) (READS + WRITES), items.stream().mapToDouble(Statistics.Item::value).sum(), 0, by.toString());
		}
		assertEquals("shared by " + MANY_THREADS,
				Statistics.of(table, Statistics.Sum.WRITES, BasicDimensions.SHARING, 0, INTERVALS * SLICE_NS, -1, Progress.NONE)
						.getFirst().name());
	}

	@Test
	void summaryStructuresPagesAndPlacesHaveTheSums() throws Exception {
		TraceSummary summary = new TraceSummary(StructureTable.of(table, store.structures(), Progress.NONE));
		AccessDetails all = summary.all();
		assertEquals((double) READS, all.reads(), 0);
		assertEquals((double) WRITES, all.writes(), 0);
		assertEquals((double) (HUGE_READS + HUGE_WRITES), all.accessesByThread()[0], 0);
		assertTrue(summary.text().contains(Units.count(READS + WRITES) + " records"), summary.text());
		long[] pages = new long[2];
		PageUse.visit(AccessTable.load(store, Progress.NONE), AccessFilter.of(AccessQuery.ALL), Progress.NONE, p -> {
			pages[0] += p.reads();
			pages[1] += p.writes();
		});
		assertEquals(READS, pages[0]);
		assertEquals(WRITES, pages[1]);
		double[] placed = new double[1];
		AccessPlaces.of(table, -1, 0, INTERVALS * SLICE_NS, Progress.NONE).visit((cpus, node, n) -> placed[0] += n);
		assertEquals((double) (READS + WRITES), placed[0], 0);
	}

	@Test
	void exportsHaveTheSums() {
		String[] lines = run("export", "--format", "csv").split("\n");
		List<String> head = List.of(lines[0].split(","));
		long reads = 0;
		long writes = 0;
		for (int i = 1; i < lines.length; i++) {
			String[] cells = lines[i].split(",", -1);
			reads += Long.parseLong(cells[head.indexOf("reads")]);
			writes += Long.parseLong(cells[head.indexOf("writes")]);
		}
		assertEquals(READS, reads);
		assertEquals(WRITES, writes);
	}

	@Test
	void modelsOfEveryViewpointHaveTheSums() throws Exception {
		for (Dimension view : Dimensions.of(Dimension.Use.COLOUR)) {
			Map<Metric, Double> sums = new HashMap<>();
			for (Metric metric : List.of(Metric.ACCESSES, Metric.READS, Metric.WRITES)) {
				MicroscopicModel model = new AccessModels(table).model(new ModelRequest(view, metric, INTERVALS, 0, INTERVALS * SLICE_NS, -1, null),
						Progress.NONE);
				sums.put(metric, Arrays.stream(model.totals()).sum());
			}
			assertEquals(Map.of(Metric.ACCESSES, (double) (READS + WRITES), Metric.READS, (double) READS, Metric.WRITES,
					(double) WRITES), sums, view.toString());
		}
	}

	@Test
	void filteredTablesKeepTheCounts() throws Exception {
		AccessMask mask = new AccessMask();
		mask.keep(BasicDimensions.THREAD, BasicDimensions.THREAD.values(table, Progress.NONE), t -> t == 0);
		AccessDetails few = table.filtered(mask).details(0);
		assertEquals((double) HUGE_READS, few.reads(), 0);
		assertEquals((double) HUGE_WRITES, few.writes(), 0);
	}

	@Test
	void densityAndGanttHaveTheSums() throws Exception {
		DensityModel density = DensityModel.of(table, Statistics.Sum.ACCESSES, BasicDimensions.THREAD, 0, INTERVALS * SLICE_NS,
				-1, INTERVALS, Progress.NONE);
		double sum = 0;
		for (int bin = 0; bin < density.bins(); bin++) {
			sum += density.total(bin);
		}
		assertEquals((double) (READS + WRITES), sum, 1);
		double[] cells = new GanttModel(GanttSources.of(table, BasicDimensions.TYPE, Progress.NONE)).sums(GanttSource.Grouping.PRODUCER,
				GanttSource.ALL, 0, 0, INTERVALS * SLICE_NS, Progress.NONE);
		assertEquals((double) (READS + WRITES), Arrays.stream(cells).sum(), 0);
	}

	@Test
	void countsOfPeopleAreWhole() {
		assertEquals("38", Units.count(38));
		assertEquals("≈ 39", Units.count(38.6));
		assertEquals("< 1", Units.count(0.3));
		assertEquals("1,235", Units.count(1234.6));
		assertEquals("0", Units.count(0));
		assertEquals("38.6", Units.number(38.6));
		assertEquals("≈ 2 accesses", MachineUse.count(2.4, CountUnit.ACCESSES));
		assertEquals("1 access", MachineUse.count(1 + 1e-9, CountUnit.ACCESSES));
	}
}
