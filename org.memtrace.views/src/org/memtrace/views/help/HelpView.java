// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.help;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.IToolBarManager;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.ui.PlatformUI;
import org.eclipse.ui.part.ViewPart;
import org.memtrace.views.session.Session;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.util.Icons;

/** The help, beside what it is about. */
public final class HelpView extends ViewPart {
	private HelpBrowser browser;
	private Session session;
	private final Session.Listener follow = new Session.Listener() {
		@Override
		public void coloursChanged() {
			browser.colours();
		}
	};

	@Override
	public void createPartControl(Composite parent) {
		browser = new HelpBrowser(parent);
		PlatformUI.getWorkbench().getHelpSystem().setHelp(browser, ViewIds.HELP);
		browser.go(new HelpPages.Place(HelpPages.FILES.get(0), ""));
		session = getSite().getService(Session.class);
		session.addListener(follow);
		IToolBarManager tools = getViewSite().getActionBars().getToolBarManager();
		tools.add(action("Back", "back", browser::back));
		tools.add(action("Forward", "forward", browser::forward));
	}

	private static Action action(String text, String icon, Runnable run) {
		Action action = new Action(text, Icons.get(icon)) {
			@Override
			public void run() {
				run.run();
			}
		};
		action.setToolTipText(text);
		return action;
	}

	/** Shows the help on a view, a dialog or a part of one. */
	void showContext(String id) {
		browser.go(HelpPages.context(id));
	}

	HelpBrowser browser() {
		return browser;
	}

	@Override
	public void setFocus() {
		browser.setFocus();
	}

	@Override
	public void dispose() {
		if (session != null) {
			session.removeListener(follow);
		}
		super.dispose();
	}
}
