// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;

import org.eclipse.core.runtime.ILog;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Scale;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.ui.IViewPart;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.table.StructureSheet;
import org.memtrace.model.TraceInfo;
import org.memtrace.storage.Stores;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.structures.StructuresView;

/** Everything in any order, also while something is computed: no error, and a picture in the end. */
class RandomWalkTest extends UiTest {
	private static final int ACTIONS = 50;
	private static final List<String> VIEWS = List.of(ViewIds.OCELOTL, ViewIds.STRUCTURES, ViewIds.DETAILS);

	private Random random;
	private TraceInfo other;
	private Path file;

	@Test
	void errorsInTheLogAreSeen() {
		ILog.of(RandomWalkTest.class).error("made on purpose: error");
		forgive("made on purpose: error");
	}

	@RepeatedTest(3)
	void anyOrderOfActionsLeavesTheLogEmpty(RepetitionInfo repetition) throws Exception {
		long seed = 20261120L + repetition.getCurrentRepetition();
		System.out.println("random walk with seed " + seed);
		random = new Random(seed);
		other = SampleTrace.write(session.catalogue(), "other");
		file = directory.resolve("walk" + seed + ".db");
		SampleTrace.write(Stores.createFile(file, notice -> {
		}), "file");
		bot.run(session::catalogueChanged);
		StringBuilder walk = new StringBuilder();
		for (int i = 0; i < ACTIONS; i++) {
			String done = bot.ui(this::step);
			walk.append(done).append(' ');
			assertEquals(List.of(), problems, "after " + walk);
			if (random.nextInt(4) == 0) {
				settle(walk);
			} else if (random.nextBoolean()) {
				Thread.sleep(random.nextInt(40)); // something is being computed
			}
		}
		System.out.println(walk);
		bot.run(() -> {
			show(ViewIds.OCELOTL);
			session.opener().open(other);
		});
		waitForPicture("other");
		settle(walk);
		assertTrue(bot.ui(() -> session.status().blocks()) > 0);
	}

	private void settle(StringBuilder walk) {
		bot.waitFor("picture after " + walk, () -> {
			OcelotlView view = ocelotl();
			return session.opening() == null && (session.trace() == null || view == null || view.isSettled());
		});
	}

	private static OcelotlView ocelotl() {
		return (OcelotlView) page().findView(ViewIds.OCELOTL);
	}

	/** One action that a user can do now; on the display thread. */
	private String step() {
		OpenTrace trace = session.trace();
		int action = random.nextInt(trace == null ? 5 : 24);
		switch (action) {
		case 0, 1:
			session.opener().open(action == 0 ? sample : other);
			return "open-" + action;
		case 2:
			session.opener().openDatabase(file);
			return "open-file";
		case 3: {
			String id = VIEWS.get(random.nextInt(VIEWS.size()));
			IViewPart part = page().findView(id);
			if (part != null) {
				page().hideView(part);
				return "hide-" + part.getTitle();
			}
			show(id);
			return "show";
		}
		case 4: {
			Shell shell = page().getWorkbenchWindow().getShell();
			shell.setSize(700 + random.nextInt(570), 500 + random.nextInt(500));
			return "resize";
		}
		case 5:
			session.closeShown();
			return "close";
		default:
			return select(trace, trace.selection(), action);
		}
	}

	private String select(OpenTrace trace, TraceSelection selection, int action) {
		ViewState initial = selection.initial();
		OcelotlView view = ocelotl();
		switch (action) {
		case 6, 7, 8: {
			long from = initial.fromNs() + random.nextInt(40) * SampleTrace.STEP_NS;
			selection.window(from, from + (1 + random.nextInt(10)) * SampleTrace.STEP_NS);
			return "window";
		}
		case 9, 10:
			selection.zoom(initial.fromNs(), initial.toNs(), random.nextInt(trace.producers().size()));
			return "producer";
		case 11, 12:
			selection.viewpoint(Dimensions.of(Dimension.Use.COLOUR).get(random.nextInt(5)));
			return "viewpoint";
		case 13, 14:
			selection.p(random.nextInt(5) == 0 ? ViewState.AUTOMATIC_P : random.nextDouble());
			return "p";
		case 15:
			selection.back();
			return "back";
		case 16:
			selection.forward();
			return "forward";
		case 17:
			selection.up();
			return "up";
		case 18:
			selection.reset();
			return "whole";
		case 19:
			selection.mark(random.nextInt(trace.producers().size()));
			return "mark";
		case 20:
			if (view != null) {
				view.level().step(random.nextBoolean());
			}
			return "level";
		case 21:
			if (view != null) {
				Point size = view.level().curves().getSize();
				for (int type : new int[] { SWT.MouseDown, SWT.MouseUp }) {
					Event e = new Event();
					e.button = 1;
					e.x = random.nextInt(Math.max(1, size.x));
					e.y = random.nextInt(Math.max(1, size.y));
					view.level().curves().notifyListeners(type, e);
				}
				Scale slider = view.level().slider();
				slider.setSelection(random.nextInt(1000));
				slider.notifyListeners(SWT.Selection, new Event());
			}
			return "curves";
		case 22: {
			StructuresView structures = structures();
			if (structures != null) {
				structures.sortBy(StructureSheet.Column.values()[random.nextInt(StructureSheet.Column.values().length)]);
			}
			return "sort";
		}
		default: {
			StructuresView structures = structures();
			if (structures != null) {
				structures.filter().setText(List.of("", "a", "matmul.c:1", "no such").get(random.nextInt(4)));
			}
			return "filter";
		}
		}
	}

	/** The view of structures, null when it cannot be seen. */
	private StructuresView structures() {
		IViewPart part = page().findView(ViewIds.STRUCTURES);
		return part == null || !page().isPartVisible(part) ? null : (StructuresView) part;
	}
}
