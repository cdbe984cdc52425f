// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;

import org.eclipse.jface.dialogs.IDialogConstants;
import org.eclipse.jface.dialogs.TitleAreaDialog;
import org.eclipse.swt.SWT;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.layout.GridLayout;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.DirectoryDialog;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Text;
import org.memtrace.views.session.TraceFiles;

/** Asks for a Parquet folder: a folder of this machine, which can be looked for, or an address in object storage. Display thread. */
final class FolderDialog extends TitleAreaDialog {
	private Text text;
	private String folder = "";

	FolderDialog(Shell shell) {
		super(shell);
		setHelpAvailable(false);
	}

	/** What was entered. */
	String folder() {
		return folder;
	}

	@Override
	protected void configureShell(Shell shell) {
		super.configureShell(shell);
		shell.setText("Open folder");
	}

	@Override
	protected boolean isResizable() {
		return true;
	}

	@Override
	protected Control createDialogArea(Composite parent) {
		setTitle("Open a Parquet folder");
		setMessage("A folder that memtrace export --format parquet wrote. It is read where it is, and not imported.");
		Composite area = new Composite((Composite) super.createDialogArea(parent), SWT.NONE);
		area.setLayoutData(new GridData(SWT.FILL, SWT.TOP, true, false));
		GridLayout layout = new GridLayout(3, false);
		layout.marginWidth = 10;
		layout.marginHeight = 10;
		area.setLayout(layout);
		new Label(area, SWT.NONE).setText("Folder:");
		text = new Text(area, SWT.BORDER);
		text.setMessage("/path/of/app.folder, or s3://bucket/prefix");
		GridData wide = new GridData(SWT.FILL, SWT.CENTER, true, false);
		wide.widthHint = convertWidthInCharsToPixels(60);
		text.setLayoutData(wide);
		text.addModifyListener(e -> check());
		Button browse = new Button(area, SWT.PUSH);
		browse.setText("Browse…");
		setButtonLayoutData(browse);
		browse.addListener(SWT.Selection, e -> {
			DirectoryDialog dialog = new DirectoryDialog(getShell(), SWT.OPEN);
			dialog.setText("Open a Parquet folder");
			String chosen = dialog.open();
			if (chosen != null) {
				text.setText(chosen);
			}
		});
		return area;
	}

	@Override
	protected void createButtonsForButtonBar(Composite parent) {
		createButton(parent, IDialogConstants.OK_ID, "Open", true);
		createButton(parent, IDialogConstants.CANCEL_ID, IDialogConstants.CANCEL_LABEL, false);
		check();
	}

	/** What is wrong with what was entered; empty as long as there is nothing, null when it can be opened. */
	static String wrong(String name) {
		if (name.isEmpty()) {
			return "";
		}
		try {
			return TraceFiles.isAddress(name) || TraceFiles.isFolder(Path.of(name)) ? null
					: "This is no folder that memtrace export --format parquet wrote: it has no meta.json, or no accesses.";
		} catch (InvalidPathException e) {
			return "This is no path.";
		}
	}

	private void check() {
		folder = text.getText().strip();
		String wrong = wrong(folder);
		setErrorMessage(wrong == null || wrong.isEmpty() ? null : wrong);
		Button open = getButton(IDialogConstants.OK_ID);
		if (open != null) {
			open.setEnabled(wrong == null);
		}
	}
}
