// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.colours;

import org.eclipse.core.commands.AbstractHandler;
import org.eclipse.core.commands.ExecutionEvent;
import org.eclipse.ui.dialogs.PreferencesUtil;
import org.eclipse.ui.handlers.HandlerUtil;

/** Opens the editor of colours. */
public final class ColoursHandler extends AbstractHandler {
	@Override
	public Object execute(ExecutionEvent event) {
		PreferencesUtil.createPreferenceDialogOn(HandlerUtil.getActiveShell(event), "org.memtrace.views.preferences.colours", null,
				null).open();
		return null;
	}
}
