// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.column;

import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.Dimension.Type;

/**
 * A column of a table. A name that ends in {@code _ns} or {@code _bytes} says the unit; times of a trace with a logical clock end in
 * {@code _ticks}, see {@link org.memtrace.model.TimeUnit#column}.
 *
 * @param id name on the command line, in files and in JSON: small letters and underscores
 * @param title head of the column for a person
 * @param type what a value is
 * @param meaning within a sentence, without a full stop
 */
public record Column(String id, String title, Type type, String meaning) {
	/** A column of a whole number. */
	public static Column number(String id, String title, String meaning) {
		return new Column(id, title, Type.NUMBER, meaning);
	}

	/** A column of texts. */
	public static Column text(String id, String title, String meaning) {
		return new Column(id, title, Type.TEXT, meaning);
	}

	/** A column of addresses in memory. */
	public static Column address(String id, String title, String meaning) {
		return new Column(id, title, Type.ADDRESS, meaning);
	}

	/** The column of a dimension. */
	public static Column of(Dimension dimension) {
		return new Column(dimension.id(), dimension.title(), dimension.type(), dimension.explanation());
	}

	/** Unit of the values, empty without. */
	public String unit() {
		return id.endsWith("_ns") ? "ns" : id.endsWith("_bytes") ? "bytes" : id.endsWith("percent") ? "%" : "";
	}

	/**
	 * What a table of text or JSON has for a value: addresses are hexadecimal without a prefix.
	 *
	 * @param value a number, a text, or null for what is not known
	 */
	public Object cell(Object value) {
		return type == Type.ADDRESS && value instanceof Long address ? Long.toHexString(address) : value;
	}
}
