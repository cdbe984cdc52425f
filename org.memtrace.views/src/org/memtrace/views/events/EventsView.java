// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.events;

import static org.memtrace.views.util.MenuActions.action;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.IAction;
import org.eclipse.jface.action.IMenuManager;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.action.Separator;
import org.eclipse.jface.dialogs.InputDialog;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.window.Window;
import org.eclipse.swt.SWT;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.FileDialog;
import org.eclipse.swt.widgets.Label;
import org.eclipse.ui.IWorkbenchActionConstants;
import org.eclipse.ui.PartInitException;
import org.memtrace.analysis.selection.PointedTime;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.source.SourcePlace;
import org.memtrace.analysis.table.EventColumn;
import org.memtrace.analysis.table.EventRows.Query;
import org.memtrace.analysis.table.EventRows.Row;
import org.memtrace.analysis.table.EventRows;
import org.memtrace.analysis.table.EventsPresenter.Reading;
import org.memtrace.analysis.table.EventsPresenter;
import org.memtrace.analysis.table.TraceRows;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.views.filters.FilterActions;
import org.memtrace.views.grid.Grid;
import org.memtrace.views.grid.GridColumn;
import org.memtrace.views.grid.GridContent;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.util.Buttons;
import org.memtrace.views.util.Icons;
import org.memtrace.views.util.WhenSeen;
import org.memtrace.views.view.RecordView;
import org.memtrace.views.view.Snapshot;
import org.memtrace.views.view.SourceQuestion;
import org.memtrace.views.view.TraceView;

/**
 * The accesses (of other traces: the events) of the window, the memory and the filters that are shown, as rows: widgets and jobs.
 * The rows stay in the database: those that are seen are fetched, and rows appear while the rest is still being counted. What the
 * table shows, and what is said about it, is in {@link EventsPresenter}.
 */
public final class EventsView extends TraceView implements RecordView {
	private static final int MOST_COPIED = 100_000;
	private static final Map<EventColumn, Integer> WIDTHS = Map.ofEntries(Map.entry(EventColumn.START, 105),
			Map.entry(EventColumn.END, 100), Map.entry(EventColumn.PRODUCER, 150), Map.entry(EventColumn.STRUCTURE, 115),
			Map.entry(EventColumn.THREAD, 105), Map.entry(EventColumn.CPU, 50), Map.entry(EventColumn.TYPE, 132),
			Map.entry(EventColumn.NODE, 50), Map.entry(EventColumn.CODE, 130), Map.entry(EventColumn.EVENT_PRODUCER, 200),
			Map.entry(EventColumn.CATEGORY, 90), Map.entry(EventColumn.EVENT_TYPE, 160), Map.entry(EventColumn.PARAMETERS, 300));
	private static final int WIDTH = 70;

	private Composite area;
	private Label summary;
	private Button stop;
	private Composite pages;
	private Label pageLabel;
	private Button previous;
	private Button next;
	private Grid grid;
	private final EventsPresenter presenter = new EventsPresenter();
	private WhenSeen reading;
	private RowCache cache;
	private LatestResult<Input, EventRows> scanning;

	/** The rows are in {@code found} as soon as the scan has begun. */
	private record Input(OpenTrace trace, Query query, EventRows[] found) {
	}

	private Input running;
	/** Finds the row of a time at which somebody points in another view. */
	private LatestResult<Pointed, Long> pointing;

	private record Pointed(OpenTrace trace, RowCache cache, long timeNs) {
	}

	private final class Content implements GridContent {
		@Override
		public int rowCount() {
			return presenter.pageRows();
		}

		@Override
		public String text(int column, int row) {
			Row r = cache == null ? null : cache.row(presenter.pageStart() + row);
			return r == null ? "" : cache.rows().text(presenter.columns().get(column), r);
		}
	}

	@Override
	protected void createContents(Composite parent) {
		area = new Composite(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 0).applyTo(area);
		Composite bar = new Composite(area, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(3).margins(6, 2).applyTo(bar);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(bar);
		summary = new Label(bar, SWT.NONE);
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.FILL, SWT.CENTER).applyTo(summary);
		pages = new Composite(bar, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(3).applyTo(pages);
		GridDataFactory.fillDefaults().exclude(true).applyTo(pages);
		previous = button(pages, "‹", "Previous page", () -> turn(-1));
		pageLabel = new Label(pages, SWT.NONE);
		GridDataFactory.fillDefaults().align(SWT.FILL, SWT.CENTER).applyTo(pageLabel);
		next = button(pages, "›", "Next page", () -> turn(1));
		stop = button(bar, "Stop", "Keep the rows that have been read and read no more", this::stop);
		GridDataFactory.fillDefaults().align(SWT.FILL, SWT.CENTER).exclude(false).applyTo(stop);
		showStop(false);
		makeGrid();
		scanning = scanning();
		pointing = new LatestResult<>("Row of a time", area, LatestResult.Policy.KEEP_UP) {
			@Override
			protected Long compute(Pointed in, Progress progress) throws MemtraceException {
				try (OpenTrace.Lease lease = in.trace().lease()) {
					return in.cache().rows().lastUntil(in.timeNs());
				}
			}

			@Override
			protected void show(Pointed in, Long row) {
				long place = row - presenter.pageStart();
				boolean here = in.cache() == cache && row >= 0 && place >= 0 && place < presenter.pageRows();
				grid.light(here ? (int) place : -1);
			}
		};
		reading = new WhenSeen(bar, this::read);
		makeActions();
	}

	private LatestResult<Input, EventRows> scanning() {
		return new LatestResult<>("Events", area, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected EventRows compute(Input in, Progress progress) throws MemtraceException {
				try (OpenTrace.Lease lease = in.trace().lease()) {
					boolean counts = !in.trace().hasAccesses() && in.query().filters().isActive();
					EventRows rows = TraceRows.of(lease.store(), in.trace().accesses(), counts ? in.trace().events(progress) : null, in.query(), progress);
					synchronized (in.found()) {
						in.found()[0] = rows;
					}
					rows.scan(progress);
					return rows;
				}
			}

			@Override
			protected void progress(String step, double fraction) {
				showStop(true);
				showProgress();
			}

			@Override
			protected void show(Input in, EventRows result) {
				presenter.complete();
				adopt(in.trace(), result);
				selectWanted(in.query());
			}

			@Override
			protected void failed(Input in, String message) {
				presenter.failed(message);
				describe();
			}

			@Override
			protected void busy(boolean busy) {
				if (!busy) {
					showStop(false);
				}
				describe();
			}
		};
	}

	/** The button takes place only when reading takes longer than a moment. */
	private void showStop(boolean visible) {
		GridData data = (GridData) stop.getLayoutData();
		if (data.exclude == visible) {
			data.exclude = !visible;
			stop.setVisible(visible);
			stop.getParent().getParent().layout(true, true);
		}
	}

	private Button button(Composite parent, String text, String tip, Runnable what) {
		Button b = Buttons.push(parent, text, tip, () -> what.run());
		return b;
	}

	private void makeGrid() {
		if (grid != null) {
			grid.control().dispose();
		}
		List<GridColumn> heads = new ArrayList<>();
		for (EventColumn c : presenter.columns()) {
			heads.add(new GridColumn(c.title(presenter.inTicks()), c.meaning(), WIDTHS.getOrDefault(c, WIDTH), c.isNumber(),
					c.isSortable()));
		}
		grid = new Grid(area, "Events", heads, new Content(), true);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(grid.control());
		grid.showColumns(presenter.shownAtFirst());
		grid.sortedBy(presenter.columns().indexOf(presenter.sort()), presenter.descending());
		grid.onSort(() -> sortBy(presenter.columns().get(grid.sortColumn())));
		grid.onFilter(this::filter);
		grid.onSelect(row -> {
			Row r = row(row);
			if (r != null) {
				presenter.select(r);
			}
		});
		grid.onOpen(row -> show(row, ViewIds.GANTT));
		grid.onCopy(this::copy);
		grid.menu(menu());
	}

	/** Sorts by a column, again in the other direction. */
	public void sortBy(EventColumn column) {
		int place = presenter.columns().indexOf(column);
		presenter.sortBy(place);
		grid.sortedBy(place, presenter.descending());
		reading.request();
	}

	private void filter(Map<Integer, String> texts) {
		if (presenter.filter(texts)) {
			reading.request();
		}
		describe();
	}

	private MenuManager menu() {
		MenuManager menu = new MenuManager();
		menu.setRemoveAllWhenShown(true);
		menu.addMenuListener(m -> {
			int selected = grid.selectedRow();
			Row r = row(selected);
			if (r == null) {
				return;
			}
			m.add(action("Show in Gantt chart\tEnter", () -> show(selected, ViewIds.GANTT)));
			m.add(action("Show in Ocelotl", () -> show(selected, ViewIds.OCELOTL)));
			if (cache.rows().areAccesses()) {
				m.add(action("Open source\tF3", this::openSource));
			}
			m.add(new Separator());
			m.add(action("From this time on", () -> presenter.from(r)));
			m.add(action("Until this time", () -> presenter.until(r)));
			if (cache.rows().areAccesses()) {
				m.add(new Separator());
				only(m, r);
			}
			m.add(new Separator());
			m.add(action("Copy rows\tCtrl+C", this::copy));
			m.add(action("Export rows as CSV…", this::export));
		});
		return menu;
	}

	/** The code that made an access; where it is not known, the structure. The row is read if nobody has seen it yet. */
	@Override
	protected SourceQuestion source() {
		SourceQuestion structure = super.source();
		int selected = grid.selectedRow();
		if (cache == null || selected < 0 || selected >= presenter.pageRows() || !cache.rows().areAccesses()) {
			return structure;
		}
		EventRows rows = cache.rows();
		long index = presenter.pageStart() + selected;
		List<ThreadInfo> threads = trace().threads();
		return (store, code) -> {
			Row r = rows.row(index);
			int image = r.thread() < 0 || r.thread() >= threads.size() ? -1 : threads.get(r.thread()).image();
			int frame = r.ip() == 0 ? -1 : code.of(image, r.ip());
			List<SourcePlace> places = new ArrayList<>();
			SourcePlace place = frame < 0 ? null : SourcePlace.of(code.frames().get(frame));
			if (place != null) {
				places.add(place);
			}
			if (structure != null) {
				places.addAll(structure.places(store, code));
			}
			return places;
		};
	}

	/** Filters for all views. */
	private void only(IMenuManager m, Row r) {
		int member = trace().memberOf(r.producer());
		FilterActions.addProducer(m, trace(), member);
		if (member != r.producer()) {
			m.add(new Separator());
			FilterActions.addProducer(m, trace(), r.producer());
		}
		m.add(new Separator());
		FilterActions.addThread(m, trace(), r.thread());
		if (r.node() >= 0) {
			m.add(new Separator());
			FilterActions.addNode(m, trace(), r.node());
		}
	}

	private void makeActions() {
		Action export = new Action("Export rows as CSV…", Icons.get("table-export")) {
			@Override
			public void run() {
				export();
			}
		};
		export.setToolTipText("Write all rows, with the columns that are shown, to a CSV file");
		getViewSite().getActionBars().getToolBarManager().appendToGroup(IWorkbenchActionConstants.MB_ADDITIONS, export);
		IMenuManager menu = getViewSite().getActionBars().getMenuManager();
		menu.add(action("Go to time…", this::goToTime));
		menu.add(action("Clear column filters", () -> grid.clearFilters()));
		MenuManager chosen = new MenuManager("Columns");
		chosen.setRemoveAllWhenShown(true);
		chosen.addMenuListener(m -> {
			List<Integer> shown = grid.shownColumns();
			for (int i = 0; i < presenter.columns().size(); i++) {
				int column = i;
				Action a = new Action(presenter.columns().get(i).title(presenter.inTicks()), IAction.AS_CHECK_BOX) {
					@Override
					public void run() {
						grid.showColumns(EventsPresenter.toggle(shown, column));
					}
				};
				a.setChecked(shown.contains(i));
				m.add(a);
			}
		});
		menu.add(chosen);
	}

	/** The row at a place of the page, null when it is not there (yet). */
	private Row row(int at) {
		return cache == null || at < 0 || at >= presenter.pageRows() ? null : cache.row(presenter.pageStart() + at);
	}

	@Override
	protected void stateChanged(ViewState old, ViewState now) {
		if (!now.sameAccesses(old)) {
			reading.request();
		}
	}

	/** Shows what was there at a time, as long as somebody points at it. */
	@Override
	protected void timePointed(long timeNs) {
		if (timeNs == PointedTime.NONE || cache == null || !grid.control().isVisible()) {
			pointing.cancel();
			grid.light(-1);
		} else {
			pointing.submit(new Pointed(trace(), cache, timeNs));
		}
	}

	@Override
	protected void traceShown(OpenTrace now) {
		scanning.cancel();
		boolean otherColumns = presenter.show(now);
		adopt(null, null);
		if (otherColumns) {
			makeGrid();
			area.layout();
		} else if (!presenter.isFiltered()) {
			grid.clearFilters(); // they were about another trace
		}
		reading.request();
	}

	private void read() {
		if (trace() == null) {
			return;
		}
		running = new Input(trace(), presenter.query(), new EventRows[1]);
		scanning.submit(running);
	}

	/** Shows what has been found so far. */
	private void showProgress() {
		EventRows rows;
		synchronized (running.found()) {
			rows = running.found()[0];
		}
		if (rows == null) {
			return;
		}
		if (rows.count() > 0 || cache == null) {
			adopt(running.trace(), rows);
		} else {
			describe();
		}
	}

	/** Shows rows, those that are there already again with their number as it is now. */
	private void adopt(OpenTrace of, EventRows rows) {
		boolean same = cache != null && cache.rows() == rows;
		if (!same) {
			if (cache != null) {
				cache.close();
			}
			cache = rows == null ? null : new RowCache(of, rows, area.getDisplay(), this::arrived);
		}
		boolean grown = presenter.rowsAre(rows);
		if (same) {
			grid.update(grown);
		} else {
			grid.refresh();
		}
		boolean several = presenter.hasPages();
		if (((GridData) pages.getLayoutData()).exclude == several) {
			((GridData) pages.getLayoutData()).exclude = !several;
			pages.setVisible(several);
			pages.getParent().layout();
		}
		if (several) {
			pageLabel.setText(presenter.pageText());
			previous.setEnabled(presenter.hasPrevious());
			next.setEnabled(presenter.hasNext());
			pages.getParent().layout(true, true);
		}
		describe();
	}

	private void arrived() {
		if (!grid.control().isDisposed()) {
			grid.update(false);
			if (!cache.error().isEmpty()) {
				presenter.failed(cache.error());
			}
			describe();
		}
	}

	private void turn(int pages) {
		grid.light(-1);
		presenter.turn(pages);
		pageTurned();
	}

	private void pageTurned() {
		grid.refresh();
		adopt(trace(), cache == null ? null : cache.rows());
	}

	private void stop() {
		if (running != null) {
			scanning.cancel();
			presenter.stopped();
			EventRows rows;
			synchronized (running.found()) {
				rows = running.found()[0];
			}
			if (rows != null) {
				adopt(running.trace(), rows);
			}
			describe();
		}
	}

	/** One line that says what is shown, and what is not. */
	private void describe() {
		boolean current = presenter.rows() != null && running != null && presenter.rows() == running.found()[0];
		String problem = presenter.problem();
		summary.setForeground(problem.isEmpty() ? null : ScenePainter.warning(summary));
		summary.setText((problem.isEmpty()
				? presenter.summary(!scanning.isBusy() ? Reading.DONE : current ? Reading.THESE : Reading.OTHERS) : problem)
				.replace("&", "&&"));
	}

	/** Marks a row's page in all views, with its time in the middle of a window. */
	private void show(int at, String view) {
		Row r = row(at);
		if (r == null) {
			return;
		}
		OpenTrace t = trace();
		presenter.centre(r);
		try {
			if (getSite().getPage().showView(view) instanceof RecordView other) {
				other.showRecord(t, r.producer(), r.startNs(), r.endNs());
			}
		} catch (PartInitException e) {
			ILog.of(EventsView.class).warn("The view " + view + " cannot be shown.", e);
		}
	}

	private void goToTime() {
		if (cache == null) {
			return;
		}
		InputDialog dialog = new InputDialog(getSite().getShell(), "Go to time", presenter.timeLabel(), "0",
				EventsPresenter::timeProblem);
		if (dialog.open() == Window.OK) {
			goTo(presenter.timeNs(dialog.getValue()));
		}
	}

	/** Shows the first row from a time on. */
	private void goTo(long ns) {
		find("Go to time", (rows, progress) -> rows.firstFrom(ns), at -> {
			if (at >= 0) {
				reveal(at);
			} else {
				MessageDialog.openInformation(getSite().getShell(), "Go to time",
						"There is no row from this time on, or the rows are not in the order of time.");
			}
		});
	}

	/** Selects the row of a record when the rows of the window have been read. */
	@Override
	public void showRecord(OpenTrace of, int producer, long startNs, long endNs) {
		if (trace() == null || !trace().isSameTrace(of)) {
			return; // locked, or of another group
		}
		presenter.want(new EventsPresenter.Wanted(producer, startNs, endNs));
		reading.request();
	}

	private void selectWanted(Query of) {
		EventsPresenter.Wanted w = presenter.wantedIn(of);
		if (w == null) {
			return;
		}
		// still wanted when the rows are read again meanwhile
		find("Find record", (rows, progress) -> rows.find(w.producer(), w.startNs(), w.endNs(), progress), at -> {
			presenter.lookedFor(w);
			if (at >= 0) { // else a filter hides it, or it is beyond the rows that are kept in this order
				reveal(at);
			}
		});
	}

	/** Looks for a row in the background; what was found is of no use when the rows have become others meanwhile. */
	private void find(String name, RowJobs.Search search, LongConsumer found) {
		RowCache of = cache;
		RowJobs.find(name, trace(), of.rows(), search, area, place -> {
			if (cache == of) {
				found.accept(place);
			}
		});
	}

	private void reveal(long index) {
		long before = presenter.pageStart();
		int place = presenter.turnTo(index);
		if (presenter.pageStart() != before) {
			pageTurned();
		}
		grid.select(place, true);
	}

	/** Selected rows as text, fetched in the background. */
	private void copy() {
		RowCache of = cache;
		List<Integer> rows = grid.selectedRows(MOST_COPIED);
		if (of == null || rows.isEmpty()) {
			return;
		}
		List<EventColumn> shown = presenter.columns(grid.shownColumns());
		List<Long> numbers = rows.stream().map(i -> presenter.pageStart() + i).toList();
		OpenTrace t = trace();
		boolean ticks = presenter.inTicks();
		RowJobs.copy(t, of.rows(), numbers, shown, ticks, area);
	}

	private void export() {
		if (cache == null) {
			return;
		}
		FileDialog dialog = new FileDialog(getSite().getShell(), SWT.SAVE);
		dialog.setText("Export rows");
		dialog.setFilterExtensions(new String[] { "*.csv" });
		dialog.setFileName(presenter.fileName());
		dialog.setOverwrite(true);
		String chosen = dialog.open();
		if (chosen != null) {
			export(Path.of(chosen));
		}
	}

	/** Writes all rows with the columns that are shown, in the background by the job that is returned. */
	Job export(Path file) {
		EventRows rows = cache.rows();
		OpenTrace t = trace();
		List<EventColumn> shown = presenter.columns(grid.shownColumns());
		return RowJobs.write(t, rows, shown, file, area);
	}

	@Override
	protected Snapshot snapshot() {
		RowCache of = cache;
		if (of == null || of.rows().count() == 0) {
			return null;
		}
		OpenTrace t = trace();
		List<EventColumn> shown = presenter.columns(grid.shownColumns());
		Map<String, String> parameters = presenter.parameters(RowJobs.MOST_IN_SNAPSHOT);
		return new Snapshot(t.name() + " events", null, () -> RowJobs.csv(t, of.rows(), shown), parameters);
	}

	/** Whether all rows are known and those that are seen have been fetched. */
	@Override
	protected boolean isSettled() {
		return !reading.isWaiting() && !scanning.isBusy() && !pointing.isBusy() && (cache == null || !cache.isBusy());
	}

	/** For tests. */
	public Grid grid() {
		return grid;
	}

	/** Text of a cell, empty when it has not been fetched; for tests. */
	public String text(EventColumn column, int row) {
		Row r = row(row);
		return r == null ? "" : cache.rows().text(column, r);
	}

	/** Number of rows of the page. */
	public int rowCount() {
		return presenter.pageRows();
	}

	/** What the line above the table says. */
	public String message() {
		return summary.getText();
	}

	@Override
	public void setFocus() {
		grid.control().setFocus();
	}

	@Override
	public void dispose() {
		if (scanning != null) {
			scanning.cancel();
			pointing.cancel();
		}
		if (cache != null) {
			cache.close();
		}
		super.dispose();
	}
}
