// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.live;

import java.io.PrintStream;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

import com.google.gson.JsonObject;

import org.memtrace.analysis.text.TablePrinter;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.LivePages;
import org.memtrace.model.LivePages.Cell;
import org.memtrace.model.LivePages.Row;

/** The last intervals of a recording as text, CSV and JSON. */
public final class LiveTable {
	/** From few to many. */
	private static final String LEVELS = "▁▂▃▄▅▆▇█";

	private LiveTable() {
	}

	/** The rows with most pages in these intervals, those first; at most {@code most}. */
	public static List<Row> busiest(List<Row> rows, int most) {
		return rows.stream().sorted(Comparator.comparingLong(Row::sumOfPages).reversed()).limit(most).toList();
	}

	/** Name of a row, with its process image in front where there are several. */
	public static String label(LivePages pages, Row row) {
		return pages.images() > 1 && row.image() >= 0 ? String.format(Locale.ROOT, "p%04d ", row.image()) + row.name() : row.name();
	}

	/** What is told, of which time, and what is not in it: a line or several, without a line break at the end. */
	public static String head(String trace, LivePages pages) {
		if (pages.endNs() == pages.startNs()) {
			return trace + ": " + (pages.state() == LivePages.State.ENDED ? "the recording is over" : "no interval is over yet");
		}
		StringBuilder text = new StringBuilder(trace)
				.append(pages.state() == LivePages.State.ENDED ? ": the recording is over; " : ": recording; ")
				.append(String.format(Locale.ROOT, "%,d", pages.intervals())).append(pages.intervals() == 1 ? " interval" : " intervals")
				.append(pages.images() == 1 ? "" : ", " + pages.images() + " process images").append("; shown: ")
				.append(Units.duration(pages.startNs() - pages.originNs())).append(" to ")
				.append(Units.duration(pages.endNs() - pages.originNs()));
		String left = left(pages);
		return left.isEmpty() ? text.toString() : text.append('\n').append(left).toString();
	}

	/** What is not in the rows, as sentences; empty when nothing is left out. */
	public static String left(LivePages pages) {
		StringBuilder text = new StringBuilder();
		LivePages.Left left = pages.left();
		if (left.records() > 0) {
			text.append(String.format(Locale.ROOT, "%,d records are not shown. ", left.records()));
		}
		if (left.images() > 0) {
			text.append(String.format(Locale.ROOT, "%,d process images are no longer shown. ", left.images()));
		}
		return text.append(left.reason()).toString().strip();
	}

	/**
	 * A table for a person.
	 *
	 * @param byThread rows are threads, not structures
	 * @param most rows
	 * @param columns of the curve, which goes over the whole time
	 */
	public static void text(PrintStream out, LivePages pages, boolean byThread, int most, int columns) {
		List<Row> all = byThread ? pages.threads() : pages.structures();
		List<Row> rows = busiest(all, most);
		int highest = rows.stream().flatMap(r -> r.cells().stream()).mapToInt(Cell::pages).max().orElse(1);
		String curve = String.format(Locale.ROOT, "pages over time (at most %,d)", highest);
		try (TablePrinter table = byThread ? new TablePrinter(out, "text", null, "thread", "pages", "shared", "written", curve)
				: new TablePrinter(out, "text", null, "structure", "kind", "pages", "shared", "written", "threads", curve)) {
			for (Row row : rows) {
				Cell now = row.now() == null ? new Cell(0, 0, 0, 0, 0, 0) : row.now();
				String line = curve(pages, row, highest, columns);
				if (byThread) {
					table.row(label(pages, row), now.pages(), now.shared(), now.written(), line);
				} else {
					table.row(label(pages, row), row.kind(), now.pages(), now.shared(), now.written(), now.users(), line);
				}
			}
		}
		if (all.size() > rows.size()) {
			out.println("and " + (all.size() - rows.size()) + " more");
		}
	}

	/** A mark for each piece of the time: the pages of the interval in its middle; a blank when there are none. */
	static String curve(LivePages pages, Row row, int highest, int columns) {
		StringBuilder text = new StringBuilder();
		int at = 0;
		List<Cell> cells = row.cells();
		for (int i = 0; i < columns; i++) {
			long middle = pages.startNs() + (long) ((i + 0.5) / columns * (pages.endNs() - pages.startNs()));
			while (at < cells.size() && cells.get(at).endNs() <= middle) {
				at++;
			}
			text.append(at < cells.size() && cells.get(at).startNs() <= middle
					? LEVELS.charAt((int) Math.min(LEVELS.length() - 1L, (long) cells.get(at).pages() * LEVELS.length() / (highest + 1L))) : ' ');
		}
		return text.toString();
	}

	/**
	 * A row for each cell, for programs.
	 *
	 * @param format csv or json
	 * @param head of JSON, with its schema
	 */
	public static void cells(PrintStream out, String format, JsonObject head, String trace, LivePages pages, boolean byThread) {
		head.addProperty("trace", trace);
		head.addProperty("state", pages.state().name().toLowerCase(Locale.ROOT));
		head.addProperty("intervals", pages.intervals());
		head.addProperty("named", pages.named());
		head.addProperty("left_records", pages.left().records());
		head.addProperty("left_intervals", pages.left().intervals());
		head.addProperty("left_images", pages.left().images());
		try (TablePrinter table = new TablePrinter(out, format, head, "image", "name", "kind", "site", "start_ns", "end_ns", "pages", "shared",
				"written", "threads")) {
			for (Row row : byThread ? pages.threads() : pages.structures()) {
				for (Cell c : row.cells()) {
					table.row(row.image() < 0 ? null : row.image(), row.name(), row.kind(), row.site(), c.startNs(), c.endNs(), c.pages(), c.shared(),
							c.written(), c.users());
				}
			}
		}
	}
}
