// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.swt.SWT;
import org.eclipse.swt.dnd.Clipboard;
import org.eclipse.swt.dnd.TextTransfer;
import org.eclipse.swt.dnd.Transfer;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Image;
import org.eclipse.swt.graphics.ImageData;
import org.eclipse.swt.graphics.PaletteData;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableColumn;
import org.eclipse.swt.widgets.TableItem;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.analysis.text.Units;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.util.Accessibility;

/**
 * The types of the picture with their values and shares, of everything that is shown or of the block or region that is looked at.
 * A check mark shows or hides a type in the drawing; the aggregation stays.
 */
final class TypesTable extends Composite {
	private static final int SWATCH = 11;
	private static final String[] COLUMNS = {"Type", "Value", "Share"};

	/** Four types and the heads. */
	private static final int HEIGHT = 132;
	/** Its head and a row; with less it is not shown. */
	static final int LEAST_HEIGHT = 60;

	/** What a column has beside its text. */
	private static final int CELL_MARGIN = 14;
	private static final int MIN_VALUE = 62;
	/** With less room for names values are not shown. */
	private static final int MIN_NAME = 112;

	private record Row(ModelType type, double value, String text, double share) {
	}

	private final Label title;
	private final Table table;
	private final Consumer<String> toggle;
	/** By colour. */
	private final Map<Integer, Image> swatches = new HashMap<>();
	private List<Row> rows = List.of();
	private Choice choice = Choice.DEFAULT;
	private int sortColumn = -1;
	private boolean descending;

	TypesTable(Composite parent, Consumer<String> toggle) {
		super(parent, SWT.NONE);
		this.toggle = toggle;
		GridLayoutFactory.fillDefaults().margins(8, 2).spacing(4, 4).applyTo(this);
		title = new Label(this, SWT.NONE);
		title.setFont(JFaceResources.getFontRegistry().getBold(JFaceResources.DEFAULT_FONT));
		title.setText("Types");
		GridDataFactory.fillDefaults().grab(true, false).applyTo(title);
		table = new Table(this, SWT.CHECK | SWT.BORDER | SWT.FULL_SELECTION | SWT.SINGLE);
		table.setHeaderVisible(true);
		Accessibility.name(table, "Types of the picture");
		table.setToolTipText("Unchecked types are not drawn; the blocks stay as they are. Click a column to sort");
		GridDataFactory.fillDefaults().grab(true, true).hint(200, HEIGHT).applyTo(table);
		for (int c = 0; c < COLUMNS.length; c++) {
			TableColumn column = new TableColumn(table, c == 0 ? SWT.LEFT : SWT.RIGHT);
			column.setText(COLUMNS[c]);
			int index = c;
			column.addListener(SWT.Selection, e -> sort(index));
		}
		table.addListener(SWT.Resize, e -> widths());
		table.addListener(SWT.Selection, this::checked);
		table.addListener(SWT.KeyDown, e -> {
			if ((e.stateMask & SWT.MOD1) != 0 && e.keyCode == 'c') {
				copy();
			}
		});
		addListener(SWT.Dispose, e -> swatches.values().forEach(Image::dispose));
	}

	/** In low views fewer rows are seen at once; pixels of the table, which is never lower than one row and never higher than it needs. */
	void height(int pixels) {
		((GridData) table.getLayoutData()).heightHint = Math.clamp(pixels, LEAST_HEIGHT, HEIGHT);
	}

	/** In a low view its head says enough. */
	void low(boolean low) {
		title.setVisible(!low);
		((GridData) title.getLayoutData()).exclude = low;
	}

	int height() {
		return ((GridData) table.getLayoutData()).heightHint;
	}

	private void widths() {
		int width = table.getClientArea().width;
		GC gc = new GC(table);
		int value = MIN_VALUE;
		int share = gc.textExtent("> 99.9 %").x + CELL_MARGIN;
		for (TableItem item : table.getItems()) {
			value = Math.max(value, gc.textExtent(item.getText(1)).x + CELL_MARGIN);
		}
		gc.dispose();
		// where not all fit the shares are enough; the values are in the tip of a block, and in the clipboard
		boolean values = width >= value + share + MIN_NAME;
		set(1, values ? value : 0);
		set(2, share);
		set(0, Math.max(60, width - (values ? value : 0) - share));
	}

	private void set(int column, int width) {
		if (table.getColumn(column).getWidth() != width) {
			table.getColumn(column).setWidth(width);
		}
	}

	/**
	 * Shows the values of some cells; nothing when there is no model.
	 *
	 * @param what whose values they are, for the title
	 * @param ticks whether times are ticks of a logical clock
	 */
	void show(MicroscopicModel model, double[] values, String what, boolean ticks, Choice now) {
		choice = now;
		List<Row> list = new ArrayList<>();
		double sum = 0;
		for (double v : values) {
			sum += Math.max(0, v);
		}
		for (int k = 0; k < values.length; k++) {
			list.add(new Row(model.types().get(k), values[k], ModelText.value(model, values[k], ticks), sum > 0 ? 100 * Math.max(0, values[k]) / sum
					: 0));
		}
		rows = list;
		String text = "Types: " + what;
		if (!title.getText().equals(text)) {
			title.setText(text.replace("&", "&&"));
			title.setToolTipText(text);
		}
		fill();
	}

	void clear() {
		rows = List.of();
		title.setText("Types");
		fill();
	}

	private void sort(int column) {
		if (sortColumn == column && descending == (column > 0)) {
			descending = !descending;
		} else if (sortColumn == column) {
			sortColumn = -1;
		} else {
			sortColumn = column;
			descending = column > 0;
		}
		table.setSortColumn(sortColumn < 0 ? null : table.getColumn(sortColumn));
		table.setSortDirection(sortColumn < 0 ? SWT.NONE : descending ? SWT.DOWN : SWT.UP);
		fill();
	}

	private void fill() {
		List<Row> sorted = new ArrayList<>(rows);
		if (sortColumn >= 0) {
			Comparator<Row> order = sortColumn == 0 ? Comparator.comparing(r -> ModelText.type(r.type()))
					: Comparator.comparingDouble(Row::value);
			sorted.sort(descending ? order.reversed() : order);
		}
		Palette palette = ScenePainter.palette(this);
		while (table.getItemCount() > sorted.size()) {
			table.getItem(table.getItemCount() - 1).dispose();
		}
		for (int i = 0; i < sorted.size(); i++) {
			Row r = sorted.get(i);
			TableItem item = i < table.getItemCount() ? table.getItem(i) : new TableItem(table, SWT.NONE);
			item.setText(new String[] {ModelText.type(r.type()), r.text(), Units.percent(r.share())});
			item.setData(r.type().name());
			item.setImage(swatch(palette.color(r.type())));
			item.setChecked(!choice.hidden().contains(r.type().name()));
		}
		widths();
	}

	/** Of one colour; made in memory, because painting one waits for the window system. */
	private Image swatch(int argb) {
		return swatches.computeIfAbsent(argb, a -> {
			ImageData data = new ImageData(SWATCH, SWATCH, 24, new PaletteData(0xff0000, 0xff00, 0xff));
			int[] line = new int[SWATCH];
			Arrays.fill(line, a & 0xffffff);
			for (int y = 0; y < SWATCH; y++) {
				data.setPixels(0, y, SWATCH, line, 0);
			}
			return new Image(getDisplay(), data);
		});
	}

	private void checked(Event e) {
		if (e.detail == SWT.CHECK && e.item.getData() instanceof String name) {
			toggle.accept(name);
		}
	}

	private void copy() {
		if (rows.isEmpty()) {
			return;
		}
		StringBuilder b = new StringBuilder("type,value,percent\n");
		for (Row r : rows) {
			b.append('"').append(r.type().name().replace("\"", "\"\"")).append("\",").append(r.value()).append(',').append(r.share())
					.append('\n');
		}
		Clipboard clipboard = new Clipboard(getDisplay());
		clipboard.setContents(new Object[] {b.toString()}, new Transfer[] {TextTransfer.getInstance()});
		clipboard.dispose();
	}

	Table table() {
		return table;
	}

	/** Where the check mark of a row is, in the table. */
	Rectangle checkBox(int row) {
		Rectangle r = table.getItem(row).getBounds(0);
		return new Rectangle(Math.max(2, r.x - 20), r.y, 18, r.height);
	}
}
