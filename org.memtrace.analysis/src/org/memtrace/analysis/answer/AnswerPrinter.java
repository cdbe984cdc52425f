// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.answer;

import java.io.PrintStream;
import java.util.List;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.analysis.text.TablePrinter;

/** Prints the rows of an answer as they come: aligned text, CSV, or JSON ({@code memtrace.sql/1}, docs/reference/json-analysis.md). */
public final class AnswerPrinter {
	/** The formats, by their names. */
	public static final List<String> FORMATS = List.of("text", "csv", "json");

	private final PrintStream out;
	private final String format;
	private final long limit;
	private List<AnswerColumn> columns = List.of();
	private TablePrinter table;
	private boolean cut;

	/**
	 * Prints an answer.
	 *
	 * @param format one of {@link #FORMATS}
	 * @param limit rows at most
	 */
	public AnswerPrinter(PrintStream out, String format, long limit) {
		this.out = out;
		this.format = format;
		this.limit = limit;
	}

	/**
	 * Prints the head; once, before the rows.
	 *
	 * @param trace name of the trace
	 * @param timeUnit {@code ns} or {@code tick}
	 * @param sql what was asked
	 */
	public void begin(String trace, String timeUnit, String sql, List<AnswerColumn> of) {
		columns = List.copyOf(of);
		JsonObject head = new JsonObject();
		head.addProperty("schema", "memtrace.sql/1");
		head.addProperty("trace", trace);
		head.addProperty("time_unit", timeUnit);
		head.addProperty("sql", sql);
		JsonArray list = new JsonArray();
		for (AnswerColumn c : columns) {
			JsonObject column = new JsonObject();
			column.addProperty("name", c.name());
			column.addProperty("type", c.type());
			list.add(column);
		}
		head.add("columns", list);
		table = new TablePrinter(out, format, head, columns.stream().map(AnswerColumn::name).toArray(String[]::new));
	}

	/**
	 * Prints a row.
	 *
	 * @return whether more rows are wanted
	 */
	public boolean row(Object[] values) {
		if (table.rows() == limit) {
			cut = true;
			return false;
		}
		Object[] cells = new Object[values.length];
		for (int c = 0; c < values.length; c++) {
			cells[c] = format.equals("text") ? columns.get(c).shown(values[c]) : columns.get(c).exact(values[c]);
		}
		table.row(cells);
		return true;
	}

	/** Ends the text; also when there was no answer. */
	public void end() {
		if (table != null) {
			table.close();
		}
	}

	/** Rows that were printed; -1 when the statement had no answer. */
	public long rows() {
		return table == null ? -1 : table.rows();
	}

	/** Whether the limit has cut off rows. */
	public boolean isCut() {
		return cut;
	}
}
