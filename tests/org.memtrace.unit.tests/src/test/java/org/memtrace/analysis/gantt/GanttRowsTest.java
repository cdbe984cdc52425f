// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.analysis.SyntheticEvents;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.gantt.GanttRows.Order;
import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** Which rows there are, and what stands at their left. */
class GanttRowsTest {
	/** machine(0) > board(1) > { core 10 (2), core 9 (3) > unit (4) }; empty (5); network (6) */
	private static GanttSource events() throws Exception {
		ProducerTreeBuilder b = new ProducerTreeBuilder(0);
		b.begin(ProducerKind.OTHER, "machine", 0, 0, -1);
		b.begin(ProducerKind.OTHER, "board", 0, 0, -1);
		b.leaf(ProducerKind.OTHER, "core 10", 0, 0, -1);
		b.begin(ProducerKind.OTHER, "core 9", 0, 0, -1);
		b.leaf(ProducerKind.OTHER, "unit", 0, 0, -1);
		b.end();
		b.end();
		b.end();
		b.leaf(ProducerKind.OTHER, "empty", 0, 0, -1);
		b.leaf(ProducerKind.OTHER, "network", 0, 0, -1);
		return GanttSources.of(new SyntheticEvents().add(SyntheticEvents.RUN, 2, 0, 10, 0, 1)
				.add(SyntheticEvents.RUN, 3, 0, 10, 0, 2).add(SyntheticEvents.RUN, 4, 5, 8, 0, 2)
				.add(SyntheticEvents.TICK, 6, 3, 3, 0, 0).table(b.build(), 0, 10));
	}

	private static GanttRows rows(GanttSource s, Grouping g, int root, GanttFold fold, Order order, boolean hideEmpty)
			throws Exception {
		return GanttRows.of(new GanttRows.Request(s, g, root, fold, order, hideEmpty), Progress.NONE);
	}

	private static List<String> labels(GanttRows rows) {
		List<String> list = new ArrayList<>();
		for (int i = 0; i < rows.count(); i++) {
			list.add(" ".repeat(rows.level(i)) + (rows.isFoldable(i) ? rows.isUnfolded(i) ? "- " : "+ " : "") + rows.label(i));
		}
		return list;
	}

	@Test
	void smallTreesAreUnfoldedAndChainsAreOneRow() throws Exception {
		GanttSource s = events();
		GanttFold fold = GanttFold.initial(s.producers());
		assertEquals(List.of("- machine › board", " core 10", " - core 9", "  unit", "empty", "network"),
				labels(rows(s, Grouping.PRODUCER, -1, fold, Order.ADDRESS, false)));
		assertEquals(List.of("- machine › board", " - core 9", "  unit", " core 10", "network"),
				labels(rows(s, Grouping.PRODUCER, -1, fold, Order.NAME, true)));
		assertEquals(List.of("- core 9", " unit"), labels(rows(s, Grouping.PRODUCER, 3, fold, Order.ADDRESS, true)));
	}

	@Test
	void foldingAndHiding() throws Exception {
		GanttSource s = events();
		GanttFold fold = GanttFold.initial(s.producers());
		assertEquals(List.of("+ machine › board", "network"),
				labels(rows(s, Grouping.PRODUCER, -1, fold.with(0, 0, false), Order.ADDRESS, true)));
		assertEquals(List.of("- machine › board", " core 10", " unit", "network"),
				labels(rows(s, Grouping.PRODUCER, -1, fold.hide(3), Order.ADDRESS, true)));
		GanttFold hidden = fold.hideSubtree(3);
		assertEquals(List.of("- machine › board", " core 10", "network"),
				labels(rows(s, Grouping.PRODUCER, -1, hidden, Order.ADDRESS, true)));
		assertTrue(hidden.hidesSomething());
		assertFalse(hidden.unhideAll().hidesSomething());
		GanttFold revealed = hidden.withSubtree(s.producers(), 0, 0, false).reveal(s.producers(), 0, 4);
		assertEquals(List.of("- machine › board", " core 10", " - core 9", "  unit", "network"),
				labels(rows(s, Grouping.PRODUCER, -1, revealed, Order.ADDRESS, true)));
	}

	@Test
	void aProducerThatIsFoldedAwayHasTheRowOfItsParent() throws Exception {
		GanttSource s = events();
		GanttRows all = rows(s, Grouping.PRODUCER, -1, GanttFold.initial(s.producers()), Order.ADDRESS, true);
		assertEquals(3, all.rowOf(0, 4));
		assertEquals(2, all.parentRow(3));
		GanttRows folded = rows(s, Grouping.PRODUCER, -1, GanttFold.folded(), Order.ADDRESS, true);
		assertEquals(0, folded.rowOf(0, 4));
		assertEquals(-1, folded.rowOf(0, 5));
		int[] by = folded.rowByProducer();
		assertEquals(0, by[4]);
		assertEquals(1, by[6]);
	}

	@Test
	void rowsOfCpus() throws Exception {
		GanttSource s = events();
		assertFalse(s.knows(Grouping.THREAD));
		assertTrue(s.knows(Grouping.CPU));
		GanttRows folded = rows(s, Grouping.CPU, -1, GanttFold.folded(), Order.ADDRESS, true);
		assertEquals(List.of("CPU 0: network", "+ CPU 1: machine › board", "+ CPU 2: machine › board"), labels(folded));
		GanttRows open = rows(s, Grouping.CPU, -1, GanttFold.folded().with(2, 0, true), Order.ADDRESS, true);
		assertEquals(List.of("CPU 0: network", "+ CPU 1: machine › board", "- CPU 2: machine › board", " + core 9"), labels(open));
		assertEquals(2, open.group(3));
	}

	@Test
	void rowsOfThreads() throws Exception {
		try (TraceStore store = SyntheticTrace.matrixMultiplication(16, 12)) {
			GanttSource s = GanttSources.of(AccessTable.load(store, Progress.NONE), BasicDimensions.TYPE, Progress.NONE);
			GanttRows rows = rows(s, Grouping.THREAD, 0, GanttFold.folded().with(1, 0, true), Order.ADDRESS, true);
			// worker 1 has no initialisation and one stack only
			assertEquals(List.of("+ main #0", "- worker #1", " + A", " + B", " + C", " + stack of worker 1",
					"+ worker #2", "+ worker #3", "+ worker #4"), labels(rows));
			GanttRows structures = rows(s, Grouping.PRODUCER, 0, GanttFold.initial(s.producers()), Order.ADDRESS, true);
			assertEquals("- All memory", labels(structures).get(0));
			assertEquals(10, structures.count());
		}
	}

	@Test
	void aMillionRows() throws Exception {
		int n = 1_000_000;
		ProducerTreeBuilder b = new ProducerTreeBuilder(4096);
		b.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
		for (int i = 0; i < n; i++) {
			b.leaf(ProducerKind.RANGE, Integer.toHexString(i), i * 4096L, (i + 1) * 4096L, -1);
		}
		b.end();
		ProducerTree tree = b.build();
		GanttSource s = GanttSources.of(new SyntheticEvents().add(SyntheticEvents.RUN, 17, 0, 10, 0, 0).table(tree, 0, 10));
		GanttRows rows = rows(s, Grouping.PRODUCER, 0, GanttFold.initial(tree), Order.ADDRESS, false);
		assertEquals(n + 1, rows.count());
		assertEquals("f423f", rows.label(n));
		assertFalse(rows.isCut());
		assertEquals(2, rows(s, Grouping.PRODUCER, 0, GanttFold.initial(tree), Order.ADDRESS, true).count());
	}
}
