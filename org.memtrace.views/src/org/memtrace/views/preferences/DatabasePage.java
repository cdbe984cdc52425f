// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.preferences;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.preference.DirectoryFieldEditor;
import org.eclipse.jface.preference.IntegerFieldEditor;
import org.eclipse.jface.preference.RadioGroupFieldEditor;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Label;
import org.memtrace.model.StoreException;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.storage.Stores;

/** Where traces are kept and how. */
public final class DatabasePage extends Page {
	public DatabasePage() {
		super("Where imported traces are kept.", "org.memtrace.views.preferences");
	}

	@Override
	protected void createFieldEditors() {
		Composite parent = getFieldEditorParent();
		DirectoryFieldEditor place = new PlaceEditor(parent);
		place.setEmptyStringAllowed(true);
		place.getTextControl(parent).setMessage(usual());
		addField(place);
		note(parent, "A directory, or the database of a PostgreSQL server that a team shares: postgresql://host/database. The password comes from"
				+ " ~/.pgpass or PGPASSWORD. Another catalogue closes the traces that are open.");
		addField(new RadioGroupFieldEditor(Settings.DATABASE, "Database of new imports into a directory", 1,
				new String[][] {{"&SQLite: one file, read by FrameSoc", "sqlite"}, {"&H2", "h2"}}, parent, true));
		IntegerFieldEditor cache = new IntegerFieldEditor(Settings.CACHE_MIB, "Columns in &memory, at most (MiB):", parent, 7);
		cache.setValidRange(0, 9_999_999);
		cache.setErrorMessage("A whole number of MiB; 0 keeps nothing.");
		addField(cache);
		note(parent, "Columns of open traces that need not be read again; never more than a third of the memory of the workbench.");
	}

	private static String usual() {
		try {
			return Stores.defaultCatalogue().toString();
		} catch (StoreException e) {
			return Stores.defaultCatalogueDirectory().toString();
		}
	}

	/** A directory that exists, or the address of a server; whether that answers shows when it is used. */
	private static final class PlaceEditor extends DirectoryFieldEditor {
		private static final String ERROR = "The catalogue must be a directory that exists, postgresql://host/database, or nothing for the usual one.";

		PlaceEditor(Composite parent) {
			init(Settings.CATALOGUE, "&Catalogue:");
			setErrorMessage(ERROR);
			setChangeButtonText(JFaceResources.getString("openBrowse"));
			setValidateStrategy(VALIDATE_ON_KEY_STROKE); // or nothing can be applied after a mistake before the focus moves
			createControl(parent);
		}

		@Override
		protected boolean doCheckState() {
			String text = getTextControl().getText().strip();
			if (!CataloguePlace.isServer(text)) {
				setErrorMessage(ERROR);
				return super.doCheckState();
			}
			try {
				CataloguePlace.parse(text);
				return true;
			} catch (StoreException e) {
				setErrorMessage(e.getMessage());
				return false;
			}
		}
	}

	private static void note(Composite parent, String text) {
		Label label = new Label(parent, SWT.WRAP);
		label.setText(text);
		GridDataFactory.fillDefaults().span(3, 1).hint(420, SWT.DEFAULT).indent(0, 0).applyTo(label);
	}
}
