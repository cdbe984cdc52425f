// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Inserts rows of MT_EVENT, with ids in order from 0, many with one statement: starting a statement costs as much as inserting a row.
 * The rows of a statement belong to one run.
 */
final class EventInserter implements AutoCloseable {
	private static final int MANY = 64;
	private static final int COLUMNS = 3;

	private final PreparedStatement one;
	private final PreparedStatement many;
	private final long[] pending = new long[MANY * COLUMNS];
	private int rows;
	private int run;
	private int nextId;
	private final RowsChecksum checksum = new RowsChecksum();

	EventInserter(Connection db) throws SQLException {
		one = db.prepareStatement(sql(1));
		many = db.prepareStatement(sql(MANY));
	}

	/** Parameter 1 is the first id, 2 the run of all rows. */
	private static String sql(int rows) {
		StringBuilder sql = new StringBuilder("INSERT INTO MT_EVENT VALUES");
		for (int row = 0; row < rows; row++) {
			sql.append(row == 0 ? "(?1" : ",(?1+" + row).append(',');
			for (int column = 0; column < COLUMNS; column++) {
				sql.append('?').append(3 + row * COLUMNS + column).append(',');
			}
			sql.append("?2)");
		}
		return sql.toString();
	}

	void add(int cell, long count, int context, int ofRun) throws SQLException {
		if (rows > 0 && (rows == MANY || ofRun != run)) {
			flush();
		}
		run = ofRun;
		int at = rows++ * COLUMNS;
		pending[at] = cell;
		pending[at + 1] = count;
		pending[at + 2] = context;
	}

	void flush() throws SQLException {
		int from = 0;
		if (rows == MANY) {
			insert(many, from, MANY);
		} else {
			for (; from < rows; from++) {
				insert(one, from, 1);
			}
		}
		rows = 0;
	}

	private void insert(PreparedStatement statement, int from, int count) throws SQLException {
		statement.setInt(1, nextId);
		statement.setInt(2, run);
		for (int row = 0; row < count; row++) {
			checksum.number(nextId + row);
			for (int column = 0; column < COLUMNS; column++) {
				checksum.number(pending[(from + row) * COLUMNS + column]);
			}
			checksum.number(run);
		}
		nextId += count;
		for (int i = 0; i < count * COLUMNS; i++) {
			long value = pending[from * COLUMNS + i];
			if (value == (int) value) {
				statement.setInt(3 + i, (int) value);
			} else {
				statement.setLong(3 + i, value);
			}
		}
		statement.executeUpdate();
	}

	/** Checksum of all rows that were written. */
	long checksum() {
		return checksum.get();
	}

	@Override
	public void close() throws SQLException {
		one.close();
		many.close();
	}
}
