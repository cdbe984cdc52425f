// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.preferences;

import java.util.ArrayList;
import java.util.List;

import org.eclipse.jface.preference.BooleanFieldEditor;
import org.eclipse.jface.preference.ComboFieldEditor;
import org.eclipse.jface.preference.IntegerFieldEditor;
import org.eclipse.swt.widgets.Composite;
import org.memtrace.aggregation.engine.InitialLevel;

/** What a picture begins with. */
public final class PicturesPage extends Page {
	public PicturesPage() {
		super("What all pictures have, also those that are shown; each view can then be set otherwise.", "org.memtrace.views.ocelotl");
	}

	@Override
	protected void createFieldEditors() {
		Composite parent = getFieldEditorParent();
		IntegerFieldEditor slices = new IntegerFieldEditor(Settings.SLICES, "Time &slices:", parent, 4);
		slices.setValidRange(1, 400);
		slices.setErrorMessage("From 1 to 400 slices.");
		addField(slices);
		List<String[]> levels = new ArrayList<>();
		for (InitialLevel level : InitialLevel.values()) {
			levels.add(new String[] {name(level), level.id()});
		}
		addField(new ComboFieldEditor(Settings.INITIAL, "&First level of detail:", levels.toArray(String[][]::new), parent));
		addField(new ComboFieldEditor(Settings.PRECISION, "&Precision of the list of levels:",
				new String[][] {{"0.01 (few levels, fast)", "0.01"}, {"0.001", "0.001"}, {"0.0001 (many levels)", "1.0E-4"}}, parent));
		addField(new BooleanFieldEditor(Settings.TIME_CURSOR, "Show the time under the &mouse in all views", parent));
		addField(new BooleanFieldEditor(Settings.ALIGN, "Same edges for &plots above each other", parent));
	}

	private static String name(InitialLevel level) {
		return switch (level) {
		case BALANCED -> "Balanced: much simpler, little loss";
		case LARGEST_GAP_AFTER -> "After the largest gap of gain and loss";
		case LARGEST_GAP_BEFORE -> "Before that gap";
		case LARGEST_CHANGE -> "After the largest change";
		case ONE -> "One block";
		case ZERO -> "Everything";
		default -> level.id();
		};
	}
}
