// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands that import and manage traces. */
class TraceCommandsTest {
	private static final String EXAMPLE = Path
			.of(System.getProperty("memtrace.root", "../.."), "testdata", "format-example").toString();

	@TempDir
	Path temporary;
	private String catalogue;
	private String out;
	private String err;

	@BeforeEach
	void setUp() {
		catalogue = temporary.resolve("catalogue").toString();
	}

	private int run(String... args) {
		ByteArrayOutputStream o = new ByteArrayOutputStream();
		ByteArrayOutputStream e = new ByteArrayOutputStream();
		int code = Main.run(args, new Console(new PrintStream(o, false, StandardCharsets.UTF_8),
				new PrintStream(e, true, StandardCharsets.UTF_8), false, false, false));
		out = o.toString(StandardCharsets.UTF_8);
		err = e.toString(StandardCharsets.UTF_8);
		return code;
	}

	@Test
	void importListRenameQueryDelete() {
		assertEquals(0, run("import", "--catalogue", catalogue, EXAMPLE), () -> err);
		assertTrue(out.contains("rows imported         14\n"), out);
		assertTrue(err.contains("trace 0: "), err);
		assertEquals(0, run("import", "--catalogue", catalogue, "--name", "second", "--fanout", "16", EXAMPLE));
		assertEquals(0, run("list", "--catalogue", catalogue));
		assertTrue(out.matches("(?s)ID  NAME .*\n0   example .*\n1   second .*"), out);
		assertEquals(0, run("rename", "--catalogue", catalogue, "second", "third"));
		assertEquals(0, run("list", "--catalogue", catalogue, "--json"));
		JsonArray list = JsonParser.parseString(out).getAsJsonArray();
		assertEquals("third", list.get(1).getAsJsonObject().get("name").getAsString());
		assertEquals(16, list.get(1).getAsJsonObject().get("events").getAsLong());
		assertEquals(ExitCode.USAGE, run("delete", "--catalogue", catalogue, "third"));
		assertTrue(err.contains("--force"), err);
		assertEquals(0, run("delete", "--catalogue", catalogue, "-f", "third"));
		assertEquals(ExitCode.INPUT, run("delete", "--catalogue", catalogue, "-f", "third"));
		assertEquals("memtrace delete: no trace is called \"third\" in this catalogue\n", err);
		assertTrue(Files.exists(Path.of(catalogue, "example")));
		assertFalse(Files.exists(Path.of(catalogue, "example_2")));
	}

	@Test
	void aFileOfItsOwn() {
		String db = temporary.resolve("x y.db").toString();
		assertEquals(0, run("import", "-o", db, "--report", "json", EXAMPLE), () -> err);
		JsonObject report = JsonParser.parseString(out).getAsJsonObject();
		assertEquals(14, report.getAsJsonObject("rows").get("imported").getAsLong());
		assertEquals(ExitCode.INPUT, run("import", "-o", db, EXAMPLE));
		assertEquals("memtrace import: " + db + " exists already\n", err);
		assertEquals(0, run("list", db));
		assertTrue(out.contains("example"), out);
		assertEquals(0, run("query", "--what", "threads", "--format", "csv", db));
		assertEquals("index,image,task,name,birth_ns,death_ns,start_routine,main\n"
				+ "0,0,1000,app,1000000000,,,yes\n1,0,1001,worker,1005000000,1195000000,worker,\n"
				+ "2,1,1002,app,1119000000,,,yes\n", out);
		assertEquals(0, run("query", "--what", "structures", "--format", "csv", db));
		assertTrue(out.contains("7,0,mmap,\"buffer[0], \"\"raw\"\"\",7ffff0100000,"), out);
		assertEquals(0, run("query", "--what", "accesses", "--format", "json", "--producer", "5", "--to", "1050000000", db));
		assertEquals(3, JsonParser.parseString(out).getAsJsonArray().size(), out);
		assertEquals(0, run("query", "--what", "events", "--format", "csv", "--limit", "2", db));
		assertEquals(3, out.lines().count());
		assertEquals(0, run("query", "--what", "report", db));
		assertEquals(report, JsonParser.parseString(out).getAsJsonObject());
		assertEquals(ExitCode.USAGE, run("query", "--producer", "999", db));
		assertEquals(0, run("delete", "-f", "--catalogue", catalogue, db));
		assertFalse(Files.exists(Path.of(db)));
	}

	@Test
	void mistakesAreOneSentence() {
		assertEquals(ExitCode.INPUT, run("import", "--catalogue", catalogue, temporary.resolve("none").toString()));
		assertEquals("memtrace import: " + temporary.resolve("none") + ": is not a directory\n", err);
		assertEquals(ExitCode.USAGE, run("import", "-o", "x", "--catalogue", catalogue, EXAMPLE));
		assertEquals(ExitCode.USAGE, run("import", "--fanout", "17", EXAMPLE));
		assertEquals(ExitCode.INPUT, run("list", EXAMPLE + "/manifest.json"));
		assertEquals("memtrace list: " + EXAMPLE + "/manifest.json is not an SQLite database\n", err);
		assertEquals(ExitCode.INPUT, run("query", temporary.resolve("none.db").toString()));
	}
}
