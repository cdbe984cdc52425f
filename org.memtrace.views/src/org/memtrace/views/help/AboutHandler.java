// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.help;

import org.eclipse.core.commands.AbstractHandler;
import org.eclipse.core.commands.ExecutionEvent;
import org.eclipse.ui.handlers.HandlerUtil;

/** Opens {@link AboutDialog}. */
public final class AboutHandler extends AbstractHandler {
	@Override
	public Object execute(ExecutionEvent event) {
		new AboutDialog(HandlerUtil.getActiveShell(event)).open();
		return null;
	}
}
