// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.events;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongConsumer;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.Status;
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
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.table.CellFilter;
import org.memtrace.analysis.table.EventColumn;
import org.memtrace.analysis.table.EventRows;
import org.memtrace.analysis.table.EventRows.Query;
import org.memtrace.analysis.table.EventRows.Row;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.OpenTrace;
import org.memtrace.views.Snapshot;
import org.memtrace.views.TraceView;
import org.memtrace.views.ViewIds;
import org.memtrace.views.filters.FilterActions;
import org.memtrace.views.gantt.GanttView;
import org.memtrace.views.grid.Grid;
import org.memtrace.views.grid.GridColumn;
import org.memtrace.views.grid.GridContent;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.jobs.MonitorProgress;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.util.Buttons;
import org.memtrace.views.util.Clip;
import org.memtrace.views.util.Icons;
import org.memtrace.views.util.WhenSeen;

/**
 * The accesses (of other traces: the events) of the window, the memory and the filters that are shown, as rows. They stay in the
 * database: those that are seen are fetched. Rows appear while the rest is still being counted.
 */
public final class EventsView extends TraceView {
	/** Rows that can be scrolled through at once: the height of all in pixels is an int. */
	static final int PAGE = 10_000_000;
	private static final int MOST_COPIED = 100_000;
	private static final int MOST_IN_SNAPSHOT = 1_000_000;
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
	private List<EventColumn> columns = List.of();
	/** Whether the heads of the columns of times say so. */
	private boolean inTicks;
	private WhenSeen reading;
	private RowCache cache;
	/** Rows of this number are the first of the page. */
	private long pageStart;
	private int shownRows;
	private Map<EventColumn, String> cells = Map.of();
	private EventColumn sort = EventColumn.START;
	private boolean descending;
	/** Why what was typed is no filter, or empty. */
	private String wrong = "";
	private String failed = "";
	private boolean stopped;
	private LatestResult<Input, EventRows> scanning;

	/** The rows are in {@code found} as soon as the scan has begun. */
	private record Input(OpenTrace trace, Query query, EventRows[] found) {
	}

	private Input running;

	/** A record that another view wants to see. */
	private record Wanted(OpenTrace trace, int producer, long startNs, long endNs) {
	}

	/** To be selected as soon as the rows of the present window are there; null none. */
	private Wanted wantedRecord;

	private final class Content implements GridContent {
		@Override
		public int rowCount() {
			return shownRows;
		}

		@Override
		public String text(int column, int row) {
			Row r = cache == null ? null : cache.row(pageStart + row);
			return r == null ? "" : cache.rows().text(columns.get(column), r);
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
		previous = button(pages, "‹", "Previous page", () -> page(pageStart - PAGE));
		pageLabel = new Label(pages, SWT.NONE);
		GridDataFactory.fillDefaults().align(SWT.FILL, SWT.CENTER).applyTo(pageLabel);
		next = button(pages, "›", "Next page", () -> page(pageStart + PAGE));
		stop = button(bar, "Stop", "Keep the rows that have been read and read no more", this::stop);
		GridDataFactory.fillDefaults().align(SWT.FILL, SWT.CENTER).exclude(false).applyTo(stop);
		showStop(false);
		columns = EventColumn.OF_ACCESSES;
		makeGrid();
		scanning = new LatestResult<>("Events", area, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected EventRows compute(Input in, Progress progress) throws MemtraceException {
				try (OpenTrace.Lease lease = in.trace().lease()) {
					boolean counts = !in.trace().hasAccesses() && in.query().filters().isActive();
					EventRows rows = EventRows.of(lease.store(), in.trace().accesses(), counts ? in.trace().events(progress) : null,
							in.query(), progress);
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
				failed = "";
				adopt(in.trace(), result);
				selectWanted(in.query());
			}

			@Override
			protected void failed(Input in, String message) {
				failed = message;
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
		reading = new WhenSeen(bar, this::read);
		makeActions();
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
		for (EventColumn c : columns) {
			heads.add(new GridColumn(c.title(inTicks), c.meaning(), WIDTHS.getOrDefault(c, WIDTH), c.isNumber(),
					c.isSortable()));
		}
		grid = new Grid(area, "Events", heads, new Content(), true);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(grid.control());
		cells = Map.of();
		sort = EventColumn.START;
		descending = false;
		grid.sortedBy(columns.indexOf(sort), descending);
		grid.onSort(() -> {
			EventColumn wanted = columns.get(grid.sortColumn());
			// times from the beginning first, counts from the largest
			descending = wanted == sort ? !descending : wanted.isNumber() && !wanted.isTime();
			sort = wanted;
			grid.sortedBy(grid.sortColumn(), descending);
			reading.request();
		});
		grid.onFilter(this::filter);
		grid.onSelect(row -> {
			Row r = row(row);
			if (r != null) {
				trace().selection().mark(trace().memberOf(r.producer()));
			}
		});
		grid.onOpen(row -> show(row, ViewIds.GANTT));
		grid.onCopy(this::copy);
		grid.menu(menu());
	}

	private void filter(Map<Integer, String> texts) {
		Map<EventColumn, String> now = new EnumMap<>(EventColumn.class);
		wrong = "";
		for (Map.Entry<Integer, String> e : texts.entrySet()) {
			EventColumn column = columns.get(e.getKey());
			try {
				CellFilter.parse(column, e.getValue(), inTicks);
				now.put(column, e.getValue());
			} catch (MemtraceException x) {
				wrong = x.getMessage();
			}
		}
		if (wrong.isEmpty() && !now.equals(cells)) {
			cells = now;
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
			m.add(new Separator());
			m.add(action("From this time on", () -> trace().selection().window(r.startNs(), trace().selection().state().toNs())));
			m.add(action("Until this time", () -> trace().selection().window(trace().selection().state().fromNs(), r.endNs())));
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

	private static Action action(String text, Runnable what) {
		return new Action(text) {
			@Override
			public void run() {
				what.run();
			}
		};
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
			for (int i = 0; i < columns.size(); i++) {
				int column = i;
				Action a = new Action(columns.get(i).title(inTicks), IAction.AS_CHECK_BOX) {
					@Override
					public void run() {
						List<Integer> now = new ArrayList<>(shown);
						if (!now.remove((Integer) column)) {
							now.add(column);
						}
						if (!now.isEmpty()) {
							grid.showColumns(now);
						}
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
		return cache == null || at < 0 || at >= shownRows ? null : cache.row(pageStart + at);
	}

	@Override
	protected void stateChanged(ViewState old, ViewState now) {
		if (!now.sameAccesses(old)) {
			reading.request();
		}
	}

	@Override
	protected void traceShown(OpenTrace now) {
		scanning.cancel();
		adopt(null, null);
		wantedRecord = null;
		failed = "";
		List<EventColumn> wanted = now == null || now.hasAccesses() ? EventColumn.OF_ACCESSES : EventColumn.OF_EVENTS;
		boolean ticks = now != null && now.info().isInTicks();
		if (wanted != columns || ticks != inTicks) {
			columns = wanted;
			inTicks = ticks;
			makeGrid();
			area.layout();
		}
		reading.request();
	}

	private void read() {
		if (trace() == null) {
			return;
		}
		ViewState s = trace().selection().state();
		stopped = false;
		running = new Input(trace(), new Query(s.fromNs(), s.toNs(), s.producer(), s.filters(), cells, sort, descending),
				new EventRows[1]);
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
			pageStart = 0;
		}
		long count = rows == null ? 0 : rows.count();
		int now = (int) Math.max(0, Math.min(PAGE, count - pageStart));
		boolean grown = now != shownRows;
		shownRows = now;
		if (same) {
			grid.update(grown);
		} else {
			grid.refresh();
		}
		boolean several = count > PAGE;
		if (((GridData) pages.getLayoutData()).exclude == several) {
			((GridData) pages.getLayoutData()).exclude = !several;
			pages.setVisible(several);
			pages.getParent().layout();
		}
		if (several) {
			pageLabel.setText(String.format(Locale.ROOT, "%,d to %,d", pageStart + 1, pageStart + now));
			previous.setEnabled(pageStart > 0);
			next.setEnabled(pageStart + PAGE < count);
			pages.getParent().layout(true, true);
		}
		describe();
	}

	private void arrived() {
		if (!grid.control().isDisposed()) {
			grid.update(false);
			if (!cache.error().isEmpty()) {
				failed = cache.error();
			}
			describe();
		}
	}

	private void page(long start) {
		pageStart = Math.max(0, start);
		long count = cache == null ? 0 : cache.rows().count();
		shownRows = (int) Math.max(0, Math.min(PAGE, count - pageStart));
		grid.refresh();
		adopt(trace(), cache == null ? null : cache.rows());
	}

	private void stop() {
		if (running != null) {
			scanning.cancel();
			stopped = true;
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
		String problem = wrong.isEmpty() ? failed : wrong;
		summary.setForeground(problem.isEmpty() ? null : ScenePainter.warning(summary));
		summary.setText((problem.isEmpty() ? text() : problem).replace("&", "&&"));
	}

	private String text() {
		if (trace() == null) {
			return "";
		}
		EventRows rows = cache == null ? null : cache.rows();
		boolean current = rows != null && running != null && rows == running.found()[0];
		if (scanning.isBusy() && !current) {
			return "Reading…";
		}
		if (rows == null) {
			return "";
		}
		String what = Units.plural(rows.count(), "row");
		if (scanning.isBusy()) {
			return rows.count() == 0 ? String.format(Locale.ROOT, "%,d rows read…", rows.read()) : what + " so far…";
		}
		if (stopped && !rows.isComplete()) {
			return rows.count() == 0 ? "Stopped before the rows were in order" : "The first " + what + "; reading was stopped";
		}
		if (rows.matched() > rows.count()) {
			return String.format(Locale.ROOT, "The first %,d of %,d rows in this order; filter to see others", rows.count(),
					rows.matched());
		}
		Query q = rows.query();
		boolean part = q.fromNs() > trace().info().startNs() || q.toNs() < trace().info().endNs();
		String time = part ? ", " + Units.duration(trace().info(), q.fromNs() - trace().info().startNs()) + " + "
				+ Units.duration(trace().info(), q.toNs() - q.fromNs()) : "";
		String where = q.producer() > 0 ? ", in " + trace().producers().name(q.producer()) : "";
		return what + time + where + (q.cells().isEmpty() ? "" : ", filtered by column");
	}

	/** Marks a row's page in all views, with its time in the middle of a window. */
	private void show(int at, String view) {
		Row r = row(at);
		if (r == null) {
			return;
		}
		OpenTrace t = trace();
		long length = Math.max(1, r.endNs() - r.startNs());
		t.selection().window(r.startNs() - 5 * length, r.endNs() + 5 * length);
		t.selection().mark(t.memberOf(r.producer()));
		try {
			if (getSite().getPage().showView(view) instanceof GanttView gantt) {
				gantt.showRecord(t, r.producer(), r.startNs(), r.endNs());
			}
		} catch (PartInitException e) {
			ILog.of(EventsView.class).warn("The view " + view + " cannot be shown.", e);
		}
	}

	private void goToTime() {
		EventRows rows = cache == null ? null : cache.rows();
		if (rows == null) {
			return;
		}
		String what = (inTicks ? "Ticks" : "Milliseconds") + " from the start of the trace:";
		InputDialog dialog = new InputDialog(getSite().getShell(), "Go to time", what, "0",
				text -> {
					try {
						Double.parseDouble(text.replace(",", ""));
						return null;
					} catch (NumberFormatException e) {
						return "A number such as 12.5";
					}
				});
		if (dialog.open() == Window.OK) {
			goTo(trace().info().startNs() + (long) ((inTicks ? 1 : 1e6)
					* Double.parseDouble(dialog.getValue().replace(",", ""))));
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

	/** Selects the row of a record when the rows of the window have been read; for other views. */
	public void showRecord(OpenTrace of, int producer, long startNs, long endNs) {
		if (trace() == null || !trace().isSameTrace(of)) {
			return; // locked, or of another group
		}
		wantedRecord = new Wanted(trace(), producer, startNs, endNs);
		reading.request();
	}

	private void selectWanted(Query of) {
		Wanted w = wantedRecord;
		if (w == null || trace() == null) {
			return;
		}
		ViewState s = trace().selection().state();
		if (of.fromNs() != s.fromNs() || of.toNs() != s.toNs()) {
			return; // the rows of another window were still on their way
		}
		if (w.trace() != trace()) {
			wantedRecord = null;
			return;
		}
		// still wanted when the rows are read again meanwhile
		find("Find record", (rows, progress) -> rows.find(w.producer(), w.startNs(), w.endNs(), progress), at -> {
			if (wantedRecord == w) {
				wantedRecord = null;
			}
			if (at >= 0) { // else a filter hides it, or the rows are in another order
				reveal(at);
			}
		});
	}

	/** Where a row is. */
	private interface Search {
		long find(EventRows rows, Progress progress) throws MemtraceException;
	}

	/**
	 * Looks for a row in the background.
	 *
	 * @param found gets its place, negative when there is none; not called when the rows have become others meanwhile
	 */
	private void find(String name, Search search, LongConsumer found) {
		RowCache of = cache;
		OpenTrace t = trace();
		Job job = Job.create(name, monitor -> {
			long at = -1;
			try (OpenTrace.Lease lease = t.lease()) {
				at = search.find(of.rows(), new MonitorProgress(monitor));
			} catch (CancelledException e) {
				return Status.CANCEL_STATUS;
			} catch (MemtraceException e) {
				ILog.of(EventsView.class).warn(e.getMessage(), e);
			}
			long place = at;
			area.getDisplay().asyncExec(() -> {
				if (!area.isDisposed() && cache == of) {
					found.accept(place);
				}
			});
			return Status.OK_STATUS;
		});
		job.schedule();
	}

	private void reveal(long index) {
		if (index / PAGE * PAGE != pageStart) {
			page(index / PAGE * PAGE);
		}
		grid.select((int) (index - pageStart), true);
	}

	/** Selected rows as text, fetched in the background. */
	private void copy() {
		RowCache of = cache;
		List<Integer> rows = grid.selectedRows(MOST_COPIED);
		if (of == null || rows.isEmpty()) {
			return;
		}
		List<EventColumn> shown = grid.shownColumns().stream().map(columns::get).toList();
		long start = pageStart;
		OpenTrace t = trace();
		boolean ticks = inTicks;
		Job job = Job.create("Copy rows", monitor -> {
			StringBuilder text = new StringBuilder(String.join("\t", shown.stream().map(c -> c.title(ticks)).toList())).append('\n');
			try (OpenTrace.Lease lease = t.lease()) {
				long have = -1;
				List<Row> block = List.of();
				for (int i : rows) {
					long at = start + i;
					if (at / EventRows.BLOCK != have) {
						have = at / EventRows.BLOCK;
						block = of.rows().block(have);
					}
					Row r = block.get((int) (at % EventRows.BLOCK));
					text.append(String.join("\t", shown.stream().map(c -> of.rows().text(c, r)).toList())).append('\n');
				}
			} catch (CancelledException e) {
				return Status.CANCEL_STATUS;
			} catch (MemtraceException e) {
				ILog.of(EventsView.class).warn(e.getMessage(), e);
				return Status.OK_STATUS;
			}
			area.getDisplay().asyncExec(() -> Clip.copy(area.getDisplay(), text.toString()));
			return Status.OK_STATUS;
		});
		job.schedule();
	}

	private void export() {
		if (cache == null) {
			return;
		}
		FileDialog dialog = new FileDialog(getSite().getShell(), SWT.SAVE);
		dialog.setText("Export rows");
		dialog.setFilterExtensions(new String[] { "*.csv" });
		dialog.setFileName(trace().name().replaceAll("[^A-Za-z0-9._-]+", "-") + "-events.csv");
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
		List<EventColumn> shown = grid.shownColumns().stream().map(columns::get).toList();
		Job job = Job.create("Export rows to " + file.getFileName(), monitor -> {
			try (OpenTrace.Lease lease = t.lease(); BufferedWriter out = Files.newBufferedWriter(file, StandardCharsets.UTF_8)) {
				rows.toCsv(shown, out, new MonitorProgress(monitor));
			} catch (CancelledException e) {
				return Status.CANCEL_STATUS;
			} catch (MemtraceException | IOException e) {
				ILog.of(EventsView.class).warn("Writing " + file + " failed.", e);
				area.getDisplay().asyncExec(() -> {
					if (!area.isDisposed()) {
						MessageDialog.openError(getSite().getShell(), "Export rows", file + " cannot be written: " + e.getMessage());
					}
				});
			}
			return Status.OK_STATUS;
		});
		job.setUser(true);
		job.schedule();
		return job;
	}

	@Override
	protected Snapshot snapshot() {
		RowCache of = cache;
		if (of == null || of.rows().count() == 0) {
			return null;
		}
		OpenTrace t = trace();
		Query q = of.rows().query();
		List<EventColumn> shown = grid.shownColumns().stream().map(columns::get).toList();
		Map<String, String> parameters = new HashMap<>(Map.of("trace", t.name(), "from_ns", Long.toString(q.fromNs()), "to_ns",
				Long.toString(q.toNs()), "producer", q.producer() < 0 ? "all" : t.producers().name(q.producer()), "filters",
				q.filters().toJson(), "order", q.sort().title() + (q.descending() ? " descending" : ""), "rows",
				Long.toString(Math.min(MOST_IN_SNAPSHOT, of.rows().count())), "rows_in_all", Long.toString(of.rows().matched())));
		q.cells().forEach((column, text) -> parameters.put("column " + column.title(inTicks), text));
		return new Snapshot(t.name() + " events", null, () -> csv(t, of.rows(), shown), parameters);
	}

	/** The first rows; all are exported by another action, which needs no memory for them. */
	private static String csv(OpenTrace t, EventRows rows, List<EventColumn> shown) {
		StringBuilder b = new StringBuilder();
		try (OpenTrace.Lease lease = t.lease()) {
			rows.toCsv(shown, b, MOST_IN_SNAPSHOT, Progress.NONE);
		} catch (MemtraceException | IOException e) {
			throw new java.io.UncheckedIOException(e instanceof IOException io ? io : new IOException(e.getMessage(), e));
		}
		return b.toString();
	}

	/** Whether all rows are known and those that are seen have been fetched. */
	@Override
	protected boolean isSettled() {
		return !reading.isWaiting() && !scanning.isBusy() && (cache == null || !cache.isBusy());
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
		return shownRows;
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
		}
		if (cache != null) {
			cache.close();
		}
		super.dispose();
	}
}
