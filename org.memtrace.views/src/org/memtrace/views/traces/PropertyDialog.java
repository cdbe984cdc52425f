// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import java.util.Collection;

import org.eclipse.jface.dialogs.Dialog;
import org.eclipse.jface.dialogs.IDialogConstants;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Text;

/** Asks for the name and value of a property; names that are in use are offered. */
final class PropertyDialog extends Dialog {
	private static final int MAX_NAME = 100;

	private final String title;
	private final Collection<String> known;
	private Combo nameField;
	private Text valueField;
	private String name;
	private String value;

	PropertyDialog(Shell shell, String title, Collection<String> known) {
		super(shell);
		this.title = title;
		this.known = known;
		setShellStyle(getShellStyle() | SWT.RESIZE);
	}

	@Override
	protected void configureShell(Shell shell) {
		super.configureShell(shell);
		shell.setText(title);
	}

	@Override
	protected Control createDialogArea(Composite parent) {
		Composite area = (Composite) super.createDialogArea(parent);
		Composite c = new Composite(area, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).spacing(8, 8).applyTo(c);
		GridDataFactory.fillDefaults().grab(true, true).hint(380, SWT.DEFAULT).applyTo(c);
		new Label(c, SWT.NONE).setText("&Name:");
		nameField = new Combo(c, SWT.DROP_DOWN);
		nameField.setItems(known.toArray(String[]::new));
		GridDataFactory.fillDefaults().grab(true, false).applyTo(nameField);
		new Label(c, SWT.NONE).setText("&Value:");
		valueField = new Text(c, SWT.BORDER);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(valueField);
		nameField.addModifyListener(e -> check());
		return area;
	}

	@Override
	protected void createButtonsForButtonBar(Composite parent) {
		super.createButtonsForButtonBar(parent);
		check();
	}

	private void check() {
		String text = nameField.getText().strip();
		getButton(IDialogConstants.OK_ID).setEnabled(!text.isEmpty() && text.length() <= MAX_NAME);
	}

	@Override
	protected void okPressed() {
		name = nameField.getText().strip();
		value = valueField.getText().strip();
		super.okPressed();
	}

	String name() {
		return name;
	}

	String value() {
		return value;
	}
}
