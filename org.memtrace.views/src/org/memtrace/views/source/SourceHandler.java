// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.source;

import org.eclipse.core.commands.AbstractHandler;
import org.eclipse.core.commands.ExecutionEvent;
import org.eclipse.core.commands.ExecutionException;
import org.eclipse.ui.PlatformUI;
import org.eclipse.ui.handlers.HandlerUtil;
import org.memtrace.views.session.Session;
import org.memtrace.views.view.TraceView;

/** Shows the source of what is chosen in the active view. */
public final class SourceHandler extends AbstractHandler {
	@Override
	public boolean isEnabled() {
		return PlatformUI.getWorkbench().getService(Session.class).active() != null;
	}

	@Override
	public Object execute(ExecutionEvent event) throws ExecutionException {
		if (HandlerUtil.getActivePart(event) instanceof TraceView view) {
			view.openSource();
		}
		return null;
	}
}
