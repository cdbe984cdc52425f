// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.rcp;

import java.util.Set;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.GroupMarker;
import org.eclipse.jface.action.IContributionItem;
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
import org.eclipse.ui.menus.CommandContributionItem;
import org.eclipse.ui.menus.CommandContributionItemParameter;
import org.memtrace.analysis.selection.RecentTraces;
import org.memtrace.views.commands.CommandAction;
import org.memtrace.views.commands.TraceCommand;
import org.memtrace.views.session.RecentList;
import org.memtrace.views.session.Session;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.start.PictureStatusItem;
import org.memtrace.views.traces.TraceActions;

/** Menu and status line. There is no tool bar for the window: each view has its own. */
final class Bars extends ActionBarAdvisor {
	/** Group of a menu in which the commands are. */
	private static final String COMMANDS = "org.memtrace.views.commands";
	/** After the commands of a menu, what is not one of them: a group with a name, or they would be put after it. */
	private static final String LEAVE = "org.memtrace.rcp.leave";

	private IWorkbenchWindow window;
	private Action record;
	private Action monitor;
	private Action importTrace;
	private Action openDatabase;
	private Action openFolder;
	private Action closeTrace;

	Bars(IActionBarConfigurer configurer) {
		super(configurer);
	}

	@Override
	protected void makeActions(IWorkbenchWindow w) {
		window = w;
		register(ActionFactory.QUIT.create(w));
		register(ActionFactory.RESET_PERSPECTIVE.create(w));
		register(ActionFactory.OPEN_NEW_WINDOW.create(w));
		register(ActionFactory.PREFERENCES.create(w));
		record = TraceActions.record(w);
		record.setActionDefinitionId(ViewIds.RECORD);
		monitor = TraceActions.monitor(w);
		monitor.setActionDefinitionId(ViewIds.MONITOR);
		importTrace = TraceActions.importTrace(w);
		importTrace.setActionDefinitionId(ViewIds.IMPORT);
		openDatabase = TraceActions.openDatabase(w);
		openDatabase.setActionDefinitionId(ViewIds.OPEN_DATABASE);
		openFolder = TraceActions.openFolder(w);
		closeTrace = TraceActions.close(w);
		closeTrace.setActionDefinitionId(ViewIds.CLOSE);
	}

	@Override
	protected void fillMenuBar(IMenuManager bar) {
		bar.add(fileMenu());
		bar.add(editMenu());
		bar.add(viewMenu());
		bar.add(navigateMenu());
		bar.add(new GroupMarker(IWorkbenchActionConstants.MB_ADDITIONS));
		bar.add(windowMenu());
		bar.add(helpMenu());
	}

	private MenuManager fileMenu() {
		MenuManager file = new MenuManager("&File", IWorkbenchActionConstants.M_FILE);
		file.add(record);
		file.add(monitor);
		file.add(importTrace);
		file.add(openDatabase);
		file.add(openFolder);
		MenuManager recent = new MenuManager("Open r&ecent", "org.memtrace.rcp.recent");
		recent.setRemoveAllWhenShown(true);
		recent.addMenuListener(this::fillRecent);
		file.add(recent);
		file.add(closeTrace);
		file.add(new Separator(COMMANDS));
		file.add(new Separator(LEAVE));
		file.add(getAction(ActionFactory.QUIT.getId()));
		commands(file, Set.of(), TraceCommand.COMPARE, "&Compare with…", TraceCommand.SAVE_VIEW, "&Save view…",
				TraceCommand.SAVE_ALL_VIEWS, "Save &all views…", TraceCommand.EXPORT_REPORT, "&Export report…", TraceCommand.SAVE_LINK,
				"Save &link to what is shown…", TraceCommand.OPEN_LINK, "Open lin&k…");
		return file;
	}

	private MenuManager editMenu() {
		MenuManager edit = new MenuManager("&Edit", "org.memtrace.rcp.edit");
		edit.add(command("org.memtrace.views.find"));
		edit.add(new Separator(COMMANDS));
		commands(edit, Set.of(2), TraceCommand.ADD_FILTER, "Add &filter…", TraceCommand.REMOVE_FILTERS, "&Remove all filters",
				TraceCommand.COPY_PICTURE, "Copy &picture", TraceCommand.COPY_LINK, "Copy &link to what is shown");
		return edit;
	}

	private MenuManager viewMenu() {
		MenuManager view = new MenuManager("&View", "org.memtrace.rcp.view");
		view.add(new Separator(COMMANDS));
		commands(view, Set.of(5, 6, 8), TraceCommand.BY_SHARING, "Colour by &private and shared", TraceCommand.BY_THREAD,
				"Colour by &thread", TraceCommand.BY_READ_WRITE, "Colour by &reads and writes", TraceCommand.BY_CPU,
				"Colour by &CPU", TraceCommand.BY_NODE, "Colour by &NUMA node", TraceCommand.AUTOMATIC_LEVEL,
				"&Automatic level of detail", TraceCommand.ZOOM_IN, "Zoom &in", TraceCommand.ZOOM_OUT, "Zoom &out",
				TraceCommand.LOCK, "&Lock view", TraceCommand.OPEN_ANOTHER, "Open an&other view of this kind",
				TraceCommand.OPEN_IN_NEW_GROUP, "Open another view in a new &group");
		return view;
	}

	private MenuManager navigateMenu() {
		MenuManager go = new MenuManager("&Navigate", "org.memtrace.rcp.navigate");
		go.add(new Separator(COMMANDS));
		commands(go, Set.of(2, 4, 6), TraceCommand.BACK, "&Back", TraceCommand.FORWARD, "&Forward", TraceCommand.PARENT, "&Parent",
				TraceCommand.WHOLE_TRACE, "&Whole trace", TraceCommand.EARLIER, "&Earlier", TraceCommand.LATER, "&Later", TraceCommand.TIME_WINDOW,
				"&Time window…");
		go.add(new Separator(LEAVE));
		go.add(command("org.memtrace.views.openSource"));
		return go;
	}

	private MenuManager windowMenu() {
		MenuManager windowMenu = new MenuManager("&Window", IWorkbenchActionConstants.M_WINDOW);
		windowMenu.add(getAction(ActionFactory.OPEN_NEW_WINDOW.getId()));
		windowMenu.add(new Separator());
		MenuManager views = new MenuManager("Show &view", "org.memtrace.rcp.showView");
		views.add(ContributionItemFactory.VIEWS_SHORTLIST.create(window));
		windowMenu.add(views);
		windowMenu.add(new Separator());
		windowMenu.add(getAction(ActionFactory.RESET_PERSPECTIVE.getId()));
		windowMenu.add(new Separator());
		windowMenu.add(command(ViewIds.COLOURS));
		windowMenu.add(getAction(ActionFactory.PREFERENCES.getId()));
		return windowMenu;
	}

	private MenuManager helpMenu() {
		MenuManager help = new MenuManager("&Help", IWorkbenchActionConstants.M_HELP);
		help.add(command("org.memtrace.views.showTutorial"));
		help.add(command("org.memtrace.views.showHelp"));
		help.add(command("org.memtrace.views.helpOnThis"));
		help.add(command("org.memtrace.views.keys"));
		help.add(new Separator());
		help.add(command("org.memtrace.views.about"));
		return help;
	}

	/**
	 * Puts commands into a menu, made again each time it is shown, so that they are enabled and checked as it is then.
	 *
	 * @param separators before which of them there is a line
	 * @param commandsAndTexts a command and its text in turn
	 */
	private void commands(MenuManager menu, Set<Integer> separators, Object... commandsAndTexts) {
		Runnable fill = () -> {
			for (IContributionItem item : menu.getItems()) {
				if (item.getId() != null && item.getId().startsWith(COMMANDS + ".")) {
					menu.remove(item);
				}
			}
			for (int i = 0; i < commandsAndTexts.length; i += 2) {
				if (separators.contains(i / 2)) {
					menu.appendToGroup(COMMANDS, new Separator(COMMANDS + ".line" + i));
				}
				CommandAction action = new CommandAction(window, (TraceCommand) commandsAndTexts[i], (String) commandsAndTexts[i + 1]);
				action.setId(COMMANDS + "." + action.getActionDefinitionId());
				menu.appendToGroup(COMMANDS, action);
			}
		};
		menu.addMenuListener(m -> fill.run());
		fill.run();
	}

	private void fillRecent(IMenuManager menu) {
		Session session = window.getService(Session.class);
		for (RecentTraces.Recent r : RecentList.list(session)) {
			Action open = new Action(r.name().replace("&", "&&")) {
				@Override
				public void run() {
					RecentList.open(session, r);
				}
			};
			open.setToolTipText(r.database());
			menu.add(open);
		}
		if (menu.isEmpty()) {
			Action none = new Action("(none yet)") {
			};
			none.setEnabled(false);
			menu.add(none);
		}
	}

	private CommandContributionItem command(String id) {
		return new CommandContributionItem(
				new CommandContributionItemParameter(window, null, id, CommandContributionItem.STYLE_PUSH));
	}

	@Override
	protected void fillStatusLine(IStatusLineManager line) {
		line.appendToGroup(StatusLineManager.END_GROUP, new PictureStatusItem(window.getService(Session.class)));
	}
}
