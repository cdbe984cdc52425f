// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.structures;

import static org.memtrace.views.util.MenuActions.action;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.IToolBarManager;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.action.Separator;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Text;
import org.eclipse.ui.IWorkbenchActionConstants;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.table.StructureSheet.Column;
import org.memtrace.analysis.table.StructureSheet;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CountUnit;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.Structure;
import org.memtrace.views.filters.FilterActions;
import org.memtrace.views.grid.Grid;
import org.memtrace.views.grid.GridColumn;
import org.memtrace.views.grid.GridContent;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.util.Clip;
import org.memtrace.views.util.Icons;
import org.memtrace.views.util.WhenSeen;
import org.memtrace.views.view.Snapshot;
import org.memtrace.views.view.TraceView;

/**
 * All data structures in the window and the memory that is shown, sortable by each column. Selecting one marks it in all views
 * and the other way round; double click zooms to it.
 */
public final class StructuresView extends TraceView {
	private static final Map<Column, Integer> WIDTHS = Map.of(Column.NAME, 175, Column.KIND, 60, Column.ACCESSES, 96,
			Column.READS, 90, Column.WRITES, 90,
			Column.FIRST_TOUCHER, 145, Column.PAGES, 68, Column.THREADS, 70, Column.SITE, 125, Column.CALLERS, 260);
	private static final int WIDTH = 78;
	private static final int MOST_FRAMES = 6;
	private static final int MOST_FILTERED = 1000;

	private Text filter;
	private Label summary;
	private Grid grid;
	private WhenSeen load;
	/** Of the last computation, perhaps not yet in the wanted order; null none. */
	private StructureSheet loaded;
	/** What is shown. */
	private StructureSheet sheet;
	private ViewState sheetState;
	private int[] order = new int[0];
	private Map<Integer, String> stacks = new ConcurrentHashMap<>();
	private Column sort = Column.ACCESSES;
	private boolean descending = true;
	private LatestResult<Input, StructureSheet> loading;
	private LatestResult<Arrangement, int[]> arranging;

	/** @param stacks texts of call stacks of the trace, as far as they are known */
	private record Input(OpenTrace trace, ViewState state, Map<Integer, String> stacks) {
	}

	/** Which rows are wanted in which order. */
	private record Arrangement(StructureSheet sheet, ViewState state, String filter, Column sort, boolean descending) {
	}

	private final class Content implements GridContent {
		@Override
		public int rowCount() {
			return order.length;
		}

		@Override
		public String text(int column, int row) {
			return sheet.text(Column.values()[column], order[row]);
		}

		@Override
		public int color(int row) {
			return ScenePainter.palette(grid.control()).structure(sheet.text(Column.NAME, order[row]));
		}
	}

	@Override
	protected void createContents(Composite parent) {
		Composite area = new Composite(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).spacing(8, 2).applyTo(area);
		filter = new Text(area, SWT.SEARCH | SWT.ICON_SEARCH | SWT.ICON_CANCEL);
		filter.setMessage("Filter by name, kind, thread, site or caller; /regular expression/");
		GridDataFactory.fillDefaults().grab(true, false).indent(2, 2).applyTo(filter);
		filter.addModifyListener(e -> arrange());
		summary = new Label(area, SWT.NONE);
		GridDataFactory.fillDefaults().align(SWT.END, SWT.CENTER).indent(0, 2).hint(330, SWT.DEFAULT).applyTo(summary);
		summary.setAlignment(SWT.RIGHT);
		grid = new Grid(area, "Data structures", columns(CountUnit.RECORDS, false), new Content(), false);
		GridDataFactory.fillDefaults().grab(true, true).span(2, 1).applyTo(grid.control());
		grid.sortedBy(sort.ordinal(), descending);
		grid.onSort(() -> {
			sort = Column.values()[grid.sortColumn()];
			descending = grid.isDescending();
			arrange();
		});
		grid.onSelect(row -> {
			if (trace() != null && row >= 0) {
				trace().selection().mark(producer(row));
			}
		});
		grid.onOpen(row -> zoom());
		grid.onCopy(this::copySelected);
		loading = loading();
		arranging = new LatestResult<>("Sort structures", grid.control(), LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected int[] compute(Arrangement input, Progress progress) throws MemtraceException {
				return input.sheet().arrange(input.filter(), !input.state().filters().isActive(), input.sort(), input.descending(), progress);
			}

			@Override
			protected void show(Arrangement input, int[] result) {
				sheet = input.sheet();
				sheetState = input.state();
				grid.texts(columns(trace().info().counts(), isPart(sheetState)));
				showRows(result);
			}
		};
		load = new WhenSeen(grid.control(), this::load);
		makeActions();
	}

	private LatestResult<Input, StructureSheet> loading() {
		return new LatestResult<>("Structures", grid.control(), LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.CAN_WAIT) {
			@Override
			protected StructureSheet compute(Input input, Progress progress) throws MemtraceException {
				ViewState s = input.state();
				return StructureSheet.of(input.trace().accesses(s.filters(), progress), input.trace().structures(), s.fromNs(), s.toNs(),
						s.producer(), callers(input, progress), progress);
			}

			@Override
			protected void show(Input input, StructureSheet result) {
				loaded = result;
				arranging.submit(arrangement(input.state()));
			}

			@Override
			protected void failed(Input input, String message) {
				summary.setText(message);
			}
		};
	}

	/** Whether accesses of the run are not looked at, because of the window or a filter. */
	private boolean isPart(ViewState s) {
		ViewState all = trace().selection().initial();
		return s.fromNs() != all.fromNs() || s.toNs() != all.toNs() || s.filters().isActive();
	}

	/** Texts of call stacks: the functions, innermost first. All are read here, so that painting never waits for the store. */
	private static IntFunction<String> callers(Input input, Progress progress) throws MemtraceException {
		Map<Integer, String> known = input.stacks();
		try (OpenTrace.Lease lease = input.trace().lease()) {
			for (Structure s : input.trace().structures()) {
				if (s.stack() >= 0 && !known.containsKey(s.stack())) {
					progress.check();
					known.put(s.stack(), chain(lease.store().stack(s.stack())));
				}
			}
		}
		return id -> known.getOrDefault(id, "");
	}

	private static String chain(List<CallFrame> frames) {
		List<String> names = new ArrayList<>();
		for (CallFrame f : frames) {
			if (!f.function().isEmpty() && names.size() < MOST_FRAMES) {
				names.add(f.function());
			}
		}
		return String.join(" ← ", names);
	}

	private void makeActions() {
		Action copy = new Action("Copy as CSV", Icons.get("copy")) {
			@Override
			public void run() {
				if (sheet != null) {
					Clip.copy(grid.control().getDisplay(), sheet.toCsv(order));
				}
			}
		};
		copy.setToolTipText("Copy all rows that are shown as CSV, with exact numbers");
		IToolBarManager tools = getViewSite().getActionBars().getToolBarManager();
		tools.appendToGroup(IWorkbenchActionConstants.MB_ADDITIONS, copy);
		MenuManager menu = new MenuManager();
		menu.setRemoveAllWhenShown(true);
		menu.addMenuListener(m -> {
			int[] producers = grid.selectedRows(MOST_FILTERED).stream().mapToInt(this::producer).toArray();
			if (trace() != null && producers.length > 0) {
				m.add(action("Zoom to structure\tEnter", this::zoom));
				m.add(action("Open source\tF3", this::openSource));
				m.add(new Separator());
				FilterActions.add(m, trace(), producers.length == 1 ? "this structure" : "these " + producers.length + " structures",
						Condition.Subtree.of(trace().producers(), producers));
				m.add(new Separator());
				m.add(action("Copy rows\tCtrl+C", this::copySelected));
			}
			m.add(copy);
		});
		grid.menu(menu);
	}

	@Override
	protected void markChanged(int producer) {
		select();
	}

	@Override
	protected void coloursChanged() {
		grid.control().redraw();
	}

	@Override
	protected void stateChanged(ViewState old, ViewState now) {
		if (!now.sameAccesses(old)) {
			load.request();
		}
	}

	private static List<GridColumn> columns(CountUnit unit, boolean part) {
		List<GridColumn> columns = new ArrayList<>();
		for (Column c : Column.values()) {
			columns.add(new GridColumn(c.title(unit, part), c.meaning(unit, part), WIDTHS.getOrDefault(c, WIDTH), c.isNumber(), true));
		}
		return columns;
	}

	@Override
	protected void traceShown(OpenTrace now) {
		if (now != null) {
			grid.texts(columns(now.info().counts(), false));
		}
		loaded = null;
		sheet = null;
		stacks = new ConcurrentHashMap<>();
		loading.cancel();
		arranging.cancel();
		showRows(new int[0]);
		load.request();
	}

	/** Whether there is anything to list: the events of other tools are of no memory. */
	private static boolean hasStructures(OpenTrace trace) {
		return trace.hasAccesses() || !trace.structures().isEmpty();
	}

	private void load() {
		if (trace() != null && !hasStructures(trace())) {
			summary.setText("This trace has no memory structures.");
			summary.getParent().layout();
		} else if (trace() != null) {
			loading.submit(new Input(trace(), trace().selection().state(), stacks));
		}
	}

	@Override
	protected Snapshot snapshot() {
		StructureSheet shown = sheet;
		int[] rows = order;
		ViewState s = sheetState;
		return shown == null ? null
				: new Snapshot(trace().name() + " structures", null, () -> shown.toCsv(rows),
						Map.of("trace", trace().name(), "from_ns", Long.toString(s.fromNs()), "to_ns", Long.toString(s.toNs()), "producer",
								s.producer() < 0 ? "all" : trace().producers().name(s.producer()), "filters", s.filters().toJson(), "search",
								filter.getText(), "order", sort.title(trace().info().counts()) + (descending ? " descending" : "")));
	}

	private Arrangement arrangement(ViewState state) {
		return new Arrangement(loaded, state, filter.getText().strip(), sort, descending);
	}

	/** Sorts by a column, again in the other direction. */
	public void sortBy(Column column) {
		descending = column == sort ? !descending : column.isNumber();
		sort = column;
		arrange();
	}

	/** Filters, sorts and shows the rows. */
	private void arrange() {
		grid.sortedBy(sort.ordinal(), descending);
		if (loaded != null && !loading.isBusy()) {
			arranging.submit(arrangement(sheet == loaded ? sheetState : trace().selection().state()));
		}
	}

	/** The marked structure stays selected. */
	private void showRows(int[] now) {
		order = now;
		grid.refresh();
		summary.setText(sheet == null ? "" : describe());
		summary.getParent().layout();
		select();
	}

	private String describe() {
		String rows = order.length == sheet.size() ? Units.plural(order.length, "row")
				: String.format(Locale.ROOT, "%,d of %s", order.length, Units.plural(sheet.size(), "row"));
		boolean part = sheetState.fromNs() > trace().info().startNs() || sheetState.toNs() < trace().info().endNs();
		return part ? rows + ", " + Units.duration(trace().info(), sheetState.fromNs() - trace().info().startNs()) + " – "
				+ Units.duration(trace().info(), sheetState.toNs() - trace().info().startNs()) : rows;
	}

	/** Whether the rows are those of the trace, the filter and the order. */
	@Override
	protected boolean isSettled() {
		return !load.isWaiting() && !loading.isBusy() && !arranging.isBusy() && (trace() == null || sheet != null || !hasStructures(trace()));
	}

	/** For tests. */
	public Text filter() {
		return filter;
	}

	/** For tests. */
	public Grid grid() {
		return grid;
	}

	/** Text of a cell that is shown. */
	public String text(Column column, int row) {
		return sheet.text(column, order[row]);
	}

	/** Number of rows that are shown. */
	public int rowCount() {
		return order.length;
	}

	private int producer(int row) {
		return sheet.producer(order[row]);
	}

	/** Follows what is marked, or the structures that it is in; does not answer it. */
	private void select() {
		Set<Integer> rows = new HashSet<>();
		for (int id : trace() == null || sheet == null ? new int[0] : trace().selection().marks()) {
			rows.add(sheet.rowOf(trace().memberOf(id)));
		}
		int[] at = IntStream.range(0, order.length).filter(i -> rows.contains(order[i])).toArray();
		List<Integer> selected = grid.selectedRows(MOST_FILTERED);
		if (at.length == 1 && selected.contains(at[0])) {
			return; // the person has selected more
		}
		if (!selected.equals(Arrays.stream(at).boxed().toList())) {
			grid.selectAll(at, true);
		}
	}

	private void zoom() {
		int row = grid.selectedRow();
		if (trace() != null && row >= 0) {
			ViewState s = trace().selection().state();
			trace().selection().zoom(s.fromNs(), s.toNs(), producer(row));
		}
	}

	private void copySelected() {
		if (sheet != null) {
			List<Integer> rows = grid.selectedRows(Integer.MAX_VALUE);
			List<Integer> wanted = rows.isEmpty() ? Collections.emptyList() : rows;
			Clip.copy(grid.control().getDisplay(), sheet.toCsv(wanted.stream().mapToInt(i -> order[i]).toArray()));
		}
	}

	@Override
	public void setFocus() {
		grid.control().setFocus();
	}

	@Override
	public void dispose() {
		if (loading != null) {
			loading.cancel();
			arranging.cancel();
		}
		super.dispose();
	}
}
