// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;

import org.memtrace.cli.Ran;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.storage.PostgresServer;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands with a catalogue on a server, and copies between catalogues. */
class CatalogueCommandsTest {
	private static final String EXAMPLE = Path.of(System.getProperty("memtrace.root", "../.."), "testdata", "format-example").toString();

	@TempDir
	Path temporary;
	private String server;
	private String out;
	private String err;

	@BeforeEach
	void setUp() throws Exception {
		server = PostgresServer.get().newDatabase().toString();
	}

	private int run(String... args) {
		Ran ran = Ran.of(args);
		out = ran.out();
		err = ran.err();
		return ran.code();
	}

	private void good(String... args) {
		assertEquals(0, run(args), () -> String.join(" ", args) + ": " + err);
	}

	@Test
	void importAskDelete() {
		good("import", "--catalogue", server, EXAMPLE);
		assertTrue(err.contains("trace 0: " + server + "/example\n"), err);
		good("import", "--catalogue", server, "--projections", "--name", "second", EXAMPLE);
		assertTrue(err.contains("trace 1: " + server + "/second\n"), err);
		good("list", "--catalogue", server);
		assertTrue(out.matches("(?s)ID  NAME .*\n0   example .* MB .*\n1   second .*"), out);
		String listed = out;
		good("list", server);
		assertEquals(listed, out);
		good("rename", "--catalogue", server, "second", "third");
		String trace = server + "/example";
		good("info", "--json", trace);
		JsonObject info = JsonParser.parseString(out).getAsJsonObject();
		assertEquals(trace, info.get("database").getAsString());
		assertTrue(info.get("database_bytes").getAsLong() > 0);
		String file = temporary.resolve("e.db").toString();
		good("import", "-o", file, EXAMPLE);
		for (String[] question : new String[][] { { "query", "--what", "accesses", "--format", "csv" }, { "query", "--what", "structures" },
				{ "summary" }, { "aggregate" }, { "export", "--format", "csv" }, { "verify" } }) {
			String[] ask = java.util.Arrays.copyOf(question, question.length + 1);
			ask[question.length] = file;
			good(ask);
			String expected = out;
			ask[question.length] = server + "/0";
			good(ask);
			assertEquals(expected, out, question[0]);
			assertFalse(out.isBlank(), question[0]);
		}
		good("merge", "--add", "stack", trace);
		good("verify", trace);
		String svg = temporary.resolve("a.svg").toString();
		good("render", "-o", svg, trace);
		assertTrue(Files.exists(Path.of(svg)));
		assertEquals(ExitCode.INPUT, run("info", server + "/nothing"));
		assertEquals("memtrace info: no trace is called \"nothing\" in this catalogue\n", err);
		assertEquals(ExitCode.INPUT, run("info", server));
		assertEquals("memtrace info: " + server + " is a catalogue; a trace of it is " + server + "/NAME\n", err);
		assertEquals(ExitCode.USAGE, run("import", "--catalogue", server, "--dbms", "h2", EXAMPLE));
		good("delete", "-f", "--catalogue", server, "third", trace);
		good("list", "--catalogue", server);
		assertFalse(out.contains("third"), out);
	}

	@Test
	void copiesGoAroundAndAreVerified() {
		String home = temporary.resolve("home").toString();
		String back = temporary.resolve("back").toString();
		good("import", "--catalogue", home, EXAMPLE);
		good("import", "--catalogue", home, "--dbms", "h2", "--name", "in h2", EXAMPLE);
		good("copy", "--catalogue", home, "--to", server, "--all");
		assertTrue(out.contains("example is trace 0 of " + server + ": 14 accesses, 16 events, all as they were written\nin h2 is trace 1 of"), out);
		good("copy", "--catalogue", home, "--to", server, "--all");
		assertEquals("", out);
		assertTrue(err.contains("example is there already, as trace 0\nin h2 is there already, as trace 1\n"), err);
		good("copy", "--catalogue", server, "--to", back, "--dbms", "h2", "example");
		good("copy", "--to", back, server + "/1");
		good("copy", "--to", server, Path.of(home, "example").toString());
		good("list", back);
		assertTrue(out.matches("(?s)ID  NAME .*\n0   example .*\n1   in h2 .*"), out);
		assertTrue(Files.exists(Path.of(back, "example.mv.db")));
		good("query", "--what", "accesses", "--format", "csv", Path.of(home, "example").toString());
		String expected = out;
		for (String copy : new String[] { Path.of(back, "example.mv.db").toString(), server + "/2" }) {
			good("query", "--what", "accesses", "--format", "csv", copy);
			assertEquals(expected, out);
		}
		assertEquals(ExitCode.USAGE, run("copy", "--to", back));
		assertEquals(ExitCode.USAGE, run("copy", "--to", back, "--all", "example"));
		assertEquals(ExitCode.USAGE, run("copy", "--catalogue", back, "--to", back, "--all"));
		assertEquals(ExitCode.USAGE, run("copy", "example"));
	}

	@Test
	void noPasswordOnACommandLine() {
		assertEquals(ExitCode.INPUT, run("list", "--catalogue", "postgresql://anna:secret@127.0.0.1/x"));
		assertTrue(err.contains("must not have a password") && !err.contains("secret"), err);
	}
}
