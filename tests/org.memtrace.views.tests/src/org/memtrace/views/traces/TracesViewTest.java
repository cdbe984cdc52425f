// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.Text;
import org.eclipse.swt.widgets.ToolBar;
import org.eclipse.swt.widgets.ToolItem;
import org.eclipse.swt.widgets.Tree;
import org.eclipse.swt.widgets.TreeItem;
import org.junit.jupiter.api.Test;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.storage.Stores;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.session.OpenFile;

/** The list of traces: catalogue, open files, and what one does with them. */
class TracesViewTest extends UiTest {
	private static Path example() {
		return Path.of(System.getProperty("memtrace.root"), "testdata", "format-example").normalize();
	}

	private static Path database(String name) throws MemtraceException {
		Path file = directory.resolve(name + ".db");
		SampleTrace.write(Stores.createFile(file, notice -> {
		}), name);
		return file;
	}

	/** Texts of the tree without what follows two spaces: {@code group/member}. */
	private List<String> tree() {
		return bot.ui(() -> {
			List<String> texts = new ArrayList<>();
			for (TreeItem group : traces().getItems()) {
				for (TreeItem item : group.getItems()) {
					texts.add(group.getText() + "/" + item.getText().replaceFirst("  .*", ""));
				}
			}
			return texts;
		});
	}

	private Tree traces() {
		return bot.find(Tree.class, t -> true);
	}

	/** Where a line of the tree is; the tree may be filled anew at any time, so that it is waited for. */
	private Rectangle place(Tree tree, String text) {
		Rectangle[] place = new Rectangle[1];
		bot.waitFor(text + " in the tree", () -> {
			for (TreeItem group : tree.getItems()) {
				for (TreeItem item : group.getItems()) {
					if (item.getText().startsWith(text)) {
						place[0] = item.getBounds();
						return true;
					}
				}
			}
			return false;
		});
		return place[0];
	}

	private void click(String text) {
		Tree tree = traces();
		Rectangle r = place(tree, text);
		bot.click(tree, r.x + 10, r.y + r.height / 2);
		bot.waitFor("selection of " + text, () -> tree.getSelectionCount() == 1
				&& tree.getSelection()[0].getText().startsWith(text));
	}

	private void waitForTree(String... wanted) {
		bot.waitFor("tree " + List.of(wanted), () -> tree().equals(List.of(wanted)));
	}

	/** What was imported is shown before the list is read again. */
	@Test
	void whatIsShownIsSelectedAsSoonAsItIsListed() throws Exception {
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		bot.waitFor("selection", () -> selected().equals(List.of("small matmul")));
		TraceInfo other = SampleTrace.write(session.catalogue(), "dropped");
		bot.run(() -> session.opener().open(other));
		waitForPicture("dropped");
		bot.run(session::catalogueChanged);
		bot.waitFor("selection of what is shown", () -> selected().equals(List.of("dropped")));
	}

	private List<String> selected() {
		return Arrays.stream(traces().getSelection()).map(i -> i.getText().replaceFirst("  .*", "")).toList();
	}

	@Test
	void fileIsListedUntilItIsClosed() throws Exception {
		session.catalogue().delete(sample.id());
		bot.run(session::catalogueChanged);
		bot.find(Label.class, l -> l.getText().equals("No traces yet."));
		Path file = database("alone");
		bot.run(() -> session.opener().open(file.toString()));
		waitForPicture("alone");
		waitForTree("Open files/alone.db");
		assertFalse(bot.ui(() -> bot.find(Tree.class, t -> true).getParent().getChildren().length > 2
				&& traces().getParent().getChildren()[2].isVisible()), "'No traces yet.' beside a trace");
		Table details = bot.find(Table.class, t -> t.getColumnCount() == 2);
		// a long path has several lines
		bot.waitFor("the path in the details", () -> Arrays.stream(details.getItems()).map(i -> i.getText(1)).collect(Collectors.joining())
				.contains(file.toString()));
		bot.shot("open-file");
		click("alone.db");
		bot.key("Delete");
		bot.waitFor("closed", () -> session.trace() == null && session.files().isEmpty());
		waitForTree();
		bot.find(Label.class, l -> l.getText().equals("No traces yet."));
		assertTrue(Files.exists(file), "closing deletes nothing");
	}

	@Test
	void filesStayListedWhileAnotherTraceIsShown() throws Exception {
		Path one = database("one");
		Path two = database("two");
		bot.run(() -> session.opener().openDatabase(one));
		waitForPicture("one");
		bot.run(() -> session.opener().openDatabase(two));
		waitForPicture("two");
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		waitForTree("Open files/one.db", "Open files/two.db", "matmul/small matmul");
		bot.shot("open-files");
		Tree tree = traces();
		Rectangle r = place(tree, "one");
		bot.doubleClick(tree, r.x + 10, r.y + r.height / 2);
		waitForPicture("one");
		assertEquals(2, bot.ui(() -> session.files().size()));
		// numbers in files are not those of the catalogue
		assertFalse(bot.ui(() -> session.trace().isListed(sample)));
		bot.key("ctrl+w");
		bot.waitFor("closed", () -> session.trace() == null);
		waitForTree("Open files/two.db", "matmul/small matmul");
	}

	@Test
	void databaseOfTheCatalogueIsItsTrace() throws Exception {
		Path file = session.catalogue().directory().resolve(sample.databaseName());
		bot.run(() -> session.opener().openDatabase(file));
		waitForPicture("small matmul");
		assertTrue(bot.ui(() -> session.trace().isListed(sample)));
		assertEquals(List.of(), bot.ui(session::files));
	}

	@Test
	void dropImportsAllDirectoriesAndShowsTheLastFile() throws Exception {
		Path one = database("dropped one");
		Path two = database("dropped two");
		bot.run(() -> TraceDrop.dropped(page().getWorkbenchWindow(), example().toString(), one.toString(), two.toString()));
		waitForPicture("dropped two");
		waitForTree("Open files/dropped one.db", "Open files/dropped two.db", "app/example",
				"matmul/small matmul");
		bot.run(() -> TraceDrop.dropped(page().getWorkbenchWindow(), two.toString(), example().toString()));
		waitForPicture("example");
		assertEquals(2, session.catalogue().list().size(), "the directory was imported once");
		assertEquals(List.of(one, two), bot.ui(session::files).stream().map(OpenFile::path).toList());
	}

	@Test
	void renameChangesNameEverywhere() throws Exception {
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		click("small matmul");
		bot.key("F2");
		Text field = bot.find(Text.class, t -> t.getShell().getText().equals("Rename trace")
				&& t.getText().equals("small matmul"));
		bot.click(field, bot.ui(() -> new Rectangle(0, 0, field.getSize().x, field.getSize().y)));
		bot.key("ctrl+a");
		bot.key("Delete");
		Button ok = bot.find(Button.class, b -> b.getText().equals("OK"));
		bot.waitFor("a name is needed", () -> !ok.isEnabled());
		bot.type("before the fix");
		bot.waitFor("name accepted", ok::isEnabled);
		bot.close(ok);
		waitForTree("matmul/before the fix");
		bot.waitFor("title", () -> page().getWorkbenchWindow().getShell().getText().equals("before the fix — memtrace"));
		assertEquals("before the fix", session.catalogue().list().get(0).alias());
		assertTrue(bot.ui(() -> session.status().shown()), "the picture stays");
	}

	@Test
	void severalTracesGetAPropertyAndAreFoundByIt() throws Exception {
		SampleTrace.write(session.catalogue(), "second matmul");
		SampleTrace.write(session.catalogue(), "third matmul");
		bot.run(session::catalogueChanged);
		bot.waitFor("three traces", () -> tree().size() == 3);
		Tree tree = traces();
		for (String name : List.of("small matmul", "second matmul")) {
			Rectangle r = place(tree, name);
			bot.run(() -> tree.setFocus());
			boolean first = name.startsWith("small");
			if (first) {
				bot.click(tree, r.x + 10, r.y + r.height / 2);
			} else {
				bot.hold("ctrl", () -> bot.click(tree, r.x + 10, r.y + r.height / 2));
			}
			bot.waitFor(name + " selected", () -> tree.getSelectionCount() == (first ? 1 : 2)
					&& Arrays.stream(tree.getSelection()).anyMatch(i -> i.getText().startsWith(name)));
		}
		Table details = bot.find(Table.class, t -> t.getColumnCount() == 2);
		bot.waitFor("common details", () -> value(details, "Name").equals("(different)") && value(details, "Host").equals("testhost"));
		ToolItem add = bot.ui(() -> toolItem("Give the selected traces a property of your own, such as the version of the program"));
		Rectangle button = bot.ui(add::getBounds);
		bot.click(bot.ui(add::getParent), button);
		Combo name = bot.find(Combo.class, c -> c.getShell().getText().equals("Property of 2 traces"));
		bot.run(() -> name.setFocus());
		bot.type("branch");
		bot.key("Tab");
		bot.type("numa first");
		bot.shot("property");
		bot.close(bot.find(Button.class, b -> b.getText().equals("OK")));
		bot.waitFor("shown", () -> value(details, "branch").equals("numa first"));
		bot.shot("common-details");
		assertEquals(2, session.catalogue().list().stream()
				.filter(t -> t.properties().getOrDefault("custom.branch", "").equals("numa first")).count());

		Text filter = bot.find(Text.class, t -> t.getMessage().startsWith("Filter (text"));
		bot.run(() -> filter.setText("branch:^numa -second"));
		waitForTree("matmul/small matmul");
		bot.run(() -> filter.setText(""));
		bot.waitFor("all again", () -> tree().size() == 3);
		bot.run(() -> {
			for (int i = 0; i < details.getItemCount(); i++) {
				if (details.getItem(i).getText(0).equals("branch")) {
					details.select(i);
				}
			}
			details.setFocus();
		});
		bot.key("Delete");
		bot.waitFor("gone", () -> value(details, "branch").isEmpty());
	}

	private static String value(Table details, String name) {
		return Arrays.stream(details.getItems()).filter(i -> i.getText(0).equals(name)).map(i -> i.getText(1)).findFirst()
				.orElse("");
	}

	private ToolItem toolItem(String tip) {
		for (ToolBar bar : bot.all(ToolBar.class)) {
			for (ToolItem item : bar.getItems()) {
				if (tip.equals(item.getToolTipText())) {
					return item;
				}
			}
		}
		throw new AssertionError("no button '" + tip + "'");
	}

	@Test
	void loneDatabaseIsAddedToTheCatalogue() throws Exception {
		Path file = database("lone");
		bot.run(() -> session.opener().openDatabase(file));
		waitForPicture("lone");
		bot.run(() -> new TraceChanges(session, page().getWorkbenchWindow().getShell()).addToCatalogue(session.files().get(0)));
		bot.waitFor("shown from the catalogue", () -> session.trace() != null && session.trace().file() == null);
		waitForPicture("lone");
		bot.waitFor("listed", () -> tree().contains("matmul/lone") && session.files().isEmpty());
		assertEquals(2, session.catalogue().list().size());
		assertTrue(Files.exists(file), "a copy was taken");
	}

	@Test
	void deleteAsksFirst() throws Exception {
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		Path file = session.catalogue().directory().resolve(sample.databaseName());
		click("small matmul");
		bot.key("Delete");
		Shell question = bot.find(Shell.class, s -> s.getText().equals("Delete trace"));
		bot.shot("delete");
		bot.close(bot.find(Button.class, b -> b.getText().equals("Cancel") && b.getShell() == question));
		assertEquals(List.of("small matmul"), session.catalogue().list().stream().map(TraceInfo::alias).toList());
		assertTrue(bot.ui(() -> session.trace() != null), "still shown");
		click("small matmul");
		bot.key("Delete");
		bot.close(bot.find(Button.class, b -> b.getText().equals("Delete") && b.getShell().getText().equals("Delete trace")));
		waitForTree();
		assertEquals(List.of(), session.catalogue().list());
		assertTrue(bot.ui(() -> session.trace() == null));
		assertFalse(Files.exists(file), file + " is still there");
	}
}
