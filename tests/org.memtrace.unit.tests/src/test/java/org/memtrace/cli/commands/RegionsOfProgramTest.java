// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Ran;
import org.memtrace.sql.DuckDbLibrary;

/** Regions that a program named, from the trace directory to windows, groups, filters and pictures. */
class RegionsOfProgramTest {
	private static final Path EXAMPLE = Path.of(System.getProperty("memtrace.root"), "testdata/format-example");

	@TempDir
	Path directory;
	private String db;

	/** The example with regions of its main thread from its begin to the middle, and from there on. */
	@BeforeEach
	void make() throws Exception {
		Path trace = directory.resolve("r.memtrace");
		try (Stream<Path> files = Files.walk(EXAMPLE)) {
			for (Path f : files.toList()) {
				Path to = trace.resolve(EXAMPLE.relativize(f).toString());
				if (Files.isDirectory(f)) {
					Files.createDirectories(to);
				} else {
					Files.copy(f, to);
				}
			}
		}
		String plain = directory.resolve("plain.db").toString();
		Ran.ok("import", "-o", plain, EXAMPLE.toString());
		long task = 0;
		long start = Long.MAX_VALUE;
		long end = 0;
		for (String line : Ran.ok("query", "--what", "threads", "--format", "csv", plain).lines().skip(1).toList()) {
			String[] f = line.split(",", -1);
			task = f[1].equals("0") && f[7].equals("1") ? Long.parseLong(f[2]) : task;
		}
		for (String line : Ran.ok("query", "--what", "intervals", "--format", "csv", plain).lines().skip(1).toList()) {
			String[] f = line.split(",", -1);
			start = Math.min(start, Long.parseLong(f[1]));
			end = Math.max(end, Long.parseLong(f[2]));
		}
		long middle = (start + end) / 2;
		Files.writeString(trace.resolve("p0000/regions.csv"), "Time,TaskId,Event,Name\n" + start + "," + task + ",begin,\"first, \"\"part\"\"\"\n"
				+ middle + "," + task + ",end,\n" + middle + "," + task + ",begin,second\n" + middle + "," + task + ",begin,inner\n" + end + ","
				+ task + ",end,inner\n" + end + "," + task + ",end,never begun\n" + end + "," + task + ",nonsense,x\n" + end + "," + task
				+ ",lost,\"1200\"\n" + end + "," + task + ",lost,34\n");
		db = directory.resolve("r.db").toString();
		String report = Ran.ok("import", "--format", "json", "-o", db, trace.toString());
		assertTrue(report.contains("1,234 begins or ends of regions could not be written"), report);
		assertTrue(report.contains("end of a region that the thread did not begin") && report.contains("not the begin or the end of a region"),
				report);
	}

	private long records(String... options) {
		return Ran.ok(options).lines().skip(1).mapToLong(l -> Long.parseLong(l.split(",")[l.split(",").length - 3])).sum();
	}

	private static String[] groups(String... more) {
		return Stream.concat(Stream.of("query", "--what", "groups", "--format", "csv"), Stream.of(more)).toArray(String[]::new);
	}

	@Test
	void asTableWindowGroupAndFilter() throws Exception {
		assertEquals(4, Ran.ok("query", "--what", "regions", "--format", "csv", db).lines().count());
		long all = records(groups("--by", "thread", db));
		String byRegion = Ran.ok(groups("--by", "region", db));
		assertTrue(byRegion.contains("\n\"first, \"\"part\"\"\",") && byRegion.contains("\ninner,") && !byRegion.contains("\nsecond,"), byRegion);
		assertEquals(all, records(groups("--by", "region", db)), "each access is somewhere");
		long inner = records(groups("--by", "thread", "--filter", "{\"by\":\"region\",\"values\":[\"inner\"]}", db));
		assertTrue(inner > 0 && inner < all, inner + " of " + all);
		assertTrue(records(groups("--by", "thread", "--region", "second", db)) >= inner);
		assertEquals(Ran.ok(groups("--by", "thread", "--region", "second", db)), Ran.ok(groups("--by", "thread", "--region", "second#1", db)));
		assertTrue(records(groups("--by", "thread", "--region", "first, \"part\"", db)) < all);
		Ran wrong = Ran.of(groups("--region", "third", db));
		assertEquals(2, wrong.code());
		assertTrue(wrong.err().contains("--region is 'third'; the regions of the trace are first, \"part\", second, inner"), wrong.err());
		assertTrue(Ran.of(groups("--region", "second#2", db)).err().contains("second occurs 1 time"));
		assertTrue(Ran.of(groups("--region", "second#0", db)).err().contains("second occurs 1 time"));
		assertTrue(Ran.of(groups("--region", "second", "--from", "1ms", db)).err().contains("excludes --from and --to"));
		assertTrue(Ran.of(groups("--region", "x", directory.resolve("plain.db").toString())).err().contains("the program named no regions"));
	}

	/** "second" always has "inner" in it: in no row as the innermost one, and in as many by the path, by a filter and by SQL. */
	@Test
	void inEachOther() throws Exception {
		String byPath = Ran.ok(groups("--by", "region_path", db));
		assertTrue(byPath.contains("\nsecond/inner,") && byPath.contains("\n\"first, \"\"part\"\"\",") && !byPath.contains("\ninner,"), byPath);
		long inner = records(groups("--by", "thread", "--filter", "{\"by\":\"region\",\"values\":[\"inner\"]}", db));
		assertTrue(inner > 0);
		for (String value : List.of("{\"by\":\"region\",\"values\":[\"second\"]}", "{\"by\":\"region_path\",\"values\":[\"second\"]}",
				"{\"by\":\"region_path\",\"values\":[\"inner\"]}", "{\"by\":\"region_path\",\"values\":[\"second/inner\"]}")) {
			assertEquals(inner, records(groups("--by", "thread", "--filter", value, db)), value);
		}
		DuckDb.use(directory);
		try {
			String count = "select count(*) as n from access where ";
			assertEquals("n\n" + inner, Ran.ok("sql", "--format", "csv", db, count
					+ "in_region(region_path, 'second') and in_region(region_path, 'inner')").strip());
			assertEquals("n\n0", Ran.ok("sql", "--format", "csv", db, count
					+ "in_region(region_path, 'econd') or region = 'second'").strip());
		} finally {
			System.clearProperty(DuckDbLibrary.PROPERTY);
		}
		long all = records(groups("--by", "thread", db));
		assertEquals(all - inner, records(groups("--by", "thread", "--filter", "{\"by\":\"region\",\"values\":[\"second\"],\"not\":true}", db)));
		for (String unknown : List.of("inner/second", "econd", "third")) {
			Ran wrong = Ran.of(groups("--by", "thread", "--filter", "{\"by\":\"region_path\",\"values\":[\"" + unknown + "\"]}", db));
			assertEquals(2, wrong.code(), wrong.err());
			assertTrue(wrong.err().contains("there is no region path '" + unknown + "'"), wrong.err());
		}
	}

	private static double sum(String csv, int column) {
		return csv.lines().skip(1).mapToDouble(l -> Double.parseDouble(l.split(",")[l.split(",").length - 3 + column])).sum();
	}

	@Test
	void inAComparison() throws Exception {
		double all = sum(Ran.ok(groups("--by", "thread", db)), 1) + sum(Ran.ok(groups("--by", "thread", db)), 2);
		String only = "{\"by\":\"region\",\"values\":[\"inner\"]}";
		String ofInner = Ran.ok(groups("--by", "thread", "--filter", only, db));
		double inner = sum(ofInner, 1) + sum(ofInner, 2);
		JsonObject json = JsonParser.parseString(Ran.ok("diff", "--format", "json", db, db)).getAsJsonObject();
		JsonArray regions = json.getAsJsonArray("regions");
		assertEquals(List.of("first, \"part\"", "second", "inner"),
				regions.asList().stream().map(r -> r.getAsJsonObject().get("name").getAsString()).toList());
		JsonObject accesses = regions.get(2).getAsJsonObject().getAsJsonArray("metrics").asList().stream().map(m -> m.getAsJsonObject())
				.filter(m -> m.get("metric").getAsString().equals("accesses")).findFirst().orElseThrow();
		assertEquals(inner / all, accesses.get("median_before").getAsDouble(), 1e-12);
		assertTrue(Ran.ok("diff", db, db).contains("\nRegions of the program\n  first, \"part\"\n"));
		String text = Ran.ok("diff", "--region", "inner", "--fail-if", "time in inner>+1%", db, db);
		assertTrue(text.contains("\n  inner\n") && !text.contains("second") && text.contains("passed --fail-if 'time in inner>+1%'"), text);
		assertTrue(Ran.ok("diff", "--by", "region", db, db).contains("\n  second\n"));
		assertTrue(Ran.ok("diff", "--by", "region,structure", db, db).length() > Ran.ok("diff", "--by", "region", db, db).length());
		String plain = directory.resolve("plain.db").toString();
		assertTrue(Ran.of("diff", "--region", "nothing", db, db).err()
				.contains("--region is 'nothing'; the regions are first, \"part\", second"));
		assertTrue(Ran.of("diff", "--by", "region", plain, plain).err().contains("no recording has regions"));
		assertTrue(Ran.of("diff", "--by", "thread", db, db).err().contains("--by is 'thread'; it is region, or region,structure"));
		assertTrue(Ran.of("diff", "--by", "region", "--format", "json", db, db).err().contains("are for --format text"));
	}

	@Test
	void inPictures() throws Exception {
		String svg = directory.resolve("g.svg").toString();
		Ran.ok("render", "--kind", "gantt", "-o", svg, db);
		String text = Files.readString(Path.of(svg));
		assertTrue(text.contains(">second<") && !text.contains(">inner<"), "only the outermost ones");
		Ran.ok("render", "--view", "region", "--region", "second", "-o", svg, db);
		assertTrue(Files.readString(Path.of(svg)).contains(">inner"));
	}
}
