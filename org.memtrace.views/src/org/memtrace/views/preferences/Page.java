// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.preferences;

import org.eclipse.jface.preference.FieldEditorPreferencePage;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.ui.IWorkbench;
import org.eclipse.ui.IWorkbenchPreferencePage;
import org.eclipse.ui.PlatformUI;

/** Base of the pages that consist of fields. */
abstract class Page extends FieldEditorPreferencePage implements IWorkbenchPreferencePage {
	private final String help;

	/**
	 * @param description first line
	 * @param help id of the page of the help
	 */
	Page(String description, String help) {
		super(GRID);
		this.help = help;
		setDescription(description);
	}

	@Override
	public void init(IWorkbench workbench) {
		setPreferenceStore(Settings.store());
	}

	@Override
	public void createControl(Composite parent) {
		super.createControl(parent);
		PlatformUI.getWorkbench().getHelpSystem().setHelp(getControl(), help);
	}
}
