// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.ImageData;
import org.eclipse.swt.graphics.ImageLoader;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Menu;
import org.eclipse.swt.widgets.MenuItem;
import org.eclipse.swt.widgets.Spinner;
import org.eclipse.swt.widgets.Text;
import org.eclipse.ui.commands.ICommandService;
import org.eclipse.ui.keys.IBindingService;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.view.TraceView;

/** Menus and keys do what they say, also when there is nothing to do it with. */
class CommandsTest extends UiTest {
	private void open() {
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		bot.run(() -> page().activate(page().findView(ViewIds.OCELOTL)));
		waitForViews();
	}

	private ViewState state() {
		return bot.ui(() -> session.trace().selection().state());
	}

	/** Texts of a menu as they are when it is opened, without keys; those that are disabled in brackets. */
	private List<String> menu(String title) {
		return bot.ui(() -> {
			Menu bar = page().getWorkbenchWindow().getShell().getMenuBar();
			MenuItem top = Arrays.stream(bar.getItems()).filter(i -> i.getText().equals(title)).findFirst().orElseThrow();
			top.getMenu().notifyListeners(SWT.Show, new org.eclipse.swt.widgets.Event());
			List<String> texts = new ArrayList<>();
			for (MenuItem i : top.getMenu().getItems()) {
				String text = i.getText().replaceFirst("\t.*", "").replace("&", "");
				if (!text.isEmpty()) {
					texts.add(i.isEnabled() ? text : "[" + text + "]");
				}
			}
			top.getMenu().notifyListeners(SWT.Hide, new org.eclipse.swt.widgets.Event());
			return texts;
		});
	}

	@Test
	void everyCommandIsDefinedAndHasAKey() {
		bot.run(() -> {
			ICommandService commands = page().getWorkbenchWindow().getService(ICommandService.class);
			IBindingService keys = page().getWorkbenchWindow().getService(IBindingService.class);
			for (TraceCommand c : TraceCommand.values()) {
				assertTrue(commands.getCommand(c.id()).isDefined(), c.id());
				assertTrue(keys.getActiveBindingsFor(c.id()).length > 0, "no key for " + c.id());
			}
		});
	}

	@Test
	void menusShowWhatIsPossible() {
		assertTrue(menu("&Navigate").stream().allMatch(t -> t.startsWith("[")), menu("&Navigate").toString());
		assertTrue(menu("&File").contains("[Compare with…]"), menu("&File").toString());
		open();
		assertEquals(List.of("[Back]", "[Forward]", "[Parent]", "[Whole trace]", "[Earlier]", "[Later]", "Time window…",
				"Open source"), menu("&Navigate"));
		bot.run(() -> session.trace().selection().zoom(0, 10 * SampleTrace.STEP_NS, SampleTrace.A));
		assertEquals(List.of("Back", "[Forward]", "Parent", "Whole trace", "Earlier", "Later", "Time window…", "Open source"), menu("&Navigate"));
		assertTrue(menu("&Edit").contains("[Remove all filters]"));
		bot.run(() -> session.trace().selection().addFilter(TraceFilter.only(Condition.thread(1))));
		assertTrue(menu("&Edit").contains("Remove all filters"));
		assertTrue(menu("&View").contains("Lock view"), menu("&View").toString());
	}

	@Test
	void timeWindowIsTyped() {
		open();
		bot.key("ctrl+t");
		Button show = bot.find(Button.class, b -> b.getText().equals("Show"));
		List<Text> fields = bot.ui(() -> bot.all(Text.class).stream().filter(t -> t.getShell() == show.getShell()).toList());
		bot.waitFor("focus in the dialog", () -> bot.display.getFocusControl() == fields.get(0));
		assertEquals("0", bot.ui(fields.get(0)::getText));
		assertEquals("50 ms", bot.ui(fields.get(1)::getText));
		bot.key("ctrl+a");
		bot.type("2.5");
		bot.find(Label.class, l -> l.getText().startsWith("'2.5' is no time: give a number with ns"));
		assertFalse(bot.ui(show::isEnabled));
		bot.type(" ms");
		bot.key("Tab");
		bot.key("ctrl+a");
		bot.type("2 ms");
		bot.find(Label.class, l -> l.getText().equals("The end is not after the start."));
		bot.key("BackSpace");
		bot.key("BackSpace");
		bot.key("BackSpace");
		bot.type("0.5 ms");
		bot.waitFor("a window", show::isEnabled);
		bot.shot("time-window");
		bot.close(show);
		assertEquals(2_500_000, state().fromNs());
		assertEquals(20_500_000, state().toNs());
	}

	@Test
	void keysZoomColourAndLock() {
		bot.key("ctrl+2"); // no trace: nothing happens
		open();
		bot.key("ctrl+2");
		bot.waitFor("threads", () -> state().viewpoint() == BasicDimensions.THREAD);
		bot.key("ctrl+equal");
		long half = SampleTrace.STEPS * SampleTrace.STEP_NS / 2;
		bot.waitFor("zoomed in", () -> state().durationNs() == half && state().fromNs() == half / 2);
		bot.key("alt+Next");
		bot.waitFor("later", () -> state().fromNs() == half);
		bot.key("ctrl+minus");
		bot.waitFor("zoomed out", () -> state().durationNs() == 2 * half);
		bot.key("alt+Left");
		bot.waitFor("back", () -> state().durationNs() == half);
		bot.key("alt+Right");
		bot.waitFor("forward", () -> state().durationNs() == 2 * half);
		bot.run(() -> session.trace().selection().zoom(0, half, SampleTrace.B + 1));
		bot.key("alt+Up");
		bot.waitFor("parent", () -> state().producer() == SampleTrace.B);
		bot.key("alt+Home");
		bot.waitFor("whole", () -> state().producer() == 0 && state().durationNs() == 2 * half);
		bot.run(() -> session.trace().selection().p(0.25));
		bot.key("ctrl+0");
		bot.waitFor("automatic", () -> state().isAutomaticP());
		bot.run(() -> session.trace().selection().addFilter(TraceFilter.only(Condition.thread(1))));
		bot.key("ctrl+shift+x");
		bot.waitFor("no filter", () -> state().filters().isEmpty());
		TraceView view = bot.ui(() -> (TraceView) page().getActivePart());
		bot.key("ctrl+l");
		bot.waitFor("locked", view::isLocked);
		bot.key("ctrl+3");
		bot.waitFor("the locked view goes its own way", () -> session.active().selection().state().viewpoint() == BasicDimensions.READ_WRITE);
		assertEquals(BasicDimensions.THREAD, state().viewpoint());
		bot.key("ctrl+l");
		bot.waitFor("unlocked", () -> !view.isLocked());
	}

	@Test
	void allViewsAreSavedWithNumbersAndParameters() throws Exception {
		open();
		bot.run(() -> show(ViewIds.STRUCTURES));
		waitForViews();
		Path target = Files.createDirectory(directory.resolve("saved"));
		bot.key("ctrl+shift+s");
		Button save = bot.find(Button.class, b -> b.getText().equals("Save"));
		Text place = bot.find(Text.class, t -> t.getShell() == save.getShell());
		bot.run(() -> place.setText(target.resolve("nowhere").toString()));
		bot.find(Label.class, l -> l.getText().equals("There is no such directory."));
		assertFalse(bot.ui(save::isEnabled));
		bot.run(() -> place.setText(target.toString()));
		for (String format : List.of("SVG", "PNG", "PDF", "CSV", "JSON")) {
			Button b = bot.find(Button.class, c -> c.getText().startsWith(format));
			bot.run(() -> {
				b.setSelection(true);
				b.notifyListeners(SWT.Selection, new org.eclipse.swt.widgets.Event());
			});
		}
		// as wide as the view may be that another test has left, and then its second line is cut
		Spinner width = bot.find(Spinner.class, s -> s.getToolTipText() != null && s.getToolTipText().startsWith("Width of the picture"));
		Spinner height = bot.find(Spinner.class, s -> s.getToolTipText() != null && s.getToolTipText().startsWith("Height of the picture"));
		bot.run(() -> {
			width.setSelection(1200);
			height.setSelection(700);
		});
		Combo png = bot.find(Combo.class, c -> c.getShell() == save.getShell());
		bot.waitFor("what is typed is what a PNG has", () -> png.getText().equals("1200 × 700 pixels"));
		assertEquals("2400 × 1400 pixels, twice as fine", bot.ui(() -> png.getItem(1)));
		bot.shot("save-views");
		bot.close(save);
		bot.waitFor("written", () -> Job.getJobManager().find(null).length >= 0
				&& target.resolve("small-matmul-structures.json").toFile().length() > 0
				&& Arrays.stream(Job.getJobManager().find(null)).noneMatch(j -> j.getName().equals("Save views")));
		String svg = Files.readString(target.resolve("small-matmul.svg"));
		assertTrue(svg.contains("information loss"), svg);
		ImageData picture = new ImageLoader().load(target.resolve("small-matmul.png").toString())[0];
		assertEquals("1200 x 700", picture.width + " x " + picture.height);
		assertTrue(Files.readString(target.resolve("small-matmul.pdf"), java.nio.charset.StandardCharsets.ISO_8859_1).startsWith("%PDF"));
		String parameters = Files.readString(target.resolve("small-matmul.json"));
		assertTrue(parameters.contains("\"viewpoint\": \"type\"") && parameters.contains("\"to_ns\": \"50000000\""), parameters);
		assertTrue(Files.readString(target.resolve("small-matmul-structures.csv")).lines().count() > 3);
	}
}
