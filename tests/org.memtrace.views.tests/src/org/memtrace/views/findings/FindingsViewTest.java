// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.findings;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Link;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.cards.FindingCard;
import org.memtrace.analysis.cards.FindingCards;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.selection.SelectionLink;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.compare.Comparison;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.structures.StructuresView;

/** The findings of a trace in the workbench, by mouse and keys. */
class FindingsViewTest extends UiTest {
	private FindingsView view;

	private FindingCards open() {
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		view = bot.ui(() -> (FindingsView) page().findView(ViewIds.FINDINGS));
		assertNotNull(view, "a new workbench has the findings in front");
		assertTrue(bot.ui(() -> page().isPartVisible(view)));
		waitForViews();
		return bot.ui(() -> view.presenter().cards());
	}

	private Control card(int n) {
		return bot.ui(() -> view.cardControls().get(n));
	}

	@Test
	void clickShowsAFindingInAllViews() throws Exception {
		FindingCards cards = open();
		List<FindingCard> list = cards.cards();
		assertFalse(list.isEmpty());
		int a = -1;
		for (int i = 0; i < list.size(); i++) {
			a = list.get(i).finding().rule().equals("first-touch") && list.get(i).finding().names().equals(List.of("A")) ? i : a;
		}
		assertTrue(a >= 0, list.toString());
		bot.shot("findings");
		OpenTrace trace = bot.ui(() -> session.trace());
		assertEquals(0, bot.ui(() -> trace.selection().marks().length));
		int n = a;
		bot.click(card(n), 40, 12);
		bot.waitFor("zoom", () -> trace.selection().state().producer() == SampleTrace.A);
		assertArrayEquals(new int[] {SampleTrace.A}, bot.ui(() -> trace.selection().marks()));
		assertEquals("thread", bot.ui(() -> trace.selection().state().viewpoint().id()));
		waitForViews();
		bot.shot("findings-clicked");
		StructuresView structures = bot.ui(() -> show(ViewIds.STRUCTURES));
		waitForViews();
		assertEquals(1, bot.ui(() -> structures.rowCount()), "only the structure that was zoomed to");
		bot.run(() -> show(ViewIds.FINDINGS));
		// a parallel loop is words; only code that was tried can be copied
		String words = list.get(n).finding().fix().words();
		bot.find(Label.class, l -> l.getText().equals(words) && l.isVisible());
		assertTrue(bot.ui(() -> bot.all(Button.class).stream().noneMatch(b -> b.getText().equals("Copy the code") && b.isVisible())));
		// the keys go to the rules that did not hold, and change no view
		var state = bot.ui(() -> trace.selection().state());
		bot.run(() -> card(n).forceFocus());
		bot.key("End");
		bot.waitFor("reasons", () -> view.presenter().chosen() == -1);
		assertEquals(state, bot.ui(() -> trace.selection().state()));
		bot.shot("findings-why-not");
	}

	/** Each view says for what it shows something else now, and leads back to all that was shown before, in one step. */
	@Test
	void whatAClickChangesIsSaidAndBackBringsItBack() {
		open();
		OpenTrace trace = bot.ui(() -> session.trace());
		bot.run(() -> {
			trace.selection().addFilter(TraceFilter.only(Condition.thread(0)));
			trace.selection().mark(SampleTrace.B);
		});
		waitForViews();
		ViewState before = bot.ui(() -> trace.selection().state());
		bot.click(card(0), 40, 12);
		bot.waitFor("another state", () -> !trace.selection().state().equals(before));
		waitForViews();
		bot.shot("findings-said");
		String name = bot.ui(() -> view.presenter().cards().cards().get(0).name());
		Link said = bot.find(Link.class, l -> l.isVisible() && l.getText().startsWith("Shown for finding " + name + ": "));
		assertTrue(bot.ui(() -> bot.all(Link.class).stream().filter(l -> l.isVisible() && l.getText().equals(said.getText())).count()) >= 2,
				"the picture and the findings");
		bot.run(() -> said.notifyListeners(SWT.Selection, null));
		assertEquals(before, bot.ui(() -> trace.selection().state()));
		assertArrayEquals(new int[] {SampleTrace.B}, bot.ui(() -> trace.selection().marks()));
		assertTrue(bot.ui(() -> bot.all(Link.class).stream().noneMatch(l -> l.isVisible() && l.getText().startsWith("Shown for"))));
		waitForViews();
	}

	@Test
	void twoLinkedTracesAreCompared() throws Exception {
		TraceInfo second = SampleTrace.write(session.catalogue(), "another matmul");
		open();
		bot.run(() -> Comparison.show(page(), second, SelectionLink.Time.SCALED));
		bot.waitFor("comparison", () -> view.presenter().cards() != null && view.presenter().cards().isComparison());
		waitForViews();
		FindingCards cards = bot.ui(() -> view.presenter().cards());
		assertTrue(cards.heading().endsWith("as before"), cards.heading());
		bot.shot("findings-compare");
		bot.run(() -> session.unlink(session.group(1)));
		bot.waitFor("one trace", () -> view.presenter().cards() != null && !view.presenter().cards().isComparison());
	}

	@Test
	void reportIsWhatTheCommandWrites() throws Exception {
		open();
		Path file = directory.resolve("report.html");
		String[] error = {"not done"};
		Job job = bot.ui(() -> ReportExport.write(session.trace(), file, e -> error[0] = e));
		job.join();
		bot.waitFor("report", () -> error[0] == null);
		String html = Files.readString(file);
		assertTrue(html.contains("small matmul") && html.contains("\"rule\":\"first-touch\""), "findings are in it");
		Path none = directory.resolve("no such folder/report.html");
		bot.ui(() -> ReportExport.write(session.trace(), none, e -> error[0] = e)).join();
		bot.waitFor("error", () -> error[0] != null);
		assertTrue(error[0].startsWith(none + " cannot be written: "), error[0]);
	}
}
