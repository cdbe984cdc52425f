// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;

/**
 * Answers SQL about Parquet files, or about a trace database, with DuckDB in this process. Rows are given while they are made, so a result
 * may have any length. One thread.
 */
public final class SqlSession implements AutoCloseable {
	/** How often it is asked whether the user wants to stop, and how far the statement is. */
	private static final int WATCH_MS = 50;
	private static final String NO_MEMORY = "Out of Memory Error: ";
	/** What the sentences of our extension begin with. */
	private static final String OURS = "memtrace: ";
	/** How it says that it does not read something. */
	private static final Pattern MADE = Pattern.compile(OURS + "the (?:table (\\w+)|column \\w+) is made by ");
	private static final String ACCESS = "access";
	/** Columns in which DuckDB tells types. */
	private static final Set<String> TYPES = Set.of("column_type", "data_type");

	/** Only a database has it. */
	private static final SqlView REGION = new SqlView("region", "", "a row is a time that a thread was in a region that the program named, or in a"
			+ " state of a joined trace", Map.of("path", "all regions of the thread at its begin, the outermost first", "depth",
					"in how many others it is", "start_ns", "its begin, in the clock of the trace", "end_ns", "its end"));

	private final Connection connection;
	private final List<SqlView> views;
	/** Null when all tables are Parquet files. */
	private final SqlDatabase database;
	/** Tables that are not read from the database, or not any more. */
	private final Set<String> parquet = new HashSet<>();
	/** Whether the extension does not load, or not read the database. */
	private boolean unreadable;
	/** 0 when there is no need to make words for questions. */
	private int pageSizeBytes;
	/** DuckDB makes it when it needs it, and leaves it empty. */
	private final Path temporary;

	/**
	 * Begins a session.
	 *
	 * @param driver the library, see {@link DuckDbLibrary}
	 * @param memoryBytes what a statement may use before it writes to the folder; above that it fails
	 * @param threads at most; 0 for as many as the machine has processors
	 * @param cache a folder for what DuckDB needs: its native code, which stays there, and what a statement writes, which goes
	 */
	public SqlSession(Path driver, List<SqlView> views, long memoryBytes, int threads, Path cache) throws MemtraceException {
		this(driver, views.isEmpty() ? "" : views.getFirst().files(), null, views, memoryBytes, threads, cache);
	}

	/**
	 * Begins a session with a database. What the extension cannot read comes from Parquet files.
	 *
	 * @param views tables without files
	 */
	public SqlSession(Path driver, SqlDatabase database, List<SqlView> views, long memoryBytes, int threads, Path cache)
			throws MemtraceException {
		this(driver, "", database, views, memoryBytes, threads, cache);
	}

	/** @param files path or address of what statements read */
	SqlSession(Path driver, String files, SqlDatabase database, List<SqlView> views, long memoryBytes, int threads, Path cache)
			throws MemtraceException {
		this.views = List.copyOf(views);
		this.database = database;
		temporary = cache.resolve("sql-" + ProcessHandle.current().pid() + "-" + System.nanoTime() + ".tmp");
		Properties properties = new Properties();
		properties.setProperty("jdbc_stream_results", "true");
		if (database != null) {
			properties.setProperty("allow_unsigned_extensions", "true"); // ours
		}
		try {
			connection = DuckDbLibrary.driver(driver, cache.resolve("duckdb")).connect("jdbc:duckdb:", properties);
		} catch (SQLException e) {
			throw new StoreException(driver + ": the SQL engine does not start: " + SqlText.sentence(e), e);
		}
		try (Statement s = connection.createStatement()) {
			prepare(s, files);
			s.execute("SET memory_limit = '" + memoryBytes / 1024 + "KiB'");
			s.execute("SET temp_directory = " + SqlText.text(temporary.toString()));
			if (threads > 0) {
				s.execute("SET threads = " + threads);
			}
			s.execute("SET enable_progress_bar = true");
			s.execute("SET enable_progress_bar_print = false");
			if (database == null) {
				for (SqlView v : views) {
					create(s, v, parquet(v.files()));
				}
			} else {
				open(s);
			}
		} catch (SQLException e) {
			close();
			throw new StoreException("the tables cannot be read: " + SqlText.sentence(e), e);
		}
	}

	private static String parquet(String files) {
		return "read_parquet(" + SqlText.files(files) + ", hive_partitioning = false)";
	}

	private static void create(Statement s, SqlView v, String source) throws SQLException {
		StringBuilder sql = new StringBuilder("CREATE OR REPLACE VIEW " + name(v.name()) + " AS SELECT * FROM " + source + ";");
		sql.append("COMMENT ON VIEW ").append(name(v.name())).append(" IS ").append(SqlText.text(v.meaning())).append(';');
		v.columns().forEach((column, meaning) -> sql.append("COMMENT ON COLUMN ").append(name(v.name())).append('.').append(name(column))
				.append(" IS ").append(SqlText.text(meaning)).append(';'));
		s.execute(sql.toString());
	}

	/** Reads the database with the extension, as far as it can. */
	private void open(Statement s) {
		try {
			s.execute("LOAD " + SqlText.text(database.extension().toString()));
			for (SqlView v : views) {
				create(s, v, database.source(v.name()));
			}
			create(s, REGION, database.source(REGION.name()));
		} catch (SQLException e) {
			unreadable = true;
		}
	}

	/** Takes Parquet files where the extension does not read a table; @return whether there is something new to ask */
	private boolean instead(Statement s, SQLException e, Progress progress) throws SQLException, MemtraceException {
		String why = String.valueOf(e.getMessage());
		if (database == null || !why.contains(OURS)) {
			return false;
		}
		Matcher made = MADE.matcher(why);
		if (!made.find()) {
			return insteadAll(s, progress);
		}
		String table = made.group(1) != null ? made.group(1) : ACCESS;
		if (!parquet.add(table)) {
			return false;
		}
		SqlView view = views.stream().filter(v -> v.name().equals(table)).findFirst().orElseThrow(() -> e);
		create(s, view, parquet(database.tables().files(table, table.equals(ACCESS), progress)));
		return true;
	}

	private boolean insteadAll(Statement s, Progress progress) throws SQLException, MemtraceException {
		boolean some = false;
		for (SqlView v : views) {
			if (parquet.add(v.name())) {
				create(s, v, parquet(database.tables().files(v.name(), true, progress)));
				some = true;
			}
		}
		return some;
	}

	/**
	 * What every connection needs: nothing is fetched unasked.
	 *
	 * @param files path or address of what is read
	 */
	static void prepare(Statement s, String files) throws SQLException {
		s.execute("SET autoinstall_known_extensions = false");
		s.execute("SET autoload_known_extensions = false");
		if (ObjectStorage.isAddress(files)) {
			ObjectStorage.prepare(s, System.getenv());
		}
	}

	/**
	 * The content of a file.
	 *
	 * @param driver the library, see {@link DuckDbLibrary}
	 * @param file path or address
	 * @param cache folder for what DuckDB needs
	 */
	public static String readText(Path driver, String file, Path cache, Progress progress) throws MemtraceException {
		StringBuilder text = new StringBuilder();
		try (SqlSession session = new SqlSession(driver, file, null, List.of(), 1L << 28, 1, cache)) {
			session.query("SELECT content FROM read_text(" + SqlText.files(file) + ")", new SqlRows() {
				@Override
				public void columns(List<Column> columns) {
					// one
				}

				@Override
				public boolean row(Object[] values) {
					text.append(values[0]);
					return true;
				}
			}, progress);
		}
		return text.toString();
	}

	private static String name(String s) {
		return '"' + s.replace("\"", "\"\"") + '"';
	}

	/**
	 * Lets statements use the words of docs/reference/sql.md, "Words for questions".
	 *
	 * @param ofPageSizeBytes of the trace
	 */
	public void words(int ofPageSizeBytes) {
		pageSizeBytes = ofPageSizeBytes;
	}

	/** What has to be there before the first statement. */
	private void prepare(Progress progress) throws MemtraceException {
		try (Statement s = connection.createStatement()) {
			if (unreadable) {
				insteadAll(s, progress);
			}
			if (pageSizeBytes > 0) {
				for (String sql : SqlMacros.of(pageSizeBytes, database != null && !unreadable)) {
					s.execute(sql);
				}
				pageSizeBytes = 0;
			}
		} catch (SQLException e) {
			throw wrong(e);
		}
	}

	/**
	 * Runs statements, separated by semicolons, and gives the result of the last one, if it has one.
	 *
	 * @throws SqlException with what is wrong with the statement
	 * @throws org.memtrace.model.CancelledException soon after the progress is cancelled
	 */
	public void query(String sql, SqlRows rows, Progress progress) throws MemtraceException {
		if (sql.isBlank()) {
			throw new SqlException("the statement is empty", null);
		}
		boolean[] begun = {false};
		SqlRows noting = new SqlRows() {
			@Override
			public void columns(List<Column> columns) throws MemtraceException {
				begun[0] = true;
				rows.columns(columns);
			}

			@Override
			public boolean row(Object[] values) throws MemtraceException {
				return rows.row(values);
			}
		};
		prepare(progress);
		while (!run(sql, noting, begun, progress)) {
			progress.check();
		}
	}

	/** @return false when a table is another one now, so that it has to be asked again */
	private boolean run(String sql, SqlRows rows, boolean[] begun, Progress progress) throws MemtraceException {
		SQLException failed;
		try (Statement statement = connection.createStatement(); Watch watch = new Watch(statement, "Asking", progress)) {
			watch.start();
			progress.check();
			if (statement.execute(sql)) {
				try (ResultSet result = statement.getResultSet()) {
					give(result, rows, progress);
				}
			}
			return true;
		} catch (SQLException e) {
			failed = e;
		}
		progress.check();
		try (Statement other = connection.createStatement()) {
			if (!begun[0] && instead(other, failed, progress)) {
				return false;
			}
		} catch (SQLException e) {
			throw wrong(e);
		}
		throw wrong(failed);
	}

	/** A statement that is wrong, or one that needs too much. */
	private static MemtraceException wrong(SQLException e) {
		String text = SqlText.sentence(e);
		int ours = text.indexOf(OURS);
		if (ours >= 0) {
			return new StoreException(text.substring(ours + OURS.length()), e);
		}
		return text.startsWith(NO_MEMORY)
				? new MemtraceException("the statement needs more memory than it may have (--memory): "
						+ text.substring(NO_MEMORY.length()).replaceFirst(" *Possible solutions:.*", ""), e)
				: new SqlException(text, e);
	}

	private static void give(ResultSet result, SqlRows rows, Progress progress) throws SQLException, MemtraceException {
		ResultSetMetaData meta = result.getMetaData();
		int n = meta.getColumnCount();
		List<SqlRows.Column> columns = new ArrayList<>();
		Set<String> names = new HashSet<>();
		for (int c = 1; c <= n; c++) {
			String name = meta.getColumnLabel(c);
			String own = name;
			for (int k = 2; !names.add(own); k++) {
				own = name + "_" + k;
			}
			columns.add(new SqlRows.Column(own, type(meta.getColumnTypeName(c))));
		}
		rows.columns(columns);
		for (long row = 0; result.next(); row++) {
			if ((row & 0xff) == 0) {
				progress.check();
			}
			Object[] values = new Object[n];
			for (int c = 0; c < n; c++) {
				values[c] = value(result.getObject(c + 1), columns.get(c));
			}
			if (!rows.row(values)) {
				return;
			}
		}
	}

	/** A text is a text, whether DuckDB knows all of them or not. */
	private static String type(String name) {
		return name.startsWith("ENUM") ? "VARCHAR" : name;
	}

	private static Object value(Object value, SqlRows.Column column) throws SQLException {
		return switch (value) {
		case null -> null;
		case Boolean b -> b;
		case Double d -> d;
		case Float f -> f.doubleValue();
		case BigInteger i -> i.bitLength() < Long.SIZE ? (Object) i.longValue() : i;
		case BigDecimal d -> d.doubleValue();
		case Long l when column.type().equals("UBIGINT") && l < 0 -> new BigInteger(Long.toUnsignedString(l));
		case Number i -> i.longValue();
		case java.sql.Array a -> java.util.Arrays.deepToString((Object[]) a.getArray());
		case String t when t.startsWith("ENUM(") && TYPES.contains(column.name()) -> "ENUM"; // a person needs not all of its texts
		case java.sql.Blob b -> java.util.HexFormat.of().formatHex(b.getBytes(1, (int) Math.min(b.length(), 1 << 20)));
		default -> value.toString();
		};
	}

	/** Interrupts the statement when the user wants to stop, and tells how far it is. */
	static final class Watch extends Thread implements AutoCloseable {
		private final Statement statement;
		private final String step;
		private final Progress progress;
		private volatile boolean ended;

		Watch(Statement statement, String step, Progress progress) {
			super("sql watch");
			setDaemon(true);
			this.statement = statement;
			this.step = step;
			this.progress = progress;
		}

		@Override
		public void run() {
			progress.begin(step, 100);
			int told = 0;
			try {
				while (!ended) {
					synchronized (this) {
						if (!ended) {
							wait(WATCH_MS);
						}
					}
					if (progress.isCancelled() && !ended) {
						statement.cancel();
					}
					int percent = DuckDbLibrary.percent(statement);
					if (percent > told && percent <= 100) {
						progress.worked(percent - told);
						told = percent;
					}
				}
			} catch (SQLException e) {
				// the statement is over
			} catch (InterruptedException e) {
				interrupt();
			}
		}

		/** Waits for the thread: nobody may ask a statement that is closed. */
		@Override
		public void close() {
			synchronized (this) {
				ended = true;
				notifyAll();
			}
			boolean interrupted = false;
			while (isAlive()) {
				try {
					join();
				} catch (InterruptedException e) {
					interrupted = true;
				}
			}
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	@Override
	public void close() throws MemtraceException {
		try {
			connection.close();
		} catch (SQLException e) {
			throw new StoreException("the SQL engine does not end: " + SqlText.sentence(e), e);
		}
		try {
			Files.deleteIfExists(temporary);
		} catch (IOException e) {
			// an empty folder in the cache harms nobody
		}
	}
}
