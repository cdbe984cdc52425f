// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.preferences;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.preference.DirectoryFieldEditor;
import org.eclipse.jface.preference.IntegerFieldEditor;
import org.eclipse.jface.preference.RadioGroupFieldEditor;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Label;
import org.memtrace.storage.Stores;

/** Where traces are kept and how. */
public final class DatabasePage extends Page {
	public DatabasePage() {
		super("Where imported traces are kept.", "org.memtrace.views.preferences");
	}

	@Override
	protected void createFieldEditors() {
		Composite parent = getFieldEditorParent();
		DirectoryFieldEditor directory = new DirectoryFieldEditor(Settings.CATALOGUE, "&Catalogue:", parent);
		directory.setEmptyStringAllowed(true);
		directory.setErrorMessage("The catalogue must be a directory that exists, or nothing for the usual one.");
		directory.getTextControl(parent).setMessage(Stores.defaultCatalogueDirectory().toString());
		addField(directory);
		note(parent, "Another catalogue closes the traces that are open.");
		addField(new RadioGroupFieldEditor(Settings.DATABASE, "Database of new imports", 1,
				new String[][] {{"&SQLite: one file, read by FrameSoc", "sqlite"}, {"&H2", "h2"}}, parent, true));
		IntegerFieldEditor cache = new IntegerFieldEditor(Settings.CACHE_MIB, "Columns in &memory, at most (MiB):", parent, 7);
		cache.setValidRange(0, 9_999_999);
		cache.setErrorMessage("A whole number of MiB; 0 keeps nothing.");
		addField(cache);
		note(parent, "Columns of open traces that need not be read again; never more than a third of the memory of the workbench.");
	}

	private static void note(Composite parent, String text) {
		Label label = new Label(parent, SWT.WRAP);
		label.setText(text);
		GridDataFactory.fillDefaults().span(3, 1).hint(420, SWT.DEFAULT).indent(0, 0).applyTo(label);
	}
}
