// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;

import org.eclipse.swt.graphics.Rectangle;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.profile.FlamePicture.Bar;
import org.memtrace.analysis.profile.Profile.By;
import org.memtrace.analysis.profile.ProfileColumn;
import org.memtrace.analysis.profile.ProfileTable.Line;
import org.memtrace.analysis.profile.ProfileTable.Place;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.SampleEvents;
import org.memtrace.views.UiTest;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.ViewIds;

/** The table of a profile and its flame graph. */
class ProfileViewTest extends UiTest {
	private ProfileView view;

	private void open() {
		view = bot.ui(() -> show(ViewIds.PROFILE));
		bot.run(() -> {
			try {
				session.show(new OpenTrace(SampleEvents.store(), Progress.NONE));
			} catch (MemtraceException e) {
				throw new AssertionError(e);
			}
		});
		settle();
	}

	/** Until the present state is shown and painted. */
	private void settle() {
		bot.waitFor("profile", () -> session.trace() != null && view.isSettled() && view.table() != null && view.flame().picture() != null);
	}

	private List<String> names() {
		return bot.ui(() -> view.table().lines().stream().map(l -> " ".repeat(l.depth()) + view.table().text(ProfileColumn.REGION, l)).toList());
	}

	private Place root() {
		return bot.ui(() -> view.flame().look().root());
	}

	private void click(Place place) {
		settle();
		Bar bar = bot.ui(() -> view.flame().picture().of(place));
		bot.click(view.flame(), (int) (bar.x() + bar.width() / 2), (int) (bar.y() + bar.height() / 2));
		settle();
	}

	@Test
	void tableAndFlameGraph() {
		open();
		Place compute = new Place(-1, List.of("Compute"));
		Place send = new Place(-1, List.of("Compute", "Send"));
		assertEquals(List.of("Compute", " Send", "Wait"), names().subList(0, 3));
		bot.shot("profile");

		// a click makes a bar as wide as the picture and selects its row, again takes it back; keys do the same
		click(compute);
		assertEquals(compute, root());
		assertEquals(0, bot.ui(() -> view.grid().selectedRow()));
		click(send);
		assertEquals(send, root());
		assertEquals(1, bot.ui(() -> view.grid().selectedRow()));
		bot.shot("profile-zoomed");
		click(send);
		assertEquals(compute, root());
		bot.key("Escape");
		assertNull(root());
		settle();
		bot.key("Up");
		settle();
		bot.key("Return");
		assertEquals(compute, root());
		bot.key("BackSpace");
		settle();
		bot.key("BackSpace");
		assertNull(root());

		// another window has other times, and the same rows
		String before = bot.ui(() -> view.table().text(ProfileColumn.EXCLUSIVE, view.table().lines().get(0)));
		bot.run(() -> session.trace().selection().window(0, 100_000_000));
		settle();
		String after = bot.ui(() -> view.table().text(ProfileColumn.EXCLUSIVE, view.table().lines().get(0)));
		assertTrue(!before.equals(after), after);

		// each thread, flat, ordered by the number of executions, searched
		bot.run(() -> view.choose(By.THREAD, false));
		settle();
		assertTrue(names().containsAll(List.of("rank 0", " Compute", " Wait", "rank 3")), names().toString());
		Rectangle head = bot.ui(() -> view.grid().headBounds(ProfileColumn.COUNT.ordinal(), false));
		bot.click(view.grid().control(), head.x + 10, head.y + 8);
		bot.waitFor("order", () -> view.grid().sortColumn() == ProfileColumn.COUNT.ordinal() && view.grid().isDescending());
		bot.run(() -> view.search().setText("wai"));
		assertTrue(names().stream().allMatch(n -> n.equals(" Wait") || n.startsWith("rank ")), names().toString());
		bot.shot("profile-threads");
		bot.run(() -> view.search().setText(""));
		List<Line> lines = bot.ui(() -> view.table().lines());
		assertEquals("rank 0", lines.get(0).group().name());
		bot.click(view.grid().control(), bot.ui(() -> view.grid().cellBounds(0, 0)));
		bot.waitFor("rank 0 marked", () -> session.trace().selection().mark() == lines.get(0).group().producer());
		bot.key("Return");
		bot.waitFor("folded", () -> view.table().lines().get(0).folded());

		// filters of all views
		bot.run(() -> session.trace().selection().addFilter(TraceFilter.hide(Condition.type("Wait"))));
		settle();
		assertTrue(names().stream().noneMatch(" Wait"::equals), names().toString());
		assertTrue(bot.ui(() -> view.snapshot().csv().get()).startsWith("group,depth,region,"));
	}

	@Test
	void memoryHasNoStates() {
		view = bot.ui(() -> show(ViewIds.PROFILE));
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		bot.waitFor("the reason", () -> view.isSettled() && view.summary().getText().startsWith("This trace has no states"));
		assertNull(bot.ui(view::snapshot));
	}
}
