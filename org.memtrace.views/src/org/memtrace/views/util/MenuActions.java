// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.util;

import org.eclipse.jface.action.Action;

/** Makes entries of menus. On the display's thread. */
public final class MenuActions {
	private MenuActions() {
	}

	/**
	 * An entry.
	 *
	 * @param text what stands in the menu; behind a tab the keys that do the same
	 */
	public static Action action(String text, Runnable what) {
		return new Action(text) {
			@Override
			public void run() {
				what.run();
			}
		};
	}
}
