// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.statistics;

import org.eclipse.jface.dialogs.Dialog;
import org.eclipse.jface.dialogs.IDialogConstants;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.preference.ColorSelector;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.RGB;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Text;

/** Asks for name and colour of items that become one. */
final class MergeDialog extends Dialog {
	private final int count;
	private String name;
	private int color;
	private Text text;

	MergeDialog(Shell parent, String name, int color, int count) {
		super(parent);
		this.name = name;
		this.color = color;
		this.count = count;
	}

	@Override
	protected void configureShell(Shell shell) {
		super.configureShell(shell);
		shell.setText("Merge " + count + (count == 1 ? " item" : " items"));
	}

	@Override
	protected Control createDialogArea(Composite parent) {
		Composite area = (Composite) super.createDialogArea(parent);
		GridLayoutFactory.fillDefaults().numColumns(2).margins(10, 10).applyTo(area);
		new Label(area, SWT.NONE).setText("Name:");
		text = new Text(area, SWT.BORDER);
		GridDataFactory.fillDefaults().grab(true, false).hint(260, SWT.DEFAULT).applyTo(text);
		text.setText(name);
		text.selectAll();
		text.addModifyListener(e -> getButton(IDialogConstants.OK_ID).setEnabled(!text.getText().isBlank()));
		new Label(area, SWT.NONE).setText("Colour:");
		ColorSelector selector = new ColorSelector(area);
		selector.setColorValue(new RGB(color >> 16 & 0xff, color >> 8 & 0xff, color & 0xff));
		selector.addListener(e -> {
			RGB rgb = selector.getColorValue();
			color = 0xff000000 | rgb.red << 16 | rgb.green << 8 | rgb.blue;
		});
		return area;
	}

	@Override
	protected void okPressed() {
		name = text.getText().strip();
		super.okPressed();
	}

	String name() {
		return name;
	}

	/** Opaque ARGB. */
	int color() {
		return color;
	}
}
