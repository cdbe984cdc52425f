// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.dbms;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Arrays;

/**
 * Inserts rows of whole numbers whose first column is their number, from 0, many with one statement: starting a statement costs as much
 * as inserting a row, and giving it a number a fifth of that. So the last column is given once where it is the same in all rows of a
 * statement. Counts the checksum of the rows.
 */
public final class NumberInsert implements AutoCloseable {
	private static final int MANY = 64;

	private final int columns;
	/** Null where rows are inserted. */
	private final CopyRows copy;
	private final PreparedStatement one;
	private final PreparedStatement many;
	/** The last column is parameter 2. */
	private final PreparedStatement alike;
	private final long[] pending;
	private int rows;
	private int nextId;
	private final RowsChecksum checksum = new RowsChecksum();

	/** @param columns without the number of the row, at least 2 */
	public NumberInsert(Connection db, String table, int columns) throws SQLException {
		this.columns = columns;
		pending = new long[MANY * columns];
		copy = CopyRows.of(db, table);
		one = copy != null ? null : db.prepareStatement(sql(table, 1, columns, false));
		many = copy != null ? null : db.prepareStatement(sql(table, MANY, columns, false));
		alike = copy != null ? null : db.prepareStatement(sql(table, MANY, columns, true));
	}

	/** Parameter 1 is the first number. */
	private static String sql(String table, int rows, int columns, boolean alike) {
		StringBuilder sql = new StringBuilder("INSERT INTO ").append(table).append(" VALUES");
		int parameter = alike ? 3 : 2;
		for (int row = 0; row < rows; row++) {
			sql.append(row == 0 ? "(?1" : ",(?1+" + row);
			for (int column = 0; column < columns; column++) {
				sql.append(",?").append(alike && column == columns - 1 ? 2 : parameter++);
			}
			sql.append(')');
		}
		return sql.toString();
	}

	/** Adds a row with four columns after its number. */
	public void add(long first, long second, long third, long last) throws SQLException {
		int at = rows * columns;
		pending[at] = first;
		pending[at + 1] = second;
		pending[at + 2] = third;
		pending[at + 3] = last;
		added();
	}

	/** Adds a row. */
	public void add(long[] values) throws SQLException {
		System.arraycopy(values, 0, pending, rows * columns, columns);
		added();
	}

	private void added() throws SQLException {
		if (++rows == MANY) {
			write();
		}
	}

	/** Writes what is left. */
	public void flush() throws SQLException {
		write();
		if (copy != null) {
			copy.flush();
		}
	}

	private void write() throws SQLException {
		for (int row = 0; row < rows; row++) {
			checksum.number(nextId + row);
			for (int i = row * columns; i < (row + 1) * columns; i++) {
				checksum.number(pending[i]);
			}
		}
		if (copy != null) {
			copyRows();
		} else if (rows < MANY) {
			for (int row = 0; row < rows; row++) {
				insert(one, nextId + row, row * columns, columns);
			}
		} else if (lastAlike()) {
			alike.setInt(1, nextId);
			set(alike, 2, pending[columns - 1]);
			for (int i = 0, parameter = 3; i < pending.length; i += columns) {
				for (int column = 0; column < columns - 1; column++) {
					set(alike, parameter++, pending[i + column]);
				}
			}
			alike.executeUpdate();
		} else {
			insert(many, nextId, 0, pending.length);
		}
		nextId += rows;
		rows = 0;
	}

	private void copyRows() throws SQLException {
		for (int row = 0; row < rows; row++) {
			copy.add(nextId + row);
			for (int i = row * columns; i < (row + 1) * columns; i++) {
				copy.add(pending[i]);
			}
			copy.end();
		}
	}

	private boolean lastAlike() {
		for (int i = columns - 1; i < pending.length; i += columns) {
			if (pending[i] != pending[columns - 1]) {
				return false;
			}
		}
		return true;
	}

	private void insert(PreparedStatement statement, int id, int from, int count) throws SQLException {
		statement.setInt(1, id);
		for (int i = 0; i < count; i++) {
			set(statement, 2 + i, pending[from + i]);
		}
		statement.executeUpdate();
	}

	private static void set(PreparedStatement statement, int parameter, long value) throws SQLException {
		if (value == (int) value) {
			statement.setInt(parameter, (int) value);
		} else {
			statement.setLong(parameter, value);
		}
	}

	/** Checksum of all rows that were written. */
	public long checksum() {
		return checksum.get();
	}

	@Override
	public void close() throws SQLException {
		for (PreparedStatement statement : Arrays.asList(one, many, alike)) {
			if (statement != null) {
				statement.close();
			}
		}
	}
}
