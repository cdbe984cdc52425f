// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.preferences;

import org.eclipse.jface.preference.StringFieldEditor;
import org.eclipse.swt.widgets.Composite;
import org.memtrace.importer.record.RecordOption;

/** What the form for a recording begins with. */
public final class RecordingPage extends Page {
	public RecordingPage() {
		super("What a new recording begins with.", "org.memtrace.views.record");
	}

	@Override
	protected void createFieldEditors() {
		Composite parent = getFieldEditorParent();
		text(parent, RecordOption.BACKEND, "&Collector:");
		text(parent, RecordOption.INTERVAL, "&Interval:");
		text(parent, RecordOption.SUBPHASES, "S&ubphases:");
		text(parent, RecordOption.MAX_OVERHEAD, "&Overhead limit:");
		text(parent, RecordOption.MIN_ALLOC, "Smallest &allocation:");
		text(parent, RecordOption.MIN_STATIC, "Smallest &static:");
		text(parent, RecordOption.STACK_DEPTH, "Stack &depth:");
	}

	private void text(Composite parent, RecordOption option, String label) {
		addField(new StringFieldEditor(Settings.key(option), label, 12, StringFieldEditor.VALIDATE_ON_KEY_STROKE, parent) {
			@Override
			protected boolean doCheckState() {
				String problem = option.problem(getStringValue().strip());
				setErrorMessage(label.replace("&", "").replace(":", "") + " " + problem + ".");
				return problem == null;
			}
		});
	}
}
