// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.memtrace.analysis.answer.AnswerColumn;
import org.memtrace.analysis.answer.AnswerPrinter;
import org.memtrace.analysis.export.FolderCache;
import org.memtrace.analysis.export.FolderTable;
import org.memtrace.analysis.export.ParquetFolder;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.AccessOptions;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.model.CancellableStream;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.RegularFile;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.store.TraceStore;
import org.memtrace.sql.DuckDbLibrary;
import org.memtrace.sql.SqlDatabase;
import org.memtrace.sql.SqlException;
import org.memtrace.sql.SqlRows;
import org.memtrace.sql.SqlSession;
import org.memtrace.sql.SqlView;
import org.memtrace.storage.Stores;

/** {@code memtrace sql TRACE SQL}. */
public final class SqlCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		Path home = Stores.defaultCatalogueDirectory();
		if (args.has("install")) {
			if (!args.arguments().isEmpty()) {
				throw new UsageException("--install needs no trace and no statement");
			}
			console.hint("installed " + DuckDbLibrary.install(args.get("install"), home, console.progress()));
			Optional<Path> extension = SqlDatabase.installed();
			if (extension.isPresent()) {
				console.hint("a DuckDB of your own reads traces, too: LOAD '" + extension.get() + "'; FROM memtrace_access('TRACE.db');"
						+ " (docs/reference/sql.md)");
			}
			return ExitCode.OK;
		}
		if (args.arguments().isEmpty()) {
			throw new UsageException("TRACE is missing");
		}
		String sql = statement(args, console);
		Path library = DuckDbLibrary.find(home).orElse(null);
		if (library == null) {
			console.err().println("memtrace sql: " + DuckDbLibrary.advice());
			return ExitCode.UNAVAILABLE;
		}
		ParquetFolder folder = TraceArgument.parquet(args.argument(0), console);
		if (folder != null) {
			ask(library, folder, sql, args, console);
			return ExitCode.OK;
		}
		try (TraceStore opened = TraceArgument.open(args.argument(0), console)) {
			SqlDatabase database = database(opened, args, console);
			if (database != null) {
				List<FolderTable> tables = FolderTable.documented();
				try (SqlSession session = new SqlSession(library, database, views(tables), args.getSizeBytes("memory"),
						(int) args.getInt("threads"), FolderCache.home())) {
					session.words(opened.info().pageSizeBytes());
					answer(session, opened.info().alias(), ParquetFolder.timeUnit(opened.info()), tables, sql, args, console);
				}
				return ExitCode.OK;
			}
			ask(library, ParquetFolder.open(TraceArgument.folder(args.argument(0), opened, args, console)), sql, args, console);
		}
		return ExitCode.OK;
	}

	private static final Pattern REGION = Pattern.compile("(?<!from\\s)(?<!join\\s)\\bregion\\b", Pattern.CASE_INSENSITIVE);

	private static String statement(CommandLine args, Console console) throws Exception {
		boolean given = args.arguments().size() > 1;
		if (given == args.has("file")) {
			throw new UsageException(given ? "give the statement or --file, not both"
					: "the statement is missing: memtrace sql TRACE \"select ...\"");
		}
		if (given) {
			return args.argument(1).equals("-") ? text("standard input", standardInput(console)) : args.argument(1);
		}
		Path file = args.getPath("file");
		try {
			return text(file.toString(), RegularFile.given(file, console.progress()));
		} catch (NoSuchFileException e) {
			throw e;
		} catch (IOException e) {
			throw new MemtraceException(file + " cannot be read: " + e.getMessage(), e);
		}
	}

	private static String text(String name, byte[] bytes) throws MemtraceException {
		try {
			return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
		} catch (CharacterCodingException e) {
			throw new MemtraceException(name + " is no text in UTF-8", e);
		}
	}

	private static byte[] standardInput(Console console) throws IOException, MemtraceException {
		try (InputStream in = new CancellableStream(console::in, console.progress())) {
			return RegularFile.given(in);
		} catch (InterruptedIOException e) {
			console.progress().check();
			throw e;
		} catch (IOException e) {
			throw new MemtraceException("standard input cannot be read: " + e.getMessage(), e);
		}
	}

	private static void ask(Path library, ParquetFolder folder, String sql, CommandLine args, Console console) throws Exception {
		List<FolderTable> tables = FolderTable.of(folder);
		Set<String> names = tables.stream().map(FolderTable::name).collect(Collectors.toSet());
		for (FolderTable t : FolderTable.documented()) {
			if (!names.contains(t.name())) {
				console.hint("note: " + folder.path() + " is from an earlier memtrace and has no table " + t.name());
			}
		}
		try (SqlSession session = new SqlSession(library, views(tables), args.getSizeBytes("memory"), (int) args.getInt("threads"),
				FolderCache.home())) {
			session.words(folder.info().pageSizeBytes());
			answer(session, folder.trace(), folder.timeUnit(), tables, sql, args, console);
		}
	}

	/** The database if DuckDB can read it where it lies, else null. */
	private static SqlDatabase database(TraceStore opened, CommandLine args, Console console) throws MemtraceException {
		Path extension = SqlDatabase.installed().orElse(null);
		if (extension == null || !args.get("tree").equals(AddressSpace.VIRTUAL.id()) || opened.accessCount() == 0) {
			return null;
		}
		Path file = TraceArgument.database(args.argument(0), opened, console).file();
		return file == null || !Stores.isSqlite(file) ? null : new SqlDatabase(extension, file, FolderTable.found(),
				(name, whole, progress) -> FolderTable.made(opened, file, args.get("tree"), name, whole,
						() -> AccessOptions.load(opened, console), progress));
	}

	private static List<SqlView> views(List<FolderTable> tables) {
		return tables.stream().map(t -> new SqlView(t.name(), t.files(), t.meaning(), t.columns())).toList();
	}

	private static void answer(SqlSession session, String trace, String timeUnit, List<FolderTable> tables, String sql, CommandLine args,
			Console console) throws MemtraceException, UsageException {
		Set<String> addresses = FolderTable.addresses(tables);
		AnswerPrinter printer = new AnswerPrinter(console.out(), args.get("format"),
				args.has("limit") ? args.getInt("limit") : Long.MAX_VALUE);
		try {
			session.query(sql, new SqlRows() {
				@Override
				public void columns(List<Column> columns) {
					printer.begin(trace, timeUnit, sql,
							columns.stream().map(c -> AnswerColumn.of(c.name(), c.type(), addresses)).toList());
				}

				@Override
				public boolean row(Object[] values) {
					return printer.row(values);
				}
			}, console.progress());
		} catch (SqlException e) {
			throw new UsageException(e.getMessage());
		}
		printer.end();
		if (printer.isCut()) {
			console.hint(String.format(Locale.ROOT, "the first %,d rows; --limit cut off the rest", printer.rows()));
		} else if (printer.rows() == 0) {
			console.hint("no rows" + (REGION.matcher(sql).find()
					? "; region is the innermost region of an access: one with others in it is in_region(region_path, 'NAME') (docs/reference/sql.md)" : ""));
		}
	}
}
