// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.grid;

import org.eclipse.nebula.widgets.nattable.painter.cell.BackgroundPainter;
import org.eclipse.nebula.widgets.nattable.painter.cell.ICellPainter;
import org.eclipse.nebula.widgets.nattable.painter.cell.TextPainter;
import org.eclipse.nebula.widgets.nattable.painter.cell.decorator.PaddingDecorator;
import org.eclipse.nebula.widgets.nattable.style.BorderStyle;
import org.eclipse.nebula.widgets.nattable.style.HorizontalAlignmentEnum;
import org.eclipse.nebula.widgets.nattable.style.theme.ModernNatTableThemeConfiguration;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Color;
import org.eclipse.swt.graphics.Font;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Display;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.views.paint.ScenePainter;

/** Colours and fonts of the system, so that a grid looks like other tables, in light and dark. */
final class GridTheme extends ModernNatTableThemeConfiguration {
	GridTheme(Control control) {
		Display display = control.getDisplay();
		Palette palette = ScenePainter.palette(control);
		Font font = display.getSystemFont();
		Color background = display.getSystemColor(SWT.COLOR_LIST_BACKGROUND);
		Color foreground = display.getSystemColor(SWT.COLOR_LIST_FOREGROUND);
		Color head = display.getSystemColor(SWT.COLOR_WIDGET_BACKGROUND);
		Color headText = display.getSystemColor(SWT.COLOR_WIDGET_FOREGROUND);
		Color selected = display.getSystemColor(SWT.COLOR_LIST_SELECTION);
		Color selectedText = display.getSystemColor(SWT.COLOR_LIST_SELECTION_TEXT);
		Color line = ScenePainter.color(palette.plotBackground());
		defaultBgColor = background;
		defaultFgColor = foreground;
		defaultFont = font;
		defaultHAlign = HorizontalAlignmentEnum.LEFT;
		evenRowBgColor = background;
		oddRowBgColor = background;
		defaultSelectionBgColor = selected;
		defaultSelectionFgColor = selectedText;
		defaultSelectionFont = font;
		selectionAnchorSelectionBgColor = selected;
		selectionAnchorSelectionFgColor = selectedText;
		selectionAnchorSelectionFont = font;
		selectionAnchorBorderStyle = null;
		selectionAnchorBgColor = background;
		selectionAnchorFgColor = foreground;
		selectionAnchorGridBorderStyle = new BorderStyle(0, line, org.eclipse.nebula.widgets.nattable.style.BorderStyle.LineStyleEnum.SOLID);
		cHeaderBgColor = head;
		cHeaderFgColor = headText;
		cHeaderFont = font;
		cHeaderHAlign = HorizontalAlignmentEnum.LEFT;
		cHeaderSelectionBgColor = head;
		cHeaderSelectionFgColor = headText;
		cHeaderSelectionFont = font;
		cHeaderFullSelectionBgColor = head;
		cHeaderFullSelectionFgColor = headText;
		filterRowBgColor = line; // so that one sees that something can be typed there
		filterRowFgColor = foreground;
		filterRowFont = font;
		gridLineColor = line;
		renderColumnHeaderGridLines = true;
	}

	/** The order is a sign in the text of the head: the arrows of the theme cannot be seen on every background. */
	@Override
	public void createPainterInstances() {
		super.createPainterInstances();
		ICellPainter text = new BackgroundPainter(new PaddingDecorator(new TextPainter(false, false), 0, 5, 0, 5, false));
		cHeaderCellPainter = text;
		cHeaderSelectionCellPainter = text;
		cHeaderFullSelectionCellPainter = text;
		sortHeaderCellPainter = text;
		selectedSortHeaderCellPainter = text;
	}
}
