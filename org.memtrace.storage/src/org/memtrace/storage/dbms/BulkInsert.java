// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.dbms;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Inserts many rows of one table, some with each statement. */
public final class BulkInsert implements AutoCloseable {
	private static final int ROWS = 50;

	private final Connection db;
	private final String table;
	private final int columns;
	/** Null where rows are inserted. */
	private final CopyRows copy;
	private final PreparedStatement statement;
	private final Object[] pending;
	private RowsChecksum checksum;
	private int position;

	public BulkInsert(Connection db, String table, int columns) throws SQLException {
		this.db = db;
		this.table = table;
		this.columns = columns;
		this.pending = new Object[ROWS * columns];
		copy = CopyRows.of(db, table);
		statement = copy != null ? null : db.prepareStatement(sql(ROWS));
	}

	private String sql(int rows) {
		String row = "(?" + ",?".repeat(columns - 1) + ")";
		return "INSERT INTO " + table + " VALUES" + row + ("," + row).repeat(rows - 1);
	}

	/** One that also counts the checksum of its rows. */
	public static BulkInsert summed(Connection db, String table, int columns) throws SQLException {
		BulkInsert insert = new BulkInsert(db, table, columns);
		insert.checksum = new RowsChecksum();
		return insert;
	}

	/** Adds a row. */
	public void add(Object... values) throws SQLException {
		if (checksum != null) {
			for (Object value : values) {
				checksum.value(value);
			}
		}
		if (copy != null) {
			for (int i = 0; i < columns; i++) {
				copy.add(values[i]);
			}
			copy.end();
			return;
		}
		System.arraycopy(values, 0, pending, position, columns);
		position += columns;
		if (position == pending.length) {
			insert(statement);
		}
	}

	private void insert(PreparedStatement to) throws SQLException {
		for (int i = 0; i < position; i++) {
			to.setObject(i + 1, pending[i]);
		}
		to.executeUpdate();
		position = 0;
	}

	/** Writes what is left. */
	public void finish() throws SQLException {
		if (copy != null) {
			copy.flush();
		} else if (position > 0) {
			try (PreparedStatement rest = db.prepareStatement(sql(position / columns))) {
				insert(rest);
			}
		}
	}

	/** Checksum of all rows of a {@link #summed} table in the order in which they were added, which is that of their first two columns. */
	public long checksum() {
		return checksum.get();
	}

	@Override
	public void close() throws SQLException {
		if (statement != null) {
			statement.close();
		}
	}
}
