// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.gantt;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Random;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.widgets.Event;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.analysis.gantt.Marker;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.ViewIds;

/** Mouse, keys and changes by other views in any order, also while something is computed. */
class GanttWalkTest extends UiTest {
	private static final long SEED = 20261120;
	private static final int ACTIONS = 300;
	private static final int[] KEYS = { SWT.ARROW_LEFT, SWT.ARROW_RIGHT, SWT.ARROW_UP, SWT.ARROW_DOWN, SWT.PAGE_DOWN, SWT.PAGE_UP,
			SWT.HOME, SWT.END, SWT.CR, SWT.ESC, SWT.BS, '+', '-', 'u', 'w', 'h', 'l', '*', '/', SWT.F3 };
	private static final int[] MASKS = { 0, 0, 0, SWT.MOD1, SWT.SHIFT, SWT.MOD1 | SWT.SHIFT, SWT.ALT };

	private final Random random = new Random(SEED);
	private GanttView view;

	@Test
	void anyOrderOfActionsLeavesTheLogEmpty() throws Exception {
		TraceInfo other = SampleTrace.write(session.catalogue(), "other");
		bot.run(() -> {
			session.catalogueChanged();
			view = show(ViewIds.GANTT);
			session.opener().open(sample);
		});
		StringBuilder walk = new StringBuilder("seed " + SEED + ":");
		for (int i = 0; i < ACTIONS; i++) {
			walk.append(' ').append(bot.ui(() -> step(other)));
			assertEquals(java.util.List.of(), problems, "after " + walk);
			if (random.nextInt(6) == 0) {
				bot.waitFor("chart after " + walk, () -> session.opening() == null && view.isSettled());
			} else if (random.nextBoolean()) {
				Thread.sleep(random.nextInt(20)); // something is being computed
			}
		}
		bot.run(() -> session.opener().open(sample));
		bot.waitFor("trace after " + walk, () -> session.opening() == null && session.trace() != null
				&& session.trace().name().equals("small matmul"));
		bot.run(() -> session.trace().selection().reset());
		bot.waitFor("chart after " + walk, () -> view.isSettled() && view.canvas().picture() != null);
	}

	private Event event() {
		Event e = new Event();
		Point size = view.canvas().getSize();
		e.x = random.nextInt(Math.max(1, size.x));
		e.y = random.nextInt(Math.max(1, size.y));
		e.stateMask = MASKS[random.nextInt(MASKS.length)];
		return e;
	}

	private String step(TraceInfo other) {
		GanttCanvas canvas = view.canvas();
		OpenTrace trace = session.trace();
		int action = random.nextInt(20);
		if (trace == null && action > 1) {
			action = random.nextInt(2);
		}
		switch (action) {
		case 0 -> {
			session.opener().open(random.nextBoolean() ? sample : other);
			return "open";
		}
		case 1 -> {
			if (random.nextInt(4) == 0) {
				session.closeShown();
			}
			return "close";
		}
		case 2, 3, 4, 5 -> {
			Event down = event();
			down.button = 1 + random.nextInt(2);
			canvas.notifyListeners(SWT.MouseDown, down);
			Event move = event();
			canvas.notifyListeners(SWT.MouseMove, move);
			if (random.nextInt(5) > 0) {
				Event up = event();
				up.button = down.button;
				canvas.notifyListeners(SWT.MouseUp, up);
			}
			return "drag";
		}
		case 6 -> {
			Event e = event();
			e.button = 1;
			canvas.notifyListeners(SWT.MouseDoubleClick, e);
			return "double";
		}
		case 7, 8, 9 -> {
			Event e = event();
			e.count = random.nextBoolean() ? 1 : -2;
			canvas.notifyListeners(SWT.MouseVerticalWheel, e);
			return "wheel";
		}
		case 10, 11, 12, 13 -> {
			// as a person's key would: F3 is another command in the other views
			view.getSite().getPage().activate(view);
			Event e = event();
			e.keyCode = KEYS[random.nextInt(KEYS.length)];
			canvas.notifyListeners(SWT.KeyDown, e);
			return "key" + e.keyCode;
		}
		case 14 -> {
			view.setGrouping(Grouping.values()[random.nextInt(3)]);
			return "rows";
		}
		case 15 -> {
			view.bar().search().setText(new String[] { "page 3", "C", "no such", "(" }[random.nextInt(4)]);
			Event e = new Event();
			e.keyCode = SWT.CR;
			view.bar().search().notifyListeners(SWT.KeyDown, e);
			return "search";
		}
		case 16 -> {
			long from = random.nextInt(40) * SampleTrace.STEP_NS;
			if (random.nextBoolean()) {
				view.showRecord(trace, random.nextInt(trace.producers().size()), from, from + SampleTrace.STEP_NS);
				return "record";
			}
			trace.markers().add(trace, new Marker("m", random.nextInt(), from, from + random.nextInt(2) * SampleTrace.STEP_NS,
					random.nextInt(trace.producers().size() + 1) - 1, random.nextBoolean()));
			return "marker";
		}
		default -> {
			return select(trace);
		}
		}
	}

	private String select(OpenTrace trace) {
		TraceSelection selection = trace.selection();
		ViewState whole = selection.initial();
		switch (random.nextInt(5)) {
		case 0 -> selection.zoom(whole.fromNs(), whole.toNs(), random.nextInt(trace.producers().size()));
		case 1 -> selection.viewpoint(Dimensions.of(Dimension.Use.COLOUR).get(random.nextInt(5)));
		case 2 -> selection.mark(random.nextInt(trace.producers().size()));
		case 3 -> selection.filters(random.nextBoolean() ? FilterSet.NONE
				: FilterSet.of(TraceFilter.only(new Condition.Name(random.nextBoolean() ? "A|B" : "no such"))));
		default -> selection.reset();
		}
		return "select";
	}
}
