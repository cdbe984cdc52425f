// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;

import org.eclipse.swt.widgets.Table;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.views.UiTest;

/** A definition file is written with proposals and checks, and measured; without the collector (only Maven has run) it is skipped. */
class DefinitionDialogTest extends UiTest {
	private static final Path LAUNCHER = Path.of(System.getProperty("memtrace.root")).normalize().resolve("build/collector/memtrace");

	@BeforeEach
	void monitors() {
		assumeTrue(Files.isExecutable(LAUNCHER), "the collector is not built");
		System.setProperty("memtrace.launcher", LAUNCHER.toString());
	}

	@AfterEach
	void noMonitors() {
		System.clearProperty("memtrace.launcher");
	}

	@Test
	void definitionsAreWrittenCheckedAndMeasured() throws Exception {
		Path file = Files.createTempDirectory("definitions").resolve("f.mon");
		Files.writeString(file, "# für each place\npu {\n\tOBJ:=PU;\n\tPERF_LIB:=fake;\n\tEVSET:=nonsense, formula;\n\tREDUCTION:=f=$7;\n}\n");
		MonitorDialog monitors = bot.ui(() -> MonitorDialog.open(page().getWorkbenchWindow()));
		DefinitionDialog dialog = bot.ui(() -> {
			monitors.fill(file.toString(), "", "10ms");
			return monitors.edit();
		});
		bot.waitFor("the mistake", dialog::isChecked);
		assertEquals("Line 6: the monitor 'pu' has 2 events, $0 is the first: there is no $7.", bot.ui(dialog::status));
		int wrong = Files.readString(file).indexOf("$7");
		assertEquals(wrong, bot.ui(() -> dialog.editor().marked()));
		bot.run(() -> {
			dialog.editor().control().setFocus();
			dialog.editor().control().setSelection(wrong, wrong + 2);
		});
		bot.shot("definitions-mistake");
		bot.type("$");
		bot.key("ctrl+space");
		bot.waitFor("proposals", () -> dialog.editor().isProposing());
		bot.find(Table.class, p -> p.getItemCount() == 2 && p.getItem(1).getText().startsWith("$1  formula"));
		bot.shot("definitions-proposals");
		bot.key("Down");
		bot.key("Return");
		bot.waitFor("the event", () -> dialog.editor().text().contains("REDUCTION:=f=$1;\n"));
		bot.waitFor("nothing wrong", () -> dialog.isChecked() && dialog.status().startsWith("1 monitor"));
		assertEquals(-1, bot.ui(() -> dialog.editor().marked()));
		assertTrue(bot.ui(() -> dialog.getShell().getText()).startsWith("*f.mon"));
		bot.key("ctrl+z");
		bot.waitFor("taken back", () -> !dialog.editor().text().contains("$1"));
		bot.key("ctrl+y");
		bot.waitFor("done again", () -> dialog.editor().text().contains("REDUCTION:=f=$1;\n"));
		bot.waitFor("nothing wrong again", () -> dialog.isChecked() && dialog.status().startsWith("1 monitor"));
		bot.run(dialog::measure);
		assertTrue(Files.readString(file).contains("f=$1;"), "it is saved");
		bot.waitFor("values", () -> monitors.canvas().frame() != null);
		assertTrue(bot.ui(() -> monitors.canvas().frame().summary()).startsWith("f of CPU"));
		bot.run(monitors::press);
		bot.waitFor("the end", monitors::isIdle);
		bot.waitFor("the trace", () -> session.trace() != null && session.trace().info().type().equals("monitors"));
		bot.run(() -> monitors.close());
	}
}
