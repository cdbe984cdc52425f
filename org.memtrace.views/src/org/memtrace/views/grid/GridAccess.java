// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.grid;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

import org.eclipse.swt.accessibility.ACC;
import org.eclipse.swt.accessibility.Accessible;
import org.eclipse.swt.accessibility.AccessibleAdapter;
import org.eclipse.swt.accessibility.AccessibleControlAdapter;
import org.eclipse.swt.accessibility.AccessibleControlEvent;
import org.eclipse.swt.accessibility.AccessibleEvent;
import org.eclipse.swt.accessibility.AccessibleTableAdapter;
import org.eclipse.swt.accessibility.AccessibleTableCellAdapter;
import org.eclipse.swt.accessibility.AccessibleTableCellEvent;
import org.eclipse.swt.accessibility.AccessibleTableEvent;
import org.eclipse.swt.widgets.Control;

/**
 * What a screen reader is told of a grid, which draws its cells itself: a table with rows, columns and cells, and the selected row. Cells
 * are made when they are asked for; the latest of them are kept. Display thread.
 */
final class GridAccess {
	private static final int MOST_CELLS = 500;

	/** The table that is told of. */
	interface Shown {
		Control control();

		List<GridColumn> columns();

		/** The one row that is selected; -1 for none or several. */
		int selectedRow();

		int selectedCount();

		boolean isSelected(int row);
	}

	private final Shown grid;
	private final GridContent content;
	private final Accessible table;
	/** By row and column, the one that was asked for longest ago first. */
	private final Map<Long, Accessible> cells = new LinkedHashMap<>(16, 0.75f, true);

	GridAccess(Shown grid, String name, GridContent content) {
		this.grid = grid;
		this.content = content;
		table = grid.control().getAccessible();
		table.addAccessibleListener(new AccessibleAdapter() {
			@Override
			public void getName(AccessibleEvent e) {
				e.result = name;
			}

			@Override
			public void getDescription(AccessibleEvent e) {
				e.result = row(grid.selectedRow());
			}
		});
		table.addAccessibleControlListener(new AccessibleControlAdapter() {
			@Override
			public void getRole(AccessibleControlEvent e) {
				if (e.childID == ACC.CHILDID_SELF) {
					e.detail = ACC.ROLE_TABLE;
				}
			}
		});
		table.addAccessibleTableListener(new AccessibleTableAdapter() {
			@Override
			public void getRowCount(AccessibleTableEvent e) {
				e.count = content.rowCount();
			}

			@Override
			public void getColumnCount(AccessibleTableEvent e) {
				e.count = grid.columns().size();
			}

			@Override
			public void getColumnDescription(AccessibleTableEvent e) {
				e.result = grid.columns().get(e.column).title();
			}

			@Override
			public void getCell(AccessibleTableEvent e) {
				e.accessible = cell(e.row, e.column);
			}

			@Override
			public void getSelectedRowCount(AccessibleTableEvent e) {
				e.count = grid.selectedCount();
			}

			@Override
			public void isRowSelected(AccessibleTableEvent e) {
				e.isSelected = grid.isSelected(e.row);
			}
		});
	}

	/** Texts of a row with the heads of their columns; empty for none. */
	private String row(int row) {
		if (row < 0 || row >= content.rowCount()) {
			return "";
		}
		StringJoiner texts = new StringJoiner(", ");
		for (int c = 0; c < grid.columns().size(); c++) {
			if (!content.text(c, row).isEmpty()) {
				texts.add(grid.columns().get(c).title() + " " + content.text(c, row));
			}
		}
		return texts.toString();
	}

	/** Null outside of the table. */
	private Accessible cell(int row, int column) {
		if (row < 0 || row >= content.rowCount() || column < 0 || column >= grid.columns().size()) {
			return null;
		}
		Accessible cell = cells.computeIfAbsent((long) row << 32 | column, k -> make(row, column));
		if (cells.size() > MOST_CELLS) {
			Iterator<Accessible> oldest = cells.values().iterator();
			Accessible gone = oldest.next();
			oldest.remove();
			gone.dispose();
		}
		return cell;
	}

	private Accessible make(int row, int column) {
		Accessible cell = new Accessible(table);
		cell.addAccessibleListener(new AccessibleAdapter() {
			@Override
			public void getName(AccessibleEvent e) {
				e.result = row < content.rowCount() && column < grid.columns().size() ? content.text(column, row) : "";
			}
		});
		cell.addAccessibleControlListener(new AccessibleControlAdapter() {
			@Override
			public void getRole(AccessibleControlEvent e) {
				e.detail = ACC.ROLE_TABLECELL;
			}

			@Override
			public void getState(AccessibleControlEvent e) {
				e.detail = ACC.STATE_SELECTABLE | (grid.isSelected(row) ? ACC.STATE_SELECTED : 0);
			}
		});
		cell.addAccessibleTableCellListener(new AccessibleTableCellAdapter() {
			@Override
			public void getRowIndex(AccessibleTableCellEvent e) {
				e.index = row;
			}

			@Override
			public void getColumnIndex(AccessibleTableCellEvent e) {
				e.index = column;
			}

			@Override
			public void getTable(AccessibleTableCellEvent e) {
				e.accessible = table;
			}
		});
		return cell;
	}

	/** Another row is selected: what a reader says of the table is another text. */
	void selected() {
		table.sendEvent(ACC.EVENT_DESCRIPTION_CHANGED, null);
	}
}
