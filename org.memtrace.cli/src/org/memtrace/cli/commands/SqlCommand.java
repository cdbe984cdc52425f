// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.analysis.column.TraceTable;
import org.memtrace.analysis.export.ParquetFolder;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.cli.output.TablePrinter;
import org.memtrace.model.store.TraceStore;
import org.memtrace.sql.DuckDbLibrary;
import org.memtrace.sql.SqlException;
import org.memtrace.sql.SqlRows;
import org.memtrace.sql.SqlSession;
import org.memtrace.sql.SqlView;
import org.memtrace.storage.Stores;

/** {@code memtrace sql TRACE SQL}. */
public final class SqlCommand implements Command {
	/** Tables of a folder, by the name that they have in SQL. */
	static final Map<String, String> VIEWS = views();

	private static Map<String, String> views() {
		Map<String, String> views = new LinkedHashMap<>();
		views.put("access", "accesses");
		views.put("structure", TraceTable.STRUCTURES.name());
		views.put("thread", TraceTable.THREADS.name());
		views.put("stack", TraceTable.STACKS.name());
		views.put("interval", TraceTable.INTERVALS.name());
		views.put("page", TraceTable.PAGES.name());
		views.put("producer", TraceTable.PRODUCERS.name());
		views.put("finding", TraceTable.FINDINGS.name());
		return views;
	}

	@Override
	public int run(CommandLine args, Console console) throws Exception {
		Path home = Stores.defaultCatalogueDirectory();
		if (args.has("install")) {
			if (!args.arguments().isEmpty()) {
				throw new UsageException("--install needs no trace and no statement");
			}
			console.hint("installed " + DuckDbLibrary.install(args.get("install"), home, console.progress()));
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
		Path path = TraceArgument.path(args.argument(0));
		if (path != null && ParquetFolder.isFolder(path)) {
			ask(library, ParquetFolder.open(path.toAbsolutePath()), sql, args, console);
			return ExitCode.OK;
		}
		try (TraceStore opened = TraceArgument.open(args.argument(0), console)) {
			ask(library, ParquetFolder.open(FolderCache.folder(args.argument(0), opened, args, console)), sql, args, console);
		}
		return ExitCode.OK;
	}

	private static String statement(CommandLine args, Console console) throws Exception {
		boolean given = args.arguments().size() > 1;
		if (given == args.has("file")) {
			throw new UsageException(given ? "give the statement or --file, not both"
					: "the statement is missing: memtrace sql TRACE \"select ...\"");
		}
		if (given) {
			return args.argument(1).equals("-") ? new String(console.in().readAllBytes(), StandardCharsets.UTF_8) : args.argument(1);
		}
		return Files.readString(args.getPath("file"));
	}

	private static void ask(Path library, ParquetFolder folder, String sql, CommandLine args, Console console) throws Exception {
		List<SqlView> views = new ArrayList<>();
		Set<String> addresses = new TreeSet<>();
		for (Map.Entry<String, String> view : VIEWS.entrySet()) {
			ParquetFolder.Table table = folder.tables().stream().filter(t -> t.name().equals(view.getValue())).findFirst().orElse(null);
			if (table == null) {
				console.hint("note: " + folder.path() + " is from an earlier memtrace and has no table " + view.getKey());
				continue;
			}
			TraceTable known = TraceTable.find(table.name());
			views.add(new SqlView(view.getKey(), table.files(), "a row is "
					+ (known == null ? "an access record: what one thread did to one page in one interval"
					: known.meaning()), table.columns()));
			addresses.addAll(table.addresses());
		}
		try (SqlSession session = new SqlSession(library, views, args.getSizeBytes("memory"), (int) args.getInt("threads"), FolderCache.home())) {
			Printer printer = new Printer(folder, sql, addresses, args, console);
			session.query(sql, printer, console.progress());
			printer.finish();
		} catch (SqlException e) {
			throw new UsageException(e.getMessage());
		}
	}

	/** Prints rows as they come. */
	private static final class Printer implements SqlRows {
		private final ParquetFolder folder;
		private final String sql;
		private final Set<String> addresses;
		private final CommandLine args;
		private final Console console;
		private final long limit;
		private TablePrinter table;
		private boolean[] hexadecimal;
		private boolean cut;

		Printer(ParquetFolder folder, String sql, Set<String> addresses, CommandLine args, Console console) {
			this.folder = folder;
			this.sql = sql;
			this.addresses = addresses;
			this.args = args;
			this.console = console;
			limit = args.has("limit") ? args.getInt("limit") : Long.MAX_VALUE;
		}

		@Override
		public void columns(List<Column> columns) {
			JsonObject head = Json.of("memtrace.sql/1");
			head.addProperty("trace", folder.trace());
			head.addProperty("time_unit", folder.timeUnit());
			head.addProperty("sql", sql);
			JsonArray list = new JsonArray();
			hexadecimal = new boolean[columns.size()];
			for (int c = 0; c < columns.size(); c++) {
				JsonObject column = new JsonObject();
				column.addProperty("name", columns.get(c).name());
				column.addProperty("type", columns.get(c).type());
				list.add(column);
				hexadecimal[c] = columns.get(c).type().equals("UBIGINT") && addresses.contains(columns.get(c).name());
			}
			head.add("columns", list);
			table = new TablePrinter(console.out(), args.get("format"), head, columns.stream().map(Column::name).toArray(String[]::new));
		}

		@Override
		public boolean row(Object[] values) {
			if (table.rows() == limit) {
				cut = true;
				return false;
			}
			boolean forPerson = args.get("format").equals("text");
			for (int c = 0; c < values.length; c++) {
				if (hexadecimal[c] && values[c] instanceof Number n) {
					values[c] = n instanceof java.math.BigInteger i ? i.toString(16) : Long.toHexString(n.longValue());
				} else if (values[c] instanceof Double d && (forPerson || !Double.isFinite(d))) {
					values[c] = Double.isFinite(d) ? (Object) new Rounded(d) : null;
				}
			}
			table.row(values);
			return true;
		}

		void finish() {
			if (table == null) {
				return;
			}
			table.close();
			if (cut) {
				console.hint(String.format(Locale.ROOT, "the first %,d rows; --limit cut off the rest", limit));
			} else if (table.rows() == 0) {
				console.hint("no rows");
			}
		}
	}

	/** A number that a person reads with six digits. */
	private static final class Rounded extends Number {
		private static final long serialVersionUID = 1L;
		private static final MathContext DIGITS = new MathContext(6);
		private final double value;

		Rounded(double value) {
			this.value = value;
		}

		@Override
		public String toString() {
			double size = Math.abs(value);
			return size != 0 && (size < 1e-6 || size >= 1e15) ? String.format(Locale.ROOT, "%.5e", value)
					: (size >= 1e6 ? BigDecimal.valueOf(Math.rint(value)) : new BigDecimal(value).round(DIGITS)).stripTrailingZeros().toPlainString();
		}

		@Override
		public int intValue() {
			return (int) value;
		}

		@Override
		public long longValue() {
			return (long) value;
		}

		@Override
		public float floatValue() {
			return (float) value;
		}

		@Override
		public double doubleValue() {
			return value;
		}
	}
}
