// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.SavedFilters;
import org.memtrace.cli.Ran;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.model.StoreException;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;
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
		Ran ran = Ran.of(args);
		out = ran.out();
		err = ran.err();
		return ran.code();
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
		JsonArray list = JsonParser.parseString(out).getAsJsonObject().getAsJsonArray("rows");
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
		assertEquals("index,image,task,name,birth_ns,death_ns,start_routine,main,cpu_ns\n"
				+ "0,0,1000,app,1000000000,,,1,150000000\n1,0,1001,worker,1005000000,1195000000,worker,0,120500000\n"
				+ "2,1,1002,app,1119000000,,,1,\n", out);
		assertEquals(0, run("query", "--what", "structures", "--format", "csv", db));
		assertTrue(out.contains("7,0,mmap,\"buffer[0], \"\"raw\"\"\",7ffff0100000,"), out);
		assertEquals(0, run("query", "--what", "accesses", "--format", "json", "--producer", "5", "--to", "50ms", db));
		assertEquals(3, JsonParser.parseString(out).getAsJsonObject().getAsJsonArray("rows").size(), out);
		assertEquals(0, run("query", "--what", "events", "--format", "csv", "--limit", "2", db));
		assertEquals(3, out.lines().count());
		assertEquals(0, run("query", "--what", "report", db));
		assertEquals(report, JsonParser.parseString(out).getAsJsonObject());
		assertEquals(ExitCode.USAGE, run("query", "--producer", "999", db));
		assertEquals(0, run("delete", "-f", "--catalogue", catalogue, db));
		assertFalse(Files.exists(Path.of(db)));
	}

	/** Everywhere from the start of the trace; @ is the clock, which the columns of a table have. */
	@Test
	void timesCountFromTheStartOfTheTrace() {
		String db = temporary.resolve("w.db").toString();
		assertEquals(0, run("import", "-o", db, EXAMPLE), () -> err);
		assertEquals(0, run("query", "--what", "accesses", "--format", "csv", "--from", "51ms", "--to", "101ms", db), () -> err);
		String window = out;
		assertEquals(0, run("query", "--what", "accesses", "--format", "csv", db));
		String all = out;
		long expected = all.lines().skip(1).map(l -> l.split(","))
				.filter(f -> Long.parseLong(f[1]) > 1_050_000_000L && Long.parseLong(f[0]) < 1_100_000_000L).count();
		assertTrue(expected > 0 && expected < all.lines().count() - 1);
		assertEquals(expected + 1, window.lines().count(), window);
		assertEquals(0, run("query", "--what", "accesses", "--format", "csv", "--from", "@1050000000", "--to=@1100000000", db));
		assertEquals(window, out);
		assertEquals(0, run("query", "--what", "accesses", "--format", "csv", "--from", "0", "--to", "1h", db));
		assertEquals(all, out);
		for (String command : new String[] { "aggregate", "query --what accesses", "export" }) {
			String[] begin = command.split(" ");
			String lasts = "the window is outside of the trace, which lasts 202 ms (from @999000000 to @1201000000): ";
			assertEquals(ExitCode.USAGE, run(with(begin, "--from", "3s", db)));
			assertEquals("memtrace " + begin[0] + ": " + lasts + "--from is 3s\n", err);
			assertEquals(ExitCode.USAGE, run(with(begin, "--to", "@999", db)));
			assertEquals("memtrace " + begin[0] + ": " + lasts + "--to is @999\n", err);
			assertEquals(ExitCode.USAGE, run(with(begin, "--from", "100ms", "--to", "50ms", db)));
			assertTrue(err.contains("the window is empty: --from is 100ms, --to is 50ms"), err);
			assertEquals(ExitCode.USAGE, run(with(begin, "--from", "1050000000", db)));
			assertTrue(err.contains("--from is '1050000000'; it needs a time from the start of the trace, such as 0, 250ms or 1.5s,"
					+ " or one of its clock, such as @999000000"), err);
		}
		assertEquals(ExitCode.USAGE, run("query", "--from", "1ms", db));
		assertEquals("memtrace query: --from selects by time: it needs --what accesses, groups, pages, sums or events\n", err);
	}

	private static String[] with(String[] begin, String... end) {
		return java.util.stream.Stream.concat(java.util.Arrays.stream(begin), java.util.Arrays.stream(end)).toArray(String[]::new);
	}

	/** code.csv says where the code is: group, filter, column and colour. */
	@Test
	void functionsOfTheCode() throws Exception {
		String db = temporary.resolve("code.db").toString();
		assertEquals(0, run("import", "-o", db, EXAMPLE), () -> err);
		assertEquals(0, run("query", "--what", "groups", "--by", "function,source,object", "--format", "csv", db), () -> err);
		assertTrue(out.startsWith("function,source,object,records,reads,writes\n"), out);
		assertTrue(out.contains("\nfill,/home/user/app.c:31,app,"), out);
		assertTrue(out.contains("\n\"make<int, 4>\",/home/user/app.c:20,app,1,1,0\n"), out);
		assertTrue(out.contains("\n[libc.so.6],,libc.so.6,1,0,2\n"), out);
		// an address that is in no code.csv, and a record without one
		assertTrue(out.contains("\n,,,"), out);
		assertEquals(0, run("query", "--what", "groups", "--by", "function", "--filter",
				"{\"by\":\"source\",\"values\":[\"/home/user/app.c:32\"]}", "--format", "csv", db), () -> err);
		assertEquals("function,records,reads,writes\nfill,1,1,2\n", out);
		assertEquals(0, run("query", "--what", "accesses", "--columns", "ip,function", "--limit", "1", "--format", "csv", db), () -> err);
		assertEquals(2, out.lines().count(), out);
		assertEquals(0, run("aggregate", "--view", "function", "-p", "1", "--format", "json", db), () -> err);
		assertTrue(out.contains("\"fill\"") && out.contains("\"sum\""), out);
	}

	@Test
	void filtersAreNamesOrJson() throws Exception {
		String db = temporary.resolve("f.db").toString();
		assertEquals(0, run("import", "-o", db, EXAMPLE), () -> err);
		assertEquals(0, run("query", "--what", "groups", "--by", "thread", "--format", "csv", db), () -> err);
		String all = out;
		String worker = "[{\"by\":\"thread\",\"threads\":[1]}]";
		assertEquals(0, run("query", "--what", "groups", "--by", "thread", "--format", "csv", "--filter", worker, db), () -> err);
		assertEquals(2, out.lines().count(), out);
		assertTrue(all.contains(out.lines().toList().get(1)) && out.contains("worker #1"), out);
		String one = out;
		try (TraceStore store = Stores.openFile(Path.of(db))) {
			SavedFilters.NONE.with("the worker", FilterSet.parse(worker)).save(store);
		}
		assertEquals(0, run("query", "--what", "groups", "--by", "thread", "--format", "csv", "--filter", "the worker", db), () -> err);
		assertEquals(one, out);
		assertEquals(0, run("summary", "--filter", "the worker", db), () -> err);
		assertEquals(0, run("aggregate", "--filter", "the worker", "--format", "csv", db), () -> err);
		assertEquals(0, run("render", "--filter", worker, "-o", temporary.resolve("f.svg").toString(), db), () -> err);
		assertEquals(0, run("export", "--filter", worker, db), () -> err);
		assertTrue(out.lines().skip(1).allMatch(l -> l.contains(",1001,worker #1,")), out);
		assertEquals(ExitCode.USAGE, run("summary", "--filter", "nobody", db));
		assertTrue(err.startsWith("memtrace summary: --filter: the trace has no filters that are called 'nobody', only the worker"), err);
		assertEquals(ExitCode.USAGE, run("summary", "--filter", "[{", db));
		assertEquals(ExitCode.USAGE, run("summary", "--filter", "{\"by\":\"thread\",\"threads\":[99]}", db));
		assertTrue(err.startsWith("memtrace summary: --filter: there is no thread 99"), err);
		assertEquals(ExitCode.USAGE, run("summary", "--filter", "{\"by\":\"size\",\"min\":1099511627776}", db));
		assertTrue(err.startsWith("memtrace summary: --filter leaves no access"), err);
	}

	@Test
	void mergingRulesAreKeptAndTakenBack() {
		String db = temporary.resolve("m.db").toString();
		assertEquals(0, run("import", "-o", temporary.resolve("plain.db").toString(), EXAMPLE), () -> err);
		String accessed = out.lines().filter(l -> l.startsWith("structures ")).findFirst().orElseThrow();
		assertEquals(0, run("import", "-o", db, "--merge", "kind", EXAMPLE), () -> err);
		assertTrue(out.contains(accessed), () -> "merging changes nothing that is accessed: " + accessed + "\n" + out);
		assertEquals(0, run("export", db), () -> err);
		assertTrue(out.contains(",heap (2 blocks),,"), () -> "the name of the group, and no structure: " + out);
		assertEquals(0, run("merge", db), () -> err);
		assertEquals("1  kind\n", out);
		assertEquals(0, run("query", "--what", "producers", "--format", "csv", db), () -> err);
		String merged = out;
		assertTrue(merged.contains("heap (2 blocks)") && merged.contains("stack (2 blocks)"), merged);
		assertEquals(0, run("merge", "--undo", db), () -> err);
		assertEquals("", out);
		assertTrue(err.contains("event producers, before "), err);
		assertEquals(0, run("query", "--what", "producers", "--format", "csv", db), () -> err);
		assertFalse(out.contains("blocks)"), out);
		assertEquals(0, run("merge", "--add", "kind", "--add", "name:x+y", db), () -> err);
		assertEquals("1  kind\n2  name:x+y\n", out);
		assertEquals(0, run("query", "--what", "producers", "--format", "csv", db), () -> err);
		assertEquals(merged, out);
		assertEquals(0, run("merge", "--clear", "--add", "stack", db), () -> err);
		assertEquals("1  stack\n", out);
		assertEquals(ExitCode.USAGE, run("merge", "--add", "stak", db));
		assertTrue(err.contains("'stak' where one of "), err);
		assertEquals(ExitCode.USAGE, run("merge", "--undo", "--add", "size", db));
		assertEquals(0, run("merge", "--clear", db), () -> err);
		assertEquals(ExitCode.USAGE, run("merge", "--undo", db));
	}

	@Test
	void mocaFramesocBesideADatabase() throws Exception {
		Path vectors = Path.of(System.getProperty("memtrace.root", "../.."), "testdata", "vectors", "sharing");
		Path db = temporary.resolve("m.db");
		Path csv = temporary.resolve("Moca-framesoc.csv");
		assertEquals(0, run("import", "-o", db.toString(), "--moca-framesoc", csv.toString(),
				vectors.resolve("accesses.csv").toString()), () -> err);
		assertEquals(Files.readString(vectors.resolve("expected-upstream.csv")), Files.readString(csv));
		assertTrue(Files.exists(db));
	}

	@Test
	void infoOfWhatWasImported() throws Exception {
		assertEquals(0, run("import", "--catalogue", catalogue, "--name", "some name", EXAMPLE), () -> err);
		String db = Path.of(catalogue, "some_name").toString();
		assertEquals(0, run("info", db), () -> err);
		assertTrue(out.startsWith("Trace       some name\nDatabase    " + db + ", 0."), out);
		assertTrue(out.contains("\nRecords     14 of page faults, which are 16 events\nMemory      21 event producers; pages of 4,096 bytes\n"), out);
		assertTrue(out.contains("\nLost        3 page faults\n") && out.contains("rows: read                               15\n"), out);
		assertEquals(0, run("info", "--json", db), () -> err);
		var json = JsonParser.parseString(out).getAsJsonObject();
		assertEquals(14, json.get("accesses").getAsInt());
		assertEquals(15, json.getAsJsonObject("import").getAsJsonObject("rows").get("read").getAsInt());
		assertEquals("zap", json.getAsJsonObject("properties").get("backend").getAsString());
		assertEquals(ExitCode.USAGE, run("info", "--explain", db));
		assertEquals(ExitCode.INPUT, run("info", temporary.resolve("nothing").toString()));
	}

	@Test
	void projectionsForTheOriginalFrameSoc() throws Exception {
		Path csv = temporary.resolve("accesses.csv");
		Files.writeString(csv, "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags\n"
				+ "7000,5000,1,0,1,10,20,11,0,0,0\n8000,9000,0,2,1,10,20,12,0,1,0\n8000,9000,3,1,1,15,25,11,0,1,0\n"
				+ "9000,0,3,0,1,10,20,-1,0,-1,0\n");
		assertEquals(0, run("import", "--catalogue", catalogue, "--name", "m", "--projections", csv.toString()), () -> err);
		assertEquals(0, run("list", "--catalogue", catalogue, "--json"), () -> err);
		assertEquals("[\"m\", \"m_Physical\", \"m_Task_Physical\", \"m_Task_Virtual\", \"m_Virtual\"]",
				JsonParser.parseString(out).getAsJsonObject().getAsJsonArray("rows").asList().stream()
						.map(t -> "\"" + Path.of(t.getAsJsonObject().get("database").getAsString()).getFileName() + "\"").sorted().toList()
						.toString());
		for (String name : new String[] { "Virtual", "Task_Virtual", "Physical", "Task_Physical" }) {
			String db = Path.of(catalogue, "m_" + name).toString();
			assertEquals(0, run("query", "--what", "events", "--format", "csv", db), () -> err);
			assertEquals(6, out.lines().count(), out);
			assertEquals(name.startsWith("Task"), out.contains("Shared_Read_T11") && out.contains("NotKnown_Read_T-1"), out);
			assertEquals(!name.startsWith("Task"), out.contains(",Shared_Read,"), out);
			assertEquals(name.endsWith("Physical"), out.contains("frame 9"), out);
			assertEquals(0, run("query", "--what", "groups", "--by", "thread", "--format", "csv", db), () -> err);
			assertTrue(out.contains(",4,1\n") || out.contains(",2,4,1"), out);
		}
		Path own = temporary.resolve("own.db");
		assertEquals(0, run("import", "-o", own.toString(), "--projections", EXAMPLE), () -> err);
		assertTrue(Files.exists(temporary.resolve("own_Task_Virtual.db")) && !Files.exists(temporary.resolve("own_Physical.db")));
		Path second = temporary.resolve("second.db");
		Files.writeString(temporary.resolve("second_Task_Virtual.db"), "mine");
		assertEquals(ExitCode.INPUT, run("import", "-o", second.toString(), "--projections", EXAMPLE));
		assertFalse(Files.exists(second) || Files.exists(temporary.resolve("second_Virtual.db")), "all or nothing");
		assertEquals("mine", Files.readString(temporary.resolve("second_Task_Virtual.db")));
	}

	@Test
	void theAxisOfATraceOfMocaHasTicks() throws Exception {
		Path csv = temporary.resolve("Moca-full-trace.csv");
		Files.writeString(csv, "@Virt, @Phy, Nreads, Nwrites, CPUMask, Start, End, TaskId\n"
				+ "0000000000601000, 0000000012345000, 3, 1, 01, 0, 1999, 0\n0000000000602000, 0000000000602000, 3, 1, 01, 0, 1999, 0\n");
		String db = temporary.resolve("moca.db").toString();
		assertEquals(0, run("import", "-o", db, csv.toString()), () -> err);
		Path svg = temporary.resolve("moca.svg");
		assertEquals(0, run("render", "-o", svg.toString(), db), () -> err);
		String picture = Files.readString(svg);
		assertTrue(picture.contains(">1,000 ticks<") && !picture.contains(" µs<"), picture);
		assertEquals(0, run("query", "--what", "producers", "--format", "csv", "--tree", "physical", db), () -> err);
		assertTrue(out.contains("frame 12345") && out.contains("no known frame"), out);
	}

	@Test
	void thePhysicalTreeOfATraceThatKnowsFrames() throws Exception {
		String db = temporary.resolve("v.db").toString();
		Path csv = temporary.resolve("accesses.csv");
		Files.writeString(csv, "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags\n"
				+ "7000,5000,1,0,1,10,20,1,0,0,0\n8000,9000,0,2,1,10,20,2,0,1,0\n9000,0,3,0,1,10,20,2,0,-1,0\n");
		assertEquals(0, run("import", "-o", db, csv.toString()), () -> err);
		assertEquals(0, run("query", "--what", "producers", "--format", "csv", "--tree", "physical", db), () -> err);
		assertTrue(out.contains("NUMA node 1") && out.contains("frame 9") && out.contains("no known frame"), out);
		assertEquals(0, run("query", "--what", "groups", "--by", "memory", "--format", "csv", "--tree", "physical", db), () -> err);
		assertEquals("memory,records,reads,writes\nNUMA node 0,1,1,0\nNUMA node 1,1,0,2\nno known NUMA node,1,3,0\n", out);
		assertEquals(0, run("aggregate", "--tree", "physical", "--format", "csv", db), () -> err);
		assertTrue(out.contains("\nframe 9,"), out);
		String plain = temporary.resolve("w.db").toString();
		Files.writeString(csv, "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags\n7000,0,1,0,1,10,20,1,0,0,0\n");
		assertEquals(0, run("import", "-o", plain, csv.toString()), () -> err);
		assertEquals(ExitCode.INPUT, run("summary", "--tree", "physical", plain));
		assertTrue(err.contains("has no physical tree: neither page frames nor more than one NUMA node were recorded"), err);
	}

	@Test
	void aFullDeviceIsNoMistakeOfTheUser() {
		StoreException full = StoreException.deviceFull("x cannot be written: no space left on the device", null);
		assertEquals(ExitCode.INTERNAL, ExitCode.of(full));
		assertEquals(ExitCode.INTERNAL, ExitCode.of(new StoreException("y", new IOException("No space left on device"))));
		assertEquals(ExitCode.INPUT, ExitCode.of(new StoreException("y", new IOException("Is a directory"))));
		assertEquals("x cannot be written: no space left on the device", ExitCode.sentence(full));
	}

	@Test
	void inputThatIsNoRecording() throws Exception {
		String db = temporary.resolve("d.db").toString();
		assertEquals(0, run("import", "-o", db, EXAMPLE), () -> err);
		String other = temporary.resolve("e.db").toString();
		assertEquals(ExitCode.INPUT, run("import", "-o", other, db));
		assertEquals("memtrace import: " + db + ": is a database and no recording: every command takes it as it is\n", err);
		assertEquals(0, run("import", "-o", temporary.resolve("h.mv.db").toString(), "--dbms", "h2", EXAMPLE), () -> err);
		assertEquals(ExitCode.INPUT, run("import", "-o", other, temporary.resolve("h.mv.db").toString()));
		assertTrue(err.contains("h.mv.db: is a database and no recording"), err);
		Path csv = Files.writeString(temporary.resolve("a.csv"), "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId\n601000,0,3,1,1,0,9,0\n");
		Path link = Files.createSymbolicLink(temporary.resolve("b.csv"), csv);
		assertEquals(ExitCode.INPUT, run("import", "-o", other, csv.toString(), link.toString()));
		assertEquals("memtrace import: " + link + ": is given twice\n", err);
		assertFalse(Files.exists(Path.of(other)));
	}

	@Test
	void limitsOfSorting() {
		String db = temporary.resolve("s.db").toString();
		assertEquals(0, run("import", "-o", db, EXAMPLE), () -> err);
		assertEquals(0, run("query", "--what", "accesses", "--format", "csv", "--sort", "reads", "--limit", "99", db), () -> err);
		java.util.List<String> all = out.lines().toList();
		assertEquals(15, all.size());
		assertEquals(0, run("query", "--what", "accesses", "--format", "csv", "--sort", "reads", "--offset", "1", "--limit",
				Long.toString(Long.MAX_VALUE), db), () -> err);
		assertEquals(all.subList(2, 15), out.lines().skip(1).toList());
		assertEquals(ExitCode.USAGE, run("query", "--what", "accesses", "--thread", "99", db));
		assertEquals("memtrace query: the trace has no thread 99; 'memtrace query --what threads' lists them\n", err);
		assertEquals(0, run("query", "--what", "accesses", "--cpu", "77", db));
		assertEquals("nothing to print: no such accesses in the trace, or none that the options select\n", err);
		assertEquals(0, run("query", "--what", "accesses", "--thread", "-1", "--format", "csv", db));
		assertEquals(2, out.lines().count(), out);
	}

	/** What the trace does not have is a mistake of the command line, not an answer without rows. */
	@Test
	void filtersThatNameWhatIsNotThere() throws Exception {
		String db = temporary.resolve("f.db").toString();
		assertEquals(0, run("import", "-o", db, EXAMPLE), () -> err);
		String wrong = "{\"by\":\"structure\",\"values\":[\"tabel\"]}";
		for (String[] command : new String[][] { { "query", "--what", "accesses" }, { "query", "--what", "groups", "--by", "thread" },
				{ "summary" }, { "aggregate" }, { "export", "--format", "csv" } }) {
			List<String> args = new ArrayList<>(List.of(command));
			args.addAll(List.of("--filter", wrong, db));
			assertEquals(ExitCode.USAGE, run(args.toArray(String[]::new)), String.join(" ", args));
			assertTrue(err.startsWith("memtrace " + command[0] + ": --filter: there is no structure 'tabel'; near: table"), err);
			assertEquals("", out);
		}
		assertEquals(ExitCode.USAGE, run("query", "--what", "accesses", "--types", "nosuch", db));
		assertEquals("memtrace query: --types 'nosuch' is none of Private_Read, Private_Write, Shared_Read, Shared_Write, NotKnown_Read,"
				+ " NotKnown_Write\n", err);
		// filters that were saved may be of another trace
		try (TraceStore store = Stores.openFile(Path.of(db))) {
			SavedFilters.NONE.with("mine", FilterSet.parse(wrong)).save(store);
		}
		assertEquals(0, run("query", "--what", "accesses", "--filter", "mine", db), () -> err);
		assertTrue(err.contains("warning: the filters 'mine': there is no structure 'tabel'; near: table"), err);
	}

	@Test
	void pagesAndStructures() {
		String db = temporary.resolve("p.db").toString();
		assertEquals(0, run("import", "-o", db, EXAMPLE), () -> err);
		assertEquals(0, run("query", "--what", "pages", "--format", "csv", "--sort", "first_write_ns", "--descending", "--limit", "2", db),
				() -> err);
		assertEquals("producer,page_start,page,first_ns,first_thread,first_write_ns,first_writer,threads,records,reads,writes,sharing,"
				+ "first_known,first_write_known\n4,555555559000,table [page 1],1150000000,app #0,1150000000,app #0,1,1,0,1,,0,0\n"
				+ "20,7ffff0002000,B of p0001 app [page 2],1120000000,app #2,1120000000,app #2,1,1,0,1,1,0,0\n", out);
		assertEquals(0, run("query", "--what", "groups", "--by", "structure", "--types", "Shared_.*", "--format", "csv", db), () -> err);
		assertEquals("structure,records,reads,writes\nA,2,4,2\n", out);
	}

	@Test
	void groupsPagesAndExport() throws Exception {
		String db = temporary.resolve("x.db").toString();
		assertEquals(0, run("import", "-o", db, EXAMPLE), () -> err);
		assertEquals(0, run("query", "--what", "groups", "--format", "csv", db), () -> err);
		assertEquals("type,records,reads,writes\nPrivate_Write,1,0,1\nShared_Read,2,4,0\nShared_Write,1,0,2\nNotKnown_Read,6,7,0\n"
				+ "NotKnown_Write,6,0,10\n", out);
		assertEquals(0, run("query", "--what", "groups", "--by", "time, thread", "--window", "100ms", "--sort", "writes",
				"--descending", "--limit", "1", "--format", "json", db), () -> err);
		assertEquals(1, JsonParser.parseString(out).getAsJsonObject().getAsJsonArray("rows").size(), out);
		assertTrue(out.contains("\"writes\": 4") && out.contains("\"window_ns\": "), out);
		assertEquals(0, run("query", "--what", "groups", "--by", "sharing", "--types", "NotKnown.*", "--thread", "1000",
				"--cpu", "0", "--format", "csv", db), () -> err);
		assertEquals(2, out.lines().count(), out);
		assertEquals(0, run("query", "--what", "accesses", "--format", "csv", db));
		String[] all = out.split("\n");
		java.util.List<String> pages = new java.util.ArrayList<>();
		for (int offset = 0; offset < 15; offset += 4) {
			assertEquals(0, run("query", "--what", "accesses", "--format", "csv", "--limit", "4", "--offset",
					Integer.toString(offset), db));
			out.lines().skip(1).forEach(pages::add);
		}
		assertEquals(java.util.List.of(all).subList(1, 15), pages);
		assertEquals(0, run("query", "--what", "accesses", "--format", "csv", "--limit", "100", "--sort", "start_ns",
				"--descending", db));
		java.util.List<String> sorted = new java.util.ArrayList<>(pages);
		sorted.sort(java.util.Comparator.comparingLong((String l) -> Long.parseLong(l.split(",")[0])).reversed());
		assertEquals(sorted, out.lines().skip(1).toList(), "equal ones in their own order");
		assertEquals(0, run("query", "--what", "accesses", "--format", "json", "--limit", "2", "--sort", "task", db));
		assertTrue(JsonParser.parseString(out).getAsJsonObject().getAsJsonArray("rows").get(0).getAsJsonObject().get("task").isJsonNull(), out);
		assertEquals(1000, JsonParser.parseString(out).getAsJsonObject().getAsJsonArray("rows").get(1).getAsJsonObject().get("task").getAsLong(),
				"a number, and not known is before all");
		assertEquals(0, run("query", "--what", "structures", "--format", "csv", "--limit", "3", "--sort", "size_bytes", db));
		assertEquals(4, out.lines().count());
		for (String[] wrong : new String[][] { { "--what", "accesses", "--sort", "reads" }, { "--what", "groups", "--by", "x" },
				{ "--what", "groups", "--by", "time" }, { "--what", "groups", "--by", "cpu,cpu" }, { "--thread", "1" },
				{ "--what", "groups", "--sort", "colour" }, { "--descending" }, { "--by", "type" },
				{ "--what", "groups", "--types", "(" } }) {
			String[] args = new String[wrong.length + 2];
			args[0] = "query";
			System.arraycopy(wrong, 0, args, 1, wrong.length);
			args[wrong.length + 1] = db;
			assertEquals(ExitCode.USAGE, run(args), String.join(" ", wrong));
			assertEquals(1, err.lines().count(), err);
		}
		Path csv = temporary.resolve("x.csv");
		assertEquals(0, run("export", "-o", csv.toString(), db), () -> err);
		assertEquals(15, Files.readAllLines(csv).size());
		assertEquals(ExitCode.INPUT, run("export", "-o", csv.toString(), db));
		assertEquals("memtrace export: " + csv + ": exists already\n", err);
		assertEquals(0, run("export", "--format", "pjdump", "--types", "Shared_.*", db), () -> err);
		assertEquals(3, out.lines().filter(l -> l.startsWith("Variable, ")).count(), out);
		try (var files = Files.list(temporary)) {
			assertEquals(java.util.List.of("x.csv", "x.db"), files.map(f -> f.getFileName().toString()).sorted().toList());
		}
	}

	/** The numbers in the column stack of structures lead to frames. */
	@Test
	void stacksOfStructures() {
		String db = temporary.resolve("s.db").toString();
		assertEquals(0, run("import", "-o", db, EXAMPLE), () -> err);
		assertEquals(0, run("query", "--what", "structures", "--format", "json", db), () -> err);
		java.util.Set<Integer> wanted = new java.util.TreeSet<>();
		for (var s : JsonParser.parseString(out).getAsJsonObject().getAsJsonArray("rows")) {
			if (!s.getAsJsonObject().get("stack").isJsonNull()) {
				wanted.add(s.getAsJsonObject().get("stack").getAsInt());
			}
		}
		assertEquals(0, run("query", "--what", "stacks", "--format", "json", db), () -> err);
		java.util.Set<Integer> found = new java.util.TreeSet<>();
		int depth = 0;
		for (var e : JsonParser.parseString(out).getAsJsonObject().getAsJsonArray("rows")) {
			JsonObject frame = e.getAsJsonObject();
			depth = found.add(frame.get("stack").getAsInt()) ? 0 : depth + 1;
			assertEquals(depth, frame.get("depth").getAsInt(), out);
			assertTrue(!frame.get("ip").getAsString().isEmpty(), out);
		}
		assertTrue(!wanted.isEmpty() && out.contains("\"function\""), out);
		assertEquals(wanted, found);
	}

	@Test
	void h2() {
		assertEquals(0, run("import", "--catalogue", catalogue, "--dbms", "h2", EXAMPLE), () -> err);
		assertTrue(err.contains("example.mv.db"), err);
		assertEquals(0, run("rename", "--catalogue", catalogue, "example", "renamed"), () -> err);
		String db = Path.of(catalogue, "example.mv.db").toString();
		assertEquals(0, run("query", "--what", "threads", "--format", "csv", db), () -> err);
		assertEquals(4, out.lines().count(), out);
		assertEquals(0, run("list", db), () -> err);
		assertEquals(ExitCode.INPUT, run("import", "-o", temporary.resolve("x.db").toString(), "--dbms", "h2", EXAMPLE));
		assertEquals(0, run("delete", "--catalogue", catalogue, "-f", "renamed"), () -> err);
		assertFalse(Files.exists(Path.of(db)));
	}

	@Test
	void filesOfMoca() throws Exception {
		Path vectors = Path.of(EXAMPLE).resolveSibling("vectors").resolve("sharing");
		String trace = vectors.resolve("accesses.csv").toString();
		Path framesoc = temporary.resolve("Moca-framesoc.csv");
		Path structures = Files.writeString(temporary.resolve("s"), "name,addr,size,backtrace\nkey,6295552,4096,NA\n");
		assertEquals(0, run("import", "--catalogue", catalogue, "--moca-framesoc", framesoc.toString(), trace,
				structures.toString()), () -> err);
		assertEquals(Files.readString(vectors.resolve("expected-upstream.csv")), Files.readString(framesoc));
		assertTrue(out.contains("rows imported         12\n"), out);
		assertTrue(out.contains("1: End before Start (first: "), out);
		assertTrue(out.contains("structures            1, of which 1 are accessed\n"), out);
		InputStream before = System.in;
		try (InputStream in = Files.newInputStream(framesoc)) {
			System.setIn(in);
			assertEquals(0, run("import", "--catalogue", catalogue, "--name", "stream", "-"), () -> err);
		} finally {
			System.setIn(before);
		}
		assertTrue(out.contains("segments              18 rows continue the one before\n"), out);
		assertEquals(ExitCode.USAGE, run("import", "--catalogue", catalogue, "-", "-"));
		assertEquals(ExitCode.INPUT, run("import", "--catalogue", catalogue, "--moca-framesoc", framesoc.toString(), trace));
		assertEquals("memtrace import: " + framesoc + " exists already\n", err);
	}

	@Test
	void mistakesAreOneSentence() {
		assertEquals(ExitCode.INPUT, run("import", "--catalogue", catalogue, temporary.resolve("none").toString()));
		assertEquals("memtrace import: " + temporary.resolve("none") + ": does not exist\n", err);
		assertEquals(ExitCode.USAGE, run("import", "-o", "x", "--catalogue", catalogue, EXAMPLE));
		assertEquals(ExitCode.USAGE, run("import", "--fanout", "17", EXAMPLE));
		assertEquals(ExitCode.INPUT, run("list", EXAMPLE + "/manifest.json"));
		assertEquals("memtrace list: " + EXAMPLE + "/manifest.json is not an SQLite database\n", err);
		assertEquals(ExitCode.INPUT, run("query", temporary.resolve("none.db").toString()));
	}

	/** How far memory is divided does not depend on the heap, and where that is not as far as was asked a line says so. */
	@Test
	void theEndOfDetailIsTold() throws Exception {
		String db = temporary.resolve("wide.db").toString();
		try (java.sql.Connection c = java.sql.DriverManager.getConnection("jdbc:sqlite:" + db);
				java.sql.Statement sql = c.createStatement()) {
			sql.execute("CREATE TABLE EVENT(ID INTEGER PRIMARY KEY, EVENT_TYPE_ID INTEGER, EVENT_PRODUCER_ID INTEGER,"
					+ " TIMESTAMP BIGINT, CPU INTEGER, PAGE INTEGER, CATEGORY INTEGER, LPAR BIGINT, DPAR DOUBLE)");
			sql.execute("CREATE TABLE EVENT_TYPE(ID INTEGER PRIMARY KEY, CATEGORY INTEGER, NAME VARCHAR(128) UNIQUE)");
			sql.execute("INSERT INTO EVENT_TYPE VALUES(0, 1, 'Running')");
			sql.execute("CREATE TABLE EVENT_PRODUCER(ID INTEGER PRIMARY KEY, TYPE VARCHAR(128), LOCAL_ID VARCHAR(128), NAME TEXT,"
					+ " PARENT_ID INTEGER)");
			sql.execute("INSERT INTO EVENT_PRODUCER VALUES(0, 'm', '0', 'machine', -1)");
			StringBuilder producers = new StringBuilder("INSERT INTO EVENT_PRODUCER VALUES");
			StringBuilder events = new StringBuilder("INSERT INTO EVENT VALUES");
			for (int i = 1; i <= 500; i++) {
				producers.append(i > 1 ? "," : "").append("(" + i + ", 'c', '" + i + "', 'core " + i + "', 0)");
				events.append(i > 1 ? "," : "").append("(" + i + ", 0, " + i + ", " + i + ", 0, 0, 1, " + (i + 400) + ", 0)");
			}
			sql.execute(producers.toString());
			sql.execute(events.toString());
		}
		assertEquals(0, run("aggregate", "-p", "1", "--rows", "0", "--slices", "20", "--format", "json", db), () -> err);
		assertEquals("", err, "everything is divided");
		assertTrue(out.contains("\"rows_kept_whole\":0"), out);
		assertEquals(0, run("aggregate", "-p", "1", "--rows", "0", "--slices", "400", "--format", "json", db), () -> err);
		assertTrue(err.startsWith("Note: memory is divided into rows of at least 1/"), err);
		assertFalse(out.contains("\"rows_kept_whole\":0"), out);
	}

	/** A trace that FrameSoc imported from elsewhere: states and variables by type. */
	@Test
	void foreignTracesAreAggregated() throws Exception {
		String db = temporary.resolve("foreign.db").toString();
		try (java.sql.Connection c = java.sql.DriverManager.getConnection("jdbc:sqlite:" + db);
				java.sql.Statement sql = c.createStatement()) {
			for (String line : new String[] {
					"CREATE TABLE EVENT(ID INTEGER PRIMARY KEY, EVENT_TYPE_ID INTEGER, EVENT_PRODUCER_ID INTEGER,"
							+ " TIMESTAMP BIGINT, CPU INTEGER, PAGE INTEGER, CATEGORY INTEGER, LPAR BIGINT, DPAR DOUBLE)",
					"CREATE TABLE EVENT_TYPE(ID INTEGER PRIMARY KEY, CATEGORY INTEGER, NAME VARCHAR(128) UNIQUE)",
					"CREATE TABLE EVENT_PRODUCER(ID INTEGER PRIMARY KEY, TYPE VARCHAR(128), LOCAL_ID VARCHAR(128), NAME TEXT,"
							+ " PARENT_ID INTEGER)",
					"INSERT INTO EVENT_TYPE VALUES(0, 1, 'Running'), (1, 3, 'Power'), (2, 1, 'Waiting')",
					"INSERT INTO EVENT_PRODUCER VALUES(7, 'm', '7', 'machine', -1), (3, 'c', '3', 'core 0', 7), (5, 'c', '5', 'core 1', 7)",
					"INSERT INTO EVENT VALUES(0, 0, 3, 0, 0, 0, 1, 400, 0), (1, 2, 3, 400, 0, 0, 1, 1000, 0), (2, 0, 5, 0, 1, 0, 1, 1000, 0),"
							+ " (3, 1, 5, 0, 1, 0, 3, 500, 12.5)"}) {
				sql.execute(line);
			}
		}
		assertEquals(0, run("aggregate", "-p", "0", "--slices", "10", "--slicing", "uniform", "--format", "csv", db), () -> err);
		assertEquals("producer,producer_id,pages,start_ns,end_ns,gain,loss,Running,Waiting", out.lines().findFirst().orElseThrow());
		assertTrue(out.contains("\ncore 0,1,1,0,400,"), out);
		assertTrue(out.lines().anyMatch(l -> l.startsWith("core 1,2,1,0,1000,") && l.endsWith(",1000,0")), out);
		assertEquals(0, run("aggregate", "-p", "1", "--slices", "10", "--metric", "state-mean", "--format", "json", db), () -> err);
		JsonObject mean = JsonParser.parseString(out).getAsJsonObject();
		assertEquals("state-mean", mean.get("metric").getAsString());
		assertEquals(700, mean.getAsJsonArray("partition").get(0).getAsJsonObject().getAsJsonArray("values").get(0).getAsDouble());
		assertEquals(0, run("aggregate", "--metric", "variable-mean", db), () -> err);
		assertTrue(out.contains("by event type, mean of variables"), out);
		assertEquals(0, run("aggregate", "--metric", "events", db), () -> err);
		assertEquals(0, run("render", "-o", temporary.resolve("f.svg").toString(), db), () -> err);
		Path gantt = temporary.resolve("g.svg");
		assertEquals(0, run("render", "--kind", "gantt", "-o", gantt.toString(), db), () -> err);
		assertTrue(Files.readString(gantt).contains(">core 1</text>"), "a row");
		Path pie = temporary.resolve("pie.svg");
		assertEquals(0, run("render", "--kind", "pie", "-o", pie.toString(), db), () -> err);
		assertTrue(Files.readString(pie).contains(">state duration</text>") && Files.readString(pie).contains(">Waiting</text>"));
		assertEquals(0, run("render", "--kind", "density", "--by", "producer", "-o", pie.toString(), db), () -> err);
		assertTrue(Files.readString(pie).contains(">core 1</text>"), "a series");
		assertEquals(0, run("render", "--kind", "pie", "--filter", "{\"by\":\"type\",\"types\":[\"Waiting\"],\"not\":true}", "-o",
				pie.toString(), db), () -> err);
		assertFalse(Files.readString(pie).contains(">Waiting</text>"), "hidden by a filter");
		assertEquals(0, run("render", "--kind", "pie", "--sum", "time-of-leaves", "-o", pie.toString(), db), () -> err);
		assertTrue(Files.readString(pie).contains("time of leaf producers"), "the sum");
		assertEquals(ExitCode.USAGE, run("render", "--kind", "pie", "--sum", "reads", "-o", pie.toString(), db));
		assertTrue(err.contains("--sum is 'reads'; this trace has events, state-time, time-of-all, time-of-leaves, time-of-active"), err);
		assertEquals(0, run("query", "--what", "sums", "--sum", "time-of-all", "--format", "csv", db), () -> err);
		assertEquals("name,value,percent\nRunning,1400,46.67\nin no state,1000,33.33\nWaiting,600,20.0\n", out);
		assertEquals(0, run("query", "--what", "sums", "--by", "producer", "--filter", "{\"by\":\"type\",\"types\":[\"Running\"]}",
				"--sort", "value", "--limit", "1", "--format", "csv", db), () -> err);
		assertEquals("name,value,percent\ncore 0,400,28.57\n", out);
		assertEquals(ExitCode.USAGE, run("query", "--sum", "reads", db));
		assertTrue(err.contains("--sum needs --what sums"), err);
		assertEquals(0, run("summary", db), () -> err);
		assertTrue(out.contains("Events     4: 3 states, 1 value of variables\n"), out);
		assertTrue(out.contains("* Waiting: 30.0 % of the time, from 0 % (core 1) to 60.0 % (core 0).\n"), out);
		assertEquals(0, run("summary", "--format", "csv", db), () -> err);
		assertTrue(out.contains("\nRunning,state,2,1400,70\n"), out);
		assertEquals(ExitCode.USAGE, run("aggregate", "--filter", "{\"by\":\"name\",\"pattern\":\"no such\"}", db));
		assertTrue(err.contains("--filter: no name has 'no such' in it; there is machine, core 0, core 1"), err);
		assertEquals(ExitCode.USAGE, run("render", "--kind", "pie", "--by", "thread", "-o", pie.toString(), db));
		assertTrue(err.contains("--by thread is not possible here, but event_type, producer"), err);
		assertEquals(ExitCode.INPUT, run("render", "--kind", "gantt", "--rows", "thread", "-o", gantt.toString(), db));
		assertTrue(err.contains("knows no threads"), err);
		assertEquals(ExitCode.USAGE, run("aggregate", "--metric", "reads", db));
		assertEquals(ExitCode.USAGE, run("aggregate", "--metric", "read", db));
		assertTrue(err.contains("state-mean, variable-mean"), err);
		assertEquals(ExitCode.INPUT, run("aggregate", "--view", "cpu", db));
		assertTrue(err.contains("--view event_type"), err);
	}

	/** A memory trace can be seen as FrameSoc sees it: variables of four types. */
	@Test
	void memoryTracesByEventType() throws Exception {
		String db = temporary.resolve("m.db").toString();
		assertEquals(0, run("import", "-o", db, EXAMPLE), () -> err);
		assertEquals(0, run("aggregate", "-p", "1", "--view", "event_type", "--metric", "events", "--format", "json", db), () -> err);
		double events = 0;
		for (var block : JsonParser.parseString(out).getAsJsonObject().getAsJsonArray("partition")) {
			for (var v : block.getAsJsonObject().getAsJsonArray("values")) {
				events += v.getAsDouble();
			}
		}
		assertEquals(16, events);
		assertEquals(ExitCode.INPUT, run("aggregate", "--view", "event_type", "--metric", "state-mean", db));
		assertTrue(err.contains("has no states"), err);
		assertEquals(ExitCode.USAGE, run("aggregate", "--metric", "state-mean", db));
		for (String kind : new String[] {"ocelotl", "profile", "mode"}) {
			Path picture = temporary.resolve(kind + ".PDF");
			assertEquals(0, run("render", "--kind", kind, "-o", picture.toString(), db), () -> err);
			assertTrue(Files.readString(picture, StandardCharsets.ISO_8859_1).startsWith("%PDF-1."));
		}
		assertEquals(ExitCode.USAGE, run("render", "-o", "x.gif", db));
		Path gantt = temporary.resolve("gantt.svg");
		assertEquals(0, run("render", "--kind", "gantt", "--unfold", "--rows", "thread", "-o", gantt.toString(), db), () -> err);
		assertTrue(Files.readString(gantt).contains("whole trace"));
		Path pie = temporary.resolve("pie.svg");
		assertEquals(0, run("render", "--kind", "pie", "--by", "type", "--metric", "events", "--title", "T", "-o", pie.toString(), db),
				() -> err);
		assertTrue(Files.readString(pie).contains(">16</text>"), "events as FrameSoc counts them");
		assertEquals(0, run("render", "--kind", "density", "-o", pie.toString(), db), () -> err);
		assertTrue(Files.readString(pie).contains("<polygon") && Files.readString(pie).contains("Page faults per "));
		assertEquals(ExitCode.USAGE, run("render", "--kind", "pie", "--metric", "threads", "-o", pie.toString(), db));
	}

	/** A trace with a logical clock says so wherever a time is printed or asked for. */
	@Test
	void ticksAreCalledTicks() throws Exception {
		Path csv = Files.writeString(temporary.resolve("ticks.txt"), """
				type,category,producer,start_tick,end_tick
				outer,state,a,0,1000
				inner,state,a,100,900
				""");
		String db = temporary.resolve("ticks.db").toString();
		assertEquals(0, run("import", "-o", db, csv.toString()), () -> err);
		assertEquals(0, run("info", db), () -> err);
		assertTrue(out.contains("lasted 1,000 ticks") && out.contains("2 of 2 types by 1 event producers"), out);
		assertEquals(0, run("info", "--json", db), () -> err);
		assertTrue(out.contains("\"time_unit\": \"tick\"") && out.contains("\"end_ticks\": 1000") && !out.contains("_ns"), out);
		assertEquals(0, run("query", "--what", "events", "--format", "csv", db), () -> err);
		assertTrue(out.startsWith("id,type,producer,start_ticks,end_ticks,value,cpu\n"), out);
		assertEquals(0, run("aggregate", "--slices", "10", "--format", "json", db), () -> err);
		assertTrue(out.contains("\"time_unit\":\"tick\"") && out.contains("\"metric\":\"state-time\""), out);
		assertEquals(0, run("query", "--what", "sums", "--format", "csv", "--from", "500ticks", db), () -> err);
		assertEquals("name,value,percent\ninner,400,80.0\nouter,100,20.0\n", out);
	}
}
