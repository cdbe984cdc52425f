// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.commands;

import java.util.function.BiConsumer;
import java.util.function.Predicate;

import org.eclipse.ui.IWorkbenchPage;
import org.eclipse.ui.IWorkbenchWindow;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.views.compare.ViewLinks;
import org.memtrace.views.filters.FilterActions;
import org.memtrace.views.findings.ReportExport;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.Session;
import org.memtrace.views.traces.CompareDialog;
import org.memtrace.views.view.TraceView;

/**
 * The commands about the trace of the active view: a name and keys are in plugin.xml, under {@link #id}. The active view is the
 * one that was active last, so that they work from the list of traces too.
 */
public enum TraceCommand {
	SAVE_VIEW("saveView", c -> c.view() != null, (c, t) -> c.view().saveSnapshot()),
	SAVE_ALL_VIEWS("saveAllViews", c -> c.trace() != null, (c, t) -> TraceView.saveAll(c.page())),
	EXPORT_REPORT("exportReport", c -> c.trace() != null && c.trace().hasAccesses(), (c, t) -> ReportExport.ask(c.window(), t)),
	COPY_PICTURE("copyPicture", c -> c.view() != null && c.trace() != null, (c, t) -> c.view().copyPicture()),
	COPY_LINK("copyLink", c -> c.trace() != null, (c, t) -> ViewLinks.copy(c.page(), t)),
	SAVE_LINK("saveLink", c -> c.trace() != null, (c, t) -> ViewLinks.save(c.page(), t)),
	OPEN_LINK("openLink", c -> true, (c, t) -> ViewLinks.ask(c.window().getShell(), c.session())),
	COMPARE("compare", c -> c.session().trace() != null, (c, t) -> CompareDialog.ask(c.window())),
	ADD_FILTER("addFilter", c -> c.trace() != null, (c, t) -> FilterActions.addFilter(c.window().getShell(), t)),
	REMOVE_FILTERS("removeFilters", c -> c.trace() != null && !c.state().filters().isEmpty(),
			(c, t) -> t.selection().filters(FilterSet.NONE)),
	BACK("back", c -> c.trace() != null && c.trace().selection().canGoBack(), (c, t) -> t.selection().back()),
	FORWARD("forward", c -> c.trace() != null && c.trace().selection().canGoForward(), (c, t) -> t.selection().forward()),
	PARENT("parent", c -> c.trace() != null && c.state().producer() != c.trace().selection().initial().producer(),
			(c, t) -> t.selection().up()),
	WHOLE_TRACE("wholeTrace", c -> c.trace() != null && !c.showsWhole(), (c, t) -> t.selection().reset()),
	ZOOM_IN("zoomIn", c -> c.trace() != null, (c, t) -> zoom(t.selection(), 0.5, 0)),
	ZOOM_OUT("zoomOut", c -> c.trace() != null && !c.showsAllTime(), (c, t) -> zoom(t.selection(), 2, 0)),
	EARLIER("earlier", c -> c.trace() != null && !c.showsAllTime(), (c, t) -> zoom(t.selection(), 1, -0.5)),
	LATER("later", c -> c.trace() != null && !c.showsAllTime(), (c, t) -> zoom(t.selection(), 1, 0.5)),
	TIME_WINDOW("timeWindow", c -> c.trace() != null, (c, t) -> TimeWindowDialog.ask(c.window().getShell(), t)),
	AUTOMATIC_LEVEL("automaticLevel", c -> c.trace() != null && !c.state().isAutomaticP(),
			(c, t) -> t.selection().p(ViewState.AUTOMATIC_P)),
	BY_SHARING("viewpoint.sharing", BasicDimensions.TYPE), BY_THREAD("viewpoint.thread", BasicDimensions.THREAD),
	BY_READ_WRITE("viewpoint.rw", BasicDimensions.READ_WRITE), BY_CPU("viewpoint.cpu", BasicDimensions.CPU),
	BY_NODE("viewpoint.node", BasicDimensions.NODE),
	LOCK("lock", c -> c.view() != null && c.trace() != null, (c, t) -> c.view().toggleLock()),
	OPEN_ANOTHER("openAnother", c -> c.view() != null, (c, t) -> c.view().openAnother(c.view().group())),
	OPEN_IN_NEW_GROUP("openInNewGroup", c -> c.view() != null, (c, t) -> c.view().openAnother(c.session().newGroup()));

	private static final String PREFIX = "org.memtrace.views.";

	/** Where a command works. */
	record Context(IWorkbenchWindow window, Session session) {
		OpenTrace trace() {
			return session.active();
		}

		ViewState state() {
			return trace().selection().state();
		}

		IWorkbenchPage page() {
			return window.getActivePage();
		}

		/** The active view when it is one of a trace, or null. */
		TraceView view() {
			return page() != null && page().getActivePart() instanceof TraceView v ? v : null;
		}

		boolean showsAllTime() {
			ViewState all = trace().selection().initial();
			return state().fromNs() == all.fromNs() && state().toNs() == all.toNs();
		}

		boolean showsWhole() {
			return showsAllTime() && state().producer() == trace().selection().initial().producer();
		}
	}

	private final String id;
	private final Dimension viewpoint;
	private final Predicate<Context> possible;
	private final BiConsumer<Context, OpenTrace> what;

	TraceCommand(String id, Predicate<Context> possible, BiConsumer<Context, OpenTrace> what) {
		this.id = PREFIX + id;
		this.viewpoint = null;
		this.possible = possible;
		this.what = what;
	}

	TraceCommand(String id, Dimension viewpoint) {
		this.id = PREFIX + id;
		this.viewpoint = viewpoint;
		this.possible = c -> c.trace() != null && c.trace().hasAccesses();
		this.what = (c, t) -> t.selection().viewpoint(viewpoint);
	}

	/** Id of the command in plugin.xml. */
	public String id() {
		return id;
	}

	/** The command with an id; there is one. */
	static TraceCommand of(String id) {
		for (TraceCommand c : values()) {
			if (c.id.equals(id)) {
				return c;
			}
		}
		throw new IllegalArgumentException(id);
	}

	private Context context(IWorkbenchWindow window) {
		return new Context(window, window.getService(Session.class));
	}

	/** Whether it would do something now. */
	public boolean isPossible(IWorkbenchWindow window) {
		return possible.test(context(window));
	}

	/** Whether what it chooses is what is shown. */
	public boolean isChosen(IWorkbenchWindow window) {
		Context c = context(window);
		return this == LOCK ? c.view() != null && c.view().isLocked()
				: viewpoint != null && c.trace() != null && c.state().viewpoint() == viewpoint;
	}

	/** Whether it is a choice that can be shown as chosen. */
	public boolean isChoice() {
		return this == LOCK || viewpoint != null;
	}

	void run(IWorkbenchWindow window) {
		Context c = context(window);
		if (possible.test(c)) {
			what.accept(c, c.trace());
		}
	}

	/** Another part of the time: {@code factor} times as long about the middle, moved by so many lengths. */
	private static void zoom(TraceSelection selection, double factor, double move) {
		ViewState s = selection.state();
		double middle = s.fromNs() + s.durationNs() * (0.5 + move);
		double half = s.durationNs() * factor / 2;
		selection.window(Math.round(middle - half), Math.round(middle + half));
	}
}
