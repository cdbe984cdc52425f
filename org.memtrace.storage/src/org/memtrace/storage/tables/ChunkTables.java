// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.tables;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.StoreException;
import org.memtrace.storage.chunks.Blobs;
import org.memtrace.storage.chunks.ChunkEntry;
import org.memtrace.storage.dbms.Database;

/** The tables of the chunks: MT_CHUNK, the index, and MT_COLUMN, the bytes. */
public final class ChunkTables {
	/** Name of the checksum of the index in MT_PROPERTY. */
	public static final String CHECKSUM = "chunk_index_crc32c";
	/** Name of the checksum of the leaves in whose order the chunks are. */
	public static final String ORDER = "chunk_order_crc32c";
	public static final String INSERT_CHUNK = "INSERT INTO MT_CHUNK VALUES(?,?,?,?,?,?,?,?,?,?)";
	public static final String INSERT_COLUMN = "INSERT INTO MT_COLUMN VALUES(?,?)";
	/** Ids of the columns of a chunk begin at its number times this. */
	public static final long PER_CHUNK = 16;

	private final PreparedStatement chunks;
	private final PreparedStatement columns;
	private final CRC32C crc = new CRC32C();

	/** For adding chunks. */
	public ChunkTables(PreparedStatement chunks, PreparedStatement columns) {
		this.chunks = chunks;
		this.columns = columns;
	}

	/** Adds the next chunk. */
	public void add(int number, ChunkEntry entry, byte[][] data) throws SQLException {
		long[] values = { number, entry.rows(), entry.cellFrom(), entry.cellTo(), entry.startNs(), entry.lastStartNs(),
				entry.endNs(), entry.reads(), entry.writes() };
		for (int i = 0; i < values.length; i++) {
			chunks.setLong(i + 1, values[i]);
		}
		chunks.setBytes(values.length + 1, entry.columns());
		chunks.executeUpdate();
		entry.update(crc);
		for (int column = 0; column < data.length; column++) {
			if (data[column] != null) {
				columns.setLong(1, number * PER_CHUNK + column);
				columns.setBytes(2, data[column]);
				columns.executeUpdate();
			}
		}
	}

	/** Of the entries that were added. */
	public long checksum() {
		return crc.getValue();
	}

	/** Checksum of an index. */
	public static long checksum(List<ChunkEntry> index) {
		CRC32C crc = new CRC32C();
		index.forEach(entry -> entry.update(crc));
		return crc.getValue();
	}

	/** All chunks in order. */
	public static List<ChunkEntry> index(Connection db) throws SQLException {
		List<ChunkEntry> index = new ArrayList<>();
		try (Statement statement = db.createStatement();
				ResultSet rows = statement.executeQuery("SELECT ID, ROWS, CELL_FROM, CELL_TO, START_NS, LAST_START_NS, END_NS, READS,"
						+ " WRITES, COLUMNS FROM MT_CHUNK ORDER BY ID")) {
			while (rows.next()) {
				index.add(new ChunkEntry(rows.getInt(2), rows.getInt(3), rows.getInt(4), rows.getLong(5), rows.getLong(6),
						rows.getLong(7), rows.getLong(8), rows.getLong(9), rows.getBytes(10)));
			}
		}
		return index;
	}

	/** Where the bytes of columns are; the connection is used for nothing else. */
	public static Blobs blobs(Database database, Connection db) {
		return new Blobs() {
			@Override
			public byte[] read(int chunk, int column) throws MemtraceException {
				synchronized (db) {
					return ChunkTables.read(database, db, chunk, column);
				}
			}

			@Override
			public byte[][] readAll(int chunk) throws MemtraceException {
				synchronized (db) {
					return ChunkTables.readAll(database, db, chunk);
				}
			}
		};
	}

	private static byte[][] readAll(Database database, Connection db, int chunk) throws StoreException {
		byte[][] all = new byte[(int) PER_CHUNK][];
		try (PreparedStatement select = db.prepareStatement("SELECT ID, DATA FROM MT_COLUMN WHERE ID >= ? AND ID < ?")) {
			select.setLong(1, chunk * PER_CHUNK);
			select.setLong(2, (chunk + 1) * PER_CHUNK);
			try (ResultSet rows = select.executeQuery()) {
				while (rows.next()) {
					all[(int) (rows.getLong(1) - chunk * PER_CHUNK)] = rows.getBytes(2);
				}
			}
		} catch (SQLException e) {
			throw database.explain(e);
		}
		return all;
	}

	/** Bytes of a column, null when it is not there; the caller has the connection for itself. */
	private static byte[] read(Database database, Connection db, int chunk, int column) throws StoreException {
		try (PreparedStatement select = db.prepareStatement("SELECT DATA FROM MT_COLUMN WHERE ID = ?")) {
			select.setLong(1, chunk * PER_CHUNK + column);
			try (ResultSet row = select.executeQuery()) {
				return row.next() ? row.getBytes(1) : null;
			}
		} catch (SQLException e) {
			throw database.explain(e);
		}
	}
}
