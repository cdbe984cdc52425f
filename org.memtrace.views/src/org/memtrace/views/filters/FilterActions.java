// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.filters;

import static org.memtrace.views.util.MenuActions.action;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.IAction;
import org.eclipse.jface.action.IMenuManager;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.action.Separator;
import org.eclipse.jface.dialogs.InputDialog;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.jface.window.Window;
import org.eclipse.swt.widgets.Shell;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.SavedFilters;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.views.session.NoteJob;
import org.memtrace.views.session.OpenTrace;

/** Menu entries that make filters: "only this" and "hide this" of what was clicked on, and those of the filters as a whole. */
public final class FilterActions {
	private static final int MAX_NAME = 40;

	private FilterActions() {
	}

	/** Only a producer and what is below it, or everything else. */
	public static void addProducer(IMenuManager menu, OpenTrace trace, int producer) {
		if (producer >= 0) {
			add(menu, trace, trace.producers().name(producer), Condition.Subtree.of(trace.producers(), producer));
		}
	}

	/** Only a thread, by its index in the trace (-1: what belongs to none), or all others. */
	public static void addThread(IMenuManager menu, OpenTrace trace, int thread) {
		add(menu, trace, null, Condition.thread(thread));
	}

	/** Only a CPU, or all others. */
	public static void addCpu(IMenuManager menu, OpenTrace trace, int cpu) {
		add(menu, trace, null, Condition.cpu(cpu));
	}

	/** Only a NUMA node, or all others. */
	public static void addNode(IMenuManager menu, OpenTrace trace, int node) {
		add(menu, trace, null, Condition.node(node));
	}

	/** Only an event type, or all others. */
	public static void addType(IMenuManager menu, OpenTrace trace, String type) {
		add(menu, trace, null, Condition.type(type));
	}

	/** Both entries for any condition; {@code name} is what a person calls it, null for the text of the filter. */
	public static void add(IMenuManager menu, OpenTrace trace, String name, Condition condition) {
		TraceFilter only = TraceFilter.only(condition);
		String full = name == null ? only.text(trace.threads(), trace.info().isInTicks(), trace.info().counts()) : name;
		menu.add(action(label("Only ", full), () -> trace.selection().addFilter(only)));
		menu.add(action(label("Hide ", full), () -> trace.selection().addFilter(TraceFilter.hide(condition))));
	}

	/** A verb and a name, not too long. */
	static String label(String verb, String name) {
		return verb + (name.length() <= MAX_NAME ? name : name.substring(0, MAX_NAME - 1) + "…").replace("&", "&&");
	}

	/** Entries about all filters of a trace: add one, clear, save under a name, take saved ones. */
	public static void fill(IMenuManager menu, Shell shell, OpenTrace trace) {
		if (trace == null) {
			return;
		}
		FilterSet now = trace.selection().state().filters();
		menu.add(action("Add filter…", () -> addFilter(shell, trace)));
		if (now.filters().size() > 1) {
			menu.add(action("Any of these instead of all", () -> trace.selection().filters(now.any())));
		}
		Action clear = action("Remove all filters", () -> trace.selection().filters(FilterSet.NONE));
		clear.setEnabled(!now.isEmpty());
		menu.add(clear);
		Action save = action("Save these filters…", () -> save(shell, trace));
		save.setEnabled(!now.isEmpty());
		menu.add(new Separator());
		menu.add(save);
		SavedFilters saved = trace.savedFilters();
		if (!saved.byName().isEmpty()) {
			MenuManager delete = new MenuManager("Delete saved filters");
			saved.byName().forEach((name, set) -> {
				Action take = new Action(name.replace("&", "&&"), IAction.AS_CHECK_BOX) {
					@Override
					public void run() {
						trace.selection().filters(set);
					}
				};
				take.setChecked(set.equals(now));
				menu.add(take);
				delete.add(action(name.replace("&", "&&"), () -> keep(shell, trace, trace.savedFilters().without(name))));
			});
			menu.add(delete);
		}
	}

	/** Asks for a filter and adds it. */
	public static void addFilter(Shell shell, OpenTrace trace) {
		TraceFilter f = FilterDialog.ask(shell, trace, null);
		if (f != null) {
			trace.selection().addFilter(f);
		}
	}

	private static void save(Shell shell, OpenTrace trace) {
		FilterSet now = trace.selection().state().filters();
		InputDialog dialog = new InputDialog(shell, "Save filters",
				"Name under which these filters are kept with the trace:", "",
				text -> text.isBlank() ? "The filters need a name."
						: text.strip().startsWith("[") || text.strip().startsWith("{") ? "A name begins with another character."
								: null);
		if (dialog.open() == Window.OK) {
			String name = dialog.getValue().strip();
			SavedFilters saved = trace.savedFilters();
			if (!saved.byName().containsKey(name) || MessageDialog.openQuestion(shell, "Save filters",
					"There are filters that are called '" + name + "'. Replace them?")) {
				keep(shell, trace, saved.with(name, now));
			}
		}
	}

	/** Saves in the background. */
	static void keep(Shell shell, OpenTrace trace, SavedFilters now) {
		trace.savedFilters(now);
		NoteJob.keep("Save filters", trace, now::save, sentence -> {
			if (!shell.isDisposed()) {
				MessageDialog.openError(shell, "Save filters",
						"The filters can be used until the trace is closed, but are not kept: " + sentence);
			}
		});
	}
}
