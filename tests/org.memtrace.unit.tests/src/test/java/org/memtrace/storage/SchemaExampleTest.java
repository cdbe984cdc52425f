// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.storage.dbms.Sqlite;

/** The worked example of docs/reference/database-schema.md, read from the page itself. */
class SchemaExampleTest {
	private static final Path PAGE = Path.of(System.getProperty("memtrace.root", "../.."), "docs", "reference", "database-schema.md");

	@TempDir
	Path directory;

	/** Table to rows, as they stand on the page. */
	private static Map<String, List<String>> documented() throws Exception {
		String text = Files.readString(PAGE);
		String block = text.substring(text.indexOf("```\nMT_RUN") + 4);
		Map<String, List<String>> tables = new LinkedHashMap<>();
		String table = "";
		for (String line : block.substring(0, block.indexOf("```")).split("\n")) {
			if (!line.startsWith(" ")) {
				table = line.substring(0, line.indexOf(' '));
			}
			for (String row : line.substring(18).split(" {3,}")) {
				tables.computeIfAbsent(table, key -> new ArrayList<>()).add(row.strip());
			}
		}
		return tables;
	}

	@Test
	void theRowsAreThoseOfThePage() throws Exception {
		Path file = directory.resolve("t.db");
		try (TraceWriter writer = Stores.createFile(file, n -> {
		})) {
			writer.threads(List.of(new ThreadInfo(0, 0, 100, "app", 0, Long.MAX_VALUE, "", true)));
			writer.cpuSets(List.of(StoreContract.cpus(1)));
			ProducerTreeBuilder tree = new ProducerTreeBuilder(4096);
			tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
			tree.leaf(ProducerKind.RANGE, "a", 0x1000, 0x2000, -1);
			tree.leaf(ProducerKind.RANGE, "b", 0x3000, 0x4000, -1);
			tree.leaf(ProducerKind.RANGE, "c", 0x5000, 0x6000, -1);
			tree.end();
			writer.producers(tree.build());
			writer.accesses(StoreContract.batch(List.of(new StoreContract.Row(1000, 1500, 3, 0, 0, 3, 1, 1, -1, 0, 0))));
			writer.commit(StoreContract.INFO, "{}", Progress.NONE);
		}
		Map<String, List<String>> documented = documented();
		assertTrue(documented.size() == 7, documented.keySet().toString());
		String chunk = Files.readString(PAGE).replaceAll("(?s).*In `MT_CHUNK` it is `([^`]*)`.*", "$1");
		try (Connection db = Sqlite.read(file); Statement one = db.createStatement()) {
			try (ResultSet found = one.executeQuery("SELECT ID || ' | ' || ROWS || ' | ' || CELL_FROM || ' | ' || CELL_TO || ' | ' || START_NS"
					+ " || ' | ' || LAST_START_NS || ' | ' || END_NS || ' | ' || READS || ' | ' || WRITES FROM MT_CHUNK")) {
				assertTrue(found.next());
				assertEquals(chunk, found.getString(1));
			}
			try (ResultSet found = one.executeQuery("SELECT GROUP_CONCAT(ID) FROM MT_COLUMN")) {
				assertEquals("0,2", found.getString(1));
			}
			for (Map.Entry<String, List<String>> table : documented.entrySet()) {
				List<String> rows = new ArrayList<>();
				try (Statement statement = db.createStatement();
						ResultSet found = statement.executeQuery("SELECT * FROM " + table.getKey() + " ORDER BY 1, 2")) {
					while (found.next()) {
						List<String> values = new ArrayList<>();
						for (int c = 1; c <= found.getMetaData().getColumnCount(); c++) {
							values.add(found.getString(c));
						}
						rows.add(String.join(" | ", values));
					}
				}
				assertEquals(table.getValue(), rows, table.getKey());
			}
		}
	}
}
