// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.record;

import java.util.List;
import java.util.function.Function;

import org.eclipse.jface.dialogs.IDialogConstants;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.jface.wizard.WizardDialog;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.ui.IWorkbenchWindow;
import org.eclipse.ui.PlatformUI;
import org.memtrace.importer.record.RecordSettings;

/**
 * The window of the record wizard: one for a workbench window, not modal, so that other traces can be looked at while a program
 * runs. While it does, Cancel is Stop.
 */
public final class RecordDialog extends WizardDialog {
	private static final String KEY = RecordDialog.class.getName();

	private final RecordWizard wizard;

	private RecordDialog(Shell parent, RecordWizard wizard) {
		super(parent, wizard);
		this.wizard = wizard;
		setShellStyle(SWT.CLOSE | SWT.TITLE | SWT.BORDER | SWT.RESIZE | SWT.MODELESS | getDefaultOrientation());
		setBlockOnOpen(false);
		setHelpAvailable(false);
		setMinimumPageSize(760, 520);
	}

	@Override
	protected void configureShell(Shell shell) {
		super.configureShell(shell);
		PlatformUI.getWorkbench().getHelpSystem().setHelp(shell, "org.memtrace.views.record");
	}

	/** Opens the wizard, or brings the one in front that is open. */
	public static void open(IWorkbenchWindow window) {
		show(window);
	}

	/**
	 * Opens the wizard and records at once, without questions.
	 *
	 * @param settings what to record, for an installation; called when it is known what works here
	 */
	public static void record(IWorkbenchWindow window, Function<RecordSource, List<RecordSettings>> settings) {
		RecordDialog dialog = show(window);
		dialog.wizard.startWhenReady(settings);
	}

	private static RecordDialog show(IWorkbenchWindow window) {
		Shell parent = window.getShell();
		if (parent.getData(KEY) instanceof RecordDialog open && open.getShell() != null && !open.getShell().isDisposed()) {
			open.getShell().setMinimized(false);
			open.getShell().forceActive();
			return open;
		}
		RecordDialog dialog = new RecordDialog(parent, new RecordWizard(window));
		parent.setData(KEY, dialog);
		dialog.open();
		return dialog;
	}

	@Override
	protected void createButtonsForButtonBar(Composite parent) {
		super.createButtonsForButtonBar(parent);
		updateButtons();
	}

	@Override
	public void updateButtons() {
		super.updateButtons();
		Button finish = getButton(IDialogConstants.FINISH_ID);
		Button cancel = getButton(IDialogConstants.CANCEL_ID);
		if (finish == null || cancel == null) {
			return;
		}
		boolean running = getCurrentPage() == wizard.run();
		label(finish, running ? IDialogConstants.CLOSE_LABEL : "&Record");
		label(cancel, running ? wizard.run().stopLabel() : IDialogConstants.CANCEL_LABEL);
		cancel.setEnabled(!running || !wizard.run().isOver());
	}

	private void label(Button button, String text) {
		if (!button.getText().equals(text)) {
			button.setText(text);
			setButtonLayoutData(button);
			button.getParent().layout();
		}
	}

	@Override
	protected void cancelPressed() {
		if (getCurrentPage() == wizard.run() && !wizard.run().isOver()) {
			wizard.run().stop();
			updateButtons();
			return;
		}
		super.cancelPressed();
	}

	@Override
	protected void handleShellCloseEvent() {
		if (mayStop()) {
			close();
		}
	}

	/** Asks when a program is recorded; if it is no more to be, it is asked to end. */
	private boolean mayStop() {
		if (getCurrentPage() == wizard.run() && wizard.run().isRecording()) {
			getShell().setMinimized(false);
			getShell().forceActive();
			if (MessageDialog.open(MessageDialog.QUESTION, getShell(), "Stop the recording?",
					"The program is still running. What was recorded until now is kept in " + wizard.run().trace() + ".", SWT.SHEET,
					"Stop recording", "Go on recording") != 0) {
				return false;
			}
			wizard.run().abandon();
		}
		return true;
	}

	/** Whether a program is recorded in any window. */
	public static boolean isRecording() {
		for (IWorkbenchWindow window : PlatformUI.getWorkbench().getWorkbenchWindows()) {
			if (window.getShell() != null && window.getShell().getData(KEY) instanceof RecordDialog open && open.getShell() != null
					&& !open.getShell().isDisposed() && open.getCurrentPage() == open.wizard.run() && open.wizard.run().isRecording()) {
				return true;
			}
		}
		return false;
	}

	/** Whether a window may be closed: its user is asked when a program is recorded in it, which would end with it. */
	public static boolean mayClose(IWorkbenchWindow window) {
		return !(window.getShell() != null && window.getShell().getData(KEY) instanceof RecordDialog open && open.getShell() != null
				&& !open.getShell().isDisposed()) || open.mayStop();
	}
}
