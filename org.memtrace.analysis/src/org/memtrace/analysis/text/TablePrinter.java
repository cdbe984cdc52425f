// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.text;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

import com.google.gson.JsonObject;

/**
 * Prints rows as they come: aligned columns for a person, CSV (RFC 4180), or a JSON object with the rows as an array. The widths of the
 * text form come from the first rows, so that any number of rows can be printed.
 */
public final class TablePrinter implements AutoCloseable {
	private static final int ROWS_FOR_WIDTH = 500;
	private static final int WIDEST = 60;
	/** Quantities; other numbers are names of something and are not grouped by thousands. */
	private static final Pattern QUANTITY = Pattern.compile(".*(_ns|_bytes)|(?i)reads|writes|events|producers|faults|lost|unattributed");

	private final PrintStream out;
	private final String format;
	private final String[] columns;
	private List<Object[]> waiting = new ArrayList<>();
	private int[] widths;
	private boolean[] numeric;
	private long rows;

	/**
	 * Begins a table.
	 *
	 * @param format text, csv or json
	 * @param head of JSON: the object that gets the rows, as its last field {@code rows}
	 */
	public TablePrinter(PrintStream out, String format, JsonObject head, String... columns) {
		this.out = out;
		this.format = format;
		this.columns = columns;
		if (format.equals("csv")) {
			out.println(String.join(",", columns));
		} else if (format.equals("json")) {
			String text = JsonText.LINE_WITH_NULLS.toJson(head);
			out.print(text.substring(0, text.length() - 1) + ",\"rows\":[");
		}
	}

	public long rows() {
		return rows;
	}

	/** A value is a text, a number, or null for not known. */
	public void row(Object... values) {
		rows++;
		switch (format) {
		case "csv" -> {
			StringBuilder line = new StringBuilder();
			for (int i = 0; i < values.length; i++) {
				line.append(i == 0 ? "" : ",").append(quoted(text(values[i])));
			}
			out.println(line);
		}
		case "json" -> {
			out.print(rows == 1 ? "\n{" : ",\n{");
			for (int i = 0; i < values.length; i++) {
				out.print((i == 0 ? "" : ", ") + JsonText.LINE_WITH_NULLS.toJson(columns[i]) + ": " + JsonText.LINE_WITH_NULLS.toJson(values[i]));
			}
			out.print("}");
		}
		default -> {
			if (waiting == null) {
				print(values);
			} else {
				waiting.add(values);
				if (waiting.size() == ROWS_FOR_WIDTH) {
					printWaiting();
				}
			}
		}
		}
	}

	private static String text(Object value) {
		return value == null ? "" : value.toString();
	}

	private static String quoted(String text) {
		return text.matches("(?s).*[,\"\r\n].*") ? '"' + text.replace("\"", "\"\"") + '"' : text;
	}

	private void printWaiting() {
		widths = new int[columns.length];
		numeric = new boolean[columns.length];
		for (int c = 0; c < columns.length; c++) {
			widths[c] = columns[c].length();
			numeric[c] = !waiting.isEmpty();
			for (Object[] row : waiting) {
				widths[c] = Math.min(WIDEST, Math.max(widths[c], shown(c, row[c]).length()));
				numeric[c] &= row[c] == null || row[c] instanceof Number;
			}
		}
		List<Object[]> first = waiting;
		waiting = null;
		print((Object[]) columns);
		first.forEach(this::print);
	}

	private String shown(int column, Object value) {
		return cell(columns[column], value);
	}

	/** A cell of the text form: quantities have their thousands grouped, and control characters are question marks. */
	public static String cell(String column, Object value) {
		boolean whole = value instanceof Long || value instanceof Integer;
		String text = whole && QUANTITY.matcher(column).matches() ? String.format(Locale.ROOT, "%,d", value) : text(value);
		return text.replaceAll("\\p{Cntrl}", "?");
	}

	private void print(Object... values) {
		StringBuilder line = new StringBuilder();
		for (int c = 0; c < values.length; c++) {
			String text = shown(c, values[c]);
			String gap = " ".repeat(Math.max(0, widths[c] - text.length()));
			line.append(c == 0 ? "" : "  ").append(numeric[c] ? gap + text : text + gap);
		}
		out.println(line.toString().stripTrailing());
	}

	@Override
	public void close() {
		if (format.equals("json")) {
			out.println("\n]}");
		} else if (format.equals("text") && waiting != null && !waiting.isEmpty()) {
			printWaiting();
		}
	}
}
