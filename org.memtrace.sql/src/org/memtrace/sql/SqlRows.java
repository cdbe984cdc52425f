// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import java.util.List;

import org.memtrace.model.MemtraceException;

/** Gets the result of a statement, on the thread that asked. */
public interface SqlRows {
	/**
	 * A column of a result.
	 *
	 * @param name different from those of the other columns
	 * @param type as SQL calls it, such as {@code BIGINT}
	 */
	record Column(String name, String type) {
	}

	/** Comes first, and only for a statement that has a result. */
	void columns(List<Column> columns) throws MemtraceException;

	/**
	 * A row.
	 *
	 * @param values whole numbers as {@link Long} or {@link java.math.BigInteger}, other numbers as {@link Double}, truth as
	 * {@link Boolean}, all else as text; null for NULL
	 * @return whether more rows are wanted
	 */
	boolean row(Object[] values) throws MemtraceException;
}
