// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.help;

import org.eclipse.core.commands.AbstractHandler;
import org.eclipse.core.commands.ExecutionEvent;
import org.eclipse.core.commands.ExecutionException;
import org.eclipse.ui.PartInitException;
import org.eclipse.ui.handlers.HandlerUtil;
import org.memtrace.views.session.ViewIds;

/** Shows the page with all keys. */
public final class KeysHandler extends AbstractHandler {
	@Override
	public Object execute(ExecutionEvent event) throws ExecutionException {
		try {
			((HelpView) HandlerUtil.getActiveWorkbenchWindowChecked(event).getActivePage().showView(ViewIds.HELP))
					.showContext("org.memtrace.views.keys");
		} catch (PartInitException e) {
			throw new ExecutionException("The help cannot be shown.", e);
		}
		return null;
	}
}
