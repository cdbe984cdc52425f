// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.eclipse.jface.wizard.IWizardContainer;
import org.eclipse.jface.wizard.IWizardPage;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableItem;
import org.eclipse.swt.widgets.Text;
import org.junit.jupiter.api.Test;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.UiTest;
import org.memtrace.views.preferences.Settings;

/** Files of Moca through the import wizard, with options, to the picture. */
class ImportWizardTest extends UiTest {
	private static final String HEADER = "@Virt, @Phy, Nreads, Nwrites, CPUMask, Start, End, TaskId\n";

	private Button button(String text) {
		return bot.find(Button.class, b -> b.getText().replace("&", "").equals(text) && b.getShell().getText().equals("Import"));
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

	private void drop(Path... files) {
		bot.display.asyncExec(() -> TraceDrop.dropped(page().getWorkbenchWindow(),
				Stream.of(files).map(Path::toString).toArray(String[]::new)));
	}

	private String error() {
		return bot.ui(() -> ((IWizardContainer) bot.find(Shell.class, s -> s.getText().equals("Import")).getData()).getCurrentPage()
				.getErrorMessage());
	}

	@Test
	void filesOfMoca() throws Exception {
		StringBuilder rows = new StringBuilder(HEADER);
		for (int i = 0; i < 400; i++) {
			rows.append(String.format("%x, 0, %d, %d, 1, %d, %d, %d\n", 0x601000 + (i % 40) * 4096, 2 + i % 3, 1 + i % 2, i * 10, i * 10 + 9,
					i % 4));
		}
		Path accesses = Files.writeString(directory.resolve("any-name"), rows);
		Path structures = Files.writeString(directory.resolve("structs.csv"), "addr,size,name\n6295552,81920,grid\n6377472,81920,halo\n");
		drop(accesses, structures);
		Table table = bot.find(Table.class, t -> t.getShell().getText().equals("Import"));
		bot.waitFor("formats", () -> Stream.of(table.getItems()).map(i -> i.getText(1)).toList()
				.equals(List.of("full trace of Moca", "structures")));
		bot.shot("import-source");
		press(button("Next >"));
		enter(bot.find(Text.class, t -> t.getMessage().equals("any-name")), "moca");
		Text rules = bot.find(Text.class, t -> t.getToolTipText() != null && t.getToolTipText().startsWith("Structures that a rule"));
		enter(rules, "sort");
		bot.waitFor("message", () -> error() != null && error().contains("the merging rule 'sort'"));
		assertFalse(bot.ui(button("Import")::isEnabled));
		enter(rules, "size");
		bot.waitFor("no message", () -> error() == null);
		Text command = bot.find(Text.class, t -> t.getText().startsWith("memtrace import"));
		assertEquals("memtrace import --name moca --merge size " + accesses + " " + structures, bot.ui(command::getText));
		bot.shot("import-options");
		press(button("Import"));
		Text report = bot.find(Text.class, t -> t.getText().startsWith("rows read"));
		String text = bot.ui(report::getText);
		assertTrue(text.contains("rows imported         400"), text);
		waitForPicture("moca");
		bot.shot("import-report");
		bot.close(button("Close"));
		assertEquals("Moca", bot.ui(() -> session.trace().info().type()));
	}

	/** What the button Import trace… does; a trace directory that is dropped needs no wizard. */
	@Test
	void aTraceDirectory() {
		Path trace = Path.of(System.getProperty("memtrace.root"), "testdata", "format-example");
		bot.display.asyncExec(() -> TraceActions.openImportWizard(page().getWorkbenchWindow(), List.of(trace)));
		Table table = bot.find(Table.class, t -> t.getShell().getText().equals("Import"));
		bot.waitFor("recognised", () -> table.getItemCount() > 0 && table.getItem(0).getText(1).contains("2 process images"));
		Shell shell = bot.ui(table::getShell);
		assertEquals("org.memtrace.views.import", bot.ui(() -> shell.getData("org.eclipse.ui.help")));
		press(button("Import"));
		Text report = bot.find(Text.class, t -> t.getText().startsWith("rows read"));
		String text = bot.ui(report::getText);
		assertTrue(text.contains("threads               "), text);
		bot.waitFor("the trace", () -> session.trace() != null && session.trace().info().id() != sample.id()
				&& session.opening() == null);
		bot.close(button("Close"));
		assertEquals(TraceInfo.TYPE_MEMTRACE, bot.ui(() -> session.trace().info().type()));
		assertTrue(bot.ui(() -> session.trace().hasAccesses()));
	}

	/** Who chooses the folder of a process gets the trace directory that it is in. */
	@Test
	void aProcessFolder() {
		Path trace = Path.of(System.getProperty("memtrace.root"), "testdata", "format-example");
		drop(trace.resolve("p0001"));
		Table table = bot.find(Table.class, t -> t.getShell().getText().equals("Import"));
		bot.waitFor("recognised", () -> table.getItemCount() > 0 && table.getItem(0).getText(1).contains("2 process images"));
		assertEquals(trace.toAbsolutePath().normalize().toString(), bot.ui(() -> table.getItem(0).getText()));
		IWizardPage page = bot.ui(() -> ((IWizardContainer) table.getShell().getData()).getCurrentPage());
		assertEquals("p0001 is a process of format-example, which is imported as a whole.", bot.ui(page::getMessage));
		assertTrue(bot.ui(button("Import")::isEnabled));
		bot.shot("import-process-folder");
		bot.run(() -> table.select(0));
		bot.run(() -> table.notifyListeners(SWT.Selection, new Event()));
		press(button("Remove"));
		bot.waitFor("no message", () -> !String.valueOf(page.getMessage()).contains("p0001"));
		bot.close(button("Cancel"));
	}

	/** What {@code memtrace finish} would have made is missing; the program memtrace is played by a script that cannot do it. */
	@Test
	void aTraceOfAKilledRecorder() throws Exception {
		Path example = Path.of(System.getProperty("memtrace.root"), "testdata", "format-example");
		Path trace = directory.resolve("killed");
		try (Stream<Path> files = Files.walk(example)) {
			for (Path file : files.filter(f -> !f.endsWith("structures.csv") && !f.endsWith("stacks.csv")).sorted().toList()) {
				Files.copy(file, trace.resolve(example.relativize(file).toString()));
			}
		}
		Path launcher = Files.writeString(directory.resolve("memtrace"), "#!/bin/sh\necho \"memtrace $1: no space\" >&2\nexit 1\n");
		assertTrue(launcher.toFile().setExecutable(true));
		System.setProperty("memtrace.launcher", launcher.toString());
		try {
			bot.display.asyncExec(() -> TraceActions.openImportWizard(page().getWorkbenchWindow(), List.of(trace)));
			press(button("Import"));
			Text report = bot.find(Text.class, t -> t.getText().startsWith("rows read"));
			String text = bot.ui(report::getText);
			assertTrue(text.contains(trace + ": structures, call stacks and threads are missing: the recorder was killed, and the trace was not "
					+ "completed: memtrace finish: no space"), text);
			bot.waitFor("the trace", () -> session.trace() != null && session.trace().info().id() != sample.id()
					&& session.opening() == null);
			bot.close(button("Close"));
		} finally {
			System.clearProperty("memtrace.launcher");
		}
	}

	/** The wizard begins with the preference; what is chosen there counts, and the preference of the others does not. */
	@Test
	void kindOfDatabase() {
		Path trace = Path.of(System.getProperty("memtrace.root"), "testdata", "format-example");
		bot.run(() -> Settings.store().setValue(Settings.DATABASE, "h2"));
		try {
			bot.display.asyncExec(() -> TraceActions.openImportWizard(page().getWorkbenchWindow(), List.of(trace)));
			Table table = bot.find(Table.class, t -> t.getShell().getText().equals("Import"));
			bot.waitFor("recognised", () -> table.getItemCount() > 0 && table.getItem(0).getText(1).contains("2 process images"));
			press(button("Next >"));
			Combo kind = bot.find(Combo.class, c -> c.getShell().getText().equals("Import") && c.getItemCount() == 2);
			assertEquals("H2", bot.ui(kind::getText));
			bot.run(() -> {
				kind.select(0);
				kind.notifyListeners(SWT.Selection, new Event());
			});
			press(button("Import"));
			bot.waitFor("the trace", () -> session.trace() != null && session.trace().info().id() != sample.id()
					&& session.opening() == null);
			bot.close(button("Close"));
			assertFalse(bot.ui(() -> session.trace().info().databaseName()).endsWith(".mv.db"), "SQLite was chosen");
		} finally {
			bot.run(() -> Settings.store().setToDefault(Settings.DATABASE));
		}
	}

	@Test
	void nothingThatCanBeImported() throws Exception {
		drop(Files.writeString(directory.resolve("notes.txt"), "hello"));
		bot.waitFor("message", () -> error() != null && error().contains("notes.txt: is of no format that can be imported"));
		Table table = bot.find(Table.class, t -> t.getShell().getText().equals("Import"));
		assertEquals(List.of("notes.txt"), bot.ui(() -> Stream.of(table.getItems()).map(TableItem::getText).toList()));
		assertFalse(bot.ui(button("Import")::isEnabled));
		bot.close(button("Cancel"));
	}
}
