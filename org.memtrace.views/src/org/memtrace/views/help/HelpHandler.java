// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.help;

import org.eclipse.core.commands.AbstractHandler;
import org.eclipse.core.commands.ExecutionEvent;
import org.eclipse.core.runtime.ILog;
import org.eclipse.swt.SWT;
import org.eclipse.swt.layout.FillLayout;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Display;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.ui.IWorkbenchPage;
import org.eclipse.ui.IWorkbenchPart;
import org.eclipse.ui.IWorkbenchWindow;
import org.eclipse.ui.PartInitException;
import org.eclipse.ui.PlatformUI;
import org.memtrace.views.session.ViewIds;

/** F1: help on what has the focus, in the view Help, or in a window of its own when a dialog is open. */
public final class HelpHandler extends AbstractHandler {
	/** Where the platform keeps what {@code IWorkbenchHelpSystem.setHelp} sets. */
	private static final String HELP_KEY = "org.eclipse.ui.help";
	private static final String OURS = "org.memtrace.";

	@Override
	public Object execute(ExecutionEvent event) {
		help();
		return null;
	}

	/** Only for what is ours: in a development environment the rest has help of its own. */
	@Override
	public boolean isEnabled() {
		return PlatformUI.isWorkbenchRunning() && context(Display.getCurrent()) != null;
	}

	/** Shows help on what has the focus. */
	static void help() {
		Display display = PlatformUI.getWorkbench().getDisplay();
		String context = context(display);
		Shell shell = display.getActiveShell();
		IWorkbenchWindow window = PlatformUI.getWorkbench().getActiveWorkbenchWindow();
		if (shell != null && window != null && shell != window.getShell() && shell.getParent() != null
				&& (shell.getStyle() & (SWT.APPLICATION_MODAL | SWT.PRIMARY_MODAL | SWT.SYSTEM_MODAL)) != 0) {
			inWindow(shell, context);
		} else if (window != null) {
			inView(window.getActivePage(), context);
		}
	}

	private static String context(Display display) {
		Control focus = display == null ? null : display.getFocusControl();
		Shell shell = focus == null ? null : focus.getShell();
		for (Control c = focus; c != null; c = c.getParent()) {
			if (c.getData(HELP_KEY) instanceof String id && id.startsWith(OURS)) {
				return id;
			}
		}
		IWorkbenchWindow window = PlatformUI.getWorkbench().getActiveWorkbenchWindow();
		IWorkbenchPage page = window == null ? null : window.getActivePage();
		IWorkbenchPart part = page == null ? null : page.getActivePart();
		if (part != null && part.getSite().getId().startsWith(OURS)) {
			boolean dialog = shell != null && shell != window.getShell();
			return dialog ? "org.memtrace.views" : part.getSite().getId();
		}
		return null;
	}

	private static void inView(IWorkbenchPage page, String context) {
		try {
			HelpView view = (HelpView) page.showView(ViewIds.HELP);
			view.showContext(context);
		} catch (PartInitException e) {
			ILog.of(HelpHandler.class).error("The help cannot be shown.", e);
		}
	}

	/** A dialog that blocks the workbench does not block its own child. */
	private static void inWindow(Shell dialog, String context) {
		Shell shell = new Shell(dialog, SWT.SHELL_TRIM);
		shell.setText("Help");
		shell.setLayout(new FillLayout());
		HelpBrowser browser = new HelpBrowser(shell);
		browser.go(HelpPages.context(context));
		shell.setSize(820, 560);
		shell.addListener(SWT.Traverse, e -> {
			if (e.detail == SWT.TRAVERSE_ESCAPE) {
				shell.close();
			}
		});
		shell.open();
		browser.setFocus();
	}
}
