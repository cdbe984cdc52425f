// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import java.nio.file.Path;
import java.util.List;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.dialogs.IDialogConstants;
import org.eclipse.jface.window.Window;
import org.eclipse.jface.wizard.WizardDialog;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.FileDialog;
import org.eclipse.ui.IWorkbenchWindow;
import org.memtrace.views.machine.MonitorDialog;
import org.memtrace.views.record.RecordDialog;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.Session;
import org.memtrace.views.util.Icons;

/** Actions that bring traces in; shared by views, menu and toolbar. */
public final class TraceActions {
	private TraceActions() {
	}

	/** Opens the record wizard. */
	public static Action record(IWorkbenchWindow window) {
		Action action = new Action("Record…", Icons.get("record")) {
			@Override
			public void run() {
				RecordDialog.open(window);
			}
		};
		action.setToolTipText("Run a program and record how it uses its memory (Ctrl+R)");
		return action;
	}

	/** Opens the dialog that measures values of monitors. */
	public static Action monitor(IWorkbenchWindow window) {
		Action action = new Action("Monitor…", Icons.get("machine")) {
			@Override
			public void run() {
				MonitorDialog.open(window);
			}
		};
		action.setToolTipText("Measure load, memory or counters on each part of this machine, and see them as they come");
		return action;
	}

	/** Opens the import wizard. */
	public static Action importTrace(IWorkbenchWindow window) {
		Action action = new Action("Import trace…", Icons.get("import")) {
			@Override
			public void run() {
				openImportWizard(window, List.of());
			}
		};
		action.setToolTipText("Import a recorded trace directory (Ctrl+I)");
		return action;
	}

	/** @param preset what to import, may be empty */
	public static void openImportWizard(IWorkbenchWindow window, List<Path> preset) {
		WizardDialog dialog = new WizardDialog(window.getShell(), new ImportWizard(window.getService(Session.class), preset)) {
			@Override
			public void updateButtons() {
				super.updateButtons();
				boolean report = getWizard() instanceof ImportWizard w && w.isReport();
				Button finish = getButton(IDialogConstants.FINISH_ID);
				if (finish != null) {
					finish.setText(report ? IDialogConstants.CLOSE_LABEL : "&Import");
					getButton(IDialogConstants.CANCEL_ID).setEnabled(!report);
				}
			}
		};
		dialog.setHelpAvailable(false);
		dialog.setMinimumPageSize(680, 400);
		dialog.open();
	}

	/** Closes the trace that is shown. */
	public static Action close(IWorkbenchWindow window) {
		Session session = window.getService(Session.class);
		Action action = new Action("Close trace") {
			@Override
			public void run() {
				session.closeShown();
			}
		};
		session.addListener(new Session.Listener() {
			@Override
			public void traceChanged(OpenTrace trace) {
				action.setEnabled(trace != null);
			}
		});
		action.setEnabled(session.trace() != null);
		action.setToolTipText("Take the shown trace from the views (Ctrl+W)");
		return action;
	}

	/** Opens a trace database that is in no catalogue. */
	public static Action openDatabase(IWorkbenchWindow window) {
		Action action = new Action("Open database…", Icons.get("database")) {
			@Override
			public void run() {
				FileDialog dialog = new FileDialog(window.getShell(), SWT.OPEN);
				dialog.setText("Open a trace database");
				dialog.setFilterNames(new String[] { "Trace databases", "All files" });
				dialog.setFilterExtensions(new String[] { "*.db", "*" });
				String file = dialog.open();
				if (file != null) {
					window.getService(Session.class).opener().openDatabase(Path.of(file));
				}
			}
		};
		action.setToolTipText("Open a trace database file that is not in the catalogue (Ctrl+O)");
		return action;
	}

	/** Opens a Parquet folder, of this machine or in object storage. */
	public static Action openFolder(IWorkbenchWindow window) {
		Action action = new Action("Open folder…", Icons.get("folder")) {
			@Override
			public void run() {
				FolderDialog dialog = new FolderDialog(window.getShell());
				if (dialog.open() == Window.OK) {
					window.getService(Session.class).opener().open(dialog.folder());
				}
			}
		};
		action.setToolTipText("Open a Parquet folder that memtrace export wrote, on this machine or in object storage, without importing it");
		return action;
	}
}
