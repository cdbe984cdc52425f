// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.trace;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Blob;
import java.sql.Clob;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.EventType;
import org.memtrace.storage.chunks.Blobs;
import org.memtrace.storage.dbms.BulkInsert;
import org.memtrace.storage.dbms.Database;
import org.memtrace.storage.dbms.Dbms;
import org.memtrace.storage.dbms.PendingDatabase;
import org.memtrace.storage.dbms.PendingFile;
import org.memtrace.storage.dbms.Schema;
import org.memtrace.storage.dbms.Sqlite;
import org.memtrace.storage.events.OtherEventTables;
import org.memtrace.storage.rows.EventTypes;
import org.memtrace.storage.tables.ChunkTables;
import org.memtrace.storage.tables.ContentStamp;
import org.memtrace.storage.tables.InfoProperties;
import org.memtrace.storage.tables.TableChecksums;

/**
 * Copies a trace database of memtrace into an empty one of any kind, row by row: chunks, notes and checksums stay what they are, so that
 * the copy can be verified with what was written first. What is derived (MT_CACHE) is not copied, as it belongs to the stamp of the
 * original. Afterwards the rows of each table are counted and its checksum is compared.
 */
public final class TableCopy {
	private static final String CACHE = "MT_CACHE";
	private static final String PROPERTY = "MT_PROPERTY";
	private static final String COLUMN = "MT_COLUMN";
	/** What rows outside of the database have, or is made of them for FrameSoc. */
	private static final List<String> IN_ROWS = List.of(COLUMN, "MT_EVENT", "MT_RUN", "MT_CONTEXT", "MT_CONTEXT_PARAM", "EVENT_PRODUCER");
	/** Rows between two questions whether to go on. */
	private static final int ROWS = 1000;
	/** Large rows. */
	private static final Set<String> BYTES = Set.of(COLUMN, "MT_NOTE", "MT_TREE", "MT_REPORT");

	/** A trace that is copied. */
	public interface Source {
		Database database();

		TraceInfo info();

		/** Whether a Parquet folder has the accesses. */
		boolean isInFolder();

		/** Whether it was written by memtrace, and not by FrameSoc. */
		boolean isOurs();

		boolean hasAccesses();

		boolean hasOtherEvents();

		String contentStamp() throws MemtraceException;

		List<EventType> eventTypes() throws MemtraceException;

		List<ThreadInfo> threads() throws MemtraceException;
	}

	private final Source from;
	private final Connection source;
	private final Database to;
	private final Connection target;
	private final Dbms dbms;
	private final Progress progress;

	/** Which columns of each chunk are copied; null for all tables with all rows. */
	private final int[] kept;

	private TableCopy(Source from, Connection source, Database to, Connection target, int[] kept, Progress progress) {
		this.from = from;
		this.source = source;
		this.to = to;
		this.target = target;
		this.dbms = to.dbms;
		this.kept = kept;
		this.progress = progress;
	}

	/**
	 * Writes a database of all that a Parquet folder does not have of a trace, with what is derived: it is about the same accesses.
	 *
	 * @param kept of each chunk the columns that are needed, {@link org.memtrace.storage.chunks.StoredChunks#notInRows}
	 */
	static void rest(Source from, int[] kept, Path file, Progress progress) throws MemtraceException {
		Database to = Database.of(file, Dbms.SQLITE);
		try (Connection source = from.database().scan(); Connection target = Dbms.SQLITE.make(file)) {
			Dbms.SQLITE.prepareWriting(target);
			new TableCopy(from, source, to, target, kept, progress).tables();
			target.commit();
		} catch (SQLException e) {
			throw from.database().dbms == Dbms.SQLITE ? to.explain(e) : explain(from, to, e);
		}
	}

	/**
	 * Copies and publishes a trace.
	 *
	 * @param pending ends with this call
	 * @param name wanted name of the database, with the suffix of its kind
	 * @return the trace as the catalogue now knows it
	 */
	public static TraceInfo copy(Source from, PendingDatabase pending, String name, Progress progress) throws MemtraceException {
		TraceInfo info = from.info();
		try {
			if (from.isInFolder()) {
				throw new StoreException(from.database() + " belongs to a Parquet folder, which has the accesses: a folder cannot be copied into"
						+ " a catalogue");
			}
			if (!from.isOurs()) {
				throw new StoreException(from.database() + " was not written by this version of memtrace; import the trace again");
			}
			try (Connection source = from.database().scan(); Connection target = pending.begin()) {
				pending.database().dbms.prepareWriting(target);
				new TableCopy(from, source, pending.database(), target, null, progress).tables();
				return pending.publish(target, info.stored(-1, info.alias(), name, info.events(), info.producers()));
			} catch (SQLException e) {
				throw explain(from, pending.database(), e);
			} catch (IOException e) {
				throw new StoreException(pending.database() + " cannot be completed: " + PendingFile.reason(e), e);
			}
		} finally {
			pending.end();
		}
	}

	/** One of the two: whose driver it is tells. */
	private static StoreException explain(Source from, Database to, SQLException e) {
		boolean postgres = e.getClass().getName().startsWith("org.postgresql.");
		return postgres == (to.dbms == Dbms.POSTGRESQL) ? to.explain(e) : from.database().explain(e);
	}

	private void tables() throws SQLException, MemtraceException {
		List<String> create = new ArrayList<>(List.of(Schema.TRACE_TABLES));
		boolean others = from.hasOtherEvents();
		if (others) {
			create.addAll(List.of(OtherEventTables.TABLES));
		}
		Sqlite.execute(target, dbms.schema(create.toArray(String[]::new)));
		boolean notes = from.database().dbms.hasTable(source, Schema.NOTE_TABLE);
		if (notes) {
			if (!dbms.hasTable(target, Schema.NOTE_TABLE)) {
				Sqlite.execute(target, dbms.schema(Schema.NOTES));
			}
			create.add(Schema.NOTES);
		}
		List<String> tables = new ArrayList<>();
		for (String sql : create) {
			String table = sql.substring("CREATE TABLE ".length(), sql.indexOf('('));
			if (from.database().dbms.hasTable(source, table)) {
				tables.add(table);
			} else { // databases that were made earlier do not have all
				Sqlite.execute(target, "DROP TABLE " + table);
			}
		}
		if (kept == null) {
			tables.remove(CACHE);
		} else {
			tables.removeAll(IN_ROWS);
			copyColumns();
		}
		for (String table : tables) {
			copy(table);
		}
		progress.begin("Finishing the database", -1);
		Sqlite.execute(target, dbms.schema(Schema.TRACE_INDEXES));
		if (others) {
			Sqlite.execute(target, dbms.schema(OtherEventTables.PAGE_INDEX));
		}
		Sqlite.execute(target, dbms.schema(views(others)));
		Map<String, String> properties = InfoProperties.all(target);
		if (kept != null) {
			facts();
			TableChecksums.rewriteEmpty(to, target, properties, IN_ROWS);
			properties = InfoProperties.all(target);
		}
		TableChecksums checksums = TableChecksums.read(to, properties);
		for (String table : checksums.tables()) {
			progress.check();
			checksums.check(to, target, table);
		}
		if (dbms.countsChanges()) {
			ContentStamp.make(target, kept == null ? 0 : stamp());
		}
	}

	/** What the catalogue knows of the trace may be newer than what its database says. */
	private void facts() throws SQLException {
		Map<String, String> facts = InfoProperties.of(from.info());
		facts.put(InfoProperties.IN_FOLDER, "1");
		Sqlite.execute(target, "DELETE FROM MT_PROPERTY WHERE NAME LIKE 'property.%'");
		for (Map.Entry<String, String> fact : facts.entrySet()) {
			Sqlite.update(target, "DELETE FROM MT_PROPERTY WHERE NAME = ?", fact.getKey());
			try (PreparedStatement insert = target.prepareStatement("INSERT INTO MT_PROPERTY VALUES(?, ?)")) {
				insert.setString(1, fact.getKey());
				insert.setString(2, fact.getValue());
				insert.executeUpdate();
			}
		}
	}

	/** What is derived has the stamp of the original. */
	private long stamp() throws MemtraceException {
		try {
			return Long.parseLong(from.contentStamp());
		} catch (NumberFormatException e) {
			return 0; // then it is not used
		}
	}

	/** Columns that rows outside of the database do not have. */
	private void copyColumns() throws SQLException, MemtraceException {
		Blobs blobs = ChunkTables.blobs(from.database(), source);
		progress.begin("Copying " + COLUMN, kept.length);
		try (BulkInsert insert = new BulkInsert(target, COLUMN, 2)) {
			for (int chunk = 0; chunk < kept.length; chunk++) {
				progress.check();
				for (int c = 0; c < Integer.SIZE; c++) {
					byte[] bytes = (kept[chunk] & 1 << c) == 0 ? null : blobs.read(chunk, c);
					if (bytes != null) {
						insert.add(new Object[] {chunk * ChunkTables.PER_CHUNK + c, bytes});
					}
				}
				progress.worked(1);
			}
			insert.finish();
		}
	}

	private void copy(String table) throws SQLException, MemtraceException {
		String which = table.equals(PROPERTY) ? " WHERE NAME <> '" + InfoProperties.CONTENT_STAMP + "'" : "";
		long rows = Sqlite.number(source, 0, "SELECT COUNT(*) FROM " + table + which);
		progress.begin("Copying " + table, rows);
		long copied = 0;
		try (Statement statement = source.createStatement()) {
			statement.setFetchSize(BYTES.contains(table) ? ROWS / 100 : ROWS);
			try (ResultSet row = statement.executeQuery("SELECT * FROM " + table + which + " ORDER BY 1")) {
				ResultSetMetaData data = row.getMetaData();
				Object[] values = new Object[data.getColumnCount()];
				dropColumns(table, data);
				try (BulkInsert insert = new BulkInsert(target, table, values.length)) {
					while (row.next()) {
						for (int i = 0; i < values.length; i++) {
							values[i] = value(row, i + 1, data.getColumnType(i + 1));
						}
						insert.add(values);
						if (++copied % ROWS == 0 || BYTES.contains(table)) {
							progress.check();
						}
						progress.worked(1);
					}
					insert.finish();
				}
			}
		}
		long there = Sqlite.number(target, 0, "SELECT COUNT(*) FROM " + table);
		if (copied != rows || there != rows) {
			throw new StoreException(from.database() + " cannot be copied: " + there + " of " + rows + " rows of " + table + " were copied");
		}
	}

	/** Columns at the end that databases of an earlier time do not have: their checksum is about what there is. */
	private void dropColumns(String table, ResultSetMetaData data) throws SQLException {
		List<String> missing = new ArrayList<>();
		try (Statement statement = target.createStatement(); ResultSet row = statement.executeQuery("SELECT * FROM " + table)) {
			for (int i = data.getColumnCount() + 1; i <= row.getMetaData().getColumnCount(); i++) {
				missing.add(row.getMetaData().getColumnName(i));
			}
		}
		for (String column : missing) {
			Sqlite.execute(target, "ALTER TABLE " + table + " DROP COLUMN " + column);
		}
	}

	/** What every kind of database takes. */
	private static Object value(ResultSet row, int column, int type) throws SQLException {
		if (type == Types.TIMESTAMP || type == Types.DATE) {
			return row.getString(column);
		}
		return switch (row.getObject(column)) {
		case Blob b -> b.getBytes(1, (int) b.length());
		case Clob t -> t.getSubString(1, (int) t.length());
		case Boolean b -> b ? 1 : 0;
		case null -> null;
		case Object o -> o;
		};
	}

	/** FrameSoc's views, as {@link SqlTraceWriter} made them. */
	private String[] views(boolean others) throws SQLException, MemtraceException {
		int types = accessTypes();
		int most = !others ? 0 : (int) Sqlite.number(source, 0, "SELECT MAX(END_VALUE - FIRST_VALUE) FROM MT_OTHER_PARAM");
		return SqlTraceWriter.views(from.hasAccesses(), others, types, most);
	}

	/** How many of the types are those of accesses: they come first, and have known names. */
	private int accessTypes() throws MemtraceException {
		if (!from.hasAccesses()) {
			return 0;
		}
		List<EventType> all = from.eventTypes();
		List<ThreadInfo> threads = from.threads();
		for (List<EventType> most : List.of(EventTypes.of(threads, true, true), EventTypes.of(threads, true, false))) {
			if (all.size() >= most.size() && all.subList(0, most.size()).equals(most)) {
				return most.size();
			}
		}
		return EventTypes.of(threads, false, false).size();
	}
}
