// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.find;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Link;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableItem;
import org.eclipse.swt.widgets.Text;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.session.ViewIds;

/** Ctrl+K: one box that finds everything, and what its keys do. */
class FindDialogTest extends UiTest {
	private Shell dialog;
	private Table table;

	private void open() {
		bot.run(() -> show(ViewIds.OCELOTL));
		bot.waitFor("focus in the window", () -> { // without a window manager nobody gives it back when a dialog is closed
			if (bot.display.getFocusControl() == null) {
				page().getWorkbenchWindow().getShell().forceActive();
			}
			return bot.display.getFocusControl() != null;
		});
		bot.key("ctrl+k");
		dialog = bot.find(Shell.class, s -> s.getText().equals("Find"));
		table = bot.find(Table.class, t -> t.getShell() == dialog);
		bot.waitFor("focus in the text", () -> bot.display.getFocusControl() instanceof Text t && t.getShell() == dialog);
		bot.waitFor("names of the trace", () -> labels().stream().noneMatch(l -> l.startsWith("Reading")));
	}

	/** What the lines below the table say. */
	private List<String> labels() {
		List<String> texts = new ArrayList<>();
		for (Control c : table.getParent().getChildren()) {
			if (c instanceof Label l) {
				texts.add(l.getText());
			}
		}
		return texts;
	}

	private List<String> rows() {
		return Arrays.stream(table.getItems()).map(i -> i.getText(0) + ": " + i.getText(1)).toList();
	}

	private void type(String text, String first) {
		bot.type(text);
		bot.waitFor(first + " is the first of what is found", () -> table.getItemCount() > 0 && rows().get(0).equals(first));
	}

	private void press(String key) {
		bot.key(key);
		bot.waitFor("box closed", dialog::isDisposed);
	}

	private TraceSelection selection() {
		return bot.ui(() -> session.trace().selection());
	}

	@Test
	void findsAndJumps() {
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		bot.run(() -> show(ViewIds.OCELOTL));

		// a structure by its name: Enter zooms, Shift+Enter marks
		open();
		bot.shot("find-empty");
		type("b", "Structure: B");
		bot.shot("find");
		press("Return");
		bot.waitFor("zoomed to B", () -> selection().state().producer() == SampleTrace.B);
		waitForPicture("small matmul");
		bot.find(Link.class, l -> l.isVisible() && l.getText().startsWith("Shown for B: memory of B. "));
		bot.shot("find-jumped");
		bot.run(() -> selection().back());
		bot.waitFor("nothing is said", () -> bot.all(Link.class).stream().noneMatch(l -> l.isVisible() && l.getText().startsWith("Shown for")));
		assertEquals(selection().initial().producer(), bot.ui(() -> selection().state().producer()));
		assertEquals(TraceSelection.NO_MARK, bot.ui(() -> selection().mark()));
		open();
		bot.type("c");	// and at once the key: what is typed counts, not what is shown
		press("shift+Return");
		bot.waitFor("C marked", () -> selection().mark() == SampleTrace.C);
		assertEquals(selection().initial().producer(), bot.ui(() -> selection().state().producer()));

		// the page at an address: the fourth of B
		open();
		bot.type("0x7f0000103010");
		press("shift+Return");
		bot.waitFor("page marked", () -> selection().mark() == SampleTrace.B + 5);

		// a thread, with the arrows; Enter filters
		open();
		type("worker", "Thread: worker 1 #1");
		assertTrue(bot.ui(this::labels).stream().anyMatch(l -> l.startsWith("Enter only this thread")));
		bot.key("Down");
		bot.waitFor("second row", () -> table.getSelectionIndex() == 1);
		press("Return");
		bot.waitFor("filter", () -> selection().state().filters().isActive());
		bot.run(() -> selection().filters(org.memtrace.analysis.filter.FilterSet.NONE));

		// a view
		open();
		type("show density", "Command: Show Density");
		press("Return");
		bot.waitFor("density in front", () -> page().getActivePart().getSite().getId().equals(ViewIds.DENSITY));

		// nothing is called so, and Esc changes nothing
		open();
		bot.type("zzzz");
		bot.waitFor("nothing", () -> table.getItemCount() == 0 && labels().contains("Nothing is called so."));
		bot.key("Return");
		assertTrue(bot.ui(() -> !dialog.isDisposed()));
		press("Escape");
	}

	/** Found while nothing is open: traces of the catalogue. */
	@Test
	void opensTraces() {
		bot.run(() -> show(ViewIds.OCELOTL));
		open();
		type("matmul", "Trace: small matmul");
		assertTrue(bot.ui(() -> Arrays.stream(table.getItems()).map(TableItem::getText).noneMatch("Structure"::equals)));
		press("Return");
		waitForPicture("small matmul");
	}
}
