// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.swt.widgets.Label;
import org.eclipse.ui.IWorkbenchPage;
import org.eclipse.ui.PartInitException;
import org.eclipse.ui.PlatformUI;
import org.eclipse.ui.views.IViewDescriptor;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.session.Opening;
import org.memtrace.views.session.ViewIds;

/** All views of traces that there are, whoever made them, show the same and follow each other. */
class SynchronisationTest extends UiTest {
	/** Ids of all our views. */
	static List<String> ids() {
		List<String> ids = new ArrayList<>();
		for (IViewDescriptor v : PlatformUI.getWorkbench().getViewRegistry().getViews()) {
			if (v.getId().startsWith("org.memtrace.views.")) {
				ids.add(v.getId());
			}
		}
		return ids;
	}

	/** Opens all views; those behind others exist too. */
	/** All views; that of the events is a new one, another test may have left it filtered by column. */
	private void showAll() {
		for (String id : ids()) {
			bot.run(() -> {
				try {
					if (id.equals(ViewIds.EVENTS) && page().findView(id) != null) {
						page().hideView(page().findView(id));
					}
					page().showView(id, null, IWorkbenchPage.VIEW_CREATE);
				} catch (PartInitException e) {
					throw new AssertionError(id, e);
				}
			});
		}
	}

	/** The numbers that each view would save when it is seen. */
	private Map<String, String> numbers() {
		Map<String, String> numbers = new TreeMap<>();
		for (TraceView v : bot.ui(UiTest::views)) {
			bot.run(() -> page().bringToTop(v));
			waitForViews(v.getClass().getSimpleName());
			Snapshot s = bot.ui(v::snapshot);
			if (s != null && s.csv() != null) {
				numbers.put(bot.ui(() -> v.getViewSite().getId()), s.csv().get());
			}
		}
		return numbers;
	}

	@Test
	void filtersReachAllViewsAndLeaveThemAgain() {
		showAll();
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		Map<String, String> before = numbers();
		assertTrue(before.containsKey(ViewIds.STRUCTURES), before.keySet().toString());
		bot.run(() -> session.trace().selection().addFilter(TraceFilter.only(Condition.thread(1))));
		Map<String, String> filtered = numbers();
		assertEquals(before.keySet(), filtered.keySet());
		assertEquals(before.remove(ViewIds.FINDINGS), filtered.get(ViewIds.FINDINGS), "findings are about the whole trace");
		before.forEach((id, csv) -> assertNotEquals(csv, filtered.get(id), id + " does not follow filters"));
		bot.run(() -> session.trace().selection().back());
		Map<String, String> after = numbers();
		before.forEach((id, csv) -> assertEquals(csv, after.get(id), id + " is not what it was before"));
	}

	/** What is said above a picture of the opening of another trace has its name. */
	@Test
	void progressOfAnotherTraceHasItsName() {
		showAll();
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		bot.run(() -> session.opening(new Opening(session.group(), "other.memtrace", "Writing event producers", 0.4)));
		String said = "Opening other.memtrace: Writing event producers";
		bot.find(Label.class, l -> l.getText().equals(said) && l.isVisible());
		bot.shot("other-trace");
		bot.run(() -> session.opening(null));
		bot.waitFor("no progress", () -> bot.all(Label.class).stream().noneMatch(l -> l.getText().equals(said) && l.isVisible()));
	}

	@Test
	void closingTheTraceAtAnyMomentIsQuiet() throws Exception {
		showAll();
		for (int i = 0; i < 6; i++) {
			int step = i;
			bot.run(() -> session.opener().open(sample));
			if (i > 0) {
				bot.waitFor("trace", () -> session.trace() != null);
				bot.run(() -> {
					ViewState s = session.trace().selection().state();
					session.trace().selection().zoom(s.fromNs() + step, s.toNs() - 1000 * step, step % 2 == 0 ? SampleTrace.A : SampleTrace.C);
					session.trace().selection().addFilter(TraceFilter.hide(Condition.thread(step)));
				});
			}
			if (i > 3) {
				waitForViews();
			}
			bot.run(() -> session.forget(t -> true));
		}
		Job.getJobManager().join(LatestResult.class, null);
		waitForViews();
		for (TraceView v : bot.ui(UiTest::views)) {
			assertEquals(null, bot.ui(v::trace), v.getClass().getSimpleName());
		}
	}
}
