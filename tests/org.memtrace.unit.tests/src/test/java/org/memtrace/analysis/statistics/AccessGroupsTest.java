// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.statistics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.FirstTouches;
import org.memtrace.analysis.column.AccessColumns;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.column.TraceTable;
import org.memtrace.analysis.export.FoundRows;
import org.memtrace.analysis.export.TraceExport;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.statistics.AccessGroups.Group;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.TraceDirectoryBuilder;
import org.memtrace.model.CancelledException;
import org.memtrace.analysis.text.Parts;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.storage.Stores;

/** Groups, filters and exports of a recorded trace, against sums that are made here in the plainest way. */
class AccessGroupsTest {
	private static final Path TRACE = Path.of(System.getProperty("memtrace.root", "../.."), "testdata", "traces",
			"bucketsort-dynamic");

	/** One access, as it is. */
	private record Access(long start, long end, int producer, long task, String cpus, long reads, long writes, int sharing,
			int node) {
	}

	private TraceCatalogue catalogue;
	private TraceStore store;
	private ProducerTree tree;
	private final List<Access> all = new ArrayList<>();

	@BeforeEach
	void setUp() throws Exception {
		catalogue = Stores.inMemory();
		store = catalogue.open(new ImportOperation(TRACE, catalogue::create).call(Progress.NONE).trace().id());
		tree = store.producers();
		store.visitAccesses(AccessQuery.ALL, b -> {
			for (int i = 0; i < b.count; i++) {
				all.add(new Access(b.startNs[i], b.endNs[i], b.producer[i],
						b.thread[i] < 0 ? -1 : store.threads().get(b.thread[i]).taskId(), b.cpuSet[i] < 0 ? ""
								: store.cpuSets().get(b.cpuSet[i]).toString(), b.reads[i], b.writes[i], b.sharing[i], b.node[i]));
			}
		}, Progress.NONE);
		assertTrue(all.size() > 1000);
	}

	@AfterEach
	void tearDown() {
		store.close();
		catalogue.close();
	}

	private List<Group> groups(AccessFilter filter, long windowNs, String... keys) throws MemtraceException {
		return AccessGroups.of(AccessTable.load(store, Progress.NONE), filter,
				Arrays.stream(keys).map(k -> Dimensions.find(k, Use.GROUP)).toList(), windowNs, Progress.NONE);
	}

	private static String sum(List<Group> groups) {
		return groups.stream().mapToLong(Group::reads).sum() + " " + groups.stream().mapToLong(Group::writes).sum();
	}

	private String sum(java.util.function.Predicate<Access> selected) {
		return all.stream().filter(selected).mapToLong(Access::reads).sum() + " "
				+ all.stream().filter(selected).mapToLong(Access::writes).sum();
	}

	@Test
	void pagesKnowWhoTouchedAndWroteThemFirst() throws Exception {
		List<PageUse.Page> pages = new ArrayList<>();
		PageUse.visit(AccessTable.load(store, Progress.NONE), AccessFilter.of(AccessQuery.ALL), Progress.NONE, pages::add);
		Map<Integer, List<Access>> byPage = new TreeMap<>();
		all.forEach(a -> byPage.computeIfAbsent(a.producer, key -> new ArrayList<>()).add(a));
		assertEquals(List.copyOf(byPage.keySet()), pages.stream().map(PageUse.Page::producer).toList());
		for (PageUse.Page p : pages) {
			List<Access> here = byPage.get(p.producer());
			assertEquals(here.stream().mapToLong(Access::start).min().getAsLong(), p.firstNs());
			assertEquals(first(here), task(p.firstThread()));
			assertEquals(here.stream().filter(a -> a.writes > 0).mapToLong(Access::start).min().orElse(Long.MAX_VALUE), p.firstWriteNs());
			assertEquals(first(here.stream().filter(a -> a.writes > 0).toList()), task(p.firstWriter()));
			assertEquals(here.stream().mapToLong(Access::task).filter(t -> t >= 0).distinct().count(), p.threads());
			assertEquals(here.size(), p.records());
			assertEquals(here.stream().mapToLong(Access::reads).sum() + " " + here.stream().mapToLong(Access::writes).sum(),
					p.reads() + " " + p.writes());
			int most = here.stream().mapToInt(Access::sharing).max().getAsInt();
			boolean unknown = most <= 1 && here.stream().anyMatch(a -> a.sharing == AccessBatch.SHARING_NOT_KNOWN);
			assertEquals(unknown ? AccessBatch.SHARING_NOT_KNOWN : most, p.sharing());
		}
		int structure = tree.firstChild(0);
		List<PageUse.Page> part = new ArrayList<>();
		PageUse.visit(AccessTable.load(store, Progress.NONE), AccessFilter.of(AccessQuery.ALL.subtree(tree, structure)), Progress.NONE,
				part::add);
		assertEquals(pages.stream().filter(p -> p.producer() >= structure && p.producer() < tree.subtreeEnd(structure)).toList(), part);
	}

	/** Task of the first one, -1 if one without a thread may have been before: none of them tells when in its interval it was. */
	private static long first(List<Access> here) {
		return here.isEmpty() || here.stream().anyMatch(a -> a.start == here.get(0).start && a.task < 0) ? -1 : here.get(0).task;
	}

	/**
	 * In the second interval thread 101 comes before thread 100 and was recorded after it; one of which nobody knows more may have been before
	 * both. Of page 3 it is not known when.
	 */
	@Test
	void theFirstAccessOfARecordTellsWhenAndByWhom(@TempDir Path folder) throws Exception {
		Path directory = new TraceDirectoryBuilder(folder.resolve("first"))
				.file("p0000/image.json", "{\"index\":0,\"pid\":100,\"start_ns\":1000}")
				.file("p0000/threads.csv", "TaskId,Name,Birth,Death", "100,a,1000,-1", "101,b,1000,-1")
				.file("p0000/accesses-000000.csv", TraceDirectoryBuilder.HEADER + ",First", "10000,0,1,0,1,1000,2000,100,0,0,0,500",
						"11000,0,1,1,1,2000,3000,100,0,0,0,700", "11000,0,0,1,1,2000,3000,101,0,0,0,30", "11000,0,0,1,1,2000,3000,-1,0,0,1,",
						"12000,0,1,2,1,2000,3000,101,0,0,0,1005", "13000,0,1,0,1,3000,4000,100,0,0,0,")
				.write();
		try (TraceStore first = catalogue.open(new ImportOperation(directory, catalogue::create).call(Progress.NONE).trace().id())) {
			List<String> pages = new ArrayList<>();
			AccessTable table = AccessTable.load(first, Progress.NONE);
			PageUse.visit(table, AccessFilter.of(AccessQuery.ALL), Progress.NONE, p -> pages.add(p.firstNs() + " " + p.firstKnown() + " T"
					+ p.firstThread() + ", written " + (p.firstWriter() < 0 ? "never" : p.firstWriteNs() + " " + p.firstWriteKnown() + " T"
					+ p.firstWriter())));
			assertEquals(List.of("1500 true T0, written never", "2000 false T-1, written never", "3005 true T1, written 3005 false T1",
					"3000 false T0, written never"), pages);
			assertEquals(1500, table.details(0).firstNs());
			FirstTouches touches = table.firstTouches(Progress.NONE);
			assertEquals("2000 false -1", touches.atNs(1) + " " + touches.isKnown(1) + " " + touches.thread(1));
			List<Long> stored = new ArrayList<>();
			first.visitAccesses(AccessQuery.ALL, b -> {
				for (int i = 0; i < b.count; i++) {
					stored.add(b.firstNs[i]);
				}
			}, Progress.NONE);
			assertEquals(List.of(500L, 30L, 700L, AccessBatch.NO_FIRST, 1005L, AccessBatch.NO_FIRST), stored);
		}
	}

	/** What is touched counts from the interval of the touch to that of the death of the structure. */
	@Test
	void footprintsGrowAndEndWithTheirStructures(@TempDir Path folder) throws Exception {
		Path directory = new TraceDirectoryBuilder(folder.resolve("growing"))
				.file("p0000/image.json", "{\"index\":0,\"pid\":100,\"start_ns\":1000}")
				.file("p0000/structures.csv", "Id,Kind,Name,Start,End,Birth,Death", "0,heap,grid,10800,14000,1000,3500",
						"1,heap,rest,20000,22000,1000,-1")
				.file("p0000/intervals.csv", "Start,End,Resident", "1000,2000,4096", "2000,3000,20480", "3000,4000,8192", "4000,5000,")
				.file("p0000/accesses-000000.csv", TraceDirectoryBuilder.HEADER + ",First", "10800,0,1,0,1,1000,2000,100,0,0,0,500",
						"11000,0,1,1,1,1000,2000,100,0,0,0,1001", "20000,0,1,0,1,2000,3000,100,0,0,0,",
						"21000,0,1,0,1,4000,5000,100,0,0,0,7")
				.write();
		try (TraceStore growing = catalogue.open(new ImportOperation(directory, catalogue::create).call(Progress.NONE).trace().id())) {
			List<String> rows = new ArrayList<>();
			FoundRows.visit(TraceTable.FOOTPRINTS, growing, AccessTable.load(growing, Progress.NONE), AccessFilter.of(AccessQuery.ALL),
					values -> rows.add(Arrays.toString(values)), Progress.NONE);
			assertEquals(List.of("[0, 2000, 0, grid, 2048, 4096]", "[0, 3000, 0, grid, 6144, 20480]", "[0, 3000, 1, rest, 4096, 20480]",
					"[0, 4000, 0, grid, 0, 8192]", "[0, 5000, 1, rest, 8192, null]"), rows);
		}
	}

	private long task(int thread) throws MemtraceException {
		return thread < 0 ? -1 : store.threads().get(thread).taskId();
	}

	@Test
	void structuresAreGroupsWhereverTheyAreInTheTree() throws Exception {
		List<Group> groups = groups(AccessFilter.of(AccessQuery.ALL), 0, "structure");
		Map<String, Long> wanted = new TreeMap<>();
		for (Access a : all) {
			int p = a.producer;
			while (tree.parent(p) > 0) {
				p = tree.parent(p);
			}
			wanted.merge(tree.name(p), a.reads, Long::sum);
		}
		Map<String, Long> found = new TreeMap<>();
		groups.forEach(g -> found.put((String) g.keys().get(0), g.reads()));
		assertEquals(wanted, found);
	}

	@Test
	void everyGroupingConservesTheSums() throws Exception {
		for (Dimension key : Dimensions.of(Use.GROUP)) {
			List<Group> groups = groups(AccessFilter.of(AccessQuery.ALL), 1_000_000, key.id());
			assertEquals(sum(a -> true), sum(groups), key.id());
			assertEquals(groups.size(), groups.stream().map(Group::keys).distinct().count(), key.id());
			if (key != BasicDimensions.TYPE && key != BasicDimensions.READ_WRITE) {
				assertEquals(all.size(), groups.stream().mapToLong(Group::records).sum(), key.id());
			}
		}
		String[] ids = Dimensions.of(Use.GROUP).stream().map(Dimension::id).toArray(String[]::new);
		assertEquals(sum(a -> true), sum(groups(AccessFilter.of(AccessQuery.ALL), 5_000_000, ids)), "all keys");
		assertEquals(1, groups(AccessFilter.of(AccessQuery.ALL), 0).size(), "no key: one group");
	}

	private static String kind(Access a) {
		return a.sharing > 1 ? " Shared" : a.sharing == AccessBatch.SHARING_NOT_KNOWN ? " NotKnown" : " Private";
	}

	@Test
	void threadsAndTypes() throws Exception {
		Map<String, long[]> expected = new TreeMap<>();
		for (Access a : all) {
			if (a.reads > 0) {
				expected.computeIfAbsent(a.task + kind(a) + "_Read", k -> new long[3])[1] += a.reads;
			}
			if (a.writes > 0) {
				expected.computeIfAbsent(a.task + kind(a) + "_Write", k -> new long[3])[2] += a.writes;
			}
		}
		Map<String, long[]> found = new TreeMap<>();
		List<ThreadInfo> threads = store.threads();
		for (Group g : groups(AccessFilter.of(AccessQuery.ALL), 0, "thread", "type")) {
			Object name = g.keys().get(0);
			long task = name == null ? -1 : threads.stream().filter(t -> ModelText.thread(threads, t.index()).equals(name))
					.findFirst().orElseThrow().taskId();
			found.put(task + " " + g.keys().get(1), new long[] { 0, g.reads(), g.writes() });
		}
		assertEquals(expected.keySet(), found.keySet());
		expected.forEach((key, values) -> assertEquals(Arrays.toString(values), Arrays.toString(found.get(key)), key));
	}

	@Test
	void memoryIsDividedBelowTheSelectedProducer() throws Exception {
		for (int root = 0; root < tree.size(); root += 7) {
			int id = root;
			List<String> children = new ArrayList<>();
			for (int c = tree.firstChild(id); c >= 0; c = tree.nextSibling(c)) {
				int child = c;
				if (all.stream().anyMatch(a -> a.producer >= child && a.producer < tree.subtreeEnd(child))) {
					children.add(tree.name(child) + " "
							+ sum(a -> a.producer >= child && a.producer < tree.subtreeEnd(child)));
				}
			}
			List<Group> groups = groups(AccessFilter.of(AccessQuery.ALL.subtree(tree, id)), 0, "memory");
			if (tree.isLeaf(id)) {
				assertEquals(1, groups.size());
				assertEquals(tree.name(id), groups.get(0).keys().get(0));
			} else {
				assertEquals(children, groups.stream().map(g -> g.keys().get(0) + " " + g.reads() + " " + g.writes()).toList());
			}
		}
	}

	@Test
	void windowsBeginWithTheFilter() throws Exception {
		long from = store.info().startNs() + 12_345_678;
		long to = from + 40_000_000;
		List<Group> groups = groups(AccessFilter.of(AccessQuery.ALL.window(from, to)), 10_000_000, "time");
		assertEquals(sum(a -> a.start < to && a.end > from), sum(groups));
		for (Group g : groups) {
			long window = (long) g.keys().get(0);
			assertEquals(0, (window - from) % 10_000_000);
			assertEquals(sum(a -> a.start < to && a.end > from && Math.max(a.start, from) >= window
					&& Math.max(a.start, from) < window + 10_000_000), g.reads() + " " + g.writes());
		}
		assertThrows(IllegalArgumentException.class, () -> groups(AccessFilter.of(AccessQuery.ALL), 0, "time"));
	}

	@Test
	void filters() throws Exception {
		long task = store.threads().get(1).taskId();
		assertEquals(sum(a -> a.task == task), sum(groups(filter(Condition.thread(1)), 0)));
		assertEquals(sum(a -> a.task == -1), sum(groups(filter(Condition.thread(-1)), 0)));
		assertEquals(sum(a -> a.cpus.matches(".*\\b1\\b.*")), sum(groups(filter(Condition.cpu(1)), 0)));
		assertEquals("0 " + all.stream().filter(a -> a.sharing > 1).mapToLong(Access::writes).sum(),
				sum(groups(filter(Condition.type("Shared_Write")), 0)));
		assertEquals(List.of(), groups(filter(Condition.thread(99)), 0));
	}

	private AccessFilter filter(Condition condition) throws MemtraceException {
		return AccessFilter.of(AccessQuery.ALL).with(FilterSet.of(TraceFilter.only(condition)), AccessTable.load(store, Progress.NONE));
	}

	@Test
	void groupingCanBeCancelled() {
		Progress cancelled = Progress.cancelledWhen(() -> true);
		assertThrows(CancelledException.class, () -> AccessGroups.of(AccessTable.load(store, Progress.NONE), AccessFilter.of(AccessQuery.ALL),
				List.of(Dimensions.find("page", Use.GROUP)), 0, cancelled));
	}

	/** Fields of a line of CSV, written from RFC 4180 and not from our writer. */
	private static List<String> fields(String line) {
		List<String> fields = new ArrayList<>();
		var matcher = Pattern.compile("\\G(?:\"((?:[^\"]|\"\")*)\"|([^,\"]*))(,|$)").matcher(line);
		while (matcher.find()) {
			fields.add(matcher.group(1) == null ? matcher.group(2) : matcher.group(1).replace("\"\"", "\""));
			if (matcher.group(3).isEmpty()) {
				break;
			}
		}
		return fields;
	}

	@Test
	void csvHoldsEveryAccess() throws Exception {
		StringBuilder text = new StringBuilder();
		List<String> columns = List.of("start_ns", "end_ns", "page_start", "structure", "task", "cpu", "reads", "writes", "sharing", "node");
		TraceExport.csv(store, AccessTable.load(store, Progress.NONE), AccessFilter.of(AccessQuery.ALL), AccessColumns.of(columns), text,
				Progress.NONE);
		List<String> lines = text.toString().lines().toList();
		assertEquals(String.join(",", columns), lines.get(0));
		assertEquals(all.size() + 1, lines.size());
		Parts parts = new Parts(tree, store.structures());
		for (int i = 0; i < all.size(); i++) {
			Access a = all.get(i);
			List<String> f = fields(lines.get(i + 1));
			assertEquals(List.of("" + a.start, "" + a.end, Long.toHexString(tree.startAddress(a.producer)), parts.name(a.producer),
					a.task < 0 ? "" : "" + a.task, a.cpus.replaceAll("[{},]", ""), "" + a.reads, "" + a.writes,
					a.sharing == AccessBatch.SHARING_NOT_KNOWN ? "" : "" + a.sharing,
					a.node < 0 ? "" : "" + a.node), f);
		}
	}

	@Test
	void pajeHoldsTheTreeAndEveryAccess() throws Exception {
		StringBuilder text = new StringBuilder();
		TraceExport.pjdump(store, AccessFilter.of(AccessQuery.ALL), text, Progress.NONE);
		List<String[]> lines = text.toString().lines().map(l -> l.split(", ", -1)).toList();
		assertEquals(tree.size(), lines.stream().filter(l -> l[0].equals("Container")).count());
		List<String> known = new ArrayList<>(List.of("0"));
		long reads = 0;
		long writes = 0;
		for (String[] l : lines) {
			if (l[0].equals("Container")) {
				assertEquals(7, l.length);
				assertTrue(known.contains(l[1]), "the parent comes before: " + String.join(", ", l));
				known.add(l[6]);
			} else {
				assertEquals(7, l.length);
				assertEquals("Variable", l[0]);
				assertTrue(known.contains(l[1]), l[1]);
				reads += l[2].endsWith("_Read") ? (long) Double.parseDouble(l[6]) : 0;
				writes += l[2].endsWith("_Write") ? (long) Double.parseDouble(l[6]) : 0;
				assertEquals(new java.math.BigDecimal(l[4]).subtract(new java.math.BigDecimal(l[3])), new java.math.BigDecimal(l[5]));
			}
		}
		assertEquals(sum(a -> true), reads + " " + writes);
		assertEquals("-0.000000001", TraceExport.seconds(-1));
		assertEquals("12.345678901", TraceExport.seconds(12_345_678_901L));
		StringBuilder part = new StringBuilder();
		TraceExport.pjdump(store, AccessFilter.of(AccessQuery.ALL.subtree(tree, 5)), part, Progress.NONE);
		assertTrue(part.toString().startsWith("Container, 0, root, "), "with the ancestors");
		assertTrue(part.length() < text.length());
	}
}
