// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.find;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.eclipse.core.commands.Command;
import org.eclipse.core.commands.common.NotDefinedException;
import org.eclipse.core.runtime.ILog;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.ui.IWorkbenchWindow;
import org.eclipse.ui.PartInitException;
import org.eclipse.ui.commands.ICommandService;
import org.eclipse.ui.handlers.IHandlerService;
import org.eclipse.ui.keys.IBindingService;
import org.eclipse.ui.views.IViewCategory;
import org.eclipse.ui.views.IViewDescriptor;
import org.memtrace.analysis.find.FindHit.Kind;
import org.memtrace.analysis.find.FindList;
import org.memtrace.analysis.selection.RecentTraces.Recent;
import org.memtrace.analysis.text.NaturalOrder;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.commands.TraceCommand;
import org.memtrace.views.session.OpenFile;
import org.memtrace.views.session.RecentList;
import org.memtrace.views.session.Session;

/**
 * What can be found that is in no trace: other traces, or commands and views; each with what choosing it does. Made on the display thread,
 * searched anywhere.
 */
final class Findable {
	private static final String CATEGORY = "org.memtrace.views.commands";
	private static final String VIEWS = "org.memtrace.views.category";
	private static final String FIND = "org.memtrace.views.find";
	/** Of the platform, those that are in the menus. */
	private static final List<String> PLATFORM = List.of("org.eclipse.ui.window.preferences", "org.eclipse.ui.window.resetPerspective",
			"org.eclipse.ui.window.newWindow", "org.eclipse.ui.part.maximize", "org.eclipse.ui.window.maximizePart",
			"org.eclipse.ui.file.close", "org.eclipse.ui.file.exit");

	/** A command or a view. */
	private record Named(String name, String detail, Runnable action) {
	}

	private final List<FindList.Entry> entries = new ArrayList<>();
	private final List<Runnable> actions = new ArrayList<>();

	private Findable() {
	}

	private void add(String name, String detail, Runnable action) {
		entries.add(new FindList.Entry(name, detail));
		actions.add(action);
	}

	FindList list(Kind kind) {
		return new FindList(kind, entries);
	}

	Runnable action(int index) {
		return actions.get(index);
	}

	/** Commands that would do something now, with their keys, and the views. */
	static Findable commands(IWorkbenchWindow window) {
		Findable all = new Findable();
		IBindingService keys = window.getService(IBindingService.class);
		Set<String> impossible = new HashSet<>();
		for (TraceCommand c : TraceCommand.values()) {
			if (!c.isPossible(window)) {
				impossible.add(c.id());
			}
		}
		List<Named> named = new ArrayList<>();
		for (Command c : window.getService(ICommandService.class).getDefinedCommands()) {
			try {
				boolean wanted = c.getCategory().getId().equals(CATEGORY) && !c.getId().equals(FIND) && !impossible.contains(c.getId())
						|| PLATFORM.contains(c.getId());
				if (wanted && c.isHandled() && c.isEnabled()) {
					String key = keys.getBestActiveBindingFormattedFor(c.getId());
					named.add(new Named(c.getName(), key == null ? "" : key, () -> run(window, c.getId())));
				}
			} catch (NotDefinedException e) {
				// it has just gone
			}
		}
		for (IViewCategory category : window.getWorkbench().getViewRegistry().getCategories()) {
			// of a view itself the platform tells only the label of its category
			for (IViewDescriptor v : category.getId().equals(VIEWS) ? category.getViews() : new IViewDescriptor[0]) {
				named.add(new Named("Show " + v.getLabel(), "view", () -> show(window, v.getId())));
			}
		}
		named.sort(Comparator.comparing(Named::name, NaturalOrder.INSTANCE));
		named.forEach(n -> all.add(n.name(), n.detail(), n.action()));
		return all;
	}

	private static void run(IWorkbenchWindow window, String command) {
		try {
			window.getService(IHandlerService.class).executeCommand(command, null);
		} catch (org.eclipse.core.commands.common.CommandException e) {
			ILog.of(Findable.class).error(command + " failed", e);
		}
	}

	private static void show(IWorkbenchWindow window, String view) {
		try {
			window.getActivePage().showView(view);
		} catch (PartInitException e) {
			MessageDialog.openError(window.getShell(), "Show view", e.getMessage());
		}
	}

	/**
	 * Open files, traces that were shown last, and all others of the catalogue.
	 *
	 * @param listed traces of the catalogue
	 */
	static Findable traces(Session session, List<TraceInfo> listed) {
		Findable all = new Findable();
		Set<Object> there = new HashSet<>();
		for (OpenFile f : session.files()) {
			if (there.add(f.path().toString())) {
				all.add(f.info().alias(), "open, " + f.path(), () -> session.opener().openDatabase(f.path()));
			}
		}
		for (Recent r : RecentList.list(session)) {
			if (there.add(r.isFile() ? (Object) r.database() : (Object) r.id())) {
				all.add(r.name(), r.isFile() ? "recent, " + r.database() : "recent", () -> RecentList.open(session, r));
			}
		}
		for (TraceInfo t : listed) {
			if (there.add(t.id())) {
				all.add(t.alias(), t.application(), () -> session.opener().open(t));
			}
		}
		return all;
	}
}
