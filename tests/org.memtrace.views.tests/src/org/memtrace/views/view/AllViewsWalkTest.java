// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Event;
import org.eclipse.ui.IWorkbenchPage;
import org.eclipse.ui.PartInitException;
import org.eclipse.ui.handlers.IHandlerService;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.selection.SelectionLink;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.EventType;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.commands.TraceCommand;
import org.memtrace.views.compare.Comparison;
import org.memtrace.views.session.OpenTrace;

/**
 * Random walks over what a user can do with all views, groups and traces, most of it while something is still being computed:
 * no error is logged, no view hangs, and in the end each view shows its state. The seed is printed; {@code mvn
 * -Dmemtrace.walks=1500} makes more of them, for ten minutes.
 */
class AllViewsWalkTest extends UiTest {
	private static final long SEED = 20261120;
	private static final int WALKS = Integer.getInteger("memtrace.walks", 50);
	private static final int STEPS = 8;
	/** More would only be slow. */
	private static final int MAX_VIEWS = 9;
	/** They wait for a person. */
	private static final Set<TraceCommand> DIALOGS = EnumSet.of(TraceCommand.SAVE_VIEW, TraceCommand.SAVE_ALL_VIEWS,
			TraceCommand.EXPORT_REPORT, TraceCommand.COMPARE, TraceCommand.ADD_FILTER, TraceCommand.TIME_WINDOW, TraceCommand.OPEN_LINK,
			TraceCommand.SAVE_LINK);
	private static final int[] KEYS = { SWT.ARROW_LEFT, SWT.ARROW_RIGHT, SWT.ARROW_UP, SWT.ARROW_DOWN, SWT.HOME, SWT.END,
			SWT.PAGE_UP, SWT.PAGE_DOWN, '+', '-', SWT.ESC };

	private Random random;
	private final List<TraceInfo> traces = new ArrayList<>();

	@Test
	void anyOrderOfActionsIsQuiet() throws Exception {
		traces.add(sample);
		traces.add(SampleTrace.write(session.catalogue(), "second"));
		traces.add(SampleTrace.write(session.catalogue(), "third"));
		bot.run(session::catalogueChanged);
		for (int walk = 0; walk < WALKS; walk++) {
			random = new Random(SEED + walk);
			StringBuilder done = new StringBuilder("walk with seed " + (SEED + walk) + ":");
			bot.run(() -> session.opener().open(traces.get(0)));
			for (int i = 0; i < STEPS; i++) {
				done.append(' ').append(bot.ui(this::step));
				if (random.nextInt(3) == 0) {
					Thread.sleep(random.nextInt(30)); // something is being computed
				}
				assertEquals(List.of(), problems, done.toString());
			}
			System.out.println(done);
			waitForViews(done.toString());
			for (TraceView v : bot.ui(UiTest::views)) {
				assertTrue(bot.ui(() -> v.trace() == (v.isLocked() ? v.trace() : v.group().trace())), v.getPartName() + " after " + done);
			}
			if (walk % 10 == 9) {
				bot.run(() -> {
					session.forget(t -> true);
					page().resetPerspective();
					views().forEach(v -> v.join(session.group(1)));
				});
			}
		}
		bot.run(() -> {
			page().resetPerspective();
			session.opener().open(traces.get(1));
		});
		bot.waitFor("a picture in the end", () -> session.trace() != null && session.status().shown());
		waitForViews();
	}

	private <T> T any(List<T> list) {
		return list.get(random.nextInt(list.size()));
	}

	/** One action; on the display thread. */
	private String step() {
		List<TraceView> views = views();
		TraceView view = views.isEmpty() ? null : any(views);
		int action = random.nextInt(20);
		if (action < 6 || view == null) {
			return window(action % 6, view, views);
		}
		OpenTrace trace = view.trace();
		if (trace == null) {
			if (session.opening() != null) {
				return "-"; // else the next one would never be open
			}
			page().activate(view);
			session.opener().open(any(traces));
			return "open";
		}
		return action < 14 ? select(trace, random.nextInt(9)) : use(view, action);
	}

	/** Views, groups and traces come and go. */
	private String window(int action, TraceView view, List<TraceView> views) {
		switch (action) {
		case 0:
			session.opener().open(any(traces));
			return "open";
		case 1: {
			String id = any(SynchronisationTest.ids());
			try {
				page().showView(id, null, random.nextBoolean() ? IWorkbenchPage.VIEW_ACTIVATE : IWorkbenchPage.VIEW_VISIBLE);
			} catch (PartInitException e) {
				throw new IllegalStateException(e);
			}
			return "show-" + id.substring(id.lastIndexOf('.') + 1);
		}
		case 2:
			if (view != null && views.size() < MAX_VIEWS) {
				view.openAnother(random.nextBoolean() ? session.newGroup() : any(session.groups()));
				return "another";
			}
			return "-";
		case 3:
			if (view != null) {
				page().hideView(view);
				return "hide";
			}
			return "-";
		case 4:
			if (views.size() < MAX_VIEWS && session.trace() != null) {
				Comparison.show(page(), any(traces), any(List.of(SelectionLink.Time.values())));
				return "compare";
			}
			return "-";
		default:
			if (random.nextBoolean()) {
				session.closeShown();
				return "close";
			}
			try {
				session.catalogue().setProperty(any(traces).id(), "custom.walk", Integer.toString(random.nextInt(9)));
			} catch (MemtraceException e) {
				throw new IllegalStateException(e);
			}
			session.catalogueChanged();
			return "property";
		}
	}

	/** Another selection. */
	private String select(OpenTrace trace, int action) {
		TraceSelection s = trace.selection();
		ViewState all = s.initial();
		int producers = trace.producers().size();
		switch (action) {
		case 0, 1: {
			long from = all.fromNs() + random.nextInt(40) * SampleTrace.STEP_NS;
			s.zoom(from, from + (1 + random.nextInt(20)) * SampleTrace.STEP_NS, random.nextInt(producers));
			return "zoom";
		}
		case 2:
			s.viewpoint(Dimensions.of(Dimension.Use.COLOUR).get(random.nextInt(5)));
			return "viewpoint";
		case 3:
			s.p(random.nextInt(5) == 0 ? ViewState.AUTOMATIC_P : random.nextDouble());
			return "p";
		case 4:
			s.mark(random.nextInt(producers + 1) - 1);
			return "mark";
		case 5, 6:
			s.addFilter(new TraceFilter(condition(trace), random.nextBoolean(), random.nextInt(4) > 0));
			return "filter";
		case 7:
			if (!s.state().filters().isEmpty()) {
				s.removeFilter(any(s.state().filters().filters()));
				return "unfilter";
			}
			return "-";
		default:
			s.filters(FilterSet.NONE);
			return "clear";
		}
	}

	private Condition condition(OpenTrace trace) {
		return switch (random.nextInt(7)) {
		case 0 -> Condition.thread(random.nextInt(6) - 1);
		case 1 -> Condition.cpu(random.nextInt(3));
		case 2 -> Condition.type(random.nextBoolean() ? EventType.SHARED_READ : EventType.PRIVATE_WRITE);
		case 3 -> new Condition.Name("[AB]");
		case 4 -> Condition.Subtree.of(trace.producers(), random.nextInt(trace.producers().size()));
		case 5 -> new Condition.Share(Condition.Per.STRUCTURE, random.nextInt(60), 100);
		default -> new Condition.Size(0, 1 << 20);
		};
	}

	/** Something with one view: commands, lock, group, its saved form, mouse and keys on its pictures. */
	private String use(TraceView view, int action) {
		switch (action) {
		case 14: {
			TraceCommand command = any(List.of(TraceCommand.values()));
			if (DIALOGS.contains(command)) {
				return "-";
			}
			page().activate(view);
			if (command == TraceCommand.COPY_PICTURE && (view.snapshot() == null || view.snapshot().picture() == null)) {
				return "-"; // it would say so in a dialog
			}
			try {
				page().getWorkbenchWindow().getService(IHandlerService.class).executeCommand(command.id(), null);
			} catch (org.eclipse.core.commands.common.CommandException e) {
				throw new IllegalStateException(e);
			}
			return command.name().toLowerCase(java.util.Locale.ROOT);
		}
		case 15:
			view.toggleLock();
			return "lock";
		case 16:
			view.join(any(session.groups()));
			if (session.groups().size() > 1) {
				if (random.nextBoolean()) {
					session.link(session.groups().get(0), session.groups().get(1), any(List.of(SelectionLink.Time.values())));
				} else {
					session.unlink(session.groups().get(1));
				}
			}
			return "group";
		case 17: {
			Snapshot s = view.snapshot();
			if (s != null && s.picture() != null) {
				s.picture().scene(Palette.DARK, 200 + random.nextInt(600), 150 + random.nextInt(400));
			}
			if (s != null && s.csv() != null) {
				s.csv().get();
			}
			return "save";
		}
		case 18:
			session.colours().choose(Palette.Kind.TYPE, EventType.SHARED_READ, random.nextInt(0x1000000));
			return "colours";
		default: {
			List<Canvas> canvases = bot.all(Canvas.class).stream()
					.filter(c -> c.isVisible() && c.getClass().getName().startsWith("org.memtrace") && c.getSize().x > 20).toList();
			if (canvases.isEmpty()) {
				return "-";
			}
			Canvas canvas = any(canvases);
			return poke(canvas) + "-" + canvas.getClass().getSimpleName();
		}
		}
	}

	/** Mouse or key on a picture; double clicks and letters may open dialogs. */
	private String poke(Canvas canvas) {
		Point size = canvas.getSize();
		Event e = new Event();
		e.x = random.nextInt(size.x);
		e.y = random.nextInt(Math.max(1, size.y));
		switch (random.nextInt(3)) {
		case 0:
			e.keyCode = KEYS[random.nextInt(KEYS.length)];
			e.character = e.keyCode < 0x10000 ? (char) e.keyCode : 0;
			canvas.notifyListeners(SWT.KeyDown, e);
			return "key";
		case 1:
			e.count = random.nextBoolean() ? 3 : -3;
			canvas.notifyListeners(SWT.MouseWheel, e);
			return "wheel";
		default:
			e.button = 1;
			e.count = 1;
			canvas.notifyListeners(SWT.MouseDown, e);
			if (canvas.isDisposed()) {
				return "click"; // of a chip
			}
			Event move = new Event();
			move.x = random.nextInt(size.x);
			move.y = random.nextInt(Math.max(1, size.y));
			move.stateMask = SWT.BUTTON1;
			canvas.notifyListeners(SWT.MouseMove, move);
			Event up = new Event();
			up.button = 1;
			up.count = 1;
			up.x = move.x;
			up.y = move.y;
			canvas.notifyListeners(SWT.MouseUp, up);
			return "drag";
		}
	}
}
