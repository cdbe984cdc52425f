// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.commands;

import org.eclipse.core.runtime.ILog;
import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.IAction;
import org.eclipse.ui.IWorkbenchWindow;
import org.eclipse.ui.handlers.IHandlerService;

/** A menu entry for a {@link TraceCommand}, made when the menu is shown; its key is shown too. */
public final class CommandAction extends Action {
	private final IWorkbenchWindow window;
	private final TraceCommand command;

	/** @param text as it stands in the menu */
	public CommandAction(IWorkbenchWindow window, TraceCommand command, String text) {
		super(text, command.isChoice() ? IAction.AS_CHECK_BOX : IAction.AS_PUSH_BUTTON);
		this.window = window;
		this.command = command;
		setActionDefinitionId(command.id());
		setEnabled(command.isPossible(window));
		if (command.isChoice()) {
			setChecked(command.isChosen(window));
		}
	}

	@Override
	public void run() {
		try {
			window.getService(IHandlerService.class).executeCommand(command.id(), null);
		} catch (org.eclipse.core.commands.common.CommandException e) {
			ILog.of(CommandAction.class).error(command.id() + " failed", e);
		}
	}
}
