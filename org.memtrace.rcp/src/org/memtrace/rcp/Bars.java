// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.rcp;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.GroupMarker;
import org.eclipse.jface.action.IMenuManager;
import org.eclipse.jface.action.IStatusLineManager;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.action.Separator;
import org.eclipse.jface.action.StatusLineManager;
import org.eclipse.ui.IWorkbenchActionConstants;
import org.eclipse.ui.IWorkbenchWindow;
import org.eclipse.ui.actions.ActionFactory;
import org.eclipse.ui.actions.ContributionItemFactory;
import org.eclipse.ui.application.ActionBarAdvisor;
import org.eclipse.ui.application.IActionBarConfigurer;
import org.memtrace.views.NavigationActions;
import org.memtrace.views.PictureStatusItem;
import org.memtrace.views.Session;
import org.memtrace.views.ViewIds;
import org.memtrace.views.traces.CompareAction;
import org.memtrace.views.traces.TraceActions;

/** Menu and status line. There is no tool bar for the window: each view has its own. */
final class Bars extends ActionBarAdvisor {
	private IWorkbenchWindow window;
	private Action record;
	private Action importTrace;
	private Action openDatabase;
	private Action closeTrace;
	private CompareAction compare;
	private NavigationActions navigation;

	Bars(IActionBarConfigurer configurer) {
		super(configurer);
	}

	@Override
	protected void makeActions(IWorkbenchWindow w) {
		window = w;
		register(ActionFactory.QUIT.create(w));
		register(ActionFactory.ABOUT.create(w));
		register(ActionFactory.RESET_PERSPECTIVE.create(w));
		record = TraceActions.record(w);
		record.setActionDefinitionId(ViewIds.RECORD);
		importTrace = TraceActions.importTrace(w);
		importTrace.setActionDefinitionId(ViewIds.IMPORT);
		openDatabase = TraceActions.openDatabase(w);
		openDatabase.setActionDefinitionId(ViewIds.OPEN_DATABASE);
		closeTrace = TraceActions.close(w);
		closeTrace.setActionDefinitionId(ViewIds.CLOSE);
		compare = new CompareAction(w);
		navigation = new NavigationActions(w.getService(Session.class)).withAccelerators();
	}

	@Override
	protected void fillMenuBar(IMenuManager bar) {
		MenuManager file = new MenuManager("&File", IWorkbenchActionConstants.M_FILE);
		file.add(record);
		file.add(importTrace);
		file.add(openDatabase);
		file.add(closeTrace);
		file.add(new Separator());
		file.add(compare);
		file.add(new Separator());
		file.add(getAction(ActionFactory.QUIT.getId()));
		bar.add(file);

		MenuManager go = new MenuManager("&Navigate", IWorkbenchActionConstants.M_NAVIGATE);
		navigation.fill(go);
		bar.add(go);
		bar.add(new GroupMarker(IWorkbenchActionConstants.MB_ADDITIONS));

		MenuManager view = new MenuManager("&Window", IWorkbenchActionConstants.M_WINDOW);
		view.add(ContributionItemFactory.VIEWS_SHORTLIST.create(window));
		view.add(new Separator());
		view.add(getAction(ActionFactory.RESET_PERSPECTIVE.getId()));
		bar.add(view);

		MenuManager help = new MenuManager("&Help", IWorkbenchActionConstants.M_HELP);
		help.add(getAction(ActionFactory.ABOUT.getId()));
		bar.add(help);
	}

	@Override
	protected void fillStatusLine(IStatusLineManager line) {
		line.appendToGroup(StatusLineManager.END_GROUP, new PictureStatusItem(window.getService(Session.class)));
	}

	@Override
	public void dispose() {
		navigation.dispose();
		compare.dispose();
		super.dispose();
	}
}
