// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.start;

import org.eclipse.jface.preference.IPreferenceStore;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Display;
import org.memtrace.analysis.colour.Colours;
import org.memtrace.views.preferences.Settings;
import org.memtrace.views.session.Session;

/** Carries changes of the {@link Settings} into a session, and its colours back. */
public final class FollowSettings {
	private FollowSettings() {
	}

	/**
	 * Lets a session follow the settings; once, on the display thread.
	 *
	 * @param display of the workbench
	 */
	public static void follow(Session session, Display display) {
		IPreferenceStore store = Settings.store();
		session.colours().chooseAll(Colours.parse(store.getString(Settings.COLOURS)));
		Settings.cache(store);
		Settings.firstTheme(store, display);
		store.addPropertyChangeListener(e -> {
			if (display.isDisposed()) {
				return;
			}
			Runnable change = switch (e.getProperty()) {
			case Settings.CATALOGUE -> () -> session.useCatalogue(Settings.catalogue());
			case Settings.DATABASE -> session::reopenCatalogue;
			case Settings.CACHE_MIB -> () -> Settings.cache(store);
			case Settings.COLOURS -> () -> session.colours().chooseAll(Colours.parse(store.getString(Settings.COLOURS)));
			case Settings.THEME -> () -> Settings.theme(store, display);
			default -> () -> {
			};
			};
			display.execute(change);
		});
		session.colours().addListener(() -> store.setValue(Settings.COLOURS, session.colours().toText()));
		// the theme of the desktop, or ours, is another one
		display.addListener(SWT.Settings, e -> session.themeChanged());
	}
}
