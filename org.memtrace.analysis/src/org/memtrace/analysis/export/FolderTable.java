// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.export;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.column.AccessColumns;
import org.memtrace.analysis.column.Column;
import org.memtrace.analysis.column.TraceTable;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.store.TraceStore;

/**
 * A table of a Parquet folder by the name that a statement gives it. docs/reference/sql.md
 *
 * @param name as a statement names it: what a row is, such as {@code access}
 * @param files its files, as {@link ParquetFolder.Table#files}; empty as long as there is no folder
 * @param meaning for a person who lists the tables; without a full stop
 * @param columns meaning of each column, in the order of the table
 * @param addresses columns of addresses, which are shown in hexadecimal
 */
public record FolderTable(String name, String files, String meaning, Map<String, String> columns, List<String> addresses) {
	private static final String ACCESSES = "accesses";
	/** The name for statements, by the name in the folder. */
	private static final Map<String, String> NAMES = names();

	private static Map<String, String> names() {
		Map<String, String> names = new LinkedHashMap<>();
		names.put(ACCESSES, "access");
		for (TraceTable t : List.of(TraceTable.STRUCTURES, TraceTable.THREADS, TraceTable.STACKS, TraceTable.INTERVALS, TraceTable.PAGES,
				TraceTable.FOOTPRINTS, TraceTable.PRODUCERS, TraceTable.FINDINGS)) {
			names.put(t.name(), t.name().substring(0, t.name().length() - 1));
		}
		return names;
	}

	/** The tables that every folder of this version has, before there is one. */
	public static List<FolderTable> documented() {
		List<FolderTable> tables = new ArrayList<>();
		NAMES.forEach((table, name) -> {
			List<Column> columns = table.equals(ACCESSES)
					? AccessColumns.all().stream().filter(d -> !d.id().equals("page")).map((Dimension d) -> Column.of(d)).toList()
					: TraceTable.find(table).columns();
			Map<String, String> meanings = new LinkedHashMap<>();
			columns.forEach(c -> meanings.put(c.id(), c.meaning()));
			tables.add(new FolderTable(name, "", meaning(table), meanings,
					columns.stream().filter(c -> c.type() == Dimension.Type.ADDRESS).map(Column::id).toList()));
		});
		return tables;
	}

	/**
	 * Tables that only a pass over all accesses makes, by name, with their columns as SQL has them between commas: {@code NAME TYPE}.
	 */
	public static Map<String, String> found() {
		Map<String, String> found = new LinkedHashMap<>();
		NAMES.forEach((table, name) -> {
			TraceTable t = TraceTable.find(table);
			if (t != null && t.source() == null) {
				found.put(name, t.columns().stream().map(c -> c.id() + " " + switch (c.type()) {
				case TEXT -> "VARCHAR";
				case ADDRESS -> "UBIGINT";
				case NUMBER -> "BIGINT";
				}).collect(Collectors.joining(",")));
			}
		});
		return found;
	}

	/**
	 * The files of a table of a database, made if they are not there.
	 *
	 * @param name as a statement names it
	 * @param whole whether it has to be in a whole folder; accesses always are
	 * @return as {@link #files}
	 */
	public static String made(TraceStore store, Path database, String tree, String name, boolean whole, FolderCache.Accesses accesses,
			Progress progress) throws MemtraceException {
		String table = NAMES.entrySet().stream().filter(e -> e.getValue().equals(name)).findFirst().orElseThrow().getKey();
		try {
			if (!whole && !table.equals(ACCESSES)) {
				return FolderCache.table(store, database, tree, table, accesses, progress).toString();
			}
			ParquetFolder folder = ParquetFolder.open(FolderCache.folder(store, database, tree, accesses, progress));
			return of(folder).stream().filter(t -> t.name().equals(name)).findFirst().orElseThrow().files();
		} catch (MemtraceException | RuntimeException e) {
			throw e;
		} catch (Exception e) {
			throw new StoreException("the tables of " + store.info().alias() + " cannot be written into " + FolderCache.home() + ": "
					+ e.getMessage() + "; MEMTRACE_CACHE names another folder", e);
		}
	}

	/** Those of the tables that a folder has; one that an earlier memtrace wrote may have less. */
	public static List<FolderTable> of(ParquetFolder folder) {
		List<FolderTable> tables = new ArrayList<>();
		NAMES.forEach((table, name) -> folder.tables().stream().filter(t -> t.name().equals(table)).findFirst()
				.ifPresent(t -> tables.add(new FolderTable(name, t.files(), meaning(table), t.columns(), t.addresses()))));
		return tables;
	}

	/** All columns of addresses of some tables. */
	public static Set<String> addresses(List<FolderTable> tables) {
		Set<String> addresses = new TreeSet<>();
		tables.forEach(t -> addresses.addAll(t.addresses()));
		return addresses;
	}

	private static String meaning(String table) {
		return "a row is " + (table.equals(ACCESSES) ? "an access record: what one thread did to one page in one interval"
				: TraceTable.find(table).meaning());
	}
}
