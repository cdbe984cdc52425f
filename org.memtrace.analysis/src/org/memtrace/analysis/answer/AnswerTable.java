// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.answer;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

import org.memtrace.analysis.text.NaturalOrder;
import org.memtrace.analysis.text.TablePrinter;

/**
 * The first rows of an answer, in memory. Immutable, as long as nobody writes into the rows.
 *
 * @param columns at least one
 * @param rows values as {@link AnswerColumn#exact} describes them
 * @param isCut whether the answer has more rows
 */
public record AnswerTable(List<AnswerColumn> columns, List<Object[]> rows, boolean isCut) {
	/** How NULL is shown, so that it is no empty text. */
	public static final String NULL = "NULL";
	private static final Comparator<String> TEXTS = NaturalOrder.INSTANCE;

	public AnswerTable {
		columns = List.copyOf(columns);
		rows = List.copyOf(rows);
	}

	/** A cell as the command line prints it, but for NULL. */
	public String text(int column, int row) {
		Object value = rows.get(row)[column];
		return value == null ? NULL : TablePrinter.cell(columns.get(column).name(), columns.get(column).shown(value));
	}

	/** The column with a name, or -1. */
	public int column(String name) {
		return IntStream.range(0, columns.size()).filter(c -> columns.get(c).name().equals(name)).findFirst().orElse(-1);
	}

	/** A number, NaN for NULL and what is none. */
	public double number(int column, int row) {
		return rows.get(row)[column] instanceof Number n ? n.doubleValue() : Double.NaN;
	}

	/** Rows in the order of a column, equal ones as they came; NULL is last in both directions. */
	public int[] order(int column, boolean descending) {
		Comparator<Object> values = (a, b) -> {
			if (a == null || b == null) {
				return a == b ? 0 : a == null ? 1 : -1;
			}
			int by = compare(a, b);
			return descending ? -by : by;
		};
		return IntStream.range(0, rows.size()).boxed().sorted((i, j) -> values.compare(rows.get(i)[column], rows.get(j)[column]))
				.mapToInt(Integer::intValue).toArray();
	}

	private static int compare(Object a, Object b) {
		if (a instanceof Long x && b instanceof Long y) {
			return x.compareTo(y);
		}
		if (a instanceof Number x && b instanceof Number y) {
			double p = x.doubleValue();
			double q = y.doubleValue();
			return p != q || !Double.isFinite(p) ? Double.compare(p, q) : exact(x).compareTo(exact(y));
		}
		return TEXTS.compare(a.toString(), b.toString());
	}

	private static BigDecimal exact(Number n) {
		return n instanceof BigInteger i ? new BigDecimal(i) : n instanceof Double d ? new BigDecimal(d) : BigDecimal.valueOf(n.longValue());
	}

	/** Some rows as CSV, with exact numbers, as {@code memtrace sql --format csv} prints them. */
	public String toCsv(int... which) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (PrintStream out = new PrintStream(bytes, false, StandardCharsets.UTF_8)) {
			AnswerPrinter printer = new AnswerPrinter(out, "csv", Long.MAX_VALUE);
			printer.begin("", "", "", columns);
			for (int row : which) {
				printer.row(rows.get(row));
			}
			printer.end();
		}
		return bytes.toString(StandardCharsets.UTF_8);
	}
}
