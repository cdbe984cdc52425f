// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.preferences;

import org.eclipse.jface.preference.BooleanFieldEditor;
import org.eclipse.jface.preference.RadioGroupFieldEditor;

/** memtrace: appearance and start; the other pages are below it. */
public final class MainPage extends Page {
	public MainPage() {
		super("All settings take effect at once.", "org.memtrace.views.preferences");
	}

	@Override
	protected void createFieldEditors() {
		addField(new RadioGroupFieldEditor(Settings.THEME, "Appearance", 1,
				new String[][] {{"As the &desktop", "system"}, {"&Light", "light"}, {"D&ark", "dark"}}, getFieldEditorParent(), true));
		addField(new BooleanFieldEditor(Settings.RESTORE, "Show at the &start what was shown at the end", getFieldEditorParent()));
	}
}
