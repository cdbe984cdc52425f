// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.column.AccessColumns;
import org.memtrace.analysis.column.ColumnReference;
import org.memtrace.analysis.column.TraceTable;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.table.EventColumn;
import org.memtrace.analysis.table.EventRows;
import org.memtrace.analysis.table.TraceRows;
import org.memtrace.cli.Ran;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

/** The same columns, with the same values, wherever accesses and the tables beside them are printed. */
class ColumnsTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root"));
	@TempDir
	static Path temporary;
	private static String db;

	@BeforeAll
	static void load() {
		db = temporary.resolve("t.db").toString();
		Ran.ok("import", "-o", db, ROOT.resolve("testdata/traces/bucketsort-dynamic").toString());
	}

	private static List<String> ids(List<Dimension> columns) {
		return columns.stream().map(Dimension::id).toList();
	}

	@Test
	void thePageIsCurrent() throws Exception {
		assertEquals(ColumnReference.markdown(), Files.readString(ROOT.resolve("docs/reference/columns.md")),
				"write it again: ./memtrace debug columns >docs/reference/columns.md");
	}

	@Test
	void idsAreInFormAndDifferent() {
		List<String> ids = ids(AccessColumns.all());
		assertEquals(ids.size(), ids.stream().distinct().count());
		assertTrue(ids.stream().allMatch(id -> id.matches("[a-z][a-z0-9_]*")), ids::toString);
		for (TraceTable t : TraceTable.ALL) {
			List<String> of = TraceTable.ids(t.columns());
			assertEquals(of.size(), of.stream().distinct().count(), t.name());
		}
	}

	@Test
	void queryExportAndTheTableOnTheScreenPrintTheSame() throws Exception {
		String all = Ran.ok("export", "--columns", "all", db);
		assertEquals(String.join(",", ids(AccessColumns.all())), all.lines().findFirst().orElse(""));
		assertTrue(all.lines().count() > 1000);
		assertEquals(all, Ran.ok("query", "--what", "accesses", "--columns", "all", "--format", "csv", db).replace("\r", ""));
		assertEquals(String.join(",", AccessColumns.USUAL), Ran.ok("export", db).lines().findFirst().orElse(""));
		assertEquals(Ran.ok("export", db), Ran.ok("query", "--what", "accesses", "--format", "csv", db));

		List<EventColumn> shown = EventColumn.ofAccesses();
		StringBuilder view = new StringBuilder();
		try (TraceStore store = Stores.openFile(Path.of(db))) {
			EventRows rows = TraceRows.of(store, null, null, new EventRows.Query(store.info().startNs(), Long.MAX_VALUE, -1, FilterSet.NONE,
					Map.of(), EventColumn.START, false), Progress.NONE);
			rows.scan(Progress.NONE);
			rows.toCsv(shown, view, Progress.NONE);
		}
		String columns = String.join(",", shown.stream().map(EventColumn::id).toList());
		assertEquals(Ran.ok("export", "--columns", columns, db), view.toString());
	}

	@Test
	void jsonHasTheValuesOfCsv() {
		List<JsonElement> json = JsonParser.parseString(Ran.ok("query", "--what", "accesses", "--columns", "all", "--limit", "500", "--format",
				"json", db))
				.getAsJsonObject().getAsJsonArray("rows").asList();
		List<String> csv = Ran.ok("query", "--what", "accesses", "--columns", "all", "--limit", "500", "--format", "csv",
				db).lines().skip(1).toList();
		assertEquals(500, json.size());
		for (int i = 0; i < json.size(); i++) {
			List<String> cells = new ArrayList<>();
			for (JsonElement e : json.get(i).getAsJsonObject().asMap().values()) {
				cells.add(e.isJsonNull() ? "" : e.getAsString());
			}
			assertEquals(csv.get(i).replace("\"", ""), String.join(",", cells));
		}
	}

	/** meta.json tells what is in a folder; releng/check-export.py compares the values. */
	@Test
	void parquetHasTheColumnsOfTheTables() throws Exception {
		Path folder = temporary.resolve("parquet");
		Ran.ok("export", "--format", "parquet", "-o", folder.toString(), db);
		JsonObject tables = JsonParser.parseString(Files.readString(folder.resolve("meta.json"))).getAsJsonObject().getAsJsonObject("tables");
		List<String> wanted = new ArrayList<>(ids(AccessColumns.all()));
		wanted.remove("page");
		assertEquals(wanted, names(tables, "accesses"));
		assertEquals(TraceTable.IN_FOLDERS.size() + 1, tables.size());
		for (TraceTable t : TraceTable.IN_FOLDERS) {
			assertEquals(TraceTable.ids(t.columns()), names(tables, t.name()));
			assertEquals(String.join(",", TraceTable.ids(t.columns())),
					Ran.ok("query", "--what", t.name(), "--format", "csv", db).lines().findFirst().orElse(""));
			JsonElement first = tables.getAsJsonObject(t.name()).getAsJsonArray("columns").get(0);
			assertEquals(t.columns().get(0).meaning(), first.getAsJsonObject().get("description").getAsString());
		}
	}

	private static List<String> names(JsonObject tables, String table) {
		return tables.getAsJsonObject(table).getAsJsonArray("columns").asList().stream().map(c -> c.getAsJsonObject().get("name").getAsString())
				.toList();
	}

	/** The heap segment has one name in the table of structures and in the tree of memory. */
	@Test
	void theHeapHasOneName() {
		String structures = Ran.ok("query", "--what", "structures", "--format", "csv", db);
		String brk = structures.lines().filter(l -> l.contains(",brk,")).findFirst().orElseThrow().split(",")[3];
		assertEquals("heap (small blocks)", brk);
		assertTrue(Ran.ok("query", "--what", "groups", "--by", "structure", "--format", "csv", db).contains("\n" + brk + ","));
	}
}
