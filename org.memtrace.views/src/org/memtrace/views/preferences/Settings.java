// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.preferences;

import java.util.Set;

import org.eclipse.core.runtime.preferences.AbstractPreferenceInitializer;
import org.eclipse.core.runtime.preferences.DefaultScope;
import org.eclipse.core.runtime.preferences.IEclipsePreferences;
import org.eclipse.core.runtime.preferences.InstanceScope;
import org.eclipse.jface.preference.IPreferenceStore;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Display;
import org.eclipse.ui.preferences.ScopedPreferenceStore;
import org.memtrace.aggregation.engine.InitialLevel;
import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.analysis.colour.Colours;
import org.memtrace.importer.record.RecordOption;
import org.memtrace.model.StoreException;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.storage.Stores;
import org.memtrace.views.util.Appearance;

/**
 * The settings of the workbench, kept with its other state (Eclipse's instance scope). Values that are not usable are read as
 * the default. Readable from any thread.
 */
public final class Settings {
	/** Where Eclipse keeps them. */
	public static final String NODE = "org.memtrace.views";
	/** Directory of the catalogue; empty: as the command line finds it. */
	public static final String CATALOGUE = "database.catalogue";
	/** Kind of database of new imports: sqlite or h2. */
	public static final String DATABASE = "database.kind";
	/** MiB that a trace database may hold of what was computed; 0: nothing. */
	public static final String CACHE_MIB = "database.cacheMiB";
	public static final String SLICES = "pictures.slices";
	/** Id of an {@link InitialLevel}. */
	public static final String INITIAL = "pictures.initial";
	public static final String PRECISION = "pictures.precision";
	/** Whether all views show the time at which the pointer is in one of them. */
	public static final String TIME_CURSOR = "pictures.timeCursor";
	/** Whether plots of views above each other have the same left and right edges. */
	public static final String ALIGN = "pictures.align";
	/** As {@link Colours#toText}. */
	public static final String COLOURS = "colours";
	/** system, light or dark. */
	public static final String THEME = "appearance.theme";
	/** Whether a workbench that starts shows what was shown when it was left. */
	public static final String RESTORE = "session.restore";
	/** Traces that were shown last: {@link org.memtrace.analysis.selection.RecentTraces#toJson}. */
	public static final String RECENT = "session.recent";
	/** Where paths of recordings are here: {@link org.memtrace.analysis.source.SourceFiles#rules}. */
	public static final String SOURCE_RULES = "source.rules";
	/** Command of the editor: {@link org.memtrace.analysis.source.EditorCommand}. */
	public static final String SOURCE_EDITOR = "source.editor";
	private static final String RECORD = "record.default.";
	private static final int DEFAULT_CACHE_MIB = 512;
	private static final String CACHE_PROPERTY = "memtrace.cache.limit";

	/** Options of a recording that have a default here. */
	public static final Set<RecordOption> RECORDING = Set.of(RecordOption.BACKEND, RecordOption.INTERVAL, RecordOption.SUBPHASES,
			RecordOption.MAX_OVERHEAD, RecordOption.MIN_ALLOC, RecordOption.MIN_STATIC, RecordOption.STACK_DEPTH);

	/** Whether the desktop is dark; null until a theme was chosen. Display thread. */
	private static Boolean systemDark;

	private Settings() {
	}

	/** Writes the defaults; named in plugin.xml. */
	public static final class Initializer extends AbstractPreferenceInitializer {
		@Override
		public void initializeDefaultPreferences() {
			IEclipsePreferences d = DefaultScope.INSTANCE.getNode(NODE);
			d.put(CATALOGUE, "");
			d.put(DATABASE, "sqlite");
			d.putInt(CACHE_MIB, DEFAULT_CACHE_MIB);
			d.putInt(SLICES, 50);
			d.put(INITIAL, InitialLevel.BALANCED.id());
			d.putDouble(PRECISION, SignificantLevels.DEFAULT_THRESHOLD);
			d.putBoolean(TIME_CURSOR, true);
			d.putBoolean(ALIGN, true);
			d.put(COLOURS, "");
			d.put(THEME, "system");
			d.putBoolean(RESTORE, true);
			d.put(RECENT, "");
			d.put(SOURCE_RULES, "");
			d.put(SOURCE_EDITOR, "");
			RECORDING.forEach(o -> d.put(key(o), o.defaultText()));
		}
	}

	/** For pages and listeners; every call gives one that sees the changes of all others. */
	public static IPreferenceStore store() {
		return new ScopedPreferenceStore(InstanceScope.INSTANCE, NODE);
	}

	/** Key of the default of an option of recordings. */
	public static String key(RecordOption option) {
		return RECORD + option.optionName();
	}

	/** What a form for a recording begins with. */
	public static String recording(RecordOption option) {
		if (!RECORDING.contains(option)) {
			return option.defaultText();
		}
		String text = store().getString(key(option)).strip();
		return option.problem(text) == null ? text : option.defaultText();
	}

	/** Where the catalogue is: as chosen, else as for the commands. */
	public static CataloguePlace catalogue() {
		try {
			String text = store().getString(CATALOGUE).strip();
			CataloguePlace place = text.isEmpty() ? Stores.defaultCatalogue() : CataloguePlace.parse(text);
			return place.isServer() ? place : CataloguePlace.of(place.directory().toAbsolutePath());
		} catch (StoreException e) {
			return CataloguePlace.of(Stores.defaultCatalogueDirectory());
		}
	}

	/** Kind of database of new imports. */
	public static DatabaseKind database() {
		return store().getString(DATABASE).equals("h2") ? DatabaseKind.H2 : DatabaseKind.SQLITE;
	}

	/** Number of time slices of new pictures. */
	public static int slices() {
		int n = store().getInt(SLICES);
		return n >= 1 && n <= 400 ? n : 50;
	}

	/** Whether all views show the time at which the pointer is in one of them. */
	public static boolean timeCursor() {
		return store().getBoolean(TIME_CURSOR);
	}

	/** Whether plots of views above each other have the same left and right edges. */
	public static boolean alignPlots() {
		return store().getBoolean(ALIGN);
	}

	/** Whether what was shown is shown again after the start. */
	public static boolean restore() {
		return store().getBoolean(RESTORE);
	}

	/** How the automatic level is chosen. */
	public static InitialLevel initialLevel() {
		InitialLevel level = InitialLevel.byId(store().getString(INITIAL));
		return level == null ? InitialLevel.BALANCED : level;
	}

	/** Smallest step of p of the lists of levels. */
	public static double precision() {
		double p = store().getDouble(PRECISION);
		return p > 0 && p <= 0.1 ? p : SignificantLevels.DEFAULT_THRESHOLD;
	}

	/**
	 * Takes the theme that the user wants before the first window, so that all that is made has its colours. For an application of
	 * its own; in another one the colours of its windows are not ours.
	 *
	 * @param display of the workbench, on its thread
	 * @return whether it is dark
	 */
	public static boolean startTheme(Display display) {
		Appearance.remember(display);
		display.addListener(SWT.Settings, e -> Appearance.refresh(display));
		return firstTheme(store(), display);
	}

	/** Takes the theme that the user wants, whatever the desktop has; display thread. */
	public static boolean firstTheme(IPreferenceStore store, Display display) {
		if (systemDark == null) {
			systemDark = Appearance.isDark(display);
		}
		return theme(store, display);
	}

	/** Takes the theme that the user wants now. */
	public static boolean theme(IPreferenceStore store, Display display) {
		boolean dark = switch (store.getString(THEME)) {
		case "dark" -> true;
		case "light" -> false;
		default -> systemDark;
		};
		if (dark != Appearance.isDark(display)) {
			display.setDarkThemePreferred(dark);
		}
		return dark;
	}

	/** How much a database may keep; what the environment says is stronger. */
	public static void cache(IPreferenceStore store) {
		if (System.getenv("MEMTRACE_CACHE_LIMIT") == null) {
			if (store.isDefault(CACHE_MIB)) {
				System.clearProperty(CACHE_PROPERTY);
			} else {
				System.setProperty(CACHE_PROPERTY, Math.max(0, store.getInt(CACHE_MIB)) + "M");
			}
		}
	}
}
