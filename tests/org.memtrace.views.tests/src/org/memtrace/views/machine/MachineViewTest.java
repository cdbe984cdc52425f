// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.eclipse.jface.action.ActionContributionItem;
import org.eclipse.jface.action.IAction;
import org.eclipse.jface.action.IContributionItem;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Event;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.machine.MachinePicture.Box;
import org.memtrace.analysis.machine.MachinePicture.Colouring;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.importer.ImportOperation;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.topology.Hwloc;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.session.MachineChoice;
import org.memtrace.views.session.ViewIds;

/** The machine view with real clicks and keys. */
class MachineViewTest extends UiTest {
	private TraceInfo sample(String name, byte[] topology) throws Exception {
		TraceWriter writer = session.catalogue().create(name);
		writer.note(TraceStore.NOTE_TOPOLOGY, topology);
		return SampleTrace.write(writer, name);
	}

	private MachineView open(TraceInfo trace) {
		MachineView view = bot.ui(() -> show(ViewIds.MACHINE));
		bot.run(() -> session.opener().open(trace));
		waitForPicture(trace.alias());
		return view;
	}

	private Box box(MachineView view, String label) {
		bot.waitFor("the machine", () -> view.isSettled() && view.canvas().picture() != null);
		return bot.ui(() -> view.canvas().picture().boxes().stream().filter(b -> b.object().shortLabel().equals(label)).findFirst()
				.orElseThrow());
	}

	private void click(MachineView view, Box b) {
		bot.click(view.canvas(), (int) b.middleX(), (int) b.middleY());
	}

	private ViewState state() {
		return bot.ui(() -> session.trace().selection().state());
	}

	private String filters() {
		return bot.ui(() -> session.trace().selection().state().filters().filters().stream().map(f -> f.text(List.of()))
				.toList().toString());
	}

	@Test
	void aClickFiltersAllViewsToACpu() throws Exception {
		Path xml = Path.of(System.getProperty("memtrace.root"), "testdata/machines/two-packages.xml");
		MachineView view = open(sample("numa", Files.readAllBytes(xml)));
		Box cpu0 = box(view, "CPU 0");
		assertEquals("2 packages, 2 NUMA nodes, 8 cores, 16 CPUs", bot.ui(() -> view.canvas().use().topology().summary()));
		double all = bot.ui(() -> view.canvas().use().whole().accesses());
		assertTrue(all > 10_000, "all accesses of the sample: " + all);
		bot.waitFor("painted", () -> bot.colours(view.canvas()).size() > 5);
		bot.shot("machine");

		click(view, cpu0);
		bot.waitFor("filter", () -> filters().equals("[CPU 0]"));
		bot.waitFor("the view follows", view::isSettled);
		assertEquals(all, bot.ui(() -> view.canvas().use().whole().accesses()), "all accesses of the sample are on CPU 0");
		click(view, box(view, "CPU 0"));
		bot.waitFor("no filter", () -> filters().equals("[]"));

		click(view, box(view, "NUMA node 1"));
		bot.waitFor("filter", () -> filters().equals("[node 1]"));
		bot.waitFor("nothing was there", () -> view.isSettled() && view.canvas().use().whole().accesses() == 0);
		bot.run(session.trace().selection()::back);
		bot.waitFor("everything again", () -> view.isSettled() && view.canvas().use().whole().accesses() == all);

		// the window of all views is that of the machine, too
		bot.run(() -> session.trace().selection().window(0, SampleTrace.INITIALISATION * SampleTrace.STEP_NS));
		bot.waitFor("the initialisation", () -> view.isSettled() && view.canvas().use().whole().accesses() == 4.0
				* SampleTrace.INITIALISATION * SampleTrace.PAGES * 2);
		assertEquals(FilterSet.NONE, state().filters());
	}

	/** The same clicks, keys and files in rings. */
	@Test
	void ringsAreChosenInTheMenu() throws Exception {
		Path xml = Path.of(System.getProperty("memtrace.root"), "testdata/machines/two-packages.xml");
		MachineView view = open(sample("rings", Files.readAllBytes(xml)));
		assertNull(box(view, "CPU 3").sector(), "a small machine is in boxes");
		layout(view, "Radial");
		Box cpu = box(view, "CPU 3");
		assertNotNull(cpu.sector());
		bot.waitFor("painted", () -> bot.colours(view.canvas()).size() > 5);
		bot.shot("machine-radial");
		click(view, cpu);
		bot.waitFor("filter", () -> filters().equals("[CPU 3]") && view.isSettled());
		Palette palette = bot.ui(() -> view.canvas().options().palette);
		assertTrue(bot.ui(() -> view.canvas().picture().scene().shapes().stream()
				.anyMatch(s -> s instanceof Shape.Polygon p && p.stroke() == palette.warning())), "it is marked");
		assertTrue(bot.ui(() -> view.snapshot().picture().scene(Palette.LIGHT, 700, 500).shapes().stream()
				.anyMatch(s -> s instanceof Shape.Text t && t.text().equals("Rings from the inside"))), "files have the same layout");
		bot.run(() -> view.canvas().setFocus());
		bot.key("Escape");
		bot.waitFor("no filter", () -> filters().equals("[]"));
		layout(view, "Automatic");
		assertNull(box(view, "CPU 3").sector());
	}

	@Test
	void anotherMachineIsGiven() throws Exception {
		MachineView view = open(sample("given", Files.readAllBytes(
				Path.of(System.getProperty("memtrace.root"), "testdata/machines/two-packages.xml"))));
		box(view, "CPU 0");
		MenuManager menu = new MenuManager();
		bot.run(() -> MachineChoice.fill(menu, page().getWorkbenchWindow().getShell(), session.trace()));
		assertEquals(List.of("Of the recording", "File of lstopo…", "Description…"), texts(menu));
		bot.run(() -> session.trace().selection().machine("pack:8 [numa] core:64 pu:2"));
		bot.waitFor("the other machine", () -> view.isSettled() && view.canvas().use().topology().pus().size() == 1024);
		assertTrue(bot.ui(() -> view.canvas().use().notes().get(0)).startsWith("The machine is not that of the recording"));
		bot.shot("machine-given");
		bot.run(() -> {
			menu.removeAll();
			MachineChoice.fill(menu, page().getWorkbenchWindow().getShell(), session.trace());
		});
		assertEquals("pack:8 [numa] core:64 pu:2", texts(menu).get(1));
		bot.run(() -> session.trace().selection().machine("missing.xml"));
		bot.waitFor("the reason", () -> view.canvas().message().equals("there is no file missing.xml"));
		forgive("there is no file missing.xml");
		bot.run(((ActionContributionItem) menu.getItems()[0]).getAction()::run);
		bot.waitFor("the recorded one", () -> view.isSettled() && view.canvas().use() != null
				&& view.canvas().use().topology().pus().size() == 16);
		assertEquals(null, MachineChoice.problem("pack:2 pu:2"));
		assertEquals("'nothing' describes no machine.", MachineChoice.problem("nothing"));
		assertEquals("A description is missing.", MachineChoice.problem(" "));
	}

	private static List<String> texts(MenuManager menu) {
		return Stream.of(menu.getItems()).map(i -> ((ActionContributionItem) i).getAction().getText()).toList();
	}

	private void layout(MachineView view, String name) {
		bot.run(() -> {
			MenuManager layouts = (MenuManager) Stream.of(view.getViewSite().getActionBars().getMenuManager().getItems())
					.filter(i -> i instanceof MenuManager m && m.getMenuText().equals("Layout")).findFirst().orElseThrow();
			IAction action = ((ActionContributionItem) Stream.of(layouts.getItems()).filter(
					i -> i instanceof ActionContributionItem a && a.getAction().getText().equals(name)).findFirst().orElseThrow()).getAction();
			for (IContributionItem item : layouts.getItems()) {
				((ActionContributionItem) item).getAction().setChecked(((ActionContributionItem) item).getAction() == action);
			}
			action.run();
		});
	}

	@Test
	void keyboardAlone() throws Exception {
		Path xml = Path.of(System.getProperty("memtrace.root"), "testdata/machines/two-memories.xml");
		MachineView view = open(sample("keys", Files.readAllBytes(xml)));
		box(view, "CPU 0");
		bot.run(() -> page().activate(view));
		bot.waitFor("focus", () -> view.canvas().isFocusControl());
		bot.key("End");
		bot.key("Return");
		bot.waitFor("filter by the last CPU", () -> filters().equals("[CPU 5]"));
		bot.waitFor("painted", view::isSettled);
		bot.key("Up");
		bot.key("ctrl+Return");
		bot.waitFor("two CPUs", () -> filters().equals("[CPU 4, 5]"));
		int focus = Palette.LIGHT.highlight();
		int dark = Palette.DARK.highlight();
		bot.waitFor("the focus is seen", () -> bot.colours(view.canvas()).keySet().stream().anyMatch(
				c -> (c.red << 16 | c.green << 8 | c.blue) == (focus & 0xffffff) || (c.red << 16 | c.green << 8 | c.blue) == (dark & 0xffffff)));
		bot.key("Escape");
		bot.waitFor("no filter", () -> filters().equals("[]"));
	}

	@Test
	void aKeyBeforeThePaintIsNotLost() throws Exception {
		MachineView view = open(sample("early", Files.readAllBytes(
				Path.of(System.getProperty("memtrace.root"), "testdata/machines/two-memories.xml"))));
		box(view, "CPU 0");
		bot.run(() -> {
			view.canvas().setFocus();
			view.canvas().colouring(Colouring.LOCALITY); // is painted after this
			press(view, SWT.END);
			press(view, SWT.CR);
		});
		bot.waitFor("filter by the last CPU", () -> filters().equals("[CPU 5]"));
	}

	private static void press(MachineView view, int key) {
		Event e = new Event();
		e.keyCode = key;
		view.canvas().notifyListeners(SWT.KeyDown, e);
	}

	/** Two CPUs of the machine of two packages: a value that doubles with each sample, of the second one only from the third sample on. */
	private TraceInfo monitors() throws Exception {
		String xml = Files.readString(Path.of(System.getProperty("memtrace.root"), "testdata/machines/two-packages.xml"));
		StringBuilder text = new StringBuilder();
		xml.lines().forEach(l -> text.append("# topology ").append(l).append('\n'));
		text.append("# scale doubled 1 256 1\nObj Nanoseconds doubled\n");
		for (int i = 0; i < 8; i++) {
			text.append("PU:0 ").append(100_000_000L * (i + 1)).append(' ').append(2 << i).append('\n');
			if (i >= 2) {
				text.append("PU:15 ").append(100_000_000L * (i + 1)).append(' ').append(1 << i).append('\n');
			}
		}
		Path file = Files.writeString(Files.createTempDirectory("monitors").resolve("doubled.txt"), text);
		return new ImportOperation(List.of(file), System.in, session.catalogue()::create).call(Progress.NONE).trace();
	}

	@Test
	void monitorsAreReplayed() throws Exception {
		MachineView view = bot.ui(() -> show(ViewIds.MACHINE));
		TraceInfo trace = monitors();
		bot.run(() -> session.opener().open(trace));
		bot.waitFor("the values", () -> session.trace() != null && view.isSettled() && view.canvas().frame() != null);
		assertEquals("2 packages, 2 NUMA nodes, 8 cores, 16 CPUs", bot.ui(() -> view.canvas().frame().topology().summary()));
		assertEquals("doubled of CPU (2), at 800 ms; 2 of 2 places active", summary(view));
		bot.waitFor("painted", () -> bot.colours(view.canvas()).size() > 5);
		bot.shot("machine-monitors");
		bot.run(() -> {
			view.bar().replay().at(view.bar().replay().fromNs());
			view.bar().step(1);
			view.bar().step(1);
		});
		assertEquals("doubled of CPU (2), at 200 ms; 1 of 2 places active", summary(view));
		bot.shot("machine-monitors-inactive");
		bot.run(() -> session.trace().selection().pointed().point(this, 600_000_000L));
		bot.waitFor("the time at which somebody points", () -> summary(view).contains("at 600 ms; 2 of 2"));
		bot.run(() -> session.trace().selection().pointed().leave(this));
		bot.waitFor("the time of the cursor", () -> summary(view).contains("at 200 ms; 1 of 2"));
		bot.run(() -> view.bar().replay().speed(4.0));
		bot.run(view.bar()::toggle);
		bot.waitFor("played to the end", () -> !view.bar().replay().isPlaying());
		assertEquals("doubled of CPU (2), at 800 ms; 2 of 2 places active", summary(view));
		bot.run(() -> session.trace().selection().window(0, 400_000_000L));
		bot.waitFor("the window of all views", () -> view.isSettled() && summary(view).contains("at 400 ms"));
		bot.run(() -> session.opener().open(sample));
		bot.waitFor("accesses again", () -> view.isSettled() && view.canvas().use() != null && view.canvas().frame() == null);
	}

	private String summary(MachineView view) {
		return bot.ui(() -> view.canvas().frame().summary());
	}

	@Test
	void withoutLibraryOrWithBrokenTopologyEverythingElseWorks() throws Exception {
		System.setProperty(Hwloc.LIBRARY_PROPERTY, "libhwloc-that-nobody-has.so");
		try {
			MachineView view = open(sample);
			bot.waitFor("message", () -> view.canvas().message().startsWith("The library hwloc 2, which reads topologies"));
			bot.shot("machine-no-library");
			forgive("looked for libhwloc-that-nobody-has.so");
		} finally {
			System.clearProperty(Hwloc.LIBRARY_PROPERTY);
		}
		MachineView view = open(sample("broken", "<topology version='2.0'><object".getBytes(StandardCharsets.UTF_8)));
		bot.waitFor("message", () -> view.canvas().message().startsWith("topology.xml of broken, line 1: is no complete XML"));
		forgive("is no complete XML");
		MachineView again = open(sample);
		bot.waitFor("the live machine", () -> again.isSettled() && again.canvas().use() != null);
		assertNotEquals(List.of(), bot.ui(() -> again.canvas().use().notes()), "it says that it is not the recorded one");
	}
}
