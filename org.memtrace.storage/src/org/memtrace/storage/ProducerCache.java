// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32C;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.ProducerKind;
import org.memtrace.model.ProducerTree;
import org.memtrace.model.ProducerTreeBuilder;
import org.memtrace.model.TraceStore;

/**
 * The numbers of a large producer tree in one value of the cache: a row of {@code MT_PRODUCER} costs more than a microsecond, half a
 * million of them half a second at every start. Names are always read from their table. Layout, big endian: format, number of
 * producers, for each one KIND (1 byte), START_ADDRESS, END_ADDRESS (8), STRUCTURE, SUBTREE_END (4), then the CRC-32C of all that.
 */
final class ProducerCache {
	static final String KEY = "producers";
	/** Fewer are read from the table as fast. */
	static final int LEAST = 50_000;
	private static final int FORMAT = 1;
	private static final int ROW = 25;

	private ProducerCache() {
	}

	/** Reads with a connection that is used by one thread at a time. */
	@FunctionalInterface
	interface Access {
		<T> T load(SqlTraceStore.Loader<T> loader) throws MemtraceException;
	}

	/**
	 * The tree, from the cache if it holds it, else from the table. Saves one that has at least {@code least} producers. What takes
	 * time is done without the connection, which others need meanwhile.
	 */
	static ProducerTree read(TraceStore store, Access access, int pageSizeBytes, int least) throws MemtraceException {
		int count = access.load(db -> (int) Sqlite.number(db, -1, "SELECT MAX(ID) FROM MT_PRODUCER") + 1);
		if (count < least) {
			return access.load(db -> ProducerTable.read(db, pageSizeBytes));
		}
		Optional<byte[]> saved = store.readCache(KEY);
		ProducerTree tree = saved.isEmpty() ? null : unpack(saved.get(), count, access, pageSizeBytes);
		if (tree == null) {
			tree = access.load(db -> ProducerTable.read(db, pageSizeBytes));
			store.writeCache(KEY, pack(tree));
		}
		return tree;
	}

	static byte[] pack(ProducerTree tree) {
		ByteBuffer out = ByteBuffer.allocate(12 + ROW * tree.size());
		out.putInt(FORMAT).putInt(tree.size());
		for (int id = 0; id < tree.size(); id++) {
			out.put((byte) tree.kind(id).ordinal()).putLong(tree.startAddress(id)).putLong(tree.endAddress(id))
					.putInt(tree.structure(id)).putInt(tree.subtreeEnd(id));
		}
		return out.putInt(checksum(out.array(), out.position())).array();
	}

	private static int checksum(byte[] bytes, int length) {
		CRC32C crc = new CRC32C();
		crc.update(bytes, 0, length);
		return (int) crc.getValue();
	}

	/** Ids and names of the producers whose names are in a table. */
	private record Named(List<Integer> ids, List<String> names) {
		static Named read(Connection db) throws SQLException {
			Named all = new Named(new ArrayList<>(), new ArrayList<>());
			try (Statement statement = db.createStatement(); ResultSet rows = statement.executeQuery(ProducerTable.NAMES)) {
				while (rows.next()) {
					all.ids.add(rows.getInt(1));
					all.names.add(rows.getString(2));
				}
			}
			return all;
		}
	}

	/** Null when the value is damaged, or not of a tree of this size. */
	private static ProducerTree unpack(byte[] bytes, int count, Access access, int pageSizeBytes) throws MemtraceException {
		ByteBuffer in = ByteBuffer.wrap(bytes);
		if (bytes.length != 12 + (long) ROW * count || in.getInt() != FORMAT || in.getInt() != count
				|| checksum(bytes, bytes.length - 4) != in.getInt(bytes.length - 4)) {
			return null;
		}
		Named named = access.load(Named::read);
		int next = 0;
		ProducerKind[] kinds = ProducerKind.values();
		ProducerTreeBuilder builder = new ProducerTreeBuilder(pageSizeBytes, count);
		int[] ends = new int[64];
		int depth = 0;
		for (int id = 0; id < count; id++) {
			while (depth > 0 && ends[depth - 1] <= id) {
				builder.end();
				depth--;
			}
			ProducerKind kind = kinds[in.get()];
			String name = null;
			if (kind != ProducerKind.PART && kind != ProducerKind.PAGE) {
				if (next == named.ids.size() || named.ids.get(next) != id) {
					return null;
				}
				name = named.names.get(next++);
			}
			builder.begin(kind, name, in.getLong(), in.getLong(), in.getInt());
			if (depth == ends.length) {
				ends = Arrays.copyOf(ends, depth * 2);
			}
			ends[depth++] = in.getInt();
		}
		while (depth-- > 0) {
			builder.end();
		}
		return builder.build();
	}
}
