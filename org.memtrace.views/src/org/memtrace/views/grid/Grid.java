// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.grid;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

import org.eclipse.nebula.widgets.nattable.NatTable;
import org.eclipse.nebula.widgets.nattable.config.ConfigRegistry;
import org.eclipse.nebula.widgets.nattable.coordinate.Range;
import org.eclipse.nebula.widgets.nattable.data.IDataProvider;
import org.eclipse.nebula.widgets.nattable.edit.command.EditCellCommand;
import org.eclipse.nebula.widgets.nattable.edit.config.DefaultEditConfiguration;
import org.eclipse.nebula.widgets.nattable.filterrow.FilterRowHeaderComposite;
import org.eclipse.nebula.widgets.nattable.filterrow.command.ClearAllFiltersCommand;
import org.eclipse.nebula.widgets.nattable.grid.GridRegion;
import org.eclipse.nebula.widgets.nattable.grid.layer.ColumnHeaderLayer;
import org.eclipse.nebula.widgets.nattable.hideshow.ColumnHideShowLayer;
import org.eclipse.nebula.widgets.nattable.hideshow.command.MultiColumnHideCommand;
import org.eclipse.nebula.widgets.nattable.hideshow.command.ShowAllColumnsCommand;
import org.eclipse.nebula.widgets.nattable.layer.LabelStack;
import org.eclipse.nebula.widgets.nattable.layer.CompositeLayer;
import org.eclipse.nebula.widgets.nattable.layer.DataLayer;
import org.eclipse.nebula.widgets.nattable.layer.ILayer;
import org.eclipse.nebula.widgets.nattable.layer.cell.ILayerCell;
import org.eclipse.nebula.widgets.nattable.layer.event.ILayerEvent;
import org.eclipse.nebula.widgets.nattable.layer.event.RowStructuralRefreshEvent;
import org.eclipse.nebula.widgets.nattable.reorder.ColumnReorderLayer;
import org.eclipse.nebula.widgets.nattable.selection.SelectionLayer;
import org.eclipse.nebula.widgets.nattable.selection.command.SelectRowsCommand;
import org.eclipse.nebula.widgets.nattable.selection.config.RowOnlySelectionBindings;
import org.eclipse.nebula.widgets.nattable.selection.config.RowOnlySelectionConfiguration;
import org.eclipse.nebula.widgets.nattable.selection.event.RowSelectionEvent;
import org.eclipse.nebula.widgets.nattable.sort.ISortModel;
import org.eclipse.nebula.widgets.nattable.sort.SortDirectionEnum;
import org.eclipse.nebula.widgets.nattable.sort.SortHeaderLayer;
import org.eclipse.nebula.widgets.nattable.sort.config.SingleClickSortConfiguration;
import org.eclipse.nebula.widgets.nattable.tooltip.NatTableContentTooltip;
import org.eclipse.nebula.widgets.nattable.ui.matcher.KeyEventMatcher;
import org.eclipse.nebula.widgets.nattable.ui.matcher.MouseEventMatcher;
import org.eclipse.nebula.widgets.nattable.viewport.ViewportLayer;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Event;
import org.memtrace.views.util.Appearance;

/**
 * A table of any number of rows (below 50 million at a time): head that sorts, a row of filters, whole rows selected, columns
 * that can be moved and hidden. It shows and tells; sorting and filtering is done by whoever made it. Display thread.
 */
public final class Grid implements GridAccess.Shown {
	static {
		ServiceLoading.start();
	}

	/** Column that is filled by the grid grows at most by so many times its width. */
	private static final long MOST_GROWTH = 2;

	private List<GridColumn> columns;
	private final GridContent content;
	private final GridAccess access;
	private final NatTable table;
	private final DataLayer body;
	private final ColumnHideShowLayer hiding;
	private final SelectionLayer selection;
	private final ViewportLayer viewport;
	private final SortHeaderLayer<Object> head;
	private final FilterRowHeaderComposite<Object> filters;
	/** Widths that the grid gave to its columns; another one is the user's. */
	private int[] widths;
	private int sortColumn = -1;
	private boolean descending;
	private Runnable onSort = () -> {
	};
	private Consumer<Map<Integer, String>> onFilter = texts -> {
	};
	private IntConsumer onSelect = row -> {
	};
	private IntConsumer onOpen = row -> {
	};
	private Runnable onCopy = () -> {
	};
	/** Lightly marked; -1 none. */
	private int lit = -1;
	/** Selection is being set by the program. */
	private boolean quiet;

	/**
	 * Makes the table in a parent with a layout.
	 *
	 * @param name for screen readers
	 * @param filterRow whether there is a row of filters below the head
	 */
	public Grid(Composite parent, String name, List<GridColumn> columns, GridContent content, boolean filterRow) {
		this.columns = List.copyOf(columns);
		this.content = content;
		body = new DataLayer(new BodyData());
		int rowHeight = fontHeight(parent) + 6;
		body.setDefaultRowHeight(rowHeight);
		for (int i = 0; i < columns.size(); i++) {
			body.setColumnWidthByPosition(i, columns.get(i).width(), false);
		}
		body.setConfigLabelAccumulator(this::labels);
		hiding = new ColumnHideShowLayer(new ColumnReorderLayer(body));
		selection = new SelectionLayer(hiding, false);
		selection.addConfiguration(new RowOnlySelectionConfiguration());
		viewport = new ViewportLayer(selection);
		IDataProvider titles = new HeadData();
		DataLayer headData = new DataLayer(titles);
		headData.setDefaultRowHeight(rowHeight + 2);
		headData.setConfigLabelAccumulator((labels, column, row) -> {
			if (columns.get(column).number()) {
				labels.addLabel(GridStyles.NUMBER);
			}
		});
		head = new SortHeaderLayer<>(new ColumnHeaderLayer(headData, viewport, selection), new SortModel());
		head.addConfiguration(new SingleClickSortConfiguration());
		ConfigRegistry registry = new ConfigRegistry();
		CompositeLayer all = new CompositeLayer(1, 2);
		if (filterRow) {
			filters = new FilterRowHeaderComposite<>(this::filtered, head, titles, registry);
			all.setChildLayer(GridRegion.COLUMN_HEADER, filters, 0, 0);
		} else {
			filters = null;
			all.setChildLayer(GridRegion.COLUMN_HEADER, head, 0, 0);
		}
		all.setChildLayer(GridRegion.BODY, viewport, 0, 1);
		all.addConfiguration(new DefaultEditConfiguration()); // filters are cells that are edited
		table = new NatTable(parent, SWT.NO_BACKGROUND | SWT.NO_REDRAW_RESIZE | SWT.DOUBLE_BUFFERED | SWT.V_SCROLL | SWT.H_SCROLL, all,
				false);
		table.setConfigRegistry(registry);
		table.addConfiguration(new RowOnlySelectionBindings());
		table.configure();
		widths = columns.stream().mapToInt(GridColumn::width).toArray();
		table.addListener(SWT.Resize, e -> fillWidth());
		GridStyles styles = new GridStyles(table, content, column -> this.columns.get(column).number());
		Appearance.onChange(table, () -> {
			table.setTheme(new GridTheme(table));
			table.setBackground(parent.getDisplay().getSystemColor(SWT.COLOR_LIST_BACKGROUND));
			styles.register(registry, filters != null);
		});
		filterHeight(rowHeight);
		bindings();
		new HeadTips();
		selection.addLayerListener(this::selected);
		access = new GridAccess(this, name, content);
	}

	private void labels(LabelStack labels, int column, int row) {
		if (column == 0) {
			labels.addLabel(GridStyles.FIRST);
		}
		if (columns.get(column).number()) {
			labels.addLabel(GridStyles.NUMBER);
		}
		if (row == lit) {
			labels.addLabel(GridStyles.LIT);
		}
	}

	/** Gives columns of texts the width that there is. What the user has resized stays. */
	private void fillWidth() {
		List<Integer> shown = shownColumns();
		int[] wanted = new int[shown.size()];
		boolean[] fixed = new boolean[shown.size()];
		for (int i = 0; i < wanted.length; i++) {
			int column = shown.get(i);
			boolean own = body.getColumnWidthByPosition(column) != widths[column];
			wanted[i] = own ? body.getColumnWidthByPosition(column) : columns.get(column).width();
			fixed[i] = own || columns.get(column).number();
		}
		int[] filled = filled(wanted, fixed, table.getClientArea().width);
		for (int i = 0; i < filled.length; i++) {
			int column = shown.get(i);
			if (!fixed[i] && widths[column] != filled[i]) {
				widths[column] = filled[i];
				// with its event: the layers keep where columns begin
				body.setColumnWidthByPosition(column, filled[i], true);
			}
		}
	}

	/**
	 * Columns share what is left over by their widths. When they are too wide, and fit in with a third less, the last ones, which tell
	 * least, give first, up to half of theirs.
	 *
	 * @param fixed columns that keep their width
	 */
	static int[] filled(int[] wanted, boolean[] fixed, int room) {
		int[] filled = wanted.clone();
		int spare = room - Arrays.stream(wanted).sum();
		int growing = 0;
		for (int i = 0; i < wanted.length; i++) {
			growing += fixed[i] ? 0 : wanted[i];
		}
		if (spare < 0 && -spare <= growing / 3) {
			for (int i = wanted.length - 1; i >= 0 && spare < 0; i--) {
				int less = fixed[i] ? 0 : Math.min(wanted[i] / 2, -spare);
				filled[i] -= less;
				spare += less;
			}
		} else if (spare > 0) {
			for (int i = 0; i < wanted.length; i++) {
				filled[i] += fixed[i] ? 0 : (int) Math.min(wanted[i] * MOST_GROWTH, (long) spare * wanted[i] / growing);
			}
		}
		return filled;
	}

	private void filterHeight(int height) {
		if (filters != null) {
			filters.getFilterRowDataLayer().setDefaultRowHeight(height);
			filters.getFilterRowDataLayer().setConfigLabelAccumulator((labels, column, row) -> {
				if (columns.get(column).number()) {
					labels.addLabel(GridStyles.NUMBER);
				}
			});
		}
	}

	private static int fontHeight(Composite parent) {
		GC gc = new GC(parent);
		gc.setFont(parent.getDisplay().getSystemFont());
		int height = gc.getFontMetrics().getHeight();
		gc.dispose();
		return height;
	}

	private final class BodyData implements IDataProvider {
		@Override
		public Object getDataValue(int column, int row) {
			return row < content.rowCount() ? content.text(column, row) : "";
		}

		@Override
		public void setDataValue(int column, int row, Object value) {
			throw new UnsupportedOperationException();
		}

		@Override
		public int getColumnCount() {
			return columns.size();
		}

		@Override
		public int getRowCount() {
			return content.rowCount();
		}
	}

	private final class HeadData implements IDataProvider {
		@Override
		public Object getDataValue(int column, int row) {
			return columns.get(column).title() + (column != sortColumn ? "" : descending ? " \u25bc" : " \u25b2");
		}

		@Override
		public void setDataValue(int column, int row, Object value) {
			throw new UnsupportedOperationException();
		}

		@Override
		public int getColumnCount() {
			return columns.size();
		}

		@Override
		public int getRowCount() {
			return 1;
		}
	}

	/** Tells NatTable what arrow to draw; a click reverses the order or takes another column. */
	private final class SortModel implements ISortModel {
		@Override
		public List<Integer> getSortedColumnIndexes() {
			return sortColumn < 0 ? List.of() : List.of(sortColumn);
		}

		@Override
		public boolean isColumnIndexSorted(int column) {
			return column == sortColumn;
		}

		@Override
		public SortDirectionEnum getSortDirection(int column) {
			return column != sortColumn ? SortDirectionEnum.NONE : descending ? SortDirectionEnum.DESC : SortDirectionEnum.ASC;
		}

		@Override
		public int getSortOrder(int column) {
			return column == sortColumn ? 0 : -1;
		}

		@Override
		@SuppressWarnings("rawtypes")
		public List<Comparator> getComparatorsForColumnIndex(int column) {
			return List.of();
		}

		@Override
		public Comparator<?> getColumnComparator(int column) {
			return null;
		}

		@Override
		public void sort(int column, SortDirectionEnum direction, boolean accumulate) {
			if (columns.get(column).sortable()) {
				descending = column == sortColumn ? !descending : columns.get(column).number();
				sortColumn = column;
				onSort.run();
			}
		}

		@Override
		public void clear() {
			// there is always an order
		}
	}

	/** Tips of the head; texts of cells that are cut. */
	private final class HeadTips extends NatTableContentTooltip {
		HeadTips() {
			super(table, GridRegion.COLUMN_HEADER, GridRegion.BODY);
		}

		@Override
		protected String getText(Event event) {
			int column = table.getColumnPositionByX(event.x);
			int row = table.getRowPositionByY(event.y);
			ILayerCell cell = table.getCellByPosition(column, row);
			if (cell == null) {
				return null;
			}
			if (table.getRegionLabelsByXY(event.x, event.y).hasLabel(GridRegion.BODY)) {
				String text = String.valueOf(cell.getDataValue());
				GC gc = new GC(table);
				int width = gc.textExtent(text).x;
				gc.dispose();
				return width + 12 > cell.getBounds().width ? text : null;
			}
			if (row == 0) {
				return columns.get(table.getColumnIndexByPosition(column)).tip();
			}
			return filters == null ? null : columns.get(table.getColumnIndexByPosition(column)).number()
					? "Comparison: 5, >5, <=5, !=5 or 2..8" : "Regular expression; with ! before it, what does not match";
		}

		@Override
		protected boolean shouldCreateToolTip(Event event) {
			String text = getText(event);
			return text != null && !text.isEmpty();
		}
	}

	private void bindings() {
		table.getUiBindingRegistry().registerFirstDoubleClickBinding(MouseEventMatcher.bodyLeftClick(SWT.NONE), (t, e) -> open());
		for (int key : new int[] {SWT.CR, SWT.KEYPAD_CR}) {
			table.getUiBindingRegistry().registerFirstKeyBinding(new KeyEventMatcher(SWT.NONE, key), (t, e) -> open());
		}
		// Tab leaves the table, as it leaves others
		table.getUiBindingRegistry().registerFirstKeyBinding(new KeyEventMatcher(SWT.NONE, SWT.TAB),
				(t, e) -> t.traverse(SWT.TRAVERSE_TAB_NEXT));
		table.getUiBindingRegistry().registerFirstKeyBinding(new KeyEventMatcher(SWT.MOD2, SWT.TAB),
				(t, e) -> t.traverse(SWT.TRAVERSE_TAB_PREVIOUS));
		if (filters != null) {
			table.getUiBindingRegistry().registerFirstKeyBinding(new KeyEventMatcher(SWT.MOD1, 'f'), (t, e) -> editFilter());
		}
		// whole rows are selected, so the ends are those of the table and not of a row
		for (int mask : new int[] {SWT.NONE, SWT.MOD1}) {
			table.getUiBindingRegistry().registerFirstKeyBinding(new KeyEventMatcher(mask, SWT.HOME), (t, e) -> jump(0));
			table.getUiBindingRegistry().registerFirstKeyBinding(new KeyEventMatcher(mask, SWT.END),
					(t, e) -> jump(content.rowCount() - 1));
		}
		table.getUiBindingRegistry().registerFirstKeyBinding(new KeyEventMatcher(SWT.MOD1, 'c'), (t, e) -> onCopy.run());
	}

	/** Opens the filter of the first column that is seen; Tab goes on to the next. */
	private void editFilter() {
		ILayerCell cell = table.getCellByPosition(0, 1);
		if (cell != null) {
			table.doCommand(new EditCellCommand(table, table.getConfigRegistry(), cell));
		}
	}

	private void jump(int row) {
		if (row >= 0 && row < content.rowCount()) {
			select(row, true);
			onSelect.accept(row);
		}
	}

	private void open() {
		int row = selectedRow();
		if (row >= 0) {
			onOpen.accept(row);
		}
	}

	private void selected(ILayerEvent event) {
		if (event instanceof RowSelectionEvent && !quiet) {
			access.selected();
			onSelect.accept(selectedRow());
		}
	}

	private void filtered(Map<Integer, Object> texts) {
		Map<Integer, String> now = new TreeMap<>();
		texts.forEach((column, text) -> {
			if (text != null && !text.toString().isBlank()) {
				now.put(column, text.toString().strip());
			}
		});
		onFilter.accept(now);
	}

	/** The widget. */
	@Override
	public NatTable control() {
		return table;
	}

	/** Asked when the user wants another order, see {@link #sortColumn} and {@link #isDescending}. */
	public void onSort(Runnable listener) {
		onSort = listener;
	}

	/** Gets the texts above the columns, without empty ones, when they change. */
	public void onFilter(Consumer<Map<Integer, String>> listener) {
		onFilter = listener;
	}

	/** Gets the row that the user selected, -1 none. */
	public void onSelect(IntConsumer listener) {
		onSelect = listener;
	}

	/** Gets the row that was double-clicked, or on which Enter was pressed. */
	public void onOpen(IntConsumer listener) {
		onOpen = listener;
	}

	/** Called for Ctrl+C. */
	public void onCopy(Runnable listener) {
		onCopy = listener;
	}

	/** Menu of rows; a click with the right button selects the row first. */
	public void menu(MenuManager manager) {
		table.setMenu(manager.createContextMenu(table));
		table.addListener(SWT.MenuDetect, e -> {
			Point p = table.toControl(e.x, e.y);
			int row = rowAt(p.x, p.y);
			if (row >= 0 && !isSelected(row)) {
				select(row, false);
				onSelect.accept(row);
			}
		});
	}

	/** The row at a point of the widget, -1 in the head or below all rows. */
	public int rowAt(int x, int y) {
		LabelStack regions = table.getRegionLabelsByXY(x, y); // none below the last row
		if (regions == null || !regions.hasLabel(GridRegion.BODY)) {
			return -1;
		}
		return table.getRowIndexByPosition(table.getRowPositionByY(y));
	}

	public int sortColumn() {
		return sortColumn;
	}

	public boolean isDescending() {
		return descending;
	}

	/** Columns of the same number and kind with other titles and tips. */
	public void texts(List<GridColumn> now) {
		if (now.size() != columns.size()) {
			throw new IllegalArgumentException(now.size() + " columns instead of " + columns.size());
		}
		if (!now.equals(columns)) {
			columns = List.copyOf(now);
			table.refresh(false);
		}
	}

	/** The order that is shown. */
	public void sortedBy(int column, boolean down) {
		sortColumn = column;
		descending = down;
		table.refresh(false);
	}

	/** Rows or their number are others. The selection is lost. */
	public void refresh() {
		quiet = true;
		try {
			selection.clear(false);
			lit = -1;
			body.fireLayerEvent(new RowStructuralRefreshEvent(body));
			table.redraw();
		} finally {
			quiet = false;
		}
	}

	/** The texts of the rows are others, their number may have grown; selection and place stay. */
	public void update(boolean grown) {
		if (grown) {
			viewport.recalculateScrollBars();
		}
		table.redraw();
	}

	/**
	 * Marks a row lightly and brings it into sight; what is selected stays. Without one (-1) the mark goes, and
	 * the table stays where it is.
	 */
	public void light(int row) {
		int old = lit;
		lit = row >= 0 && row < content.rowCount() ? row : -1;
		if (lit == old) {
			return;
		}
		int at = viewport.getOrigin().getY();
		if (lit >= 0) {
			viewport.moveRowPositionIntoViewport(lit);
		}
		if (viewport.getOrigin().getY() == at) {
			repaint(old);
			repaint(lit);
		} // else all of it was moved
	}

	private void repaint(int row) {
		if (row >= 0) {
			Rectangle r = table.getLayer().getBoundsByPosition(0, (filters == null ? 1 : 2) + row - viewport.getOriginRowPosition());
			if (r != null) {
				table.redraw(0, r.y, table.getSize().x, r.height, false);
			}
		}
	}

	/** The row that is lightly marked, -1 none. */
	public int lit() {
		return lit;
	}

	/** Selects a row, or none (-1); listeners are not told. */
	public void select(int row, boolean reveal) {
		selectAll(row < 0 ? new int[0] : new int[] {row}, reveal);
	}

	/** Selects some rows and no others; listeners are not told. The first of them is brought into sight if {@code reveal}. */
	public void selectAll(int[] rows, boolean reveal) {
		quiet = true;
		try {
			selection.clear(true);
			int[] known = Arrays.stream(rows).filter(r -> r >= 0 && r < content.rowCount()).toArray();
			if (known.length > 0) {
				selection.doCommand(new SelectRowsCommand(selection, 0, known, false, true, known[0]));
				if (reveal) {
					viewport.moveRowPositionIntoViewport(known[0]);
				}
			}
		} finally {
			quiet = false;
		}
	}

	/** The row that was selected last, -1 none. */
	@Override
	public int selectedRow() {
		if (selection.getSelectedRowCount() == 0) {
			return -1;
		}
		int last = selection.getSelectionAnchor() == null ? -1 : selection.getSelectionAnchor().getRowPosition();
		return last >= 0 && isSelected(last) ? last : selection.getSelectedRowPositions().iterator().next().start;
	}

	@Override
	public List<GridColumn> columns() {
		return columns;
	}

	/** Number of selected rows. */
	@Override
	public int selectedCount() {
		return selection.getSelectedRowCount();
	}

	/** Selected rows in order, at most so many. */
	public List<Integer> selectedRows(int most) {
		List<Range> ranges = new ArrayList<>(selection.getSelectedRowPositions());
		ranges.sort(Comparator.comparingInt(r -> r.start));
		List<Integer> rows = new ArrayList<>();
		for (Range r : ranges) {
			for (int i = r.start; i < r.end && rows.size() < most; i++) {
				rows.add(i);
			}
		}
		return rows;
	}

	@Override
	public boolean isSelected(int row) {
		return selection.isRowPositionSelected(row);
	}

	/** First and last row that is seen; empty when there are none. */
	public Range visibleRows() {
		int first = viewport.getOriginRowPosition();
		return new Range(first, Math.min(content.rowCount(), first + Math.max(1, viewport.getRowCount())));
	}

	/** Empties the row of filters; listeners are told. */
	public void clearFilters() {
		table.doCommand(new ClearAllFiltersCommand());
	}

	/** Indices of columns in the order in which they are shown, without hidden ones. */
	public List<Integer> shownColumns() {
		List<Integer> shown = new ArrayList<>();
		for (int i = 0; i < hiding.getColumnCount(); i++) {
			shown.add(hiding.getColumnIndexByPosition(i));
		}
		return shown;
	}

	/** Hides all columns but these. */
	public void showColumns(List<Integer> wanted) {
		table.doCommand(new ShowAllColumnsCommand());
		List<Integer> hidden = new ArrayList<>();
		for (int i = 0; i < hiding.getColumnCount(); i++) {
			if (!wanted.contains(hiding.getColumnIndexByPosition(i))) {
				hidden.add(i);
			}
		}
		if (!hidden.isEmpty()) {
			hiding.doCommand(new MultiColumnHideCommand(hiding, hidden.stream().mapToInt(Integer::intValue).toArray()));
		}
		fillWidth();
	}

	/** Place of a cell on the widget; for tests. Rows below the head count from the one at the top. */
	public Rectangle cellBounds(int column, int row) {
		ILayer top = table.getLayer();
		int headRows = filters == null ? 1 : 2;
		return top.getBoundsByPosition(place(column), headRows + row - viewport.getOriginRowPosition());
	}

	/** Place of a head, or of the filter below it. */
	public Rectangle headBounds(int column, boolean filter) {
		return table.getLayer().getBoundsByPosition(place(column), filter ? 1 : 0);
	}

	/** Where a column is, from the first that is seen. */
	private int place(int column) {
		return viewport.underlyingToLocalColumnPosition(selection, hiding.getColumnPositionByIndex(column));
	}
}
