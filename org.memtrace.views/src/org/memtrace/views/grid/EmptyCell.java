// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.grid;

import org.eclipse.nebula.widgets.nattable.layer.cell.ILayerCell;
import org.eclipse.nebula.widgets.nattable.layer.cell.TranslatedLayerCell;

/** A cell without text: its background. */
final class EmptyCell extends TranslatedLayerCell {
	EmptyCell(ILayerCell cell) {
		super(cell, cell.getLayer(), cell.getColumnPosition(), cell.getRowPosition(), cell.getColumnPosition(),
				cell.getRowPosition());
	}

	@Override
	public Object getDataValue() {
		return "";
	}
}
