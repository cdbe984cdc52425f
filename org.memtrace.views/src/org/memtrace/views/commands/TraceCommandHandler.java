// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.commands;

import org.eclipse.core.commands.AbstractHandler;
import org.eclipse.core.commands.ExecutionEvent;
import org.eclipse.core.commands.ExecutionException;
import org.eclipse.ui.handlers.HandlerUtil;

/** Runs every {@link TraceCommand}. What is not possible now does nothing: a key need not know. */
public final class TraceCommandHandler extends AbstractHandler {
	@Override
	public Object execute(ExecutionEvent event) throws ExecutionException {
		TraceCommand.of(event.getCommand().getId()).run(HandlerUtil.getActiveWorkbenchWindowChecked(event));
		return null;
	}
}
