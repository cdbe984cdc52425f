// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.ProducerKind;
import org.memtrace.model.ProducerTree;
import org.memtrace.model.ProducerTreeBuilder;
import org.memtrace.model.StoreException;

/** Reads the producer tree of a memory trace. */
final class ProducerTable {
	/** Ids and names of producers whose names do not follow from their ancestors. */
	static final String NAMES = "SELECT p.ID, n.NAME FROM MT_PRODUCER p, EVENT_PRODUCER n"
			+ " WHERE n.ID = p.ID AND p.KIND NOT IN (" + ProducerKind.PART.ordinal() + ", "
			+ ProducerKind.PAGE.ordinal() + ") ORDER BY p.ID";

	private ProducerTable() {
	}

	static ProducerTree read(Connection db, int pageSizeBytes) throws SQLException, MemtraceException {
		ProducerKind[] kinds = ProducerKind.values();
		ProducerTreeBuilder builder = new ProducerTreeBuilder(pageSizeBytes);
		int derived = 1 << ProducerKind.PART.ordinal() | 1 << ProducerKind.PAGE.ordinal();
		int[] ends = new int[64];
		int depth = 0;
		// names of parts and pages follow from their ancestors: reading only the others halves the time
		try (Statement statement = db.createStatement();
				Statement nameStatement = db.createStatement();
				ResultSet rows = statement.executeQuery(
						"SELECT ID, KIND, START_ADDRESS, END_ADDRESS, STRUCTURE, SUBTREE_END FROM MT_PRODUCER ORDER BY ID");
				ResultSet names = nameStatement.executeQuery(NAMES)) {
			while (rows.next()) {
				int id = rows.getInt(1);
				while (depth > 0 && ends[depth - 1] <= id) {
					builder.end();
					depth--;
				}
				int kind = rows.getInt(2);
				String name = null;
				if (kind < 0 || kind >= kinds.length || (derived >> kind & 1) == 0) {
					if (!names.next() || names.getInt(1) != id) {
						throw new StoreException("the event producer " + id + " has no name");
					}
					name = names.getString(2);
				}
				if (builder.begin(kind >= 0 && kind < kinds.length ? kinds[kind] : ProducerKind.OTHER, name,
						rows.getLong(3), rows.getLong(4), rows.getInt(5)) != id) {
					throw new StoreException("event producer " + builder.size() + " is missing");
				}
				if (depth == ends.length) {
					ends = java.util.Arrays.copyOf(ends, depth * 2);
				}
				ends[depth++] = rows.getInt(6);
			}
		}
		while (depth-- > 0) {
			builder.end();
		}
		return builder.build();
	}
}
