// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.sql;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import org.memtrace.analysis.answer.AnswerColumn;
import org.memtrace.analysis.answer.AnswerPrinter;
import org.memtrace.analysis.answer.AnswerTable;
import org.memtrace.analysis.export.FolderCache;
import org.memtrace.analysis.export.FolderTable;
import org.memtrace.analysis.export.ParquetFolder;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.sql.DuckDbLibrary;
import org.memtrace.sql.SqlDatabase;
import org.memtrace.sql.SqlException;
import org.memtrace.sql.SqlRows;
import org.memtrace.sql.SqlSession;
import org.memtrace.sql.SqlView;
import org.memtrace.storage.Stores;
import org.memtrace.views.session.OpenTrace;

/**
 * A statement about a trace. Not on the display thread: where DuckDB cannot read the database itself, the first
 * question about a trace writes its Parquet folder.
 *
 * @param database file or address of the trace; null when it is in memory only
 */
record Question(OpenTrace trace, String database, String sql) {
	/** Rows that are shown at most; the answer may have more. */
	static final int MOST_ROWS = 10_000;
	/** What a statement may use, as on the command line. */
	private static final long MEMORY_BYTES = 1L << 30;

	/**
	 * What came back.
	 *
	 * @param table null when the statement has no answer, or is wrong
	 * @param timeUnit as {@link ParquetFolder#timeUnit}
	 * @param error a sentence for the person who wrote the statement, else null
	 */
	record Answer(AnswerTable table, String timeUnit, String error) {
	}

	/** Gets the answer. */
	private interface Reader {
		/** @param unit as {@link ParquetFolder#timeUnit} */
		void begin(String name, String unit, List<AnswerColumn> columns);

		boolean row(Object[] values);
	}

	/** The tables that statements can name, before there is a folder. */
	static List<SqlView> documented() {
		return views(FolderTable.documented());
	}

	private static List<SqlView> views(List<FolderTable> tables) {
		return tables.stream().map(t -> new SqlView(t.name(), t.files(), t.meaning(), t.columns())).toList();
	}

	/** Asks, and keeps the first rows. What the user can mend is in the answer and no exception. */
	Answer ask(Progress progress) throws MemtraceException {
		if (library().isEmpty()) {
			return new Answer(null, "", DuckDbLibrary.advice());
		}
		List<AnswerColumn> head = new ArrayList<>();
		List<Object[]> rows = new ArrayList<>();
		String[] unit = {""};
		boolean[] cut = {false};
		try {
			ask(new Reader() {
				@Override
				public void begin(String name, String timeUnit, List<AnswerColumn> columns) {
					unit[0] = timeUnit;
					head.addAll(columns);
				}

				@Override
				public boolean row(Object[] values) {
					cut[0] = rows.size() == MOST_ROWS;
					return !cut[0] && rows.add(values);
				}
			}, progress);
		} catch (SqlException e) {
			return new Answer(null, "", e.getMessage());
		}
		return new Answer(head.isEmpty() ? null : new AnswerTable(head, rows, cut[0]), unit[0], null);
	}

	private void ask(Reader reader, Progress progress) throws MemtraceException {
		Path library = library().orElseThrow(() -> new StoreException(DuckDbLibrary.advice()));
		if (database == null) {
			throw new StoreException(trace.name() + " is in no database, so there is nothing that SQL could read");
		}
		Path extension = SqlDatabase.installed().orElse(null);
		if (extension != null && trace.space() == AddressSpace.VIRTUAL && !CataloguePlace.isServer(database)
				&& Stores.isSqlite(Path.of(database))) {
			Path file = Path.of(database);
			try (OpenTrace.Lease lease = trace.lease()) {
				SqlDatabase direct = new SqlDatabase(extension, file, FolderTable.found(), (name, whole, p) -> FolderTable.made(lease.store(),
						file, trace.space().id(), name, whole, trace::accesses, p));
				List<FolderTable> tables = FolderTable.documented();
				try (SqlSession session = new SqlSession(library, direct, views(tables), MEMORY_BYTES, 0, FolderCache.home())) {
					session.words(lease.store().info().pageSizeBytes());
					give(session, trace.name(), ParquetFolder.timeUnit(lease.store().info()), tables, reader, progress);
				}
			}
			return;
		}
		ParquetFolder folder = ParquetFolder.open(folder(progress));
		List<FolderTable> tables = FolderTable.of(folder);
		try (SqlSession session = new SqlSession(library, views(tables), MEMORY_BYTES, 0, FolderCache.home())) {
			session.words(folder.info().pageSizeBytes());
			give(session, folder.trace(), folder.timeUnit(), tables, reader, progress);
		}
	}

	private void give(SqlSession session, String name, String unit, List<FolderTable> tables, Reader reader, Progress progress)
			throws MemtraceException {
		Set<String> addresses = FolderTable.addresses(tables);
		session.query(sql, new SqlRows() {
			@Override
			public void columns(List<Column> columns) {
				reader.begin(name, unit, columns.stream().map(c -> AnswerColumn.of(c.name(), c.type(), addresses)).toList());
			}

			@Override
			public boolean row(Object[] values) {
				return reader.row(values);
			}
		}, progress);
	}

	private static Optional<Path> library() throws MemtraceException {
		return DuckDbLibrary.find(Stores.defaultCatalogueDirectory());
	}

	private Path folder(Progress progress) throws MemtraceException {
		if (trace.file() != null && ParquetFolder.isFolder(trace.file().path())) {
			return trace.file().path();
		}
		try (OpenTrace.Lease lease = trace.lease()) {
			return CataloguePlace.isServer(database)
					? FolderCache.folder(lease.store(), database, trace.space().id(), trace::accesses, progress)
					: FolderCache.folder(lease.store(), Path.of(database), trace.space().id(), trace::accesses, progress);
		} catch (MemtraceException | RuntimeException e) {
			throw e;
		} catch (Exception e) {
			throw new StoreException("the tables of " + trace.name() + " cannot be written into " + FolderCache.home() + ": " + e.getMessage()
					+ "; MEMTRACE_CACHE names another folder", e);
		}
	}

	/**
	 * Writes all rows, as {@code memtrace sql} prints them. What is shown is not asked again when it is all.
	 *
	 * @param shown the answer that is shown
	 * @param format one of {@link AnswerPrinter#FORMATS}
	 * @return number of rows
	 */
	long export(Answer shown, Path file, String format, Progress progress) throws Exception {
		try (PrintStream out = new PrintStream(file.toFile(), StandardCharsets.UTF_8)) {
			AnswerPrinter printer = new AnswerPrinter(out, format, Long.MAX_VALUE);
			if (shown.table().isCut()) {
				ask(new Reader() {
					@Override
					public void begin(String name, String unit, List<AnswerColumn> columns) {
						printer.begin(name, unit, sql, columns);
					}

					@Override
					public boolean row(Object[] values) {
						return printer.row(values) && !out.checkError();
					}
				}, progress);
			} else {
				printer.begin(trace.name(), shown.timeUnit(), sql, shown.table().columns());
				shown.table().rows().forEach(printer::row);
			}
			printer.end();
			if (out.checkError()) {
				throw new IOException("the disk is full, or gone");
			}
			return printer.rows();
		}
	}
}
