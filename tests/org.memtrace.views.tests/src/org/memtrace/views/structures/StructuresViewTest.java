// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.structures;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;

import org.eclipse.nebula.widgets.nattable.NatTable;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.table.StructureSheet.Column;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.grid.Grid;
import org.memtrace.views.session.ViewIds;

/** The table of structures with more rows than a person would read. */
class StructuresViewTest extends UiTest {
	private static final int MANY = 50_000;
	private static final long PAGE = 4096;

	/** Structure i has i accesses; names do not sort as numbers do. */
	private TraceInfo many() throws Exception {
		try (TraceWriter w = session.catalogue().create("many")) {
			w.threads(List.of(new ThreadInfo(0, 0, 100, "main", 0, Long.MAX_VALUE, "", true)));
			ProducerTreeBuilder tree = new ProducerTreeBuilder((int) PAGE);
			List<Structure> structures = new ArrayList<>();
			AccessBatch batch = new AccessBatch(MANY);
			tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
			for (int i = 0; i < MANY; i++) {
				long start = 0x7f0000000000L + i * PAGE;
				String name = "node " + i;
				structures.add(new Structure(i, 0, StructureKind.HEAP, name, start, start + PAGE, 0, Long.MAX_VALUE, 100, -1,
						"list.c:" + i % 100));
				tree.begin(ProducerKind.STRUCTURE, name, start, start + PAGE, i);
				int page = tree.leaf(ProducerKind.PAGE, name + " [page 0]", start, start + PAGE, i);
				tree.end();
				batch.add(i, i + 1, page, 0, 0, i + 1, 0, 1, 0, 0, 0);
			}
			tree.end();
			w.structures(structures);
			var producers = tree.build();
			w.producers(producers);
			w.cpuSets(List.of(new BitSet()));
			w.accesses(batch);
			return w.commit(new TraceInfo(-1, "many", "many", TraceInfo.TYPE_MEMTRACE, "/usr/bin/list", "host", "Linux", 1, 0,
					producers.size(), 0, MANY, Instant.EPOCH, (int) PAGE, "", Map.of()), "{}", Progress.NONE);
		}
	}

	/** A click with the right button below the last row asks for no row. */
	@Test
	void belowTheLastRowThereIsNoRow() {
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		waitForViews();
		StructuresView view = bot.ui(() -> show(ViewIds.STRUCTURES));
		bot.waitFor("rows", view::isSettled);
		Grid grid = bot.ui(view::grid);
		assertEquals(-1, bot.ui(() -> grid.rowAt(5, grid.control().getSize().y - 2)));
		assertEquals(0, bot.ui(() -> grid.rowAt(5, ((NatTable) grid.control()).getStartYOfRowPosition(1) + 5)));
	}

	/** Columns are as wide as the view allows, one beside the other. */
	@Test
	void columnsStayBesideEachOtherWhenTheViewIsResized() {
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		bot.run(() -> show(ViewIds.STRUCTURES));
		waitForViews();
		NatTable table = bot.find(NatTable.class, t -> t.isVisible());
		for (int width : new int[] {1000, 1250, 900}) {
			bot.run(() -> page().getWorkbenchWindow().getShell().setSize(width, 1000));
			waitForViews();
			List<String> apart = bot.ui(() -> {
				List<String> found = new ArrayList<>();
				for (int c = 1; c < table.getColumnCount(); c++) {
					int end = table.getStartXOfColumnPosition(c - 1) + table.getColumnWidthByPosition(c - 1);
					if (table.getStartXOfColumnPosition(c) != end) {
						found.add("column " + c + " begins at " + table.getStartXOfColumnPosition(c) + ", the one before ends at " + end);
					}
				}
				return found;
			});
			assertEquals(List.of(), apart, "window of " + width);
		}
	}

	@Test
	void fiftyThousandRowsAreFilteredAndSorted() throws Exception {
		TraceInfo many = many();
		StructuresView view = bot.ui(() -> show(ViewIds.STRUCTURES));
		bot.run(() -> session.opener().open(many));
		bot.waitFor("rows", () -> session.trace() != null && view.isSettled() && view.rowCount() == MANY);
		assertEquals("node " + (MANY - 1), first(view), "most accesses first");
		waitForPicture("many"); // which the other views compute at the same time
		Stalls stalls = new Stalls();
		stalls.start();
		for (int i = 1; i <= 4; i++) {
			String text = "node 4999".substring(0, 5 + i);
			bot.run(() -> view.filter().setText(text));
		}
		bot.waitFor("filtered", () -> view.isSettled() && view.rowCount() == 11); // 4999, 49990 to 49999
		assertEquals("node 49999", first(view));
		bot.run(() -> view.filter().setText("list.c:77"));
		bot.waitFor("filtered by site", () -> view.isSettled() && view.rowCount() == MANY / 100);
		bot.run(() -> view.filter().setText(""));
		bot.waitFor("all", () -> view.isSettled() && view.rowCount() == MANY);
		Grid grid = bot.ui(view::grid);
		bot.click(grid.control(), bot.ui(() -> grid.headBounds(Column.NAME.ordinal(), false)));
		bot.waitFor("by name", () -> view.isSettled() && view.text(Column.NAME, 0).equals("node 0"));
		assertEquals("node 10000", bot.ui(() -> view.text(Column.NAME, 5)), "0, 1, 10, 100, 1000, 10000");
		System.out.println("longest time that the display thread was away: " + stalls.end() / 1_000_000 + " ms");
		bot.shot("many-structures");
	}

	/** Rows follow window and memory that are shown; the menu makes a filter for all views. */
	@Test
	void rowsFollowTheSelection() {
		StructuresView view = bot.ui(() -> show(ViewIds.STRUCTURES));
		bot.run(() -> session.opener().open(sample));
		bot.waitFor("rows", () -> session.trace() != null && view.isSettled() && view.rowCount() == 3);
		waitForPicture("small matmul");
		assertEquals("A", bot.ui(() -> view.text(Column.NAME, 0)), "most accesses first");
		long end = SampleTrace.INITIALISATION * SampleTrace.STEP_NS;
		bot.run(() -> session.trace().selection().window(0, end));
		bot.waitFor("initialisation", () -> view.isSettled() && view.text(Column.READS, 0).equals("0"));
		Grid grid = bot.ui(view::grid);
		bot.click(grid.control(), bot.ui(() -> grid.cellBounds(0, 0)));
		bot.waitFor("marked", () -> session.trace().selection().mark() == SampleTrace.A);
		bot.key("Down");
		bot.waitFor("next marked", () -> session.trace().selection().mark() == SampleTrace.B);
		bot.key("Return");
		bot.waitFor("zoomed", () -> view.isSettled() && view.rowCount() == 1
				&& session.trace().selection().state().producer() == SampleTrace.B);
		bot.run(() -> session.trace().selection().reset());
		bot.waitFor("all", () -> view.isSettled() && view.rowCount() == 3);
		bot.run(() -> session.trace().selection().addFilter(TraceFilter.only(Condition.thread(0))));
		bot.waitFor("what the main thread did", () -> view.isSettled() && view.rowCount() == 2);
		bot.shot("structures");
	}

	private String first(StructuresView view) {
		return bot.ui(() -> view.text(Column.NAME, 0));
	}

	/** Measures how long the display thread lets others wait; printed, not judged: a loaded machine may do anything. */
	private final class Stalls extends Thread {
		private volatile boolean on = true;
		private volatile long longestNs;

		@Override
		public void run() {
			while (on) {
				long start = System.nanoTime(); 
				bot.display.syncExec(() -> {
				});
				long ns = System.nanoTime() - start;
				longestNs = Math.max(longestNs, ns);
				try {
					Thread.sleep(2);
				} catch (InterruptedException e) {
					return;
				}
			}
		}

		long end() throws InterruptedException {
			on = false;
			join();
			return longestNs;
		}
	}
}
