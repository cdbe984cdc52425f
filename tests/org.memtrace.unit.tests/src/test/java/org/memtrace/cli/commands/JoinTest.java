// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Ran;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

/** A memory trace and an application trace of one made run, whose clocks differ by a known offset and drift. */
class JoinTest {
	private static final Path EXAMPLE = Path.of(System.getProperty("memtrace.root"), "testdata/format-example");
	private static final long MS = 1_000_000;
	private static final long START = 1000 * MS;
	private static final long END = 5000 * MS;
	private static final int WORKERS = 4;
	private static final String[] FUNCTIONS = { "solve", "MPI_Send", "OpenMP barrier" };

	@TempDir
	Path directory;
	private String db;
	/** When each thread was born; the first one is the main thread. */
	private final long[] births = new long[WORKERS + 1];
	/** Thread, function, begin and end of all states, in the clock of the memory trace. */
	private final List<long[]> states = new ArrayList<>();
	/** Accesses by task and function, as they must come out. */
	private final Map<String, Integer> expected = new TreeMap<>();
	private final Random random = new Random(17);
	/** The other tool saw the births of these threads that much later. */
	private final Map<Integer, Long> late = new TreeMap<>();

	@BeforeEach
	void make() throws Exception {
		Path trace = directory.resolve("run.memtrace");
		try (Stream<Path> files = Files.walk(EXAMPLE)) {
			for (Path f : files.toList()) {
				Path to = trace.resolve(EXAMPLE.relativize(f).toString());
				if (Files.isDirectory(f)) {
					Files.createDirectories(to);
				} else if (!f.getFileName().toString().startsWith("accesses-00000") || f.toString().contains("p0001")) {
					Files.copy(f, to);
				}
			}
		}
		StringBuilder threads = new StringBuilder("TaskId,Name,Birth,Death,StackStart,StackEnd,Start,CpuNs\n");
		StringBuilder accesses = new StringBuilder("@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags\n");
		for (int t = 0; t <= WORKERS; t++) {
			births[t] = START + t * 800 * MS + (t == 0 ? 0 : random.nextLong(50 * MS));
			threads.append(1000 + t).append(",app,").append(births[t]).append(",-1,").append(Long.toHexString(0x7fff00000000L + t * 0x100000L))
					.append(',').append(Long.toHexString(0x7fff00080000L + t * 0x100000L)).append(t == 0 ? ",," : ",worker,").append("1000000\n");
			long at = births[t] + 10 * MS;
			for (int f = random.nextInt(3); at < END - 60 * MS; f = (f + 1) % 3) {
				long end = at + (10 + random.nextInt(40)) * MS;
				states.add(new long[] { t, f, at, end });
				for (int n = random.nextInt(1, 4); n > 0; n--) { // the middle is more than a millisecond away from the borders
					long middle = at + 2 * MS + random.nextLong(end - at - 4 * MS);
					String row = "7ffff000%d%03x,0,1,0,1,%d,%d,%d,555555555180,0,0\n";
					accesses.append(String.format(row, t, n * 8, middle - MS, middle + MS, 1000 + t));
					expected.merge((1000 + t) + " " + FUNCTIONS[f], 1, Integer::sum);
				}
				at = end + 5 * MS;
			}
		}
		Files.writeString(trace.resolve("p0000/threads.csv"), threads);
		Files.writeString(trace.resolve("p0000/accesses-000000.csv"), accesses);
		Files.writeString(trace.resolve("p0000/regions.csv"), "Time,TaskId,Event,Name\n" + (START + 20 * MS) + ",1000,begin,sync\n"
				+ (START + 21 * MS) + ",1000,end,sync\n" + (START + 3900 * MS) + ",1000,begin,sync\n" + (START + 3901 * MS) + ",1000,end,sync\n");
		db = directory.resolve("run.db").toString();
		Ran.ok("import", "-o", db, trace.toString());
	}

	/** The application trace in its own clock. */
	private String application(long offset, double drift, long noiseNs, String names, int without) throws Exception {
		StringBuilder csv = new StringBuilder("type,category,producer,start_ns,end_ns,value\n");
		for (int t = 0; t <= WORKERS; t++) {
			if (t != without) {
				long at = births[t] + late.getOrDefault(t, 0L) + (t == 0 ? 5 * MS : random.nextLong(-noiseNs, noiseNs + 1));
				csv.append("thread begin,event,app/").append(String.format(names, t)).append(',').append(theirs(at, offset, drift)).append(",,\n");
			}
		}
		for (long[] s : states) {
			if (s[0] != without) {
				csv.append(FUNCTIONS[(int) s[1]]).append(",state,app/").append(String.format(names, s[0])).append(',')
						.append(theirs(s[2], offset, drift)).append(',').append(theirs(s[3], offset, drift)).append(",0\n");
			}
		}
		for (long sync : new long[] { START + 20 * MS, START + 3900 * MS }) {
			csv.append("sync,event,app/").append(String.format(names, 0)).append(',').append(theirs(sync, offset, drift)).append(",,\n");
		}
		Path file = Files.createTempFile(directory, "app", ".csv");
		Files.writeString(file, csv);
		String to = file.toString().replace(".csv", ".db");
		Ran.ok("import", "-o", to, file.toString());
		return to;
	}

	private static long theirs(long ns, long offset, double drift) {
		return Math.round((ns - START) / (1 + drift)) + START - offset;
	}

	/** Accesses by task and region. */
	private Map<String, Integer> sums() {
		Map<String, Integer> sums = new TreeMap<>();
		for (String what : List.of("solve", "MPI_Send", "OpenMP barrier", "sync")) {
			Ran ran = Ran.of("query", "--what", "accesses", "--format", "csv", "--filter", "{\"by\":\"region\",\"values\":[\"" + what + "\"]}", db);
			if (ran.code() != 0) {
				continue;
			}
			List<String> lines = ran.out().lines().toList();
			int task = List.of(lines.get(0).split(",")).indexOf("task");
			for (String line : lines.subList(1, lines.size())) {
				sums.merge(line.split(",")[task] + " " + what, 1, Integer::sum);
			}
		}
		return sums;
	}

	private static JsonObject joined(String... args) {
		return JsonParser.parseString(Ran.ok(Stream.concat(Stream.of("join", "--format", "json"), Stream.of(args)).toArray(String[]::new)))
				.getAsJsonObject();
	}

	@Test
	void offsetAndDriftAreFoundByBirths() throws Exception {
		JsonObject o = joined(db, application(-3_600_000 * MS, 200e-6, 50_000, "P#0T#%d", -1));
		assertEquals(200e-6, o.get("drift").getAsDouble(), 60e-6);
		assertTrue(o.get("drift_known").getAsBoolean());
		assertEquals("birth", o.get("threads_by").getAsString());
		assertEquals(WORKERS + 1, o.get("threads_found").getAsInt());
		assertEquals(states.size(), o.get("states").getAsInt());
		assertTrue(o.get("residual_ns").getAsLong() <= 250_000, o.toString());
		assertEquals(expected, sums());
		assertTrue(Ran.ok("query", "--what", "groups", "--by", "region", db).contains("OpenMP barrier"));
		Ran.ok("query", "--what", "accesses", "--region", "solve", db);
	}

	@Test
	void threadsWithIdsNeedNoOrder() throws Exception {
		String app = application(0, 0, 0, "thread 100%d", 2);
		JsonObject o = joined(db, app);
		assertEquals("id", o.get("threads_by").getAsString());
		assertEquals(0, o.get("offset_ns").getAsLong());
		expected.keySet().removeIf(k -> k.startsWith("1002 "));
		Map<String, Integer> sums = sums();
		sums.keySet().removeIf(k -> k.startsWith("1002 ")); // in the regions of the main thread, as it has none
		assertEquals(expected, sums);
	}

	@Test
	void callsOfRecordIoAreRegionsOfTheirThread() throws Exception {
		Path io = IoFolder.copy(Path.of(System.getProperty("memtrace.root")), directory.resolve("io"));
		for (String name : List.of("calls-0.raw", "calls-1.raw")) { // the thread 12187 of the recording is 1001 here
			String hex = HexFormat.of().formatHex(Files.readAllBytes(io.resolve(name)));
			Files.write(io.resolve(name), HexFormat.of().parseHex(hex.replace("9b2f0000", "e9030000")));
		}
		String app = directory.resolve("io.db").toString();
		Ran.ok("import", "-o", app, io.toString());
		JsonObject o = joined("--clock-offset", Long.toString(START - 39_196_000 * MS), db, app);
		assertEquals("id", o.get("threads_by").getAsString());
		assertEquals(1, o.get("threads_found").getAsInt());
		assertTrue(o.get("states").getAsInt() > 10, o::toString);
		assertTrue(Ran.ok("query", "--what", "regions", "--format", "csv", db).contains("system call: fsync"));
	}

	@Test
	void threadThatTheOtherToolDidNotSee() throws Exception {
		JsonObject o = joined(db, application(77, 0, 1000, "P#0T#%d", 2));
		assertEquals(WORKERS, o.get("threads_found").getAsInt());
		expected.keySet().removeIf(k -> k.startsWith("1002 "));
		Map<String, Integer> sums = sums();
		sums.keySet().removeIf(k -> k.startsWith("1002 "));
		assertEquals(expected, sums);
	}

	@Test
	void oneLateBirthIsToldAndLeftOut() throws Exception {
		for (int t = 1; t <= WORKERS; t++) {
			late.clear();
			late.put(t, 900 * MS); // behind the birth of the next one
			JsonObject o = joined(db, application(77, 0, 1000, "P#0T#%d", -1));
			assertEquals(900, o.get("late_births_ns").getAsJsonArray().get(0).getAsLong() / 1e6, 0.1, "thread " + t);
			assertEquals(WORKERS + 1, o.get("threads_found").getAsInt());
			assertEquals(WORKERS - 1, o.get("compared").getAsInt());
			assertEquals(77, o.get("offset_ns").getAsLong(), 1000);
			assertEquals(expected, sums(), "thread " + t);
		}
		assertTrue(Ran.ok("join", db, application(77, 0, 1000, "P#0T#%d", -1)).contains(" ms later than the others agree on"));
		late.put(1, 150 * MS);
		assertTrue(Ran.of("join", db, application(77, 0, 1000, "P#0T#%d", -1)).err().contains("above 1 ms"), "two late ones");
	}

	@Test
	void clocksThatDoNotFitAreRefusedAndNothingIsChanged() throws Exception {
		String before = Ran.ok("query", "--what", "regions", "--format", "csv", db);
		String app = application(5_000 * MS, 0, 3 * MS, "P#0T#%d", -1);
		Ran refused = Ran.of("join", db, app);
		assertNotEquals(0, refused.code());
		assertTrue(refused.err().contains("the residual is ") && refused.err().contains("above 1 ms") && refused.err().contains("--clock-offset"),
				refused.err());
		assertEquals(before, Ran.ok("query", "--what", "regions", "--format", "csv", db));
		JsonObject given = joined("--clock-offset", Long.toString(5_000 * MS), db, app);
		assertTrue(given.get("residual_ns").getAsLong() > 0);
		assertEquals(expected, sums());
		Ran.ok("join", "--undo", db);
		JsonObject marked = joined("--marker", "sync", db, app);
		assertEquals(5_000 * MS, marked.get("offset_ns").getAsLong());
		assertEquals(0, marked.get("residual_ns").getAsLong());
		assertEquals(expected, sums());
		assertTrue(Ran.of("join", "--marker", "solve", db, app).err().contains("the marker solve is 0 times in"));
	}

	@Test
	void joiningAgainReplacesAndUndoTakesBack() throws Exception {
		String before = Ran.ok("query", "--what", "regions", "--format", "csv", db);
		String app = application(5, 0, 0, "P#0T#%d", -1);
		assertTrue(Ran.ok("join", db, app).contains("Residual   0.000 ms, the largest of 4 (births of threads)"));
		String joined = Ran.ok("query", "--what", "regions", "--format", "csv", db);
		assertEquals(before.lines().count() + states.size(), joined.lines().count());
		joined(db, app);
		assertEquals(joined, Ran.ok("query", "--what", "regions", "--format", "csv", db));
		Ran.ok("join", "--undo", db);
		assertEquals(before, Ran.ok("query", "--what", "regions", "--format", "csv", db));
		assertTrue(Ran.ok("join", "--undo", db).contains("Nothing was joined"));
	}

	@Test
	void tracesThatCannotBeJoined() throws Exception {
		String app = application(5, 0, 0, "P#0T#%d", -1);
		assertTrue(Ran.of("join", app, db).err().contains("has no accesses"));
		assertTrue(Ran.of("join", db, db).err().contains("has no states"));
		assertEquals(2, Ran.of("join", db).code());
		assertEquals(2, Ran.of("join", "--undo", db, app).code());
		assertEquals(2, Ran.of("join", "--marker", "a", "--clock-offset", "5", db, app).code());
		Path few = Files.writeString(directory.resolve("few.csv"),
				"type,category,producer,start_ns,end_ns,value\nmain,state,app/P#0T#0,10,20,0\n");
		String fewDb = directory.resolve("few.db").toString();
		Ran.ok("import", "-o", fewDb, few.toString());
		assertTrue(Ran.of("join", db, fewDb).err().contains("cannot be compared: there are 0 births of threads"));
		Path two = Files.writeString(directory.resolve("two.csv"),
				"type,category,producer,start_ns,end_ns,value\nmain,state,a/t,10,20,0\nmain,state,b/t,10,20,0\nmain,state,c/t,10,20,0\n");
		String twoDb = directory.resolve("two.db").toString();
		Ran.ok("import", "-o", twoDb, two.toString());
		assertTrue(Ran.of("join", db, twoDb).err().contains("3 processes and"), Ran.of("join", db, twoDb).err());
	}
}
