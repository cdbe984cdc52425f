// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.preferences;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import org.eclipse.jface.preference.IPreferenceStore;
import org.eclipse.jface.preference.PreferenceDialog;
import org.eclipse.jface.preference.PreferencePage;
import org.eclipse.nebula.widgets.nattable.NatTable;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.CTabFolder;
import org.eclipse.swt.graphics.RGB;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.Text;
import org.eclipse.swt.widgets.ToolBar;
import org.eclipse.swt.widgets.Tree;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.engine.InitialLevel;
import org.memtrace.analysis.colour.Palette.Kind;
import org.memtrace.importer.record.RecordOption;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.model.store.EventType;
import org.memtrace.storage.Stores;
import org.memtrace.views.SampleEvents;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.session.OpenTrace;

/** Settings take effect at once, and their pages set them. */
class PreferencesTest extends UiTest {
	private static final String GREEN = "00c020";

	private boolean painted(Control c, RGB wanted) {
		return bot.colours(c).keySet().stream().anyMatch(
				x -> Math.abs(x.red - wanted.red) + Math.abs(x.green - wanted.green) + Math.abs(x.blue - wanted.blue) < 40);
	}

	@Test
	void aColourIsSeenInThePictureAtOnceAndKept() throws Exception {
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		Control picture = bot.find(Control.class, c -> c.getClass().getSimpleName().equals("PictureCanvas"));
		RGB green = new RGB(0x00, 0xc0, 0x20);
		assertFalse(painted(picture, green));
		bot.run(() -> session.colours().choose(Kind.TYPE, EventType.SHARED_READ, Integer.parseInt(GREEN, 16)));
		bot.waitFor("the picture is painted with the new colour", () -> painted(picture, green));
		assertEquals("TYPE #" + GREEN + " Shared_Read\n", bot.ui(() -> Settings.store().getString(Settings.COLOURS)));
		bot.run(() -> Settings.store().setToDefault(Settings.COLOURS));
		bot.waitFor("the old colour", () -> !painted(picture, green));
		assertEquals(Map.of(), bot.ui(() -> session.colours().chosen()));
	}

	private void press(PreferenceDialog dialog, String text) {
		Button button = bot.find(Button.class, b -> b.getShell() == dialog.getShell() && b.getText().replace("&", "").equals(text)
				&& b.isEnabled() && b.isVisible());
		bot.run(() -> button.notifyListeners(SWT.Selection, new Event()));
	}

	/** A trace of another tool: its event types and producers can be given colours. */
	@Test
	void coloursOfEvents() throws Exception {
		bot.run(() -> {
			try {
				session.show(new OpenTrace(SampleEvents.store(), Progress.NONE));
			} catch (MemtraceException e) {
				throw new AssertionError(e);
			}
		});
		PreferenceDialog dialog = openPreferences(".colours");
		Table table = bot.find(Table.class, t -> t.getShell() == dialog.getShell());
		assertEquals(9 + 6 + 4 + 8, bot.ui(table::getItemCount), "types of accesses and events, CPUs, producers");
		Text filter = bot.find(Text.class, t -> t.getShell() == dialog.getShell() && t.getMessage().equals("Filter by name or kind"));
		bot.run(() -> filter.setText("compute"));
		assertEquals(1, bot.ui(table::getItemCount));
		press(dialog, "Cancel");
		bot.waitFor("cancelled", () -> dialog.getShell() == null || dialog.getShell().isDisposed());
	}

	@Test
	void theEditorOfColours() throws Exception {
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		bot.run(() -> session.colours().choose(Kind.THREAD, "worker 1 #1", 0x00c020));
		PreferenceDialog dialog = openPreferences(".colours");
		Table table = bot.find(Table.class, t -> t.getShell() == dialog.getShell());
		assertEquals(9 + 5 + 4 + 1 + 3, bot.ui(table::getItemCount), "types, threads, CPUs, nodes, structures");
		bot.waitFor("the chosen colour is shown", () -> painted(table, new RGB(0x00, 0xc0, 0x20)));
		bot.shot("preferences-colours");
		Text filter = bot.find(Text.class, t -> t.getShell() == dialog.getShell() && t.getMessage().equals("Filter by name or kind"));
		bot.run(() -> filter.setText("thread"));
		assertEquals(5, bot.ui(table::getItemCount));
		bot.run(() -> {
			table.select(1);
			table.notifyListeners(SWT.Selection, new Event());
		});
		press(dialog, "Reset");
		assertEquals(Map.of(), bot.ui(() -> session.colours().chosen()));
		press(dialog, "Cancel");
		bot.waitFor("cancelled", () -> dialog.getShell() == null || dialog.getShell().isDisposed());
		assertEquals(1, bot.ui(() -> session.colours().chosen().size()), "cancel takes it back");
	}

	@Test
	void pagesRefuseNonsenseAndStore() {
		PreferenceDialog dialog = openPreferences(".recording");
		Text interval = bot.find(Text.class, t -> t.getShell() == dialog.getShell() && t.getText().equals("50ms"));
		retype(interval, "soon");
		assertEquals("Interval must be a time with a unit, such as 50ms.",
				bot.ui(() -> ((PreferencePage) dialog.getSelectedPage()).getErrorMessage()));
		bot.shot("preferences-recording");
		retype(interval, "20ms");
		assertNull(bot.ui(() -> ((PreferencePage) dialog.getSelectedPage()).getErrorMessage()));
		press(dialog, "Apply and Close");
		bot.waitFor("closed", () -> dialog.getShell() == null || dialog.getShell().isDisposed());
		assertEquals("20ms", Settings.recording(RecordOption.INTERVAL));
		for (String page : List.of("", ".database", ".pictures")) {
			PreferenceDialog other = openPreferences(page);
			bot.shot("preferences" + page.replace('.', '-'));
			press(other, "Cancel");
			bot.waitFor("closed", () -> other.getShell() == null || other.getShell().isDisposed());
		}
	}

	@Test
	void theCatalogueIsADirectoryOrAServer() throws Exception {
		String usual = Stores.defaultCatalogue().toString();
		PreferenceDialog dialog = openPreferences(".database");
		Text place = bot.find(Text.class, t -> t.getShell() == dialog.getShell() && t.getMessage().equals(usual));
		for (String[] typed : new String[][] {
				{ "postgresql://anna:secret@node7/traces", "an address must not have a password: others would see it. Put it into ~/.pgpass or PGPASSWORD" },
				{ "/no/such/folder", "The catalogue must be a directory that exists, postgresql://host/database, or nothing for the usual one." },
				{ "postgresql://node7/traces", null } }) {
			retype(place, typed[0]);
			PreferencePage page = (PreferencePage) dialog.getSelectedPage();
			bot.waitFor(typed[0], () -> Objects.equals(typed[1], page.getErrorMessage()) && page.isValid() == (typed[1] == null));
		}
		bot.shot("preferences-server");
		press(dialog, "Cancel");
		bot.waitFor("closed", () -> dialog.getShell() == null || dialog.getShell().isDisposed());
	}

	private void retype(Text text, String now) {
		bot.run(text::forceFocus);
		bot.waitFor("focus", text::isFocusControl);
		bot.key("ctrl+a");
		bot.type(now);
		bot.waitFor("typed", () -> text.getText().equals(now));
	}

	@Test
	void nonsenseInTheStoreIsTheDefault() {
		bot.run(() -> {
			IPreferenceStore store = Settings.store();
			store.setValue(Settings.SLICES, -3);
			store.setValue(Settings.INITIAL, "highest");
			store.setValue(Settings.PRECISION, "small");
			store.setValue(Settings.key(RecordOption.INTERVAL), "soon");
		});
		assertEquals(50, Settings.slices());
		assertEquals(InitialLevel.BALANCED, Settings.initialLevel());
		assertEquals(0.001, Settings.precision());
		assertEquals("50ms", Settings.recording(RecordOption.INTERVAL));
		assertEquals(DatabaseKind.SQLITE, Settings.database());
	}

	@Test
	void newImportsGoIntoTheChosenDatabaseAndWhatIsOpenStays() throws Exception {
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		Path directory = session.catalogue().directory();
		bot.run(() -> {
			Settings.store().setValue(Settings.DATABASE, "h2");
			Settings.store().setValue(Settings.CACHE_MIB, 7);
		});
		bot.waitFor("cache limit", () -> "7M".equals(System.getProperty("memtrace.cache.limit")));
		// the catalogue of the test was opened by name: it is opened again with the new kind
		SampleTrace.write(session.catalogue(), "in h2");
		try (Stream<Path> files = Files.list(directory)) {
			assertTrue(files.anyMatch(f -> f.getFileName().toString().endsWith(".mv.db")), "an H2 database");
		}
		assertEquals("small matmul", bot.ui(() -> session.trace().name()), "the open trace stays open");
		bot.run(() -> Settings.store().setToDefault(Settings.CACHE_MIB));
		bot.waitFor("default", () -> System.getProperty("memtrace.cache.limit") == null);
	}

	@Test
	void darkAndLight() {
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		bot.run(() -> Settings.store().setValue(Settings.THEME, "dark"));
		bot.waitFor("dark", () -> display(true));
		waitForPicture("small matmul");
		Control picture = bot.find(Control.class, c -> c.getClass().getSimpleName().equals("PictureCanvas"));
		RGB darkBackground = new RGB(0x1e, 0x21, 0x26);
		bot.waitFor("a dark picture", () -> bot.colours(picture).getOrDefault(darkBackground, 0) > 1000);
		allOfTheme(true);
		bot.shot("dark");
		bot.run(() -> Settings.store().setValue(Settings.THEME, "light"));
		bot.waitFor("light", () -> display(false));
		bot.waitFor("a light picture", () -> bot.colours(picture).getOrDefault(darkBackground, 0) == 0);
		allOfTheme(false);
		PreferenceDialog dialog = openPreferences("");
		Tree pages = bot.find(Tree.class, t -> t.getShell() == dialog.getShell());
		bot.run(() -> Settings.store().setValue(Settings.THEME, "dark"));
		bot.waitFor("dark around the list of pages", () -> {
			int lightest = 0;
			for (Composite c = pages.getParent(); c != null; c = c.getParent()) {
				lightest = Math.max(lightest, sum(c.getBackground().getRGB()));
			}
			return display(true) && lightest < 330;
		});
		bot.run(() -> Settings.store().setValue(Settings.THEME, "light"));
		bot.waitFor("light", () -> display(false));
		bot.run(dialog::close);
	}

	private void allOfTheme(boolean dark) {
		List<String> other = new ArrayList<>();
		try {
			bot.waitFor("the theme everywhere", () -> {
				other.clear();
				other.addAll(ofOtherTheme(dark));
				return other.isEmpty();
			});
		} catch (AssertionError e) {
			throw new AssertionError((dark ? "dark: " : "light: ") + other, e);
		}
	}

	/** Bars, tabs and tables that are seen and have the background of the other theme, and lists, trees and tables without a readable text. */
	private List<String> ofOtherTheme(boolean dark) {
		List<String> other = new ArrayList<>();
		for (Control c : bot.all(Control.class)) {
			if (!c.isVisible() || c.getSize().x < 20 || c.getSize().y < 10
					|| !(c instanceof ToolBar || c instanceof CTabFolder || c instanceof NatTable || c instanceof Tree || c instanceof Table)) {
				continue;
			}
			Map<RGB, Integer> colours = bot.colours(c);
			RGB most = colours.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow().getKey();
			int readable = colours.entrySet().stream().filter(e -> Math.abs(sum(e.getKey()) - sum(most)) > 300).mapToInt(Map.Entry::getValue)
					.sum();
			if (sum(most) < 330 != dark || (c instanceof Tree || c instanceof Table) && readable < 20) {
				other.add(c + ": " + most + ", " + readable + " readable");
			}
		}
		return other;
	}

	private static int sum(RGB c) {
		return c.red + c.green + c.blue;
	}

	private boolean display(boolean dark) {
		RGB c = bot.display.getSystemColor(SWT.COLOR_LIST_BACKGROUND).getRGB();
		return c.red + c.green + c.blue < 330 == dark;
	}
}
