// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.util;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.swt.SWT;
import org.eclipse.swt.dnd.Clipboard;
import org.eclipse.swt.dnd.TextTransfer;
import org.eclipse.swt.dnd.Transfer;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Text;
/** A command that one can copy, with a label above it. */
public final class CommandBar extends Composite {
	private final Text text;
	private final Button copy;

	/** @param rows height in lines */
	public CommandBar(Composite parent, String label, int rows) {
		super(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).spacing(6, 3).applyTo(this);
		Label title = new Label(this, SWT.NONE);
		title.setText(label);
		GridDataFactory.fillDefaults().span(2, 1).applyTo(title);
		text = new Text(this, SWT.BORDER | SWT.READ_ONLY | (rows > 1 ? SWT.MULTI | SWT.WRAP | SWT.V_SCROLL : SWT.SINGLE));
		text.setFont(JFaceResources.getTextFont());
		Accessibility.name(text, label.replace(":", "").replace("&", ""));
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.FILL, SWT.CENTER).hint(100, rows > 1 ? rows * text.getLineHeight() + 6
				: SWT.DEFAULT)
				.applyTo(text);
		copy = Buttons.push(this, "Copy", "Copy the command, to paste it into a terminal", () -> {
			Clipboard clipboard = new Clipboard(getDisplay());
			clipboard.setContents(new Object[] { text.getText() }, new Transfer[] { TextTransfer.getInstance() });
			clipboard.dispose();
		});
		GridDataFactory.fillDefaults().align(SWT.FILL, SWT.CENTER).applyTo(copy);
	}

	/** @param command empty when there is none */
	public void command(String command) {
		if (!text.getText().equals(command)) {
			text.setText(command);
		}
		copy.setEnabled(!command.isEmpty());
	}

	public String command() {
		return text.getText();
	}
}
