// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;

import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.diff.DiffMap.Quantity;
import org.memtrace.analysis.table.StructureTable;
import org.memtrace.model.Progress;
import org.memtrace.views.difference.DifferenceView;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.ViewIds;

/**
 * The first minutes of a new user, as the README tells them: records the stencil before and after, sees that one thread initialises
 * everything, and the difference side by side. Leaves the pictures of the README in the folder of the shots (docs/images/walk.sh).
 */
class WalkTest extends UiTest {
	/** Whether a recording was drawn with the pages of its structures. */
	private boolean pagesTaken;
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root")).normalize();
	private static final Path PICTURES = Path.of(System.getProperty("memtrace.shots", "target/shots"));

	private void picture(Shell shell, String name, String title) {
		bot.run(() -> WindowPicture.write(shell, title, PICTURES.resolve(name + ".svg")));
		bot.shot(name);
	}

	private void press(String text) {
		Button b = bot.find(Button.class, x -> x.getText().replace("&", "").equals(text));
		bot.click(b, bot.ui(() -> new Rectangle(0, 0, b.getSize().x, b.getSize().y)));
	}

	private OpenTrace trace(int group) {
		return bot.ui(() -> session.groups().size() < group ? null : session.group(group).trace());
	}

	@Test
	void stencilBeforeAndAfter() throws Exception {
		assumeTrue(Files.isExecutable(ROOT.resolve("build/collector/memtrace"))
				&& Files.isExecutable(ROOT.resolve("build/examples/stencil")), "the collector and the examples are not built");
		System.setProperty("memtrace.launcher", ROOT.resolve("build/collector/memtrace").toString());
		try {
			session.catalogue().delete(sample.id());
			bot.run(session::catalogueChanged);
			bot.find(Label.class, l -> l.getText().equals("No traces yet"));
			Shell window = bot.ui(() -> page().getWorkbenchWindow().getShell());
			bot.run(() -> window.setBounds(0, 0, Math.min(1680, bot.display.getBounds().width - 10),
					Math.min(980, bot.display.getBounds().height - 20)));
			picture(window, "walk-welcome", "The workbench without a trace");
			press("Record before and after");
			// of the one or the other recording, whose window closes when it is over: the picture is taken while it is looked at
			bot.find(Label.class, l -> {
				if (!l.getText().equals("Records") || !((Label) l.getParent().getChildren()[1]).getText().matches("[0-9,]{6,}")) {
					return false;
				}
				WindowPicture.write(l.getShell(), "A program is being recorded", PICTURES.resolve("walk-record.svg"));
				return true;
			});
			bot.shot("walk-record");
			waitLong("both recordings", () -> {
				bot.run(this::pictureOfPages);
				return trace(1) != null && trace(2) != null;
			});
			assertEquals(List.of("stencil serial", "stencil parallel"), List.of(trace(1).name(), trace(2).name()));
			bot.waitFor("the pair opens on its difference", () -> page().findView(ViewIds.DIFFERENCE) instanceof DifferenceView v
					&& page().isPartVisible(v));
			DifferenceView difference = bot.ui(() -> (DifferenceView) page().findView(ViewIds.DIFFERENCE));
			bot.waitFor("difference", () -> difference.quantity() == Quantity.FIRST_TOUCH);
			waitForViews();
			String said = bot.ui(difference::sentences);
			assertTrue(said.contains("old_grid: first touched by main 100 % before, by "), said);
			bot.shot("walk-difference");
			bot.run(() -> show(ViewIds.OCELOTL));
			waitForViews();
			// by thread, and the begin of both
			Combo colours = bot.find(Combo.class, c -> Stream.of(c.getItems()).anyMatch(i -> i.startsWith("Thread"))
					&& c.getText().startsWith("Private"));
			bot.run(() -> {
				colours.select(List.of(colours.getItems()).indexOf(Stream.of(colours.getItems()).filter(i -> i.startsWith("Thread"))
						.findFirst().orElseThrow()));
				colours.notifyListeners(org.eclipse.swt.SWT.Selection, new org.eclipse.swt.widgets.Event());
			});
			bot.waitFor("threads in both", () -> trace(1).selection().state().viewpoint().equals(trace(2).selection().state().viewpoint()));
			bot.run(() -> trace(1).selection().window(trace(1).info().startNs(),
					trace(1).info().startNs() + trace(1).info().durationNs() / 5));
			waitForViews();
			picture(window, "walk-compare", "Serial and parallel initialisation side by side, coloured by thread");
			assertEquals(1.0, firstTouch(trace(1)), 0.01, "serial: one thread touches all of it first");
			assertTrue(firstTouch(trace(2)) < 0.6, "parallel: nobody touches most of it first, " + firstTouch(trace(2)));
		} finally {
			System.clearProperty("memtrace.launcher");
		}
	}

	/** The machine may be busy: programs run under the recorder here. */
	/** Takes the picture of a recording again when the pages of its structures are seen, once: they come later than the counters. */
	private void pictureOfPages() {
		for (Label l : pagesTaken ? List.<Label>of() : bot.all(Label.class)) {
			if (l.getText().equals("Records")) {
				Path file = PICTURES.resolve("walk-record-pages.svg");
				WindowPicture.write(l.getShell(), "A program is being recorded", file);
				try {
					if (Files.readString(file).contains(">new_grid<")) {
						Files.move(file, PICTURES.resolve("walk-record.svg"), StandardCopyOption.REPLACE_EXISTING);
						pagesTaken = true;
					} else {
						Files.delete(file);
					}
				} catch (IOException e) {
					throw new UncheckedIOException(e);
				}
				return;
			}
		}
	}

	private void waitLong(String what, java.util.function.BooleanSupplier condition) throws InterruptedException {
		for (int i = 0; i < 1200 && !condition.getAsBoolean(); i++) {
			Thread.sleep(100);
		}
		bot.waitFor(what, condition);
	}

	/** Share of the pages of a grid that the thread has touched first that touched most of them first. */
	private static double firstTouch(OpenTrace trace) throws Exception {
		return StructureTable.of(trace.accesses(), trace.structures(), Progress.NONE).rows().stream()
				.filter(r -> r.name().equals("old_grid")).findFirst().orElseThrow().firstTouchShare();
	}
}
