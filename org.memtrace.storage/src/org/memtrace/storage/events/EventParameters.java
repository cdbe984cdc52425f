// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.events;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/** FrameSoc's parameters of some events, as text. */
public final class EventParameters {
	/** Events in one statement. */
	private static final int AT_ONCE = 500;

	private EventParameters() {
	}

	/** For each event {@code name=value, ...}, empty when it has no parameters. */
	public static List<String> read(Connection db, long[] ids) throws SQLException {
		Map<Long, StringJoiner> texts = new HashMap<>();
		for (int from = 0; from < ids.length; from += AT_ONCE) {
			int n = Math.min(AT_ONCE, ids.length - from);
			// without an index on EVENT_ID, which not every trace has, this reads the whole table: once for many events
			try (PreparedStatement select = db.prepareStatement("SELECT p.EVENT_ID, t.NAME, p.VALUE FROM EVENT_PARAM p"
					+ " LEFT JOIN EVENT_PARAM_TYPE t ON t.ID = p.EVENT_PARAM_TYPE_ID WHERE p.EVENT_ID IN (?"
					+ ", ?".repeat(n - 1) + ") ORDER BY p.EVENT_ID, p.ID")) {
				for (int i = 0; i < n; i++) {
					select.setLong(i + 1, ids[from + i]);
				}
				try (ResultSet rows = select.executeQuery()) {
					while (rows.next()) {
						String name = rows.getString(2);
						texts.computeIfAbsent(rows.getLong(1), k -> new StringJoiner(", "))
								.add((name == null ? "?" : name) + "=" + rows.getString(3));
					}
				}
			}
		}
		List<String> result = new ArrayList<>(ids.length);
		for (long id : ids) {
			StringJoiner text = texts.get(id);
			result.add(text == null ? "" : text.toString());
		}
		return result;
	}
}
