// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.dbms;

import java.io.IOException;
import java.io.StringReader;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HexFormat;

import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/** Inserts many rows of one table into PostgreSQL with COPY, in its text format. Used by one thread, as is its connection. */
public final class CopyRows {
	private static final int AT_ONCE = 1 << 20;

	private final CopyManager copies;
	private final String sql;
	private final StringBuilder rows = new StringBuilder();
	private boolean begun;

	private CopyRows(CopyManager copies, String table) {
		this.copies = copies;
		sql = "COPY " + table + " FROM STDIN";
	}

	/** Null when the connection is one to another kind of database, where INSERT is the way. */
	public static CopyRows of(Connection db, String table) throws SQLException {
		return db.getClass().getName().startsWith("org.postgresql.") // the driver may be missing
				? new CopyRows(db.unwrap(PGConnection.class).getCopyAPI(), table) : null;
	}

	public void add(long value) {
		next().append(value);
	}

	public void add(double value) {
		next().append(value);
	}

	/** A number, a text, bytes or null. */
	public void add(Object value) throws SQLException {
		switch (value) {
		case null -> next().append("\\N");
		case byte[] bytes -> HexFormat.of().formatHex(next().append("\\\\x"), bytes);
		case Boolean b -> next().append(b ? 1 : 0);
		case Object o -> text(o.toString());
		}
	}

	private void text(String text) throws SQLException {
		next();
		for (int i = 0; i < text.length(); i++) {
			char c = text.charAt(i);
			switch (c) {
			case '\\' -> rows.append("\\\\");
			case '\t' -> rows.append("\\t");
			case '\n' -> rows.append("\\n");
			case '\r' -> rows.append("\\r");
			case '\0' -> throw new SQLException("a text has the character 0, which PostgreSQL cannot keep", "22021");
			default -> rows.append(c);
			}
		}
	}

	private StringBuilder next() {
		if (begun) {
			rows.append('\t');
		}
		begun = true;
		return rows;
	}

	/** Ends a row. */
	public void end() throws SQLException {
		rows.append('\n');
		begun = false;
		if (rows.length() >= AT_ONCE) {
			flush();
		}
	}

	/** Writes what is left. */
	public void flush() throws SQLException {
		if (!rows.isEmpty()) {
			try {
				copies.copyIn(sql, new StringReader(rows.toString()));
			} catch (IOException e) {
				throw new SQLException(e.getMessage(), "08006", e);
			}
			rows.setLength(0);
		}
	}
}
