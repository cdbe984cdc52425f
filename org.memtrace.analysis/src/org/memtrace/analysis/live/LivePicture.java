// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.live;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.ModelType.Role;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.scene.TimeAxis;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.LivePages;
import org.memtrace.model.LivePages.Cell;
import org.memtrace.model.LivePages.Row;
import org.memtrace.model.store.EventType;

/**
 * The last intervals of a recording: a row for each structure or thread, time to the right, a cell for each interval in which it had pages.
 * Rows stay in the order in which they appeared, so that they do not jump; when there is no room for all, those with most pages are shown.
 */
public final class LivePicture {
	/** What the colour of a cell tells. */
	public enum Colour {
		/** Pages that were touched, from few to the most of any cell; by the square root, so that few are seen, too. */
		PAGES,
		/** Which part of them several threads touched, from none to all. */
		SHARED
	}

	private static final ModelType PRIVATE_READ = new ModelType(EventType.PRIVATE_READ, Role.PRIVATE_READ, 0);
	private static final ModelType PRIVATE_WRITE = new ModelType(EventType.PRIVATE_WRITE, Role.PRIVATE_WRITE, 0);
	private static final ModelType SHARED_READ = new ModelType(EventType.SHARED_READ, Role.SHARED_READ, 0);

	private final LivePages pages;
	private final Scene scene;
	private final List<Row> rows;
	private final double plotX;
	private final double plotY;
	private final double plotWidth;
	private final double rowHeight;

	/**
	 * Lays it out.
	 *
	 * @param byThread rows are threads, not structures
	 * @param width pixels
	 * @param height pixels
	 * @param f height of the normal font in pixels
	 */
	public LivePicture(LivePages pages, boolean byThread, Colour colour, int width, int height, double f, Palette palette) {
		this.pages = pages;
		TextMeter meter = TextMeter.DEFAULT;
		List<Row> all = byThread ? pages.threads() : pages.structures();
		List<Shape> shapes = new ArrayList<>();
		rowHeight = Math.rint(1.6 * f);
		plotY = Math.rint(2.0 * f);
		double axis = 2.0 * f;
		int room = (int) Math.max(0, (height - plotY - axis) / rowHeight);
		boolean more = all.size() > room;
		Set<Row> busiest = new HashSet<>(LiveTable.busiest(all, more ? Math.max(0, room - 1) : room));
		rows = all.stream().filter(busiest::contains).toList();
		double name = rows.stream().mapToDouble(r -> meter.width(LiveTable.label(pages, r), f, false)).max().orElse(0);
		plotX = Math.rint(Math.min(0.34 * width, name + 1.2 * f));
		double number = meter.width("1,234,567", f, false);
		double share = meter.width("shared", f, false) + f;
		plotWidth = Math.max(1, Math.rint(width - plotX - number - share - 1.6 * f));
		if (rows.isEmpty()) {
			shapes.add(new Shape.Text(width / 2.0, height / 2.0 + f / 3, empty(pages), f, false, palette.mutedText(), Shape.Anchor.MIDDLE, false));
			scene = new Scene(width, height, palette.background(), shapes);
			return;
		}
		double numbersX = plotX + plotWidth + 0.6 * f + number;
		double sharesX = numbersX + share;
		int highest = rows.stream().flatMap(r -> r.cells().stream()).mapToInt(Cell::pages).max().orElse(1);
		legend(shapes, colour, highest, f, palette, meter);
		header(shapes, "pages", numbersX, f, palette);
		header(shapes, "shared", sharesX, f, palette);
		shapes.add(new Shape.Rect(plotX, plotY, plotWidth, rows.size() * rowHeight, palette.plotBackground(), 0));
		for (int i = 0; i < rows.size(); i++) {
			Row row = rows.get(i);
			double y = plotY + i * rowHeight;
			double base = y + rowHeight / 2 + 0.36 * f;
			shapes.add(new Shape.Text(plotX - 0.6 * f, base, meter.fitMiddle(LiveTable.label(pages, row), f, false, plotX - 0.8 * f), f, false,
					row.kind().isEmpty() && !byThread ? palette.mutedText() : palette.text(), Shape.Anchor.END, false));
			for (Cell c : row.cells()) {
				double x0 = Math.rint(xOf(c.startNs()));
				double x1 = Math.max(x0 + 1, Math.rint(xOf(c.endNs())));
				shapes.add(new Shape.Rect(x0, y, x1 - x0, rowHeight - 1, color(c, colour, highest, palette), 0));
			}
			Cell now = row.now();
			shapes.add(new Shape.Text(numbersX, base, now == null ? "–" : String.format(Locale.ROOT, "%,d", now.pages()), f, false, palette.text(),
					Shape.Anchor.END, false));
			shapes.add(new Shape.Text(sharesX, base, now == null ? "–" : String.format(Locale.ROOT, "%d %%", Math.round(100.0 * now.shared()
					/ now.pages())), f, false, palette.text(), Shape.Anchor.END, false));
		}
		double bottom = plotY + rows.size() * rowHeight;
		if (more) {
			shapes.add(new Shape.Text(plotX - 0.6 * f, bottom + rowHeight / 2 + 0.36 * f, "and " + (all.size() - rows.size()) + " more", f, false,
					palette.mutedText(), Shape.Anchor.END, false));
		}
		new TimeAxis(pages.originNs(), pages.startNs(), pages.endNs(), (int) (plotWidth / (7 * f)), false).draw(shapes, palette, meter, f, plotX,
				bottom, plotX + plotWidth, this::xOf);
		scene = new Scene(width, height, palette.background(), shapes);
	}

	private static String empty(LivePages pages) {
		return pages.endNs() > pages.startNs() ? "no accesses in the last intervals" : "pages of the last intervals, as soon as there are some";
	}

	private static int color(Cell c, Colour colour, int highest, Palette palette) {
		return colour == Colour.PAGES ? palette.heat(Palette.intensity(c.pages(), highest))
				: Palette.mix(none(palette), all(palette), (double) c.shared() / c.pages());
	}

	/** No page is shared: as private pages in the picture of a trace. */
	private static int none(Palette palette) {
		return palette.defaultColor(palette.isDark() ? PRIVATE_WRITE : PRIVATE_READ);
	}

	private static int all(Palette palette) {
		return palette.defaultColor(SHARED_READ);
	}

	private void legend(List<Shape> shapes, Colour colour, int highest, double f, Palette palette, TextMeter meter) {
		double base = 1.25 * f;
		String low = colour == Colour.PAGES ? "1 page" : "no page shared";
		String high = colour == Colour.PAGES ? String.format(Locale.ROOT, "%,d pages", highest) : "all shared";
		double x = plotX;
		shapes.add(new Shape.Text(x, base, low, f, false, palette.mutedText(), Shape.Anchor.START, false));
		x = Math.rint(x + meter.width(low, f, false) + 0.5 * f);
		int steps = 24;
		double step = Math.max(2, Math.rint(0.3 * f));
		for (int i = 0; i < steps; i++) {
			double share = i / (steps - 1.0);
			shapes.add(new Shape.Rect(x + i * step, Math.rint(0.4 * f), step, f, colour == Colour.PAGES
					? palette.heat(Palette.intensity(Math.max(1.0 / highest, share), 1)) : Palette.mix(none(palette), all(palette), share), 0));
		}
		shapes.add(new Shape.Text(x + steps * step + 0.5 * f, base, high, f, false, palette.mutedText(), Shape.Anchor.START, false));
	}

	private static void header(List<Shape> shapes, String text, double x, double f, Palette palette) {
		shapes.add(new Shape.Text(x, 1.25 * f, text, f, false, palette.mutedText(), Shape.Anchor.END, false));
	}

	private double xOf(long ns) {
		double x = plotX + plotWidth * (ns - pages.startNs()) / Math.max(1, pages.endNs() - pages.startNs());
		return Math.max(plotX, Math.min(plotX + plotWidth, x));
	}

	public Scene scene() {
		return scene;
	}

	/** Rows that are shown, from the top. */
	public List<Row> rows() {
		return rows;
	}

	/** What is at a point, as lines for a person; empty where nothing is. */
	public String textAt(double x, double y) {
		int i = (int) Math.floor((y - plotY) / rowHeight);
		if (i < 0 || i >= rows.size()) {
			return "";
		}
		Row row = rows.get(i);
		StringBuilder text = new StringBuilder(LiveTable.label(pages, row));
		if (!row.kind().isEmpty()) {
			text.append(" (").append(row.kind()).append(')');
		}
		if (!row.site().isEmpty()) {
			text.append('\n').append(row.site());
		}
		for (Cell c : row.cells()) {
			if (x >= plotX && xOf(c.startNs()) <= x && x < xOf(c.endNs())) {
				text.append('\n').append(Units.duration(c.startNs() - pages.originNs())).append(" + ").append(Units.duration(c.endNs() - c.startNs()))
						.append(String.format(Locale.ROOT, "\n%,d %s, %,d shared, %,d written", c.pages(), c.pages() == 1 ? "page" : "pages", c.shared(),
								c.written()));
				if (!row.kind().isEmpty()) {
					text.append(String.format(Locale.ROOT, "\nby %,d %s", c.users(), c.users() == 1 ? "thread" : "threads"));
				}
			}
		}
		return text.toString();
	}

	/** One sentence that tells the picture to who does not see it. */
	public String description() {
		List<Row> most = LiveTable.busiest(rows, 3);
		return rows.isEmpty() ? empty(pages) : "Most pages: " + String.join(", ", most.stream().map(r -> LiveTable.label(pages, r)
				+ (r.now() == null ? "" : String.format(Locale.ROOT, " %,d now", r.now().pages()))).toList());
	}
}
