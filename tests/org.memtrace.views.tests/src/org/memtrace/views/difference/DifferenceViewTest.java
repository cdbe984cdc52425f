// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.difference;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;

import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Event;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.diff.DiffMap.Quantity;
import org.memtrace.analysis.diff.DiffTable;
import org.memtrace.analysis.diff.StructureDiff;
import org.memtrace.analysis.selection.SelectionLink;
import org.memtrace.model.Regions;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.TraceStore;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.compare.Comparison;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.ViewIds;

/** Two small traces are compared: sentences, table, picture, and what a click does. */
class DifferenceViewTest extends UiTest {
	private DifferenceView view;

	/** Shows the sample and a repaired version of it, and their difference. */
	private void compare() throws Exception {
		TraceInfo repaired = SampleTrace.writeRepaired(session.catalogue(), "repaired matmul");
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		bot.run(() -> Comparison.show(page(), repaired, SelectionLink.Time.SCALED));
		bot.waitFor("the view", () -> page().findView(ViewIds.DIFFERENCE) != null);
		view = bot.ui(() -> (DifferenceView) page().findView(ViewIds.DIFFERENCE));
		bot.waitFor("difference", () -> view.values() != null);
		waitForViews();
	}

	private OpenTrace trace(int group) {
		return session.group(group).trace();
	}

	private StructureDiff structure(String name) {
		return bot.ui(() -> view.rows().stream().filter(s -> s.name().equals(name)).findFirst().orElseThrow());
	}

	private void choose(int quantity) {
		bot.run(() -> {
			view.quantities().select(quantity);
			view.quantities().notifyListeners(SWT.Selection, new Event());
		});
		waitForViews();
	}

	@Test
	void itSaysWhatDiffSaysAndDrawsWhereAndWhen() throws Exception {
		compare();
		bot.shot("difference");
		String said = bot.ui(view::sentences);
		assertTrue(said.startsWith("small matmul (A), then repaired matmul (B). Time: "), said);
		assertTrue(said.contains("One run each: cannot tell how much is noise"), said);
		assertTrue(said.contains("gone: A: first touch. The advice worked: "), said);
		assertTrue(said.contains("A: first touched by main 100 % before, by multiply 1 25.0 %, multiply 2 25.0 %"), said);
		assertEquals(Quantity.FIRST_TOUCH, bot.ui(view::quantity));
		assertEquals(3, bot.ui(() -> view.values().fields().size()));
		List<String> names = bot.ui(() -> view.rows().stream().map(StructureDiff::name).sorted().toList());
		assertEquals(List.of("A", "B", "C, now result"), names);
		choose(Quantity.WRITES.ordinal());
		assertEquals(Quantity.WRITES, bot.ui(() -> view.values().choice().quantity()));
		assertEquals(1, bot.ui(() -> view.values().until()), "accesses are of the whole run");
		assertEquals(0, bot.ui(() -> view.values().limit()), "the same writes by others");
		bot.shot("difference-writes");
		choose(Quantity.FIRST_TOUCH.ordinal());
		assertTrue(bot.ui(() -> view.values().until()) < 0.5, "first touches are at the beginning");
		bot.run(() -> showAlone(ViewIds.DIFFERENCE));
		waitForViews();
		bot.shot("difference-alone");
		bot.waitFor("picture", () -> view.canvas().picture() != null);
		String at = bot.ui(() -> view.canvas().picture().textAt(view.canvas().getSize().x - 40, 60));
		assertTrue(at.contains("pages that main has touched first until then"), at);
		bot.run(() -> page().toggleZoom(page().findViewReference(ViewIds.DIFFERENCE)));
	}

	/** Also a structure that has another name in each trace. */
	@Test
	void aRowMarksTheStructureInBothTraces() throws Exception {
		compare();
		StructureDiff renamed = structure("C, now result");
		bot.run(() -> {
			view.grid().select(view.rows().indexOf(renamed), true);
			view.grid().control().notifyListeners(SWT.Paint, new Event());
		});
		int row = bot.ui(() -> view.rows().indexOf(renamed));
		var cell = bot.ui(() -> view.grid().cellBounds(0, row));
		bot.click(view.grid().control(), cell.x + 20, cell.y + cell.height / 2);
		bot.waitFor("marks", () -> trace(1).selection().mark() == SampleTrace.C);
		assertArrayEquals(new int[] {SampleTrace.C}, bot.ui(() -> trace(1).selection().marks()));
		assertArrayEquals(new int[] {SampleTrace.C}, bot.ui(() -> trace(2).selection().marks()));
		// a click in the picture chooses the structure there; marking in another view chooses the row
		StructureDiff first = bot.ui(() -> view.values().fields().get(0).structure());
		bot.click(view.canvas(), bot.ui(() -> view.canvas().getSize().x - 40), 30);
		int producer = 1 + 37 * first.before().structures().get(0);
		bot.waitFor("mark", () -> trace(2).selection().mark() == producer);
		assertEquals(producer, bot.ui(() -> trace(1).selection().mark()));
		bot.run(() -> trace(1).selection().mark(SampleTrace.B));
		assertEquals("B", bot.ui(() -> view.rows().get(view.grid().selectedRow()).name()));
	}

	@Test
	void theTableIsSortedByAnyColumn() throws Exception {
		compare();
		int moved = DiffTable.COLUMNS.stream().map(DiffTable.Column::id).toList().indexOf("first-touch_difference");
		bot.run(() -> view.sortBy(moved, false));
		assertEquals("C, now result", bot.ui(() -> view.rows().get(2).name()), "its first touch has not changed");
		bot.run(() -> view.sortBy(moved, true));
		assertEquals("C, now result", bot.ui(() -> view.rows().get(0).name()));
	}

	@Test
	void aRegionIsChosen() throws Exception {
		TraceInfo repaired = SampleTrace.writeRepaired(session.catalogue(), "repaired matmul");
		for (TraceInfo t : List.of(sample, repaired)) {
			try (TraceStore store = session.catalogue().open(t.id())) {
				Regions.Builder regions = new Regions.Builder();
				regions.begin(0, 100, "fill", 0);
				regions.end(0, 100, "fill", t.durationNs() / 10);
				regions.begin(0, 100, "work", t.durationNs() / 10);
				store.writeNote(Regions.NOTE, regions.build(t.durationNs()).toBytes());
			}
		}
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		bot.run(() -> Comparison.show(page(), repaired, SelectionLink.Time.SCALED));
		bot.waitFor("the view", () -> page().findView(ViewIds.DIFFERENCE) != null);
		view = bot.ui(() -> (DifferenceView) page().findView(ViewIds.DIFFERENCE));
		bot.waitFor("difference", () -> view.values() != null);
		waitForViews();
		assertEquals(List.of("Whole run", "In fill", "In work"), bot.ui(() -> List.of(view.regions().getItems())));
		StructureDiff whole = structure("A");
		bot.run(() -> {
			view.regions().select(1);
			view.regions().notifyListeners(SWT.Selection, new Event());
		});
		bot.shot("difference-region");
		String said = bot.ui(view::sentences);
		assertTrue(said.contains("(B). In fill: time "), said);
		StructureDiff inside = structure("A");
		assertTrue(inside.before().reads() + inside.before().writes() < whole.before().reads() + whole.before().writes(), inside.toString());
		bot.run(() -> {
			view.regions().select(0);
			view.regions().notifyListeners(SWT.Selection, new Event());
		});
		assertTrue(!bot.ui(view::sentences).contains("In fill"));
	}

	@Test
	void withoutALinkItSaysWhatToDo() throws Exception {
		compare();
		bot.run(() -> session.unlink(session.group(1)));
		assertTrue(bot.ui(view::sentences).contains("Compare with…"), bot.ui(view::sentences));
		assertNull(bot.ui(view::values));
		assertEquals(0, bot.ui(() -> view.rows().size()));
		bot.run(() -> session.link(session.group(1), session.group(2), SelectionLink.Time.SCALED));
		bot.waitFor("again", () -> view.values() != null);
		waitForViews();
	}
}
