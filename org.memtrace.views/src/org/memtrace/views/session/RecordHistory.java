// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.preferences.IEclipsePreferences;
import org.eclipse.core.runtime.preferences.InstanceScope;
import org.memtrace.importer.record.RecordSettings;
import org.osgi.service.prefs.BackingStoreException;

/** The last recordings and the chosen recorder, kept with the preferences of the workbench. */
public final class RecordHistory {
	private static final String NODE = "org.memtrace.views";
	private static final String RECENT = "record.recent";
	private static final String LAUNCHER = "record.launcher";
	private static final String CLOSE = "record.close";
	private static final int MAX = 20;

	private RecordHistory() {
	}

	private static IEclipsePreferences node() {
		return InstanceScope.INSTANCE.getNode(NODE);
	}

	/** The newest first. */
	public static List<RecordSettings> recent() {
		return node().get(RECENT, "").lines().map(RecordSettings::fromJson).filter(Objects::nonNull).toList();
	}

	/** Puts a recording in front; the same one again moves there. The trace directory is not part of it: it exists then. */
	public static void add(RecordSettings settings) {
		RecordSettings kept = settings.withOutput("");
		List<RecordSettings> list = new ArrayList<>(recent());
		list.remove(kept);
		list.add(0, kept);
		put(RECENT, String.join("\n", list.stream().limit(MAX).map(RecordSettings::toJson).toList()));
	}

	/** The recorder that the user chose, empty for the one of the installation. */
	public static String launcher() {
		return node().get(LAUNCHER, "");
	}

	public static void launcher(String path) {
		put(LAUNCHER, path);
	}

	/** Whether the dialog goes away when the trace is open. */
	public static boolean closesItself() {
		return node().getBoolean(CLOSE, true);
	}

	public static void closesItself(boolean on) {
		put(CLOSE, Boolean.toString(on));
	}

	private static void put(String key, String value) {
		node().put(key, value);
		try {
			node().flush();
		} catch (BackingStoreException e) {
			ILog.of(RecordHistory.class).warn("The history of recordings cannot be kept: " + e.getMessage(), e);
		}
	}
}
