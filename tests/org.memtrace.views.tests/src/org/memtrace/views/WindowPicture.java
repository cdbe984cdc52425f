// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.eclipse.nebula.widgets.nattable.NatTable;
import org.eclipse.nebula.widgets.nattable.config.CellConfigAttributes;
import org.eclipse.nebula.widgets.nattable.data.convert.IDisplayConverter;
import org.eclipse.nebula.widgets.nattable.grid.GridRegion;
import org.eclipse.nebula.widgets.nattable.layer.cell.ILayerCell;
import org.eclipse.nebula.widgets.nattable.style.CellStyleAttributes;
import org.eclipse.nebula.widgets.nattable.style.HorizontalAlignmentEnum;
import org.eclipse.nebula.widgets.nattable.style.IStyle;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.CTabFolder;
import org.eclipse.swt.custom.CTabItem;
import org.eclipse.swt.custom.StyledText;
import org.eclipse.swt.graphics.Color;
import org.eclipse.swt.graphics.Font;
import org.eclipse.swt.graphics.FontData;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Image;
import org.eclipse.swt.graphics.ImageData;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.RGB;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Group;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.ProgressBar;
import org.eclipse.swt.widgets.Scale;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Spinner;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableItem;
import org.eclipse.swt.widgets.Text;
import org.eclipse.swt.widgets.ToolBar;
import org.eclipse.swt.widgets.ToolItem;
import org.eclipse.swt.widgets.Tree;
import org.eclipse.swt.widgets.TreeItem;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.Shape.Anchor;
import org.memtrace.analysis.scene.SvgWriter;

/**
 * A window as a vector picture for the documentation: what its widgets show, where they are, and the scenes of the pictures in it.
 * Small, of text, and the same for the same window, as pixels would not be. Borders are simplified. Display thread.
 */
public final class WindowPicture {
	private static final int BORDER = 0xffc4c6ca;
	private static final int FIELD = 0xffffffff;
	private static final int HEADER = 0xff7a7d82;
	private static final int SELECTED = 0xff3584e4;
	private static final int MAX_DEPTH = 4;

	private final Shell shell;
	private final List<Shape> shapes = new ArrayList<>();
	/** Height of the menu, which is above the origin of the window. */
	private final int top;
	/** What is visible of the parent of the control that is drawn. */
	private Rectangle clip;

	private WindowPicture(Shell shell) {
		this.shell = shell;
		top = shell.getMenuBar() == null ? 0 : shell.toDisplay(0, 0).y - shell.getLocation().y;
		clip = new Rectangle(0, top, shell.getSize().x, shell.getSize().y - top);
	}

	/** Writes what a window shows as SVG. */
	public static void write(Shell shell, String title, Path file) {
		WindowPicture picture = new WindowPicture(shell);
		Point size = shell.getSize();
		picture.menu();
		picture.children(shell);
		picture.shapes.add(new Shape.Rect(0, 0, size.x, size.y, 0, BORDER));
		try {
			Files.createDirectories(file.getParent());
			try (Writer out = Files.newBufferedWriter(file)) {
				SvgWriter.write(new Scene(size.x, size.y, color(shell.getBackground()), picture.shapes), title, out);
			}
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	private static int color(Color c) {
		RGB rgb = c.getRGB();
		return 0xff000000 | rgb.red << 16 | rgb.green << 8 | rgb.blue;
	}

	/** Bounds of a control in the picture. Not of its client area, whose origin is below headers and behind icons. */
	private Rectangle bounds(Control c) {
		Point p = c.getDisplay().map(c.getParent(), shell, c.getLocation());
		Point s = c.getSize();
		return new Rectangle(p.x, p.y + top, s.x, s.y);
	}

	private void menu() {
		if (shell.getMenuBar() == null) {
			return;
		}
		double x = 8;
		for (var item : shell.getMenuBar().getItems()) {
			String text = plain(item.getText());
			text(x, top - 8.0, text, shell.getFont(), false, 0xff2e3436, Anchor.START);
			x += 20 + width(text, shell.getFont());
		}
	}

	private int width(String text, Font font) {
		GC gc = new GC(shell);
		gc.setFont(font);
		int width = gc.textExtent(text).x;
		gc.dispose();
		return width;
	}

	private void children(Composite parent) {
		Rectangle before = clip;
		if (parent != shell) {
			clip = clip.intersection(bounds(parent));
		}
		Control[] children = parent.getChildren();
		for (int i = children.length - 1; i >= 0; i--) { // the first is on top
			if (children[i].isVisible()) {
				control(children[i]);
			}
		}
		clip = before;
	}

	private void control(Control c) {
		Rectangle r = bounds(c);
		if (r.isEmpty() || !r.intersects(clip)) {
			return;
		}
		if (!(c instanceof Composite) || c instanceof Table || c instanceof Tree || c instanceof Combo || c instanceof Spinner) {
			r.width = Math.min(r.width, clip.x + clip.width - r.x);
			r.height = Math.min(r.height, clip.y + clip.height - r.y);
		}
		int foreground = c.isEnabled() ? color(c.getForeground()) : 0xff9a9c9f;
		switch (c) {
		case Text t -> field(r, c, t.getText().isEmpty() ? t.getMessage() : t.getText(), t.getText().isEmpty() ? 0xff8b8e92
				: foreground, (t.getStyle() & SWT.MULTI) != 0, (t.getStyle() & SWT.BORDER) != 0 || (t.getStyle() & SWT.SEARCH) != 0);
		case Combo combo -> {
			field(r, c, combo.getText(), foreground, false, true);
			double x = r.x + r.width - 18;
			double y = r.y + r.height / 2.0 - 2;
			shapes.add(new Shape.Polygon(new double[] { x, y, x + 9, y, x + 4.5, y + 5 }, foreground, 0));
		}
		case Spinner s -> field(r, c, s.getText() + "     −  +", foreground, false, true);
		case Button b -> button(b, r, foreground);
		case Label l -> label(l, r, foreground);
		case Table t -> table(t, r);
		case Tree t -> tree(t, r);
		case ToolBar bar -> toolBar(bar);
		case Scale s -> slider(r, (double) (s.getSelection() - s.getMinimum()) / Math.max(1, s.getMaximum() - s.getMinimum()));
		case ProgressBar p -> {
			shapes.add(new Shape.Rect(r.x, r.y + r.height / 2.0 - 2, r.width, 4, 0xffd8dadd, 0));
			shapes.add(new Shape.Rect(r.x, r.y + r.height / 2.0 - 2, (double) r.width * p.getSelection() / p.getMaximum(), 4, SELECTED, 0));
		}
		case CTabFolder folder -> {
			fill(c, r);
			children(folder);
			tabs(folder, r);
		}
		case NatTable t -> natTable(t, r);
		case StyledText t -> {
			fill(c, r);
			styled(t, r, foreground);
		}
		case Canvas canvas -> {
			Scene scene = scene(canvas, canvas.getClientArea());
			fill(c, r);
			if (scene != null) {
				scene(scene, r);
			}
			children(canvas);
		}
		case Group g -> {
			shapes.add(new Shape.Rect(r.x, r.y + 8, r.width, r.height - 8.0, 0, BORDER));
			shapes.add(new Shape.Rect(r.x + 4, r.y, width(plain(g.getText()), g.getFont()) + 8.0, 16, color(g.getBackground()), 0));
			text(r.x + 8, r.y + 13, plain(g.getText()), g.getFont(), false, foreground, Anchor.START);
			children(g);
		}
		case Composite composite -> {
			fill(c, r);
			children(composite);
		}
		default -> fill(c, r);
		}
	}

	/** The lines that are seen, each in one colour; with their numbers where there is room for them at the left, as in the view Source. */
	private void styled(StyledText t, Rectangle r, int foreground) {
		int last = Math.min(t.getLineCount() - 1, t.getLineIndex(t.getClientArea().height - t.getLineHeight()));
		boolean numbers = t.getLeftMargin() > 40;
		int current = t.getLineAtOffset(t.getCaretOffset());
		for (int line = t.getLineIndex(0); line <= last; line++) {
			double y = r.y + t.getLinePixel(line) + t.getLineHeight() * 0.75;
			if (line == current && numbers) {
				shapes.add(new Shape.Rect(r.x + t.getLeftMargin(), r.y + t.getLinePixel(line), Math.max(0, r.width - t.getLeftMargin()),
						t.getLineHeight(), 0xffd5dde6, 0));
			}
			if (numbers) {
				text(r.x + t.getLeftMargin() - 10.0, y, String.valueOf(line + 1), t.getFont(), false, 0xff6c7079, Anchor.END);
			}
			String content = t.getLine(line).replace("\t", "    ");
			String shown = content.stripLeading(); // blanks at the begin are not drawn
			double indent = width(" ".repeat(content.length() - shown.length()), t.getFont());
			text(r.x + t.getLeftMargin() + 2 + indent, y, shown, t.getFont(), false, foreground, Anchor.START);
		}
	}

	private void fill(Control c, Rectangle r) {
		if (c.getParent() != null && color(c.getBackground()) != color(c.getParent().getBackground())) {
			Rectangle v = r.intersection(clip);
			shapes.add(new Shape.Rect(v.x, v.y, v.width, v.height, color(c.getBackground()), 0));
		}
	}

	private static String plain(String text) {
		String s = text.replaceAll("\t.*", "").replace("&&", "\0").replace("&", "").replace('\0', '&');
		return s;
	}

	private static double size(Font font) {
		FontData d = font.getFontData()[0];
		return d.getHeight() * 96 / 72.0;
	}

	private static boolean bold(Font font) {
		return (font.getFontData()[0].getStyle() & SWT.BOLD) != 0;
	}

	private void text(double x, double y, String text, Font font, boolean bold, int color, Anchor anchor) {
		if (!text.isBlank()) {
			shapes.add(new Shape.Text(x, y, text, size(font), bold || bold(font), color, anchor, false));
		}
	}

	/** A text in a box, shortened to it, at its vertical middle. */
	private void cell(Rectangle r, String text, Font font, boolean bold, int color, int align) {
		String shown = text;
		while (shown.length() > 1 && width(shown, font) > r.width - 4) {
			shown = shown.substring(0, shown.length() - (shown.endsWith("…") ? 2 : 1)) + "…";
		}
		double y = r.y + r.height / 2.0 + size(font) * 0.36;
		if ((align & SWT.RIGHT) != 0) {
			text(r.x + r.width - 5, y, shown, font, bold, color, Anchor.END);
		} else if ((align & SWT.CENTER) != 0) {
			text(r.x + r.width / 2.0, y, shown, font, bold, color, Anchor.MIDDLE);
		} else {
			text(r.x + 4, y, shown, font, bold, color, Anchor.START);
		}
	}

	private void lines(Rectangle r, String text, Font font, int color, boolean wrap) {
		double y = r.y + size(font) * 1.1;
		for (String line : text.split("\n", -1)) {
			String rest = line;
			while (y < r.y + r.height) {
				int n = rest.length();
				while (wrap && n > 1 && width(rest.substring(0, n), font) > r.width) {
					int blank = rest.lastIndexOf(' ', n - 1);
					n = blank > 0 ? blank : n - 1;
				}
				text(r.x, y, rest.substring(0, n), font, false, color, Anchor.START);
				y += size(font) * 1.22;
				if (n >= rest.length()) {
					break;
				}
				rest = rest.substring(n).stripLeading();
			}
		}
	}

	private void field(Rectangle r, Control c, String text, int color, boolean multi, boolean border) {
		if (border) {
			shapes.add(new Shape.Rect(r.x, r.y, r.width, r.height, FIELD, BORDER));
		}
		if (multi) {
			String[] all = text.split("\n", -1);
			int rows = Math.max(1, (int) (r.height / (size(c.getFont()) * 1.22)));
			int top = c instanceof Text t ? t.getTopIndex() : 0;
			StringBuilder shown = new StringBuilder();
			for (int i = Math.min(top, all.length - 1); i < Math.min(all.length, top + rows); i++) {
				shown.append(all[i]).append('\n');
			}
			lines(new Rectangle(r.x + 3, r.y + 2, r.width - 6, r.height - 4), shown.toString(), c.getFont(), color,
					(c.getStyle() & SWT.WRAP) != 0);
		} else {
			cell(new Rectangle(r.x + (border ? 5 : 0), r.y, r.width - (border ? 8 : 0), r.height), text, c.getFont(), false, color, c.getStyle());
		}
	}

	private void button(Button b, Rectangle r, int foreground) {
		String text = plain(b.getText());
		if ((b.getStyle() & (SWT.CHECK | SWT.RADIO)) != 0) {
			double y = r.y + r.height / 2.0 - 6;
			shapes.add(new Shape.Rect(r.x + 3, y, 13, 13, b.getSelection() ? SELECTED : FIELD, BORDER));
			if (b.getSelection()) {
				shapes.add(new Shape.Line(r.x + 6, y + 6.5, r.x + 9, y + 9.5, FIELD, 1.6, false));
				shapes.add(new Shape.Line(r.x + 9, y + 9.5, r.x + 13.5, y + 3.5, FIELD, 1.6, false));
			}
			text(r.x + 21, r.y + r.height / 2.0 + size(b.getFont()) * 0.36, text, b.getFont(), false, foreground, Anchor.START);
		} else {
			boolean main = b == b.getShell().getDefaultButton() && b.isEnabled();
			shapes.add(new Shape.Rect(r.x, r.y, r.width, r.height, main ? SELECTED : 0xfffbfbfa, BORDER));
			if (b.getImage() != null) {
				image(b.getImage(), r.x + (r.width - b.getImage().getBounds().width) / 2, r.y + (r.height - 16) / 2);
			}
			cell(r, text, b.getFont(), false, main ? FIELD : foreground, SWT.CENTER);
		}
	}

	private void label(Label l, Rectangle r, int foreground) {
		if ((l.getStyle() & SWT.SEPARATOR) != 0) {
			boolean vertical = (l.getStyle() & SWT.VERTICAL) != 0;
			shapes.add(new Shape.Line(r.x, r.y + r.height / 2.0, vertical ? r.x : r.x + r.width, r.y + (vertical ? r.height : r.height / 2.0),
					BORDER, 1, false));
		} else if (l.getImage() != null) {
			image(l.getImage(), r.x, r.y);
		} else if ((l.getStyle() & SWT.WRAP) != 0) {
			lines(r, plain(l.getText()), l.getFont(), foreground, true);
		} else {
			cell(new Rectangle(r.x - 4, r.y, r.width + 12, r.height), plain(l.getText()), l.getFont(), false, foreground, l.getAlignment());
		}
	}

	private void slider(Rectangle r, double at) {
		double y = r.y + r.height / 2.0;
		double x = r.x + 12 + at * (r.width - 24);
		shapes.add(new Shape.Rect(r.x + 10, y - 2, r.width - 20, 4, 0xffd8dadd, 0));
		shapes.add(new Shape.Rect(r.x + 10, y - 2, x - r.x - 10, 4, SELECTED, 0));
		shapes.add(new Shape.Rect(x - 7, y - 7, 14, 14, FIELD, BORDER));
	}

	private void table(Table t, Rectangle r) {
		shapes.add(new Shape.Rect(r.x, r.y, r.width, r.height, FIELD, BORDER));
		int header = t.getHeaderVisible() ? t.getHeaderHeight() : 0;
		int x = r.x;
		for (int i = 0; i < t.getColumnCount() && header > 0; i++) {
			var column = t.getColumn(i);
			int w = Math.min(column.getWidth(), r.x + r.width - x);
			if (w > 0) {
				cell(new Rectangle(x, r.y, w, header), column.getText(), t.getFont(), true, HEADER, column.getAlignment());
			}
			x += column.getWidth();
		}
		for (int i = t.getTopIndex(); i < t.getItemCount(); i++) {
			TableItem item = t.getItem(i);
			if (item.getBounds(0).y + item.getBounds(0).height + r.y + header > r.y + r.height) {
				break;
			}
			boolean selected = t.isSelected(i);
			for (int k = 0; k < Math.max(1, t.getColumnCount()); k++) {
				Rectangle b = item.getBounds(k);
				Rectangle at = new Rectangle(r.x + b.x, r.y + header + b.y, Math.min(b.width, r.width - b.x), b.height);
				if (at.width <= 0) {
					continue;
				}
				if (selected) {
					shapes.add(new Shape.Rect(at.x, at.y, at.width, at.height, SELECTED, 0));
				}
				cell(at, item.getText(k), item.getFont(k), false, selected ? FIELD : color(item.getForeground(k)),
						t.getColumnCount() == 0 ? SWT.LEFT : t.getColumn(k).getAlignment());
			}
		}
	}

	private void tree(Tree t, Rectangle r) {
		shapes.add(new Shape.Rect(r.x, r.y, r.width, r.height, FIELD, BORDER));
		int header = t.getHeaderVisible() ? t.getHeaderHeight() : 0;
		int x = r.x;
		for (int i = 0; i < t.getColumnCount() && header > 0; i++) {
			cell(new Rectangle(x, r.y, Math.min(t.getColumn(i).getWidth(), r.x + r.width - x), header), t.getColumn(i).getText(),
					t.getFont(), true, HEADER, t.getColumn(i).getAlignment());
			x += t.getColumn(i).getWidth();
		}
		for (TreeItem item : t.getItems()) {
			item(t, item, r, header);
		}
	}

	private void item(Tree t, TreeItem item, Rectangle r, int header) {
		boolean selected = List.of(t.getSelection()).contains(item);
		for (int k = 0; k < Math.max(1, t.getColumnCount()); k++) {
			Rectangle b = item.getBounds(k);
			Rectangle at = new Rectangle(r.x + b.x, r.y + header + b.y, Math.min(Math.max(b.width, k == 0 ? r.width - b.x : 0), r.width - b.x),
					b.height);
			if (at.height <= 0 || at.width <= 0 || at.y + at.height > r.y + r.height) {
				continue;
			}
			if (selected) {
				shapes.add(new Shape.Rect(k == 0 ? r.x + 1 : at.x, at.y, k == 0 ? at.x + at.width - r.x - 2 : at.width, at.height, SELECTED, 0));
			}
			if (k == 0 && item.getItemCount() > 0) {
				double cx = at.x - 14;
				double cy = at.y + at.height / 2.0;
				shapes.add(new Shape.Polygon(item.getExpanded() ? new double[] { cx, cy - 2, cx + 9, cy - 2, cx + 4.5, cy + 4 }
						: new double[] { cx + 2, cy - 4.5, cx + 8, cy, cx + 2, cy + 4.5 }, 0xff606468, 0));
			}
			cell(at, item.getText(k), t.getFont(), false, selected ? FIELD : color(t.getForeground()), SWT.LEFT);
		}
		if (item.getExpanded()) {
			for (TreeItem child : item.getItems()) {
				item(t, child, r, header);
			}
		}
	}

	private void natTable(NatTable t, Rectangle r) {
		shapes.add(new Shape.Rect(r.x, r.y, r.width, r.height, FIELD, BORDER));
		for (int row = 0; row < t.getRowCount(); row++) {
			for (int column = 0; column < t.getColumnCount(); column++) {
				ILayerCell cell = t.getCellByPosition(column, row);
				if (cell == null) {
					continue;
				}
				Rectangle b = cell.getBounds();
				Rectangle at = new Rectangle(r.x + b.x, r.y + b.y, Math.min(b.width, r.width - b.x), b.height);
				if (at.width < 8 || b.y + b.height > r.height) {
					continue;
				}
				IDisplayConverter converter = t.getConfigRegistry().getConfigAttribute(CellConfigAttributes.DISPLAY_CONVERTER,
						cell.getDisplayMode(), cell.getConfigLabels().getLabels());
				Object value = converter == null ? cell.getDataValue()
						: converter.canonicalToDisplayValue(cell, t.getConfigRegistry(), cell.getDataValue());
				boolean header = cell.getConfigLabels().hasLabel(GridRegion.COLUMN_HEADER);
				IStyle style = t.getConfigRegistry().getConfigAttribute(CellConfigAttributes.CELL_STYLE, cell.getDisplayMode(),
						cell.getConfigLabels().getLabels());
				boolean right = style != null
						&& style.getAttributeValue(CellStyleAttributes.HORIZONTAL_ALIGNMENT) == HorizontalAlignmentEnum.RIGHT;
				cell(at, value == null ? "" : value.toString(), t.getFont(), header, header ? HEADER : 0xff2e3436,
						right ? SWT.RIGHT : SWT.LEFT);
			}
		}
	}

	private void toolBar(ToolBar bar) {
		Rectangle r = bounds(bar);
		for (ToolItem item : bar.getItems()) {
			Rectangle b = item.getBounds();
			Image image = item.isEnabled() || item.getDisabledImage() == null ? item.getImage() : item.getDisabledImage();
			if (item.getControl() != null) {
				continue;
			}
			if ((item.getStyle() & SWT.SEPARATOR) != 0) {
				shapes.add(new Shape.Line(r.x + b.x + b.width / 2.0, r.y + 5, r.x + b.x + b.width / 2.0, r.y + r.height - 5.0, BORDER, 1, false));
			} else if (image != null) {
				Rectangle i = image.getBounds();
				image(image, r.x + b.x + (b.width - i.width) / 2, r.y + b.y + (b.height - i.height) / 2);
			} else {
				cell(new Rectangle(r.x + b.x, r.y + b.y, b.width, b.height), item.getText(), bar.getFont(), false,
						color(bar.getForeground()), SWT.CENTER);
			}
		}
		children(bar);
	}

	private void tabs(CTabFolder folder, Rectangle r) {
		int height = folder.getTabHeight();
		shapes.add(new Shape.Rect(r.x, r.y, r.width, r.height, 0, BORDER));
		shapes.add(new Shape.Line(r.x, r.y + height + 1.5, r.x + r.width, r.y + height + 1.5, BORDER, 1, false));
		for (CTabItem item : folder.getItems()) {
			Rectangle b = item.getBounds();
			if (b.isEmpty() || !item.isShowing()) {
				continue;
			}
			boolean selected = item == folder.getSelection();
			Rectangle at = new Rectangle(r.x + b.x, r.y + b.y, b.width, b.height);
			if (selected) {
				shapes.add(new Shape.Rect(at.x, at.y, at.width, height + 2.0, FIELD, BORDER));
				shapes.add(new Shape.Rect(at.x, at.y, at.width, 2, SELECTED, 0));
			}
			int x = at.x + 6;
			if (item.getImage() != null) {
				image(item.getImage(), x, at.y + (height - item.getImage().getBounds().height) / 2 + 1);
				x += item.getImage().getBounds().width + 4;
			}
			text(x, at.y + height / 2.0 + size(folder.getFont()) * 0.36 + 1, item.getText(), folder.getFont(), false,
					color(folder.getForeground()), Anchor.START);
		}
	}

	/** An icon, in runs of pixels of one colour. */
	private void image(Image image, int x0, int y0) {
		ImageData data = image.getImageData();
		for (int y = 0; y < data.height; y++) {
			for (int x = 0; x < data.width;) {
				int argb = pixel(data, x, y);
				int end = x + 1;
				while (end < data.width && pixel(data, end, y) == argb) {
					end++;
				}
				if (argb != 0) {
					shapes.add(new Shape.Rect(x0 + x, y0 + y, end - x, 1, argb, 0));
				}
				x = end;
			}
		}
	}

	/** Few colours, and no soft edges: icons would be the larger part of the file. */
	private static int pixel(ImageData data, int x, int y) {
		RGB rgb = data.palette.getRGB(data.getPixel(x, y));
		int alpha = data.alphaData != null ? data.getAlpha(x, y)
				: data.getTransparencyMask() != null && data.getTransparencyMask().getPixel(x, y) == 0 ? 0 : 255;
		return alpha < 110 ? 0 : 0xff000000 | (rgb.red & 0xf0) << 16 | (rgb.green & 0xf0) << 8 | rgb.blue & 0xf0;
	}

	private void scene(Scene scene, Rectangle r) {
		Rectangle v = new Rectangle(r.x, r.y, scene.width(), scene.height()).intersection(clip);
		shapes.add(new Shape.Rect(v.x, v.y, v.width, v.height, scene.background(), 0));
		double right = clip.x + clip.width;
		for (Shape s : scene.shapes()) {
			Shape at = moved(s, r.x, r.y);
			boolean visible = switch (at) {
			case Shape.Rect a -> a.x() < right;
			case Shape.Mosaic a -> a.x() < right;
			case Shape.Hatch a -> a.x() < right;
			case Shape.Line a -> Math.min(a.x1(), a.x2()) < right;
			case Shape.Text a -> a.x() + a.text().length() * a.size() * 0.5 < right || a.anchor() != Anchor.START;
			case Shape.Polygon a -> a.points()[0] < right;
			};
			if (visible) {
				shapes.add(at instanceof Shape.Rect a && a.x() + a.width() > right
						? new Shape.Rect(a.x(), a.y(), right - a.x(), a.height(), a.fill(), a.stroke()) : at);
			}
		}
	}

	private static Shape moved(Shape s, int x, int y) {
		return switch (s) {
		case Shape.Rect a -> new Shape.Rect(a.x() + x, a.y() + y, a.width(), a.height(), a.fill(), a.stroke());
		case Shape.Mosaic a -> new Shape.Mosaic(a.x() + x, a.y() + y, a.width(), a.height(), a.colors());
		case Shape.Hatch a -> new Shape.Hatch(a.x() + x, a.y() + y, a.width(), a.height(), a.style(), a.color());
		case Shape.Line a -> new Shape.Line(a.x1() + x, a.y1() + y, a.x2() + x, a.y2() + y, a.color(), a.width(), a.dashed());
		case Shape.Text a -> new Shape.Text(a.x() + x, a.y() + y, a.text(), a.size(), a.bold(), a.color(), a.anchor(), a.vertical());
		case Shape.Polygon a -> new Shape.Polygon(moved(a.points(), x, y), a.fill(), a.stroke());
		};
	}

	private static double[] moved(double[] points, int x, int y) {
		double[] moved = points.clone();
		for (int i = 0; i < moved.length; i += 2) {
			moved[i] += x;
			moved[i + 1] += y;
		}
		return moved;
	}

	/** The scene that a canvas paints: what is behind its fields and has its size. */
	private static Scene scene(Object object, Rectangle area) {
		return scene(object, area, MAX_DEPTH);
	}

	private static Scene scene(Object object, Rectangle area, int depth) {
		if (object instanceof Scene s) {
			return Math.abs(s.width() - area.width) <= 2 && Math.abs(s.height() - area.height) <= 2 ? s : null;
		}
		if (object == null || depth == 0 || !object.getClass().getName().startsWith("org.memtrace.")) {
			return null;
		}
		try {
			if (object.getClass().isRecord() || depth < MAX_DEPTH) {
				for (Method m : object.getClass().getDeclaredMethods()) {
					if (m.getParameterCount() == 0 && m.getReturnType() == Scene.class) {
						m.setAccessible(true);
						Scene found = scene(m.invoke(object), area, depth - 1);
						if (found != null) {
							return found;
						}
					}
				}
			}
			for (Field f : object.getClass().getDeclaredFields()) {
				if (!Modifier.isStatic(f.getModifiers()) && f.getType().getName().startsWith("org.memtrace.")
						&& !f.getType().getName().endsWith("View")) {
					f.setAccessible(true);
					Scene found = scene(f.get(object), area, depth - 1);
					if (found != null) {
						return found;
					}
				}
			}
		} catch (ReflectiveOperationException e) {
			throw new AssertionError(e);
		}
		return null;
	}
}
