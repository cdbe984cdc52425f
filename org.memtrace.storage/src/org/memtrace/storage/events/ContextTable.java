// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.events;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import org.memtrace.model.store.AccessBatch;
import org.memtrace.storage.rows.EventTypes;

/**
 * What accesses have in common, each combination stored once: an event row refers to it by number. Few exist (threads ×
 * CPU sets × sharing), so that a number takes one or two bytes.
 */
public final class ContextTable {
	/** Bits of the last member of a key. */
	static final int WRITE = 1;
	/** The event belongs to the same access as the event before it. */
	static final int CONTINUES = 2;

	private static final int FIELDS = 6;
	private static final int CACHE = 4096;

	private final List<int[]> keys = new ArrayList<>();
	/** Open addressing; number + 1, 0 for free. */
	private int[] table = new int[CACHE];

	int size() {
		return keys.size();
	}

	/** Number of a combination; made when it is new. */
	int number(int thread, int cpuSet, int sharing, int node, int flags, int direction) {
		int hash = (((((thread * 31 + cpuSet) * 31 + sharing) * 31 + node) * 31 + flags) * 31 + direction) * 0x9e3779b9;
		int mask = table.length - 1;
		int slot = (hash ^ hash >>> 15) & mask;
		while (table[slot] != 0) {
			int[] key = keys.get(table[slot] - 1);
			if (key[0] == thread && key[1] == cpuSet && key[2] == sharing && key[3] == node && key[4] == flags
					&& key[5] == direction) {
				return table[slot] - 1;
			}
			slot = (slot + 1) & mask;
		}
		keys.add(new int[] { thread, cpuSet, sharing, node, flags, direction });
		table[slot] = keys.size();
		if (keys.size() * 2 > table.length) {
			grow();
		}
		return keys.size() - 1;
	}

	private void grow() {
		List<int[]> old = new ArrayList<>(keys);
		table = new int[table.length * 4];
		keys.clear();
		for (int[] key : old) {
			number(key[0], key[1], key[2], key[3], key[4], key[5]);
		}
	}

	/**
	 * Writes MT_CONTEXT and MT_CONTEXT_PARAM.
	 *
	 * @param cpuMasks of the sets of CPUs, hexadecimal
	 * @param firstCpus of the sets of CPUs
	 * @param taskIds by thread index
	 * @param byThread whether event types tell the thread
	 */
	void write(Connection db, String[] cpuMasks, int[] firstCpus, long[] taskIds, boolean byThread) throws SQLException {
		try (PreparedStatement contexts = db.prepareStatement("INSERT INTO MT_CONTEXT VALUES(?,?,?,?,?,?,?,?,?,?,?)");
				PreparedStatement params = db.prepareStatement("INSERT INTO MT_CONTEXT_PARAM VALUES(?,?,?,?)")) {
			for (int id = 0; id < keys.size(); id++) {
				int[] key = keys.get(id);
				boolean write = (key[FIELDS - 1] & WRITE) != 0;
				int type = byThread ? EventTypes.of(key[0], taskIds.length, key[2], write) : EventTypes.of(taskIds.length, key[2], write);
				boolean cpusKnown = key[1] >= 0 && key[1] < cpuMasks.length;
				int[] values = { id, type, org.memtrace.model.store.EventCategory.VARIABLE.ordinal(),
						cpusKnown ? firstCpus[key[1]] : 0, key[0], key[1], key[2], key[3], key[4], write ? 1 : 0,
						(key[FIELDS - 1] & CONTINUES) != 0 ? 1 : 0 };
				for (int i = 0; i < values.length; i++) {
					contexts.setInt(i + 1, values[i]);
				}
				contexts.addBatch();
				String[] texts = { cpusKnown ? cpuMasks[key[1]] : "0",
						Long.toString(key[0] == AccessBatch.NO_THREAD ? -1 : taskIds[key[0]]) };
				for (int slot = 0; slot < texts.length; slot++) {
					params.setInt(1, id);
					params.setInt(2, slot);
					params.setInt(3, paramType(type, slot));
					params.setString(4, texts[slot]);
					params.addBatch();
				}
				if (id % 1000 == 999) {
					contexts.executeBatch();
					params.executeBatch();
				}
			}
			contexts.executeBatch();
			params.executeBatch();
		}
	}

	/** Parameter types of an event type: its CPU mask and its thread. */
	public static int paramType(int eventType, int slot) {
		return eventType * 2 + slot;
	}
}
