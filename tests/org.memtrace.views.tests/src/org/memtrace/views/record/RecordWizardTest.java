// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Text;
import org.eclipse.swt.widgets.Tree;
import org.eclipse.swt.widgets.TreeItem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.model.LivePages.Row;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.UiTest;
import org.memtrace.views.session.RecordHistory;
import org.memtrace.views.util.CommandBar;

/** The record wizard with the real recorder and real programs; without the collector (only Maven has run) it is skipped. */
class RecordWizardTest extends UiTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root")).normalize();
	private static final Path MATMUL = ROOT.resolve("build/examples/matmul");

	@BeforeEach
	void recorder() {
		assumeTrue(Files.isExecutable(ROOT.resolve("build/collector/memtrace")) && Files.isExecutable(MATMUL),
				"the collector and the examples are not built");
		System.setProperty("memtrace.launcher", ROOT.resolve("build/collector/memtrace").toString());
	}

	@AfterEach
	void noRecorder() {
		System.clearProperty("memtrace.launcher");
		RecordHistory.closesItself(true);
	}

	private Shell open() {
		bot.run(() -> page().getWorkbenchWindow().getShell().forceActive());
		bot.key("ctrl+r");
		Shell shell = bot.find(Shell.class, s -> s.getText().equals("Record"));
		bot.waitFor("the check of this machine", () -> shell.getData() != null);
		return shell;
	}

	private Button button(String text) {
		return bot.find(Button.class, b -> b.getText().replace("&", "").equals(text) && b.getShell().getText().equals("Record"));
	}

	private void press(Button b) {
		bot.waitFor(b + " enabled", b::isEnabled);
		bot.click(b, bot.ui(() -> new Rectangle(0, 0, b.getSize().x, b.getSize().y)));
	}

	private void enter(Text field, String text) {
		bot.click(field, bot.ui(() -> new Rectangle(0, 0, field.getSize().x, field.getSize().y)));
		bot.key("ctrl+a");
		bot.type(text);
	}

	private Text field(String message) {
		return bot.find(Text.class, t -> t.getMessage().contains(message));
	}

	private Text command() {
		return bot.find(Text.class, t -> (t.getStyle() & SWT.READ_ONLY) != 0 && t.getShell().getText().equals("Record")
				&& t.getParent() instanceof CommandBar && t.getParent().getChildren()[0] instanceof Label l
				&& l.getText().startsWith("The same"));
	}

	private String error() {
		return bot.ui(() -> ((org.eclipse.jface.wizard.IWizardContainer) bot.find(Shell.class,
				s -> s.getText().equals("Record")).getData()).getCurrentPage().getErrorMessage());
	}

	@Test
	void fromProgramToPicture() throws Exception {
		open();
		Button record = button("Record");
		assertFalse(bot.ui(record::isEnabled), "nothing is chosen");
		enter(field("./app"), MATMUL.toString());
		enter(field("as in a shell"), "naive -n 300 -t 3");
		bot.waitFor("command", () -> command().getText().endsWith("memtrace record -- " + MATMUL + " naive -n 300 -t 3"));
		press(button("Next >"));
		Tree collectors = bot.find(Tree.class, t -> t.getShell().getText().equals("Record"));
		assertEquals(List.of("Automatic", "User space (zap)", "User space, private memory (rwp)", "Kernel module (kmod)",
				"Exact counts, program built for it (hooks)", "Exact counts, any program, in parallel (dynamorio)",
				"Exact counts, any program (valgrind)", "No accesses (none)"),
				bot.ui(() -> List.of(collectors.getItems()).stream().map(TreeItem::getText).toList()));
		assertTrue(bot.ui(() -> collectors.getItem(7).getText(1)).endsWith("yes"));
		Path trace = directory.resolve("by wizard");
		enter(field(".memtrace"), trace.toString());
		enter(field("name of the program"), "from the wizard");
		bot.waitFor("command", () -> command().getText().contains("-o '" + trace + "' --name 'from the wizard' -- "));
		bot.shot("record-collector");
		press(record);
		waitForPicture("from the wizard");
		assertTrue(Files.exists(trace.resolve("manifest.json")));
		assertTrue(bot.ui(() -> session.trace().structures().stream().anyMatch(s -> s.name().equals("A"))), "names from the source");
		bot.waitFor("the wizard closes itself", () -> List.of(bot.display.getShells()).stream()
				.noneMatch(s -> s.getText().equals("Record")));
		bot.shot("record-picture");
		assertEquals(MATMUL.toString(), bot.ui(() -> RecordHistory.recent().get(0).program()));
	}

	@Test
	void whatIsWrongIsSaidBeforeAnythingRuns() {
		open();
		enter(field("./app"), "/no/such/program");
		bot.waitFor("message", () -> "The program /no/such/program does not exist.".equals(error()));
		enter(field("./app"), "true");
		bot.waitFor("no message", () -> error() == null);
		enter(field("as in a shell"), "'a");
		bot.waitFor("message", () -> "A quote (') is not closed.".equals(error()));
		assertFalse(bot.ui(button("Record")::isEnabled));
		bot.shot("record-wrong");
		enter(field("as in a shell"), "a");
		bot.waitFor("no message", () -> error() == null);
		press(button("Next >"));
		Text interval = bot.find(Text.class, t -> t.getText().equals("50ms") && t.isVisible());
		enter(interval, "50");
		bot.waitFor("message", () -> "--interval must be a time with a unit, such as 50ms.".equals(error()));
		bot.close(button("Cancel"));
	}

	@Test
	void stoppedRecordingIsATrace() throws Exception {
		bot.run(() -> RecordHistory.closesItself(false));
		open();
		enter(field("./app"), MATMUL.toString());
		enter(field("as in a shell"), "naive -n 4000 -t 2");
		press(button("Next >"));
		Path trace = directory.resolve("stopped");
		enter(field(".memtrace"), trace.toString());
		press(button("Record"));
		Label intervals = bot.find(Label.class, l -> l.getText().equals("Intervals"));
		bot.waitFor("three intervals", () -> value(intervals).matches("[0-9,]+") && !value(intervals).matches("[012]"));
		LiveCanvas live = bot.find(LiveCanvas.class, l -> true);
		bot.waitFor("the matrices in the picture", () -> rows(live).containsAll(Set.of("A", "B")));
		Row matrix = bot.ui(() -> live.picture().rows().stream().filter(r -> r.name().equals("B")).findFirst().orElseThrow());
		assertTrue(matrix.site().contains("matmul.c:") && matrix.sumOfPages() > 0, matrix.toString());
		bot.shot("record-running");
		choose("part that is shared");
		choose("thread");
		bot.waitFor("threads", () -> rows(live).stream().filter(r -> r.startsWith("thread ")).count() >= 2);
		bot.shot("record-running-threads");
		choose("structure");
		bot.waitFor("structures", () -> rows(live).contains("B"));
		Set<String> seen = bot.ui(() -> live.picture().rows().stream().filter(r -> !r.kind().isEmpty()).map(Row::name)
				.collect(Collectors.toSet()));
		// who leaves the workbench is asked
		Boolean[] leave = new Boolean[1];
		bot.display.asyncExec(() -> leave[0] = RecordDialog.mayClose(page().getWorkbenchWindow()));
		bot.close(bot.find(Button.class, b -> b.getText().equals("Go on recording")));
		bot.waitFor("the answer", () -> leave[0] != null);
		assertFalse(leave[0], "the window stays");
		press(button("Stop"));
		Button close = button("Close");
		waitForPicture("matmul");
		bot.waitFor("over", close::isEnabled);
		bot.shot("record-stopped");
		bot.close(close);
		Set<String> structures = bot.ui(() -> session.trace().structures().stream().map(s -> s.name()).collect(Collectors.toSet()));
		assertTrue(structures.containsAll(seen), () -> seen + " are all in the trace: " + structures);
		TraceInfo info = bot.ui(() -> session.trace().info());
		// as by Ctrl-C; by SIGTERM where the tests run in the background, which ignores Ctrl-C
		assertTrue(Set.of("2", "15").contains(info.properties().get("signal")), info.properties().get("signal"));
	}

	private List<String> rows(LiveCanvas live) {
		return bot.ui(() -> live.picture() == null ? List.of() : live.picture().rows().stream().map(Row::name).toList());
	}

	private void choose(String item) {
		Combo c = bot.find(Combo.class, x -> List.of(x.getItems()).contains(item) && x.getShell().getText().equals("Record"));
		bot.run(() -> {
			c.setText(item);
			c.notifyListeners(SWT.Selection, new Event());
		});
	}

	/** The number below a title. */
	private static String value(Label title) {
		Control[] cell = title.getParent().getChildren();
		return ((Label) cell[1]).getText();
	}
}
