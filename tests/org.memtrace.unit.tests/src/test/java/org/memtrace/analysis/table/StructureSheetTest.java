// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.table;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.statistics.Statistics;
import org.memtrace.analysis.table.StructureSheet.Column;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CountUnit;
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
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.storage.Stores;

/** The table of structures as columns, against the one of rows. */
class StructureSheetTest {
	private static final IntFunction<String> NO_CALLERS = id -> "";
	private static AccessTable table;
	private static List<Structure> structures;

	@BeforeAll
	static void load() throws Exception {
		TraceStore store = SyntheticTrace.matrixMultiplication(64, 30);
		table = AccessTable.load(store, Progress.NONE);
		structures = store.structures();
	}

	private static StructureSheet sheet(long from, long to, int producer) throws Exception {
		return StructureSheet.of(table, structures, from, to, producer, NO_CALLERS, Progress.NONE);
	}

	private static List<String> names(StructureSheet s, int[] rows) {
		return Arrays.stream(rows).mapToObj(r -> s.text(Column.NAME, r)).toList();
	}

	/** Who was first within a window is not said to be who was first. */
	@Test
	void theFirstToucherOfAWindowHasAnotherTitle() {
		assertEquals("First toucher", StructureSheet.Column.FIRST_TOUCHER.title(CountUnit.RECORDS, false));
		assertEquals("First toucher in window", StructureSheet.Column.FIRST_TOUCHER.title(CountUnit.RECORDS, true));
		assertEquals("Pages", StructureSheet.Column.PAGES.title(CountUnit.RECORDS, true));
	}

	@Test
	void hasTheFiguresOfTheTable() throws Exception {
		long start = table.info().startNs();
		StructureTable whole = StructureTable.of(table, structures, Progress.NONE);
		StructureSheet s = sheet(Long.MIN_VALUE, Long.MAX_VALUE, -1);
		assertEquals(whole.rows().size(), s.size());
		for (int i = 0; i < s.size(); i++) {
			StructureTable.Row r = whole.rows().get(i);
			assertEquals(r.producer(), s.producer(i));
			assertEquals(r.name(), s.text(Column.NAME, i));
			assertEquals(r.kind(), s.text(Column.KIND, i));
			assertEquals(r.accesses(), s.number(Column.ACCESSES, i));
			assertEquals(r.details().writes(), s.number(Column.WRITES, i));
			assertEquals(r.threadCount(), s.number(Column.THREADS, i));
			assertEquals(Units.bytes(r.sizeBytes()), s.text(Column.SIZE, i));
			assertEquals(r.site(), s.site(i));
			assertEquals(i, s.rowOf(r.producer()));
			assertEquals(i, s.rowOf(table.producers().subtreeEnd(r.producer()) - 1), "a page of it");
		}
		assertEquals(0, s.rowOf(0), "the first within the root");
		assertEquals(-1, s.rowOf(-1));
		long to = start + 77_000_000;
		StructureTable part = StructureTable.of(table, structures, start, to, Progress.NONE);
		StructureSheet partly = sheet(start, to, -1);
		for (int i = 0; i < s.size(); i++) {
			assertEquals(part.rows().get(i).accesses(), partly.number(Column.ACCESSES, i), 1e-9);
		}
	}

	@Test
	void groupIsAsLargeAsItsMembers() throws Exception {
		ProducerTreeBuilder b = new ProducerTreeBuilder(4096);
		b.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
		b.begin(ProducerKind.GROUP, "node.c:12 (9 blocks)", 0x1000, 0x7f00_0000_0000L, -1);
		b.leaf(ProducerKind.PAGE, null, 0x1000, 0x2000, -1);
		b.leaf(ProducerKind.PAGE, null, 0x7eff_ffff_f000L, 0x7f00_0000_0000L, -1);
		b.end();
		b.begin(ProducerKind.GROUP, "2000-7f0000000000 (2 producers)", 0x2000, 0x7f00_0000_0000L, -1);
		b.begin(ProducerKind.STRUCTURE, "a", 0x2000, 0x12000, 0);
		b.leaf(ProducerKind.PAGE, null, 0x2000, 0x3000, 0);
		b.end();
		b.leaf(ProducerKind.RANGE, "7000 (1 page)", 0x7000, 0x8000, -1);
		b.end();
		b.end();
		ProducerTree tree = b.build();
		List<Structure> one = List.of(new Structure(0, 0, StructureKind.HEAP, "a", 0x2000, 0x12000, 0, Long.MAX_VALUE, 1, -1, ""));
		assertEquals(2 * 4096, StructureTable.sizeBytes(tree, one, 1), "two touched pages");
		assertEquals(0x10000 + 4096, StructureTable.sizeBytes(tree, one, 4), "a structure, touched or not, and a range");
		assertEquals(0x1000, StructureTable.sizeBytes(tree, one, 7), "a range");
	}

	@Test
	void followsTheShownProducer() throws Exception {
		StructureSheet s = sheet(Long.MIN_VALUE, Long.MAX_VALUE, -1);
		int b = s.producer(names(s, range(s.size())).indexOf("B"));
		StructureSheet whole = sheet(Long.MIN_VALUE, Long.MAX_VALUE, b);
		assertEquals(List.of("B"), names(whole, range(whole.size())));
		int half = table.producers().firstChild(b);
		StructureSheet inside = sheet(Long.MIN_VALUE, Long.MAX_VALUE, half);
		assertEquals(List.of("B"), names(inside, range(inside.size())));
		double parts = 0;
		for (int child = half; child >= 0; child = table.producers().nextSibling(child)) {
			parts += sheet(Long.MIN_VALUE, Long.MAX_VALUE, child).number(Column.ACCESSES, 0);
		}
		assertEquals(whole.number(Column.ACCESSES, 0), parts, 1e-6);
	}

	private static int[] range(int n) {
		int[] r = new int[n];
		Arrays.setAll(r, i -> i);
		return r;
	}

	@Test
	void isSortedAndSearched() throws Exception {
		StructureSheet s = sheet(Long.MIN_VALUE, Long.MAX_VALUE, -1);
		assertEquals("B", names(s, s.arrange("", true, Column.ACCESSES, true, Progress.NONE)).get(0));
		for (Column c : Column.values()) {
			int[] up = s.arrange("", true, c, false, Progress.NONE);
			assertEquals(s.size(), up.length);
			for (int i = 1; i < up.length; i++) {
				assertTrue(c.isNumber() ? s.number(c, up[i - 1]) <= s.number(c, up[i])
						: s.text(c, up[i - 1]).compareToIgnoreCase(s.text(c, up[i])) <= 0, c.title(CountUnit.RECORDS));
			}
			int[] down = s.arrange("", true, c, true, Progress.NONE);
			assertArrayEquals(Arrays.stream(up).sorted().toArray(), Arrays.stream(down).sorted().toArray());
		}
		assertEquals(List.of("stack of main"), names(s, s.arrange("OF MAIN", true, Column.NAME, false, Progress.NONE)));
		assertEquals(List.of("A", "B", "C"), names(s, s.arrange("/^[abc]$/", true, Column.NAME, false, Progress.NONE)));
		assertEquals(List.of(), names(s, s.arrange("/(/", true, Column.NAME, false, Progress.NONE)), "no expression: a text");
		int[] rows = s.arrange("matmul.c", true, Column.NAME, false, Progress.NONE);
		List<String> csv = s.toCsv(rows).lines().toList();
		assertEquals(rows.length + 1, csv.size());
		assertTrue(csv.get(1).startsWith("A,heap,") && csv.get(1).contains("matmul.c:48"), csv.get(1));
		StructureSheet nothing = sheet(Long.MIN_VALUE, Long.MIN_VALUE + 1, -1);
		assertEquals(0, nothing.arrange("", false, Column.NAME, false, Progress.NONE).length, "unused ones are left out");
	}

	/** A tree groups many siblings; the table has each of them. */
	@Test
	void groupsOfStructuresAreOpen() throws Exception {
		TraceCatalogue catalogue = Stores.inMemory();
		try (TraceWriter w = catalogue.create("many")) {
			w.threads(List.of(new ThreadInfo(0, 0, 1, "main", 0, Long.MAX_VALUE, "", true)));
			ProducerTreeBuilder tree = new ProducerTreeBuilder(4096);
			tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
			List<Structure> list = new ArrayList<>();
			AccessBatch batch = new AccessBatch(8);
			for (int g = 0; g < 2; g++) {
				long base = 0x10000L + 2 * g * 4096;
				tree.begin(ProducerKind.GROUP, "group " + g, base, base + 2 * 4096, -1);
				for (int i = 2 * g; i < 2 * g + 2; i++) {
					long start = 0x10000L + i * 4096L;
					list.add(new Structure(i, 0, StructureKind.HEAP, "node " + i, start, start + 4096, 0, Long.MAX_VALUE, 1, 5 + i, ""));
					tree.begin(ProducerKind.STRUCTURE, "node " + i, start, start + 4096, i);
					batch.add(10 * i, 10 * i + 10, tree.leaf(ProducerKind.PAGE, null, start, start + 4096, i), 0, -1, 1 + i, 0, 1, -1, 0, 0);
					tree.end();
				}
				tree.end();
			}
			tree.begin(ProducerKind.GROUP, "small heap blocks (7 blocks)", 0x90000, 0x91000, -1);
			tree.leaf(ProducerKind.PAGE, null, 0x90000, 0x91000, -1);
			tree.end();
			tree.end();
			ProducerTree producers = tree.build();
			w.structures(list);
			w.producers(producers);
			w.cpuSets(List.of());
			w.accesses(batch);
			TraceInfo info = w.commit(new TraceInfo(-1, "many", "many", TraceInfo.TYPE_MEMTRACE, "", "", "", 1, 0, producers.size(), 0,
					100, java.time.Instant.EPOCH, 4096, "", java.util.Map.of()), "{}", Progress.NONE);
			TraceStore store = catalogue.open(info.id());
			AccessTable t = AccessTable.load(store, Progress.NONE);
			StructureSheet s = StructureSheet.of(t, store.structures(), 0, 100, -1, id -> "f" + id + " ← main", Progress.NONE);
			assertEquals(List.of("node 0", "node 1", "node 2", "node 3", "small heap blocks (7 blocks)"), names(s, range(s.size())));
			assertEquals("f7 ← main", s.text(Column.CALLERS, 2));
			assertEquals(1, s.arrange("f8", true, Column.SIZE, true, Progress.NONE).length);
			int group = producers.parent(s.producer(2));
			assertEquals(2, s.rowOf(group), "the first of the group");
			assertEquals(2, StructureSheet.of(t, store.structures(), 0, 100, group, NO_CALLERS, Progress.NONE).size());
			assertEquals(5, Statistics.of(t, Statistics.Sum.RECORDS, Statistics.structures(), 0, 100, -1, Progress.NONE).size() + 1,
					"one is not used");
		}
	}
}
