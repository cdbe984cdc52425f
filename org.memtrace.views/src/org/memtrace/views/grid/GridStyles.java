// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.grid;

import java.util.function.IntPredicate;

import org.eclipse.nebula.widgets.nattable.NatTable;
import org.eclipse.nebula.widgets.nattable.config.CellConfigAttributes;
import org.eclipse.nebula.widgets.nattable.config.IConfigRegistry;
import org.eclipse.nebula.widgets.nattable.grid.GridRegion;
import org.eclipse.nebula.widgets.nattable.layer.cell.ILayerCell;
import org.eclipse.nebula.widgets.nattable.painter.cell.BackgroundPainter;
import org.eclipse.nebula.widgets.nattable.painter.cell.CellPainterWrapper;
import org.eclipse.nebula.widgets.nattable.painter.cell.TextPainter;
import org.eclipse.nebula.widgets.nattable.painter.cell.decorator.PaddingDecorator;
import org.eclipse.nebula.widgets.nattable.style.CellStyleAttributes;
import org.eclipse.nebula.widgets.nattable.style.DisplayMode;
import org.eclipse.nebula.widgets.nattable.style.HorizontalAlignmentEnum;
import org.eclipse.nebula.widgets.nattable.style.IStyle;
import org.eclipse.nebula.widgets.nattable.style.Style;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Color;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Display;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.views.paint.ScenePainter;

/** How cells of a grid look: numbers at the right, the lit row, a mark before the first column, what could be typed as a filter. */
final class GridStyles {
	static final String NUMBER = "NUMBER";
	static final String FIRST = "FIRST";
	static final String LIT = "LIT";
	/** How much of the colour of what is selected a row has that is only lit. */
	private static final double LIGHT = 0.22;
	private static final int MARK = 11;

	private final NatTable table;
	private final GridContent content;
	private final IntPredicate isNumber;

	/** @param isNumber whether a column, by its index, has numbers */
	GridStyles(NatTable table, GridContent content, IntPredicate isNumber) {
		this.table = table;
		this.content = content;
		this.isNumber = isNumber;
	}

	void register(IConfigRegistry registry, boolean withFilters) {
		Style right = new Style();
		right.setAttributeValue(CellStyleAttributes.HORIZONTAL_ALIGNMENT, HorizontalAlignmentEnum.RIGHT);
		registry.registerConfigAttribute(CellConfigAttributes.CELL_STYLE, right, DisplayMode.NORMAL, NUMBER);
		Style rightSelected = new Style();
		rightSelected.setAttributeValue(CellStyleAttributes.HORIZONTAL_ALIGNMENT, HorizontalAlignmentEnum.RIGHT);
		registry.registerConfigAttribute(CellConfigAttributes.CELL_STYLE, rightSelected, DisplayMode.SELECT, NUMBER);
		Style light = new Style();
		Display display = table.getDisplay();
		light.setAttributeValue(CellStyleAttributes.BACKGROUND_COLOR, ScenePainter.color(Palette.mix(
				rgb(display.getSystemColor(SWT.COLOR_LIST_BACKGROUND)), rgb(display.getSystemColor(SWT.COLOR_LIST_SELECTION)), LIGHT)));
		registry.registerConfigAttribute(CellConfigAttributes.CELL_STYLE, light, DisplayMode.NORMAL, LIT);
		registry.registerConfigAttribute(CellConfigAttributes.CELL_PAINTER, new MarkPainter(), DisplayMode.NORMAL, FIRST);
		registry.registerConfigAttribute(CellConfigAttributes.CELL_PAINTER, new MarkPainter(), DisplayMode.SELECT, FIRST);
		if (withFilters) {
			registry.registerConfigAttribute(CellConfigAttributes.CELL_PAINTER,
					new BackgroundPainter(new PaddingDecorator(new FilterPainter(), 0, 5, 0, 5, false)), DisplayMode.NORMAL,
					GridRegion.FILTER_ROW);
		}
	}

	private static int rgb(Color c) {
		return c.getRed() << 16 | c.getGreen() << 8 | c.getBlue();
	}

	/** A filter; where nothing was typed, faintly what could be. */
	private final class FilterPainter extends TextPainter {
		private boolean empty;

		FilterPainter() {
			super(false, false);
		}

		@Override
		protected String convertDataType(ILayerCell cell, IConfigRegistry registry) {
			String text = super.convertDataType(cell, registry);
			empty = text.isEmpty();
			return empty ? isNumber.test(cell.getColumnIndex()) ? "> 5" : "contains" : text;
		}

		@Override
		public void setupGCFromConfig(GC gc, IStyle style) {
			super.setupGCFromConfig(gc, style);
			gc.setForeground(empty ? ScenePainter.color(ScenePainter.palette(table).mutedText()) : gc.getForeground());
		}
	}

	/** The first column: a mark in a colour before the text. */
	private final class MarkPainter extends CellPainterWrapper {
		MarkPainter() {
			super(new PaddingDecorator(new TextPainter(), 0, 5, 0, 5));
		}

		@Override
		public void paintCell(ILayerCell cell, GC gc, Rectangle bounds, IConfigRegistry registry) {
			int row = cell.getRowIndex();
			int argb = row < content.rowCount() ? content.color(row) : 0;
			int indent = row < content.rowCount() ? content.indent(row) : 0;
			int used = indent + (argb == 0 ? 0 : MARK + 5);
			if (used == 0) {
				super.paintCell(cell, gc, bounds, registry);
				return;
			}
			Rectangle before = gc.getClipping();
			// the background of the whole cell, then the text beside the mark
			super.paintCell(new EmptyCell(cell), gc, bounds, registry);
			super.paintCell(cell, gc, new Rectangle(bounds.x + used, bounds.y, Math.max(0, bounds.width - used), bounds.height),
					registry);
			gc.setClipping(before.intersection(bounds));
			if (argb != 0) {
				Color background = gc.getBackground();
				gc.setBackground(new Color(argb >> 16 & 0xff, argb >> 8 & 0xff, argb & 0xff));
				gc.fillRectangle(bounds.x + 5 + indent, bounds.y + (bounds.height - MARK) / 2, MARK, MARK);
				gc.setBackground(background);
			}
			gc.setClipping(before);
		}
	}
}
