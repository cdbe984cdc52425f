// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.filters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;

import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.Text;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.ModelType;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.SavedFilters;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.statistics.PieModel;
import org.memtrace.analysis.table.EventColumn;
import org.memtrace.analysis.table.StructureSheet.Column;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;
import org.memtrace.views.SampleEvents;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.density.DensityView;
import org.memtrace.views.events.EventsView;
import org.memtrace.views.session.NoteJob;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.statistics.StatisticsView;
import org.memtrace.views.structures.StructuresView;

/** Filters by mouse and keys: chips, their dialog, saved filters; all views follow in one step. */
class FiltersTest extends UiTest {
	private void open() {
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
	}

	private FilterSet filters() {
		return bot.ui(() -> session.trace().selection().state().filters());
	}

	@BeforeEach
	void showStructures() {
		bot.run(() -> show(ViewIds.STRUCTURES));
	}

	private Chip chip(String text) {
		return bot.find(Chip.class, c -> c.getToolTipText().contains(text) && c.getSize().x > 0);
	}

	/** Rows of the structure table. */
	private Set<String> structures() {
		return bot.ui(() -> {
			StructuresView view = (StructuresView) page().findView(ViewIds.STRUCTURES);
			Set<String> names = new java.util.TreeSet<>();
			for (int i = 0; i < view.rowCount(); i++) {
				names.add(view.text(Column.NAME, i));
			}
			return names;
		});
	}

	@Test
	void chipsShowAndRemoveFiltersInAllViews() {
		open();
		waitForViews();
		assertEquals(Set.of("A", "B", "C"), structures());
		bot.run(() -> session.trace().selection().addFilter(
				TraceFilter.hide(Condition.Subtree.of(session.trace().producers(), SampleTrace.B))));
		bot.run(() -> session.trace().selection().addFilter(TraceFilter.only(Condition.thread(1))));
		waitForViews();
		assertEquals(Set.of("A", "C"), structures());
		bot.find(Label.class, l -> l.getText().equals("640 of 8,320 records (7.7 %)"));
		bot.shot("filters");

		Chip worker = chip("worker 1");
		Rectangle cross = bot.ui(worker::cross);
		bot.click(worker, cross);
		bot.waitFor("filter removed", () -> filters().filters().size() == 1);
		bot.run(() -> session.trace().selection().back());
		assertEquals(2, filters().filters().size(), "removing is a step of the history");

		bot.click(chip("not B"), 12, 8);
		bot.key("space");
		bot.waitFor("off", () -> !filters().filters().get(0).enabled());
		bot.key("Right");
		bot.key("Delete");
		bot.waitFor("removed by key", () -> filters().filters().size() == 1);
		bot.key("space");
		bot.waitFor("on again, the focus is still on the chips", () -> filters().filters().get(0).enabled());
		waitForViews();
		assertEquals(Set.of("A", "C"), structures());
		bot.key("BackSpace");
		bot.waitFor("none", () -> filters().isEmpty());
		waitForViews();
		assertEquals(Set.of("A", "B", "C"), structures());
	}

	/** Alternatives in the dialog, and by a key on the chip. */
	@Test
	void eitherOr() {
		open();
		bot.run(() -> bot.display.asyncExec(() -> FilterActions.addFilter(page().getWorkbenchWindow().getShell(), session.trace())));
		Button add = bot.find(Button.class, b -> b.getText().equals("Add"));
		bot.click(bot.find(Text.class, t -> t.getShell() == add.getShell()), 20, 8);
		bot.type("^c$");
		bot.waitFor("a filter", add::isEnabled);
		bot.key("alt+r");
		org.eclipse.swt.widgets.List names = bot.find(org.eclipse.swt.widgets.List.class, l -> l.getShell() == add.getShell());
		assertEquals(List.of("name is \"c\"", "…"), bot.ui(() -> List.of(names.getItems())));
		assertTrue(!bot.ui(add::isEnabled), "the second one is not given yet");
		bot.waitFor("focus in the new field", () -> bot.display.getFocusControl() instanceof Text t && t.getText().isEmpty());
		bot.type("^a$");
		bot.waitFor("both", () -> names.getItem(1).equals("name is \"a\"") && add.isEnabled());
		bot.shot("filter-dialog-or");
		bot.close(add);
		TraceFilter c = TraceFilter.only(new Condition.Name("(?i)^c$"));
		TraceFilter a = TraceFilter.only(new Condition.Name("(?i)^a$"));
		assertEquals(List.of(TraceFilter.any(c, a)), filters().filters());
		waitForViews();
		assertEquals(Set.of("A", "C"), structures());

		bot.click(chip("name"), 12, 8);
		bot.key("o");
		Button or = bot.find(Button.class, b -> b.getText().equals("Add"));
		bot.waitFor("focus in the dialog", () -> bot.display.getFocusControl() instanceof Text t && t.getShell() == or.getShell());
		bot.type("^b$");
		bot.waitFor("another filter", or::isEnabled);
		bot.close(or);
		bot.waitFor("three alternatives", () -> filters().filters().get(0).alternatives().size() == 3);
		waitForViews();
		assertEquals(Set.of("A", "B", "C"), structures());

		bot.doubleClick(chip("name"), 12, 8);
		Button ok = bot.find(Button.class, b -> b.getText().equals("OK"));
		Button remove = bot.find(Button.class, b -> b.getText().equals("&Remove") && b.getShell() == ok.getShell());
		bot.click(remove, bot.ui(() -> new Rectangle(0, 0, remove.getSize().x, remove.getSize().y)));
		bot.close(ok);
		assertEquals(List.of(TraceFilter.any(a, TraceFilter.only(new Condition.Name("(?i)^b$")))), filters().filters());
	}

	@Test
	void dialogCountsWhatIsLeftAndRefusesMistakes() {
		open();
		bot.run(() -> bot.display.asyncExec(() -> FilterActions.addFilter(page().getWorkbenchWindow().getShell(), session.trace())));
		Button add = bot.find(Button.class, b -> b.getText().equals("Add"));
		assertTrue(!bot.ui(add::isEnabled), "nothing is given yet");
		Text name = bot.find(Text.class, t -> t.getShell() == add.getShell());
		bot.click(name, 20, 8);
		bot.type("[");
		bot.find(Label.class, l -> l.getText().equals("This is no regular expression: Unclosed character class."));
		bot.key("BackSpace");
		bot.type("^[bc]$");
		bot.find(Label.class, l -> l.getText().startsWith("6,720 of 8,320 rows are left"));
		bot.shot("filter-dialog");
		bot.close(add);
		assertEquals(List.of(TraceFilter.only(new Condition.Name("(?i)^[bc]$"))), filters().filters());
		waitForViews();
		assertEquals(Set.of("B", "C"), structures());

		bot.doubleClick(chip("name"), 12, 8);
		Combo kind = bot.find(Combo.class, c -> c.getShell().getText().equals("Change filter"));
		List<ConditionEditor.Kind> kinds = bot.ui(() -> ConditionEditor.Kind.of(session.trace()));
		for (int k = 0; k < kinds.size(); k++) {
			int at = k;
			bot.run(() -> {
				kind.select(at);
				kind.notifyListeners(org.eclipse.swt.SWT.Selection, new org.eclipse.swt.widgets.Event());
			});
		}
		Button ok = bot.find(Button.class, b -> b.getText().equals("OK"));
		bot.run(() -> {
			kind.select(kinds.indexOf(ConditionEditor.Kind.of(BasicDimensions.THREAD)));
			kind.notifyListeners(org.eclipse.swt.SWT.Selection, new org.eclipse.swt.widgets.Event());
		});
		Table threads = bot.find(Table.class, t -> t.getShell() == kind.getShell());
		Rectangle first = bot.ui(() -> threads.getItem(0).getBounds());
		bot.click(threads, first.x - 12, first.y + first.height / 2);
		bot.waitFor("a thread is chosen", ok::isEnabled);
		bot.shot("filter-dialog-threads");
		bot.close(ok);
		assertEquals(List.of(TraceFilter.only(Condition.thread(0))), filters().filters());
	}

	/** Traces of other tools: every view shows what passes, and the dialog offers what these traces have. */
	@Test
	void eventsOfOtherToolsAreFilteredInAllViews() throws Exception {
		StatisticsView statistics = bot.ui(() -> show(ViewIds.STATISTICS));
		bot.run(() -> {
			try {
				session.show(new OpenTrace(SampleEvents.store(), Progress.NONE));
			} catch (MemtraceException e) {
				throw new AssertionError(e);
			}
		});
		waitForViews();
		assertEquals(Set.of("Compute", "Wait", "Send"), names(statistics));
		bot.run(() -> show(ViewIds.STRUCTURES));
		waitForViews();
		assertEquals(Set.of(), structures());
		bot.find(Label.class, l -> l.getText().equals("This trace has no memory structures."));
		bot.run(() -> show(ViewIds.STATISTICS));

		bot.run(() -> bot.display.asyncExec(() -> FilterActions.addFilter(page().getWorkbenchWindow().getShell(), session.trace())));
		Button add = bot.find(Button.class, b -> b.getText().equals("Add"));
		Combo kind = bot.find(Combo.class, c -> c.getShell() == add.getShell());
		assertEquals(List.of("Name", "Producer", "Event type", "CPU", "Number of events", "Share of events", "Level of the hierarchy"),
				List.of(bot.ui(kind::getItems)));
		bot.run(() -> {
			kind.select(2);
			kind.notifyListeners(org.eclipse.swt.SWT.Selection, new org.eclipse.swt.widgets.Event());
		});
		Table types = bot.find(Table.class, t -> t.getShell() == add.getShell());
		assertEquals(List.of("Compute", "Wait", "Send", "Checkpoint", "Message", "Watts"),
				bot.ui(() -> java.util.Arrays.stream(types.getItems()).map(i -> i.getText()).toList()));
		Rectangle wait = bot.ui(() -> types.getItem(1).getBounds());
		bot.click(types, wait.x - 12, wait.y + wait.height / 2);
		Label left = bot.find(Label.class, l -> l.getText().contains(" events are left "));
		assertTrue(bot.ui(left::getText).endsWith("of 4 producers."), bot.ui(left::getText));
		bot.shot("filter-dialog-events");
		bot.close(add);
		assertEquals(List.of(TraceFilter.only(Condition.type("Wait"))), filters().filters());

		waitForViews();
		assertEquals(Set.of("Wait"), names(statistics));
		bot.find(Label.class, l -> l.getText().matches("\\d+ of \\d+ events \\(.*%\\)"));
		DensityView density = bot.ui(() -> show(ViewIds.DENSITY));
		waitForViews();
		assertEquals(List.of("Wait"), bot.ui(() -> density.model().series().stream().map(ModelType::name).toList()));
		EventsView events = bot.ui(() -> show(ViewIds.EVENTS));
		waitForViews();
		bot.waitFor("rows of the first block", () -> !events.text(EventColumn.EVENT_TYPE, 0).isEmpty());
		assertEquals("Wait", bot.ui(() -> events.text(EventColumn.EVENT_TYPE, 0)));
		bot.shot("filters-events");
	}

	private Set<String> names(StatisticsView view) {
		return bot.ui(() -> new java.util.TreeSet<>(view.model().slices().stream().map(PieModel.Slice::name).toList()));
	}

	@Test
	void savedFiltersStayWithTheTrace() throws Exception {
		open();
		FilterSet two = FilterSet.of(TraceFilter.only(Condition.thread(2)), TraceFilter.hide(new Condition.Name("A")));
		OpenTrace trace = bot.ui(session::trace);
		bot.run(() -> FilterActions.keep(page().getWorkbenchWindow().getShell(), trace,
				trace.savedFilters().with("second worker", two)));
		NoteJob.await();
		try (TraceStore store = session.catalogue().open(sample.id())) {
			assertEquals(two, SavedFilters.of(store).find("second worker"));
		}
		bot.run(() -> session.show(null));
		open();
		assertEquals(Set.of("second worker"), bot.ui(() -> session.trace().savedFilters().byName().keySet()));
	}
}
