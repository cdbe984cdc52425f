// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.structures;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.action.Separator;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.accessibility.AccessibleAdapter;
import org.eclipse.swt.accessibility.AccessibleEvent;
import org.eclipse.swt.dnd.Clipboard;
import org.eclipse.swt.dnd.TextTransfer;
import org.eclipse.swt.dnd.Transfer;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableColumn;
import org.eclipse.swt.widgets.TableItem;
import org.eclipse.swt.widgets.Text;
import org.memtrace.analysis.FilterSet;
import org.memtrace.analysis.StructureTable;
import org.memtrace.analysis.StructureTable.Row;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.views.OpenTrace;
import org.memtrace.views.Snapshot;
import org.memtrace.views.TraceView;
import org.memtrace.views.filters.FilterActions;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.state.TraceSelection;
import org.memtrace.views.state.ViewState;
import org.memtrace.views.util.Icons;

/**
 * All data structures, sortable by each column. Selecting one marks it in the picture and the other way round; double
 * click zooms to it. Of very many rows only the first are shown.
 */
public final class StructuresView extends TraceView {
	/** GTK holds a row for each item, also of a virtual table: 50,000 of them took 0.25 s to add or remove. */
	static final int MAX_SHOWN = 5_000;

	private Table table;
	private Text filter;
	private Label more;
	private Contents contents;
	private StructureTable structures;
	private List<Row> rows = List.of();
	private int sortColumn = StructureColumn.DEFAULT_SORT;
	private boolean descending = true;
	private LatestResult<Input, Contents> loading;
	private LatestResult<Arrangement, List<Row>> arranging;

	/**
	 * The table with what the filter searches; sorting and filtering many thousand rows takes longer than the display
	 * thread may be away, so that a job does it.
	 *
	 * @param searched for each row its texts in small letters, null for one of which the filters of the trace leave nothing
	 */
	private record Contents(StructureTable table, String[] searched) {
	}

	private record Input(OpenTrace trace, FilterSet filters) {
	}

	/** Which rows are wanted in which order. */
	private record Arrangement(Contents contents, String filter, int column, boolean descending) {
	}

	@Override
	protected void createContents(Composite parent) {
		GridLayoutFactory.fillDefaults().spacing(0, 0).applyTo(parent);
		filter = new Text(parent, SWT.SEARCH | SWT.ICON_SEARCH | SWT.ICON_CANCEL);
		filter.setMessage("Filter by name, kind, thread or site");
		GridDataFactory.fillDefaults().grab(true, false).indent(2, 2).applyTo(filter);
		filter.addModifyListener(e -> arrange());

		table = new Table(parent, SWT.VIRTUAL | SWT.FULL_SELECTION | SWT.SINGLE | SWT.V_SCROLL | SWT.H_SCROLL);
		GridDataFactory.fillDefaults().grab(true, true).indent(0, 2).applyTo(table);
		table.setHeaderVisible(true);
		table.setLinesVisible(false);
		table.getAccessible().addAccessibleListener(new AccessibleAdapter() {
			@Override
			public void getName(AccessibleEvent e) {
				e.result = "Data structures";
			}
		});
		more = new Label(parent, SWT.NONE);
		GridDataFactory.fillDefaults().grab(true, false).indent(6, 2).exclude(true).applyTo(more);
		more.setVisible(false);
		for (int i = 0; i < StructureColumn.ALL.size(); i++) {
			StructureColumn c = StructureColumn.ALL.get(i);
			TableColumn column = new TableColumn(table, c.number() ? SWT.RIGHT : SWT.LEFT);
			column.setText(c.title());
			column.setToolTipText(c.tip());
			column.setWidth(c.width());
			column.setMoveable(true);
			int index = i;
			column.addListener(SWT.Selection, e -> sortBy(index));
		}
		table.addListener(SWT.SetData, this::fill);
		table.addListener(SWT.Selection, e -> mark());
		table.addListener(SWT.DefaultSelection, e -> zoom());
		table.addListener(SWT.MouseDoubleClick, e -> zoom());
		table.addListener(SWT.KeyDown, e -> {
			if ((e.stateMask & SWT.MOD1) != 0 && e.keyCode == 'c') {
				copy();
			}
		});
		loading = new LatestResult<>("Structures", table, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected Contents compute(Input input, Progress progress) throws CancelledException {
				StructureTable result = StructureTable.of(input.trace().accesses(input.filters(), progress),
						input.trace().structures(), progress);
				String[] searched = new String[result.rows().size()];
				for (int i = 0; i < searched.length; i++) {
					Row row = result.rows().get(i);
					searched[i] = input.filters().isActive() && row.accesses() == 0 ? null : searched(result, row);
					progress.check();
				}
				return new Contents(result, searched);
			}

			@Override
			protected void show(Input input, Contents result) {
				contents = result;
				arrange();
			}
		};
		arranging = new LatestResult<>("Sort structures", table, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected List<Row> compute(Arrangement input, Progress progress) throws CancelledException {
				return arranged(input, progress);
			}

			@Override
			protected void show(Arrangement input, List<Row> result) {
				structures = input.contents().table();
				showRows(result);
			}
		};
		makeActions();
	}

	private void makeActions() {
		Action copy = new Action("Copy as CSV", Icons.get("copy")) {
			@Override
			public void run() {
				copy();
			}
		};
		copy.setToolTipText("Copy the table as CSV, with exact numbers (Ctrl+C)");
		getViewSite().getActionBars().getToolBarManager().add(copy);
		Action zoom = new Action("Zoom to structure") {
			@Override
			public void run() {
				zoom();
			}
		};
		MenuManager menu = new MenuManager();
		menu.setRemoveAllWhenShown(true);
		menu.addMenuListener(m -> {
			int index = table.getSelectionIndex();
			if (trace() != null && index >= 0) {
				m.add(zoom);
				m.add(new Separator());
				FilterActions.addProducer(m, trace(), rows.get(index).producer());
				m.add(new Separator());
			}
			m.add(copy);
		});
		table.setMenu(menu.createContextMenu(table));
	}

	@Override
	protected void markChanged(int producer) {
		select(producer);
	}

	@Override
	protected void stateChanged(ViewState old, ViewState now) {
		if (!now.filters().equals(old.filters())) {
			load();
		}
	}

	@Override
	protected void traceShown(OpenTrace now) {
		contents = null;
		structures = null;
		loading.cancel();
		arranging.cancel();
		showRows(List.of());
		load();
	}

	private void load() {
		if (trace() != null) {
			loading.submit(new Input(trace(), trace().selection().state().filters()));
		}
	}

	@Override
	protected Snapshot snapshot() {
		StructureTable shown = structures;
		return shown == null ? null
				: new Snapshot(trace().name() + " structures", null, shown::toCsv, Map.of("trace", trace().name(), "filters",
						trace().selection().state().filters().toJson()));
	}

	private void sortBy(int column) {
		descending = column == sortColumn ? !descending : StructureColumn.ALL.get(column).number();
		sortColumn = column;
		arrange();
	}

	/** Filters, sorts and shows the rows. */
	private void arrange() {
		table.setSortColumn(table.getColumn(sortColumn));
		table.setSortDirection(descending ? SWT.DOWN : SWT.UP);
		if (contents != null) {
			arranging.submit(new Arrangement(contents, filter.getText().strip().toLowerCase(Locale.ROOT), sortColumn,
					descending));
		}
	}

	private static String searched(StructureTable table, Row row) {
		StringBuilder text = new StringBuilder();
		for (StructureColumn c : StructureColumn.ALL) {
			if (!c.number()) {
				text.append(c.text(table, row)).append('\n');
			}
		}
		return text.toString().toLowerCase(Locale.ROOT);
	}

	private static List<Row> arranged(Arrangement a, Progress progress) throws CancelledException {
		StructureTable structures = a.contents().table();
		List<Row> all = structures.rows();
		List<Row> shown = new ArrayList<>();
		for (int i = 0; i < all.size(); i++) {
			String searched = a.contents().searched()[i];
			if (searched != null && searched.contains(a.filter())) {
				shown.add(all.get(i));
			}
		}
		progress.check();
		StructureColumn column = StructureColumn.ALL.get(a.column());
		Comparator<Row> order = column.order(structures, shown);
		shown.sort((a.descending() ? order.reversed() : order).thenComparingInt(Row::producer));
		return shown;
	}

	/** The marked structure stays selected. */
	private void showRows(List<Row> now) {
		rows = now;
		table.setItemCount(Math.min(MAX_SHOWN, rows.size()));
		table.clearAll();
		boolean cut = rows.size() > MAX_SHOWN;
		if (cut) {
			more.setText(String.format(Locale.ROOT, "The first %,d of %,d rows; filter or sort to see others", MAX_SHOWN,
					rows.size()));
		}
		if (more.getVisible() != cut) {
			more.setVisible(cut);
			((GridData) more.getLayoutData()).exclude = !cut;
			more.getParent().layout();
		}
		select(trace() == null ? TraceSelection.NO_MARK : trace().selection().mark());
	}

	/** Whether the rows are those of the trace, the filter and the order. */
	@Override
	protected boolean isSettled() {
		return !loading.isBusy() && !arranging.isBusy() && (trace() == null || structures != null);
	}

	Text filter() {
		return filter;
	}

	private void fill(Event e) {
		if (e.index < 0 || e.index >= rows.size()) {
			return; // GTK asks for rows also while they are being removed
		}
		TableItem item = (TableItem) e.item;
		Row row = rows.get(e.index);
		String[] texts = new String[StructureColumn.ALL.size()];
		for (int i = 0; i < texts.length; i++) {
			texts[i] = StructureColumn.ALL.get(i).text(structures, row);
		}
		item.setText(texts);
	}

	private void mark() {
		int index = table.getSelectionIndex();
		if (trace() != null && index >= 0) {
			trace().selection().mark(rows.get(index).producer());
		}
	}

	/** Follows the mark; does not answer it. */
	private void select(int producer) {
		int at = table.getSelectionIndex();
		if (at >= 0 && at < rows.size() && rows.get(at).producer() == producer) {
			return;
		}
		table.deselectAll();
		for (int i = 0; i < table.getItemCount(); i++) {
			if (rows.get(i).producer() == producer) {
				table.select(i);
				table.showSelection();
				return;
			}
		}
	}

	private void zoom() {
		int index = table.getSelectionIndex();
		if (trace() == null || index < 0) {
			return;
		}
		ViewState s = trace().selection().state();
		trace().selection().zoom(s.fromNs(), s.toNs(), rows.get(index).producer());
	}

	private void copy() {
		if (structures != null) {
			Clipboard clipboard = new Clipboard(table.getDisplay());
			clipboard.setContents(new Object[] { structures.toCsv() }, new Transfer[] { TextTransfer.getInstance() });
			clipboard.dispose();
		}
	}

	@Override
	public void setFocus() {
		table.setFocus();
	}

	@Override
	public void dispose() {
		if (table != null) {
			loading.cancel();
			arranging.cancel();
		}
		super.dispose();
	}

	Table table() {
		return table;
	}
}
