// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.eclipse.jface.dialogs.Dialog;
import org.eclipse.jface.dialogs.IDialogConstants;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.window.Window;
import org.eclipse.swt.SWT;
import org.eclipse.swt.dnd.Clipboard;
import org.eclipse.swt.dnd.TextTransfer;
import org.eclipse.swt.dnd.Transfer;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.FileDialog;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Text;
import org.eclipse.ui.IWorkbenchPage;
import org.eclipse.ui.PlatformUI;
import org.memtrace.analysis.selection.SharedView;
import org.memtrace.model.MemtraceException;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.Session;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.util.Buttons;
import org.memtrace.views.view.Snapshot;
import org.memtrace.views.view.TraceView;

/** What is looked at, as a link or a small file for somebody who has the same trace: {@link SharedView}. Display thread. */
public final class ViewLinks {
	private static final int ROWS = 4;
	private static final int WIDTH = 460;

	private ViewLinks() {
	}

	private static SharedView of(IWorkbenchPage page, OpenTrace trace) {
		String front = "";
		if (page != null && page.getActivePart() instanceof TraceView v) {
			String id = v.getViewSite().getId();
			front = id.startsWith(ViewIds.PREFIX) ? id.substring(ViewIds.PREFIX.length()) : "";
		}
		return SharedView.of(trace, trace.space(), front);
	}

	/** Puts the link to what is looked at on the clipboard. */
	public static void copy(IWorkbenchPage page, OpenTrace trace) {
		Clipboard clipboard = new Clipboard(page.getWorkbenchWindow().getShell().getDisplay());
		try {
			clipboard.setContents(new Object[] { of(page, trace).toLink() }, new Transfer[] { TextTransfer.getInstance() });
		} finally {
			clipboard.dispose();
		}
	}

	/** Asks for a file, and writes what is looked at. */
	public static void save(IWorkbenchPage page, OpenTrace trace) {
		Shell shell = page.getWorkbenchWindow().getShell();
		FileDialog dialog = new FileDialog(shell, SWT.SAVE);
		dialog.setText("Save link");
		dialog.setFileName(Snapshot.fileName(trace.name()) + SharedView.ENDING);
		dialog.setFilterExtensions(new String[] { "*" + SharedView.ENDING, "*" });
		dialog.setOverwrite(true);
		String file = dialog.open();
		if (file != null) {
			try {
				write(page, trace, Path.of(file.endsWith(SharedView.ENDING) ? file : file + SharedView.ENDING));
			} catch (IOException e) {
				MessageDialog.openError(shell, "Save link", file + " cannot be written: " + e.getMessage());
			}
		}
	}

	static void write(IWorkbenchPage page, OpenTrace trace, Path file) throws IOException {
		Files.writeString(file, of(page, trace).toJson());
	}

	/** Asks for a link or a file, and opens it; what is on the clipboard is proposed. */
	public static void ask(Shell shell, Session session) {
		AskDialog dialog = new AskDialog(shell);
		if (dialog.open() == Window.OK) {
			session.opener().open(dialog.given);
		}
	}

	private static String clipboardLink(Shell shell) {
		Clipboard clipboard = new Clipboard(shell.getDisplay());
		try {
			return clipboard.getContents(TextTransfer.getInstance()) instanceof String s && s.strip().startsWith(SharedView.LINK) ? s.strip() : "";
		} finally {
			clipboard.dispose();
		}
	}

	private static final class AskDialog extends Dialog {
		private Text text;
		private Label message;
		private String given = "";

		AskDialog(Shell shell) {
			super(shell);
		}

		@Override
		protected void configureShell(Shell shell) {
			super.configureShell(shell);
			shell.setText("Open link");
			PlatformUI.getWorkbench().getHelpSystem().setHelp(shell, ViewIds.OCELOTL);
		}

		@Override
		protected boolean isResizable() {
			return true;
		}

		@Override
		protected Control createDialogArea(Composite parent) {
			Composite area = (Composite) super.createDialogArea(parent);
			Composite fields = new Composite(area, SWT.NONE);
			GridLayoutFactory.fillDefaults().numColumns(2).spacing(8, 6).applyTo(fields);
			GridDataFactory.fillDefaults().grab(true, true).applyTo(fields);
			Label what = new Label(fields, SWT.NONE);
			what.setText("&Link to a view, or file of one:");
			GridDataFactory.fillDefaults().span(2, 1).applyTo(what);
			text = new Text(fields, SWT.BORDER | SWT.MULTI | SWT.WRAP | SWT.V_SCROLL);
			GridDataFactory.fillDefaults().grab(true, true).hint(WIDTH, ROWS * text.getLineHeight()).applyTo(text);
			text.addListener(SWT.Traverse, e -> {
				if (e.detail == SWT.TRAVERSE_TAB_NEXT || e.detail == SWT.TRAVERSE_TAB_PREVIOUS || e.detail == SWT.TRAVERSE_RETURN) {
					e.doit = true;
				}
			});
			GridDataFactory.fillDefaults().align(SWT.FILL, SWT.BEGINNING).applyTo(Buttons.push(fields, "&Browse…", null, this::browse));
			message = new Label(area, SWT.WRAP);
			GridDataFactory.fillDefaults().grab(true, false).hint(WIDTH, 2 * convertHeightInCharsToPixels(1) + 4).applyTo(message);
			text.addModifyListener(e -> check());
			return area;
		}

		private void browse() {
			FileDialog dialog = new FileDialog(getShell(), SWT.OPEN);
			dialog.setText("Open the file of a view");
			dialog.setFilterExtensions(new String[] { "*" + SharedView.ENDING, "*" });
			String file = dialog.open();
			if (file != null) {
				text.setText(file);
			}
		}

		@Override
		protected void createButtonsForButtonBar(Composite parent) {
			createButton(parent, IDialogConstants.OK_ID, "Open", true);
			createButton(parent, IDialogConstants.CANCEL_ID, IDialogConstants.CANCEL_LABEL, false);
			text.setText(clipboardLink(getShell()));
			text.selectAll();
			check();
		}

		private void check() {
			given = text.getText().strip();
			String said = "";
			boolean wrong = false;
			try {
				if (given.startsWith(SharedView.LINK)) {
					said = "A view of " + SharedView.parse(given).describeTrace() + ".";
				} else if (!given.isEmpty() && !given.endsWith(SharedView.ENDING)) {
					wrong = true;
					said = "A link begins with " + SharedView.LINK + ", the name of a file ends in " + SharedView.ENDING + ".";
				}
			} catch (MemtraceException e) {
				wrong = true;
				said = e.getMessage();
			}
			message.setText(said);
			message.setForeground(wrong ? ScenePainter.warning(message) : null);
			if (getButton(IDialogConstants.OK_ID) != null) {
				getButton(IDialogConstants.OK_ID).setEnabled(!wrong && !given.isEmpty());
			}
		}
	}
}
