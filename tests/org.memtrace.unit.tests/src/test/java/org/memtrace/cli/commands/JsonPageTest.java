// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Ran;
import org.memtrace.cli.args.CommandTable;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

/** Every command that prints something prints what docs/reference/json.md and the pages that it names say. */
class JsonPageTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root"));
	private static final String TRACE = ROOT.resolve("testdata/traces/matmul-naive").toString();
	/** Commands that print no result, or print it as a file or a script. */
	private static final Set<String> OTHERS = Set.of("record", "cc", "c++", "fortran", "finish", "delete", "copy", "rename",
			"export", "experiment", "pack", "unpack", "render", "report", "open", "help", "completion", "otf2-stream", "otf2-write", "on-node",
			"sources", "serve", "debug", "model-part", "import-part");
	@TempDir
	static Path temporary;
	private static String db;
	private static String events;
	/** By schema: path of a field, whether it is always there. */
	private static final Map<String, Map<String, Boolean>> PAGE = new LinkedHashMap<>();
	private static final Set<String> SEEN = new TreeSet<>();

	@BeforeAll
	static void load() throws Exception {
		String schema = null;
		List<String> lines = new ArrayList<>();
		for (String page : List.of("json", "json-analysis", "json-pictures")) {
			lines.addAll(Files.readAllLines(ROOT.resolve("docs/reference/" + page + ".md")));
		}
		for (String line : lines) {
			if (line.startsWith("## memtrace.")) {
				schema = line.substring(3);
				PAGE.put(schema, new LinkedHashMap<>());
				PAGE.get(schema).put("schema", true);
			} else if (line.startsWith("| `") && schema != null) {
				String[] cells = line.split("\\|");
				for (Matcher m = Pattern.compile("`([^`]+)`").matcher(cells[1]); m.find();) {
					PAGE.get(schema).put(m.group(1), cells[2].isBlank());
				}
			}
		}
		db = temporary.resolve("t.db").toString();
		events = temporary.resolve("e.db").toString();
	}

	@AfterAll
	static void all() {
		// native ones are only seen when the native program was built
		Set<String> missing = new TreeSet<>(PAGE.keySet());
		missing.removeAll(SEEN);
		missing.removeAll(Set.of("memtrace.recording/1", "memtrace.job/1", "memtrace.check/1", "memtrace.version/1", "memtrace.monitor-list/1",
				"memtrace.monitor-check/1", "memtrace.measure/1",
				"memtrace.machine/1", "memtrace.machine-times/1", "memtrace.monitors/1", "memtrace.placement/2", "memtrace.sql/1"));
		assertTrue(missing.isEmpty(), () -> "no command printed " + missing);
	}

	private static JsonElement run(String... args) {
		return JsonParser.parseString(Ran.ok(args));
	}

	/** All fields are on the page, and all that must be there are. */
	private static void check(String schema, JsonElement printed) {
		JsonObject o = printed.getAsJsonObject();
		assertEquals("schema", o.keySet().iterator().next(), "the schema comes first");
		assertEquals(schema, o.get("schema").getAsString());
		Map<String, Boolean> fields = PAGE.get(schema);
		assertNotNull(fields, "docs/reference/json.md has no " + schema);
		SEEN.add(schema);
		walk(schema, "", o, fields);
	}

	private static void walk(String schema, String path, JsonElement e, Map<String, Boolean> fields) {
		if (e instanceof JsonArray a) {
			a.forEach(x -> walk(schema, path + "[]", x, fields));
		} else if (e instanceof JsonObject o) {
			String prefix = path.isEmpty() ? "" : path + ".";
			if (!path.isEmpty() && fields.containsKey(path + ".*")) {
				return;
			}
			for (String name : o.keySet()) {
				assertTrue(isOnPage(prefix + name, fields), () -> "docs/reference/json.md has no " + prefix + name + " in " + schema);
				walk(schema, prefix + name, o.get(name), fields);
			}
			fields.forEach((field, always) -> {
				String rest = field.startsWith(prefix) ? field.substring(prefix.length()) : "*";
				// of a.b and a[].b the field a must be there
				String name = rest.replaceFirst("[.\\[].*", "");
				if (always && !name.equals("*")) {
					assertTrue(o.has(name), () -> schema + " lacks " + prefix + name);
				}
			});
		}
	}

	private static boolean isOnPage(String path, Map<String, Boolean> fields) {
		return fields.containsKey("*") || fields.keySet().stream()
				.anyMatch(f -> f.equals(path) || f.startsWith(path + ".") || f.startsWith(path + "[]"));
	}

	@Test
	void everyCommandThatPrints() throws Exception {
		check("memtrace.import/1", run("import", "-o", db, "--format", "json", TRACE));
		check("memtrace.info/1", run("info", "--format", "json", db));
		check("memtrace.info/1", run("info", "--json", db));
		check("memtrace.list/1", run("list", "--format", "json", db));
		check("memtrace.verify/1", run("verify", "--format", "json", db));
		check("memtrace.merge/1", run("merge", "--format", "json", "--add", "stack+size", db));
		check("memtrace.merge/1", run("merge", "--format", "json", "--undo", db));
		check("memtrace.import/1", run("query", "--what", "report", db));
		for (String what : new String[] {"structures", "stacks", "threads", "accesses", "groups", "sums", "pages", "types", "producers",
				"intervals", "properties"}) {
			JsonElement rows = run("query", "--what", what, "--format", "json", db);
			check("memtrace.query/1", rows);
			assertEquals(what, rows.getAsJsonObject().get("what").getAsString());
			assertTrue(rows.getAsJsonObject().getAsJsonArray("rows").size() > 0, what);
		}
		check("memtrace.ask/1", run("ask", "--format", "json", db, "written by structure every 10ms"));
		check("memtrace.ask/1", run("ask", "--format", "json", db, "by structure show last vs", db));
		JsonElement summary = run("summary", "--format", "json", db);
		check("memtrace.summary/1", summary);
		assertTrue(summary.getAsJsonObject().getAsJsonArray("structures").size() > 10);
		check("memtrace.advice/2", run("advise", "--format", "json", "--explain", db));
		check("memtrace.patterns/1", run("advise", "--patterns", "--format", "json", db));
		check("memtrace.patterns/1", run("advise", "--patterns", "--explain", "--format", "json", db, db).getAsJsonArray().get(1));
		JsonArray several = run("advise", "--format", "json", db, db).getAsJsonArray();
		assertEquals(2, several.size());
		several.forEach(a -> check("memtrace.advice/2", a));
		check("memtrace.diff/1", run("diff", "--format", "json", "--fail-if", "time>5%", db, db));
		check("memtrace.diff/1", run("diff", "--format", "json", db, db, db, "--", db, db, db));
		check("memtrace.aggregate/1", run("aggregate", "--format", "json", "--slices", "5", db));
		check("memtrace.levels/1", run("aggregate", "--list", "--format", "json", "--slices", "5", "--falling", db));
		check("memtrace.levels/1", run("aggregate", "--curves", "--format", "json", "--slices", "5", db));
		Path csv = temporary.resolve("events.csv");
		Files.writeString(csv, EVENTS);
		check("memtrace.import/1", run("import", "-o", events, "--format", "json", csv.toString()));
		check("memtrace.event-summary/1", run("summary", "--format", "json", events));
		check("memtrace.profile/1", run("profile", "--contexts", "--format", "json", events));
		check("memtrace.profile-curve/1", run("profile", "--format", "json", events, events));
		String io = IoFolder.copy(ROOT, temporary.resolve("io")).toString();
		check("memtrace.import/1", run("import", "-o", temporary.resolve("io.db").toString(), "--format", "json", io));
		io = temporary.resolve("io.db").toString();
		for (String by : List.of("level", "operation", "file", "thread")) {
			check("memtrace.io/1", run("io", "--by", by, "--format", "json", io));
		}
		check("memtrace.io-calls/1", run("io", "--by", "call", "--json", io));
		check("memtrace.io-call/1", run("io", "--call", "1", "--json", io));
		check("memtrace.query/1", run("query", "--what", "events", "--format", "json", events));
		Path main = temporary.resolve("main.csv");
		String task = run("query", "--what", "threads", "--format", "json", db).getAsJsonObject().getAsJsonArray("rows").get(0)
				.getAsJsonObject().get("task").getAsString();
		Files.writeString(main, "type,category,producer,start_ns,end_ns,value\nmain,state,app/thread " + task + ",0,3000000000000000000,0\n");
		String joined = temporary.resolve("main.db").toString();
		run("import", "-o", joined, "--format", "json", main.toString());
		check("memtrace.join/1", run("join", "--clock-offset", "0", "--format", "json", db, joined));
		check("memtrace.join/1", run("join", "--undo", "--format", "json", db));
		check("memtrace.info/1", run("info", "--format", "json", events));
	}

	private static final String EVENTS = """
			type,category,producer,start_us,end_us,value
			compute,state,node/rank 0,1.5,20,0
			wait,state,node/rank 0,2,4,1
			""";

	@Test
	void machine() throws Exception {
		String m = temporary.resolve("m.db").toString();
		run("import", "-o", m, "--format", "json", TRACE);
		Ran ran = Ran.of("machine", "--format", "json", m);
		assumeTrue(ran.code() == 0, "no libhwloc");
		check("memtrace.machine/1", JsonParser.parseString(ran.out()));
		check("memtrace.aggregate/1", run("aggregate", "--across", "machine", "--format", "json", m));
		check("memtrace.aggregate/1", run("aggregate", "--tree", "machine", "--format", "json", m));
		check("memtrace.levels/1", run("aggregate", "--across", "machine", "--list", "--format", "json", m));
		String monitors = temporary.resolve("monitors.db").toString();
		run("import", "-o", monitors, "--format", "json",
				Files.writeString(temporary.resolve("monitors.txt"), "PU:0 1000 1\nPU:0 2000 3\nPU:70000 2000 3\n").toString());
		check("memtrace.monitors/1", run("machine", "--at", "2us", "--format", "json", monitors));
		check("memtrace.machine-times/1", JsonParser.parseString(Ran.of("machine", "--slices", "4", "--format", "json", m).out()));
		check("memtrace.placement/2", run("place", "--format", "json", m));
		check("memtrace.placement/2", run("place", "--topology", "pack:2 [numa] core:2 pu:1", "--phases", "2", "--format", "json", m));
		check("memtrace.binding/1", run("bind", "--format", "json", m));
		check("memtrace.live/1", run("live", "--format", "json", System.getProperty("memtrace.root") + "/testdata/format-example"));
		check("memtrace.binding/1", run("bind", "--topology", "pack:2 [numa] core:2 pu:1", "--count", "pages", "--sharing", "all",
				"--format", "json", m));
	}

	@Test
	void sql() throws Exception {
		DuckDb.use(temporary);
		String s = temporary.resolve("s.db").toString();
		run("import", "-o", s, "--format", "json", TRACE);
		JsonElement rows = run("sql", "--format", "json", s, "select * from finding");
		check("memtrace.sql/1", rows);
		assertTrue(rows.getAsJsonObject().getAsJsonArray("rows").size() > 0);
	}

	/** Commands of the native program, if it was built. */
	@Test
	void nativeCommands() throws Exception {
		Path program = ROOT.resolve("build/collector/memtrace");
		assumeTrue(Files.isExecutable(program), "the native program is not built");
		Path job = temporary.resolve("job");
		Files.createDirectories(job.resolve("r0"));
		Files.writeString(job.resolve("r0/manifest.json"), """
				{"format":"memtrace","format_version":1,"command":["x"],"job":{"launcher":"slurm","id":"7","rank":0,"size":2},
				"host":{"name":"alpha"},"backend":{"name":"zap","guarantee":{"pages":"complete"}},
				"clock":{"start_realtime":"2024-06-07T08:09:10.5Z"},"status":{"state":"complete","exit_code":0},"losses":{}}
				""");
		Path right = Files.writeString(temporary.resolve("right.mon"), "a { OBJ:=PU; EVSET:=x; }");
		Path wrong = Files.writeString(temporary.resolve("wrong.mon"), "a { OBJ:=PU; EVSET:=x; EVSET_REDUCE:=$1; }");
		for (String form : new String[] {"--format=json", "--json"}) {
			check("memtrace.monitor-list/1", natively(program, "monitor", "--list", form));
			check("memtrace.monitor-check/1", natively(program, "monitor", "--check", form, "-f", right.toString()));
			check("memtrace.monitor-check/1", natively(program, 3, "monitor", "--check", form, "-f", wrong.toString()));
			check("memtrace.version/1", natively(program, "version", form));
			check("memtrace.check/1", natively(program, "check", form));
			check("memtrace.recording/1", natively(program, "info", "--no-finish", form, TRACE));
			check("memtrace.job/1", natively(program, "info", "--no-finish", form, job.toString()));
		}
	}

	private static JsonElement natively(Path program, String... args) throws IOException, InterruptedException {
		return natively(program, 0, args);
	}

	private static JsonElement natively(Path program, int expected, String... args) throws IOException, InterruptedException {
		List<String> command = new ArrayList<>(List.of(program.toString()));
		command.addAll(List.of(args));
		Process p = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
		String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		int code = p.waitFor(); // 4: no backend works here
		assertTrue(code == expected || code == 4, () -> String.join(" ", command) + ": " + code);
		return JsonParser.parseString(out);
	}

	/** A command either has --format json, or is one of those that print no result. */
	@Test
	void noCommandIsForgotten() throws IOException {
		for (String name : CommandTable.index().keySet()) {
			String text = Files.readString(ROOT.resolve("org.memtrace.cli/commands/" + name + ".txt"));
			boolean json = Pattern.compile("^option: --format (\\w+\\|)*json(\\||$)", Pattern.MULTILINE).matcher(text).find();
			assertEquals(!OTHERS.contains(name), json, name);
		}
	}
}
