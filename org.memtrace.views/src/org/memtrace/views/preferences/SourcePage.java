// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.preferences;

import org.eclipse.jface.preference.StringFieldEditor;
import org.eclipse.swt.widgets.Composite;
import org.memtrace.analysis.source.SourceFiles;

/** Where the source of traced programs is, and what edits it. */
public final class SourcePage extends Page {
	private static final int WIDTH = 46;

	public SourcePage() {
		super("Where the source of traced programs is, and which program edits it.", "org.memtrace.views.source");
	}

	@Override
	protected void createFieldEditors() {
		Composite parent = getFieldEditorParent();
		StringFieldEditor map = new StringFieldEditor(Settings.SOURCE_RULES, "Other &paths here:", WIDTH,
				StringFieldEditor.VALIDATE_ON_KEY_STROKE, parent) {
			@Override
			protected boolean doCheckState() {
				try {
					SourceFiles.rules(getStringValue());
					return true;
				} catch (IllegalArgumentException e) {
					setErrorMessage(e.getMessage() + ".");
					return false;
				}
			}
		};
		map.getTextControl(parent).setMessage("/build/app=/home/me/app; /usr/src=/src");
		addField(map);
		StringFieldEditor editor = new StringFieldEditor(Settings.SOURCE_EDITOR, "&Editor:", WIDTH, parent);
		editor.getTextControl(parent).setMessage("code -g {file}:{line}");
		addField(editor);
	}
}
