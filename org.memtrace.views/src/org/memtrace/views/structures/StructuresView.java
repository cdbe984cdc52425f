// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.structures;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.accessibility.AccessibleAdapter;
import org.eclipse.swt.accessibility.AccessibleEvent;
import org.eclipse.swt.dnd.Clipboard;
import org.eclipse.swt.dnd.TextTransfer;
import org.eclipse.swt.dnd.Transfer;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableColumn;
import org.eclipse.swt.widgets.TableItem;
import org.eclipse.swt.widgets.Text;
import org.eclipse.ui.part.ViewPart;
import org.memtrace.analysis.StructureTable;
import org.memtrace.analysis.StructureTable.Row;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.views.OpenTrace;
import org.memtrace.views.Session;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.state.TraceSelection;
import org.memtrace.views.state.ViewState;
import org.memtrace.views.util.Icons;

/**
 * All data structures, sortable by each column. Selecting one marks it in the picture and the other way round; double
 * click zooms to it. The table is virtual: only rows that are seen cost anything.
 */
public final class StructuresView extends ViewPart {
	private Session session;
	private Table table;
	private Text filter;
	private OpenTrace trace;
	private StructureTable structures;
	private List<Row> all = List.of();
	private List<Row> rows = List.of();
	private int sortColumn = StructureColumn.DEFAULT_SORT;
	private boolean descending = true;
	private LatestResult<OpenTrace, StructureTable> loading;

	private final TraceSelection.Listener followSelection = new TraceSelection.Listener() {
		@Override
		public void markChanged(int producer) {
			select(producer);
		}
	};
	private final Session.Listener followSession = new Session.Listener() {
		@Override
		public void traceChanged(OpenTrace now) {
			follow(now);
		}
	};

	@Override
	public void createPartControl(Composite parent) {
		session = getSite().getService(Session.class);
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
			protected StructureTable compute(OpenTrace input, Progress progress) throws CancelledException {
				return StructureTable.of(input.accesses(), input.structures(), progress);
			}

			@Override
			protected void show(OpenTrace input, StructureTable result) {
				structures = result;
				all = result.rows();
				arrange();
			}
		};
		makeActions();
		session.addListener(followSession);
		follow(session.trace());
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
		menu.add(zoom);
		menu.add(copy);
		table.setMenu(menu.createContextMenu(table));
	}

	private void follow(OpenTrace now) {
		if (trace != null) {
			trace.selection().removeListener(followSelection);
		}
		trace = now;
		structures = null;
		all = List.of();
		arrange();
		loading.cancel();
		if (now != null) {
			now.selection().addListener(followSelection);
			loading.submit(now);
		}
	}

	private void sortBy(int column) {
		descending = column == sortColumn ? !descending : StructureColumn.ALL.get(column).number();
		sortColumn = column;
		arrange();
	}

	/** Filters, sorts and shows the rows; the marked structure stays selected. */
	private void arrange() {
		String wanted = filter.getText().strip().toLowerCase(Locale.ROOT);
		List<Row> shown = new ArrayList<>();
		for (Row r : all) {
			if (wanted.isEmpty() || StructureColumn.ALL.stream().filter(c -> !c.number())
					.anyMatch(c -> c.text(structures, r).toLowerCase(Locale.ROOT).contains(wanted))) {
				shown.add(r);
			}
		}
		Comparator<Row> order = StructureColumn.ALL.get(sortColumn).order(structures);
		shown.sort((descending ? order.reversed() : order).thenComparingInt(Row::producer));
		rows = shown;
		table.setSortColumn(table.getColumn(sortColumn));
		table.setSortDirection(descending ? SWT.DOWN : SWT.UP);
		table.setItemCount(rows.size());
		table.clearAll();
		select(trace == null ? TraceSelection.NO_MARK : trace.selection().mark());
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
		if (trace != null && index >= 0) {
			trace.selection().mark(rows.get(index).producer());
		}
	}

	/** Follows the mark; does not answer it. */
	private void select(int producer) {
		int at = table.getSelectionIndex();
		if (at >= 0 && at < rows.size() && rows.get(at).producer() == producer) {
			return;
		}
		table.deselectAll();
		for (int i = 0; i < rows.size(); i++) {
			if (rows.get(i).producer() == producer) {
				table.select(i);
				table.showSelection();
				return;
			}
		}
	}

	private void zoom() {
		int index = table.getSelectionIndex();
		if (trace == null || index < 0) {
			return;
		}
		ViewState s = trace.selection().state();
		trace.selection().zoom(s.fromNs(), s.toNs(), rows.get(index).producer());
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
		if (session != null) {
			session.removeListener(followSession);
			if (trace != null) {
				trace.selection().removeListener(followSelection);
			}
			loading.cancel();
		}
		super.dispose();
	}

	Table table() {
		return table;
	}
}
