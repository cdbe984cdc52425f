// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.dimension.OfMemory;
import org.memtrace.cli.Ran;
import org.memtrace.model.Progress;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

/** A dimension that is added to the list, and nothing else, is everywhere that a person types. */
class AddedDimensionTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root"));
	private static final String TRACE = ROOT.resolve("testdata/traces/bucketsort-dynamic").toString();

	/** Whether the number of a page in the tree is even. */
	private static final class Parity extends OfMemory {
		Parity() {
			super("parity", "Parity", "Parities", Type.TEXT, "Whether the page has an even number", Use.ALL);
		}

		@Override
		public ProducerValues values(AccessTable table, Progress progress) {
			return new ProducerValues(2, producer -> producer % 2, value -> value == 0 ? "even" : "odd");
		}
	}

	private final Parity parity = new Parity();
	@TempDir
	Path temporary;
	private String out;
	private String err;

	@BeforeEach
	void add() {
		Dimensions.add(parity);
	}

	@AfterEach
	void remove() {
		Dimensions.remove(parity);
	}

	private int run(String... args) {
		Ran ran = Ran.of(args);
		out = ran.out();
		err = ran.err();
		return ran.code();
	}

	@Test
	void isWhereAPersonLooks() throws Exception {
		String db = temporary.resolve("t.db").toString();
		assertEquals(0, run("import", "-o", db, TRACE), () -> err);
		// group and sort
		assertEquals(0, run("query", "--what", "groups", "--by", "parity", "--sort", "parity", "--descending", "--format", "csv", db), () -> err);
		List<String> groups = out.lines().toList();
		assertEquals("parity,records,reads,writes", groups.get(0));
		assertEquals(List.of("odd", "even"), groups.stream().skip(1).map(l -> l.substring(0, l.indexOf(','))).toList());
		// filter
		assertEquals(0, run("query", "--what", "groups", "--by", "parity", "--filter", "{\"by\":\"parity\",\"values\":[\"odd\"]}", "--format",
				"csv", db), () -> err);
		assertEquals(List.of(groups.get(0), groups.get(1)), out.lines().toList());
		// colour
		assertEquals(0, run("aggregate", "--view", "parity", "-p", "1", "--format", "json", db), () -> err);
		JsonObject picture = JsonParser.parseString(out).getAsJsonObject();
		assertEquals("parity", picture.get("view").getAsString());
		assertTrue(picture.toString().contains("\"even\"") && picture.toString().contains("\"odd\""), out);
		Path svg = temporary.resolve("p.svg");
		assertEquals(0, run("render", "--view", "parity", "-o", svg.toString(), db), () -> err);
		assertTrue(Files.readString(svg).contains("even"), "no legend");
		assertEquals(0, run("render", "--kind", "gantt", "--view", "parity", "-o", temporary.resolve("g.svg").toString(), db), () -> err);
		// tables
		assertEquals(0, run("query", "--what", "accesses", "--columns", "page,parity", "--limit", "3", "--format", "csv", db), () -> err);
		assertTrue(out.startsWith("page,parity\n") && out.contains(",even\n"), out);
		// Parquet
		Path folder = temporary.resolve("parquet");
		assertEquals(0, run("export", "--format", "parquet", "-o", folder.toString(), db), () -> err);
		JsonArray columns = tables(folder).getAsJsonObject("accesses").getAsJsonArray("columns");
		JsonObject last = columns.get(columns.size() - 1).getAsJsonObject();
		assertEquals("parity", last.get("name").getAsString());
		assertEquals("whether the page has an even number", last.get("description").getAsString());
		// help and messages
		for (String command : new String[] {"aggregate", "render", "query"}) {
			assertEquals(0, run(command, "--help"), () -> err);
			assertTrue(out.replaceAll("\\s+", " ").contains("parity (whether the page has an even number)"), out);
		}
		assertTrue(run("query", "--what", "groups", "--by", "nothing", db) != 0 && err.contains(", parity"), err);
		assertTrue(run("aggregate", "--view", "nothing", db) != 0 && err.contains(", parity"), err);
	}

	private static JsonObject tables(Path folder) throws Exception {
		return JsonParser.parseString(Files.readString(folder.resolve("meta.json"))).getAsJsonObject().getAsJsonObject("tables");
	}

	/** Both partitions, with the folders that docs/reference/parquet.md names. */
	@Test
	void partitions() throws Exception {
		String db = temporary.resolve("t.db").toString();
		assertEquals(0, run("import", "-o", db, TRACE), () -> err);
		String page = Files.readString(ROOT.resolve("docs/reference/parquet.md"));
		for (String[] partition : new String[][] {{"memory", "first_leaf="}, {"time", "window_ns="}}) {
			Path folder = temporary.resolve(partition[0]);
			assertEquals(0, run("export", "--format", "parquet", "--partition", partition[0], "-o", folder.toString(), db), () -> err);
			try (var files = Files.list(folder.resolve("accesses"))) {
				assertTrue(files.allMatch(f -> f.getFileName().toString().startsWith(partition[1])), partition[0]);
			}
			assertTrue(page.contains("accesses/" + partition[1]), partition[0]);
			tables(folder).keySet().forEach(name -> assertTrue(page.contains(name.equals("accesses") ? "accesses/" : name + ".parquet"), name));
		}
	}
}
