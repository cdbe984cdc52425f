// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Ran;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

/** The machine as one side of {@code aggregate} and {@code render}; what it prints of whole traces is in testdata/golden. */
class AcrossMachineTest {
	private static final Path TRACES = Path.of(System.getProperty("memtrace.root")).resolve("testdata/traces");
	@TempDir
	static Path temporary;
	private static String db;

	@BeforeAll
	static void load() {
		db = temporary.resolve("fair.db").toString();
		Ran.ok("import", "-o", db, TRACES.resolve("bucketsort-fair").toString());
	}

	private static void refused(String reason, String... args) {
		Ran ran = Ran.of(args);
		assertEquals(2, ran.code(), ran.err());
		assertTrue(ran.err().contains(reason), ran.err());
	}

	@Test
	void whatMeansNothingIsRefused() {
		String picture = temporary.resolve("x.svg").toString();
		refused("choose one of them", "aggregate", "--tree", "machine", "--across", "machine", db);
		refused("--topology needs --across machine", "aggregate", "--topology", "pu:2", db);
		refused("--across machine is for accesses", "aggregate", "--across", "machine", "--view", "event_type", db);
		refused("--tree machine is for accesses", "aggregate", "--tree", "machine", "--view", "event_type", db);
		refused("--tree machine needs another metric", "aggregate", "--tree", "machine", "--metric", "threads", db);
		refused("--kind gantt has no machine", "render", "--across", "machine", "--kind", "gantt", "-o", picture, db);
		refused("--first-touch is for pictures of memory over time", "render", "--tree", "machine", "--first-touch", "yes", "-o", picture, db);
		assertFalse(Files.exists(Path.of(picture)));
	}

	private static JsonObject json(String... args) {
		return JsonParser.parseString(Ran.ok(args)).getAsJsonObject();
	}

	private static double sum(JsonObject o) {
		double sum = 0;
		for (JsonElement block : o.getAsJsonArray("partition")) {
			for (JsonElement v : block.getAsJsonObject().getAsJsonArray("values")) {
				sum += v.getAsDouble();
			}
		}
		return sum;
	}

	/** Both kinds divide the same accesses, whatever p, rows and machine, and one block says what the summary of the machine says. */
	@Test
	void sumsDoNotDependOnHowItIsDivided() {
		JsonObject one = json("aggregate", "--across", "machine", "-p", "1", "--format", "json", db);
		double all = sum(one);
		assertTrue(all > 1000, one.toString());
		for (String rows : new String[] {"0", "20", "250"}) {
			JsonObject fine = json("aggregate", "--across", "machine", "-p", "0", "--rows", rows, "--format", "json", db);
			assertEquals(all, sum(fine), 1e-6 * all);
			assertEquals(rows.equals("20"), fine.get("loss_percent").getAsDouble() > 1, rows);
		}
		assertEquals(all, sum(json("aggregate", "--tree", "machine", "--format", "json", db)), 1e-6 * all);
		JsonObject large = json("aggregate", "--across", "machine", "--topology", "pack:2 [numa] core:4 pu:2", "--format", "json", db);
		assertEquals(all, sum(large), 1e-6 * all);
		assertEquals("2 packages, 2 NUMA nodes, 8 cores, 16 CPUs", large.get("machine").getAsString());
		// a machine with one CPU: what the other did is left out, and told
		JsonObject half = json("aggregate", "--across", "machine", "--topology", "pu:1", "--format", "json", db);
		assertTrue(sum(half) < 0.9 * all && sum(half) > 0);
		String notes = half.getAsJsonArray("notes").toString();
		assertTrue(notes.contains("were on CPUs that this machine does not have"), notes);
		JsonObject machine = json("machine", "--format", "json", db).getAsJsonArray("objects").get(0).getAsJsonObject();
		double placed = machine.get("accesses").getAsDouble();
		assertEquals(placed, all, 1e-6 * all);
	}

	/** Whatever is printed, it is told what has no CPU; a table stays a table, so there it is on the error output, also with --quiet. */
	@Test
	void everyOutputTellsWhatHasNoCpu() {
		String told = "were on CPUs that this machine does not have";
		for (String side : new String[] {"--across", "--tree"}) {
			for (String kind : new String[] {"-p", "--list", "--curves"}) {
				for (String format : new String[] {"text", "json", "csv"}) {
					List<String> args = new ArrayList<>(List.of("aggregate", side, "machine", "--topology", "pu:1", "--rows", "20", "--slices", "5",
							"--format", format, kind));
					if (kind.equals("-p")) {
						args.add("0.5");
					}
					args.add(db);
					Ran ran = Ran.of(args.toArray(String[]::new));
					assertEquals(0, ran.code(), ran.err());
					boolean table = format.equals("csv");
					assertEquals(!table, ran.out().contains(told), args + ": " + ran.out());
					assertEquals(table, ran.err().contains("Note: ") && ran.err().contains(told), args + ": " + ran.err());
				}
			}
		}
		Ran all = Ran.of("aggregate", "--list", "--rows", "20", "--slices", "5", "--format", "csv", db);
		assertFalse(all.err().contains("Note: "), all.err());
		List<String> lines = Ran.ok("aggregate", "--across", "machine", "--topology", "pu:1", "--list", "--format", "csv", db).lines().toList();
		assertTrue(lines.get(0).startsWith("p,gain,loss,"), lines.get(0));
		assertTrue(lines.stream().allMatch(l -> l.split(",").length == 6), lines.toString());
	}

	/** A part of memory, and only some threads. */
	@Test
	void partsAndFilters() {
		double all = sum(json("aggregate", "--across", "machine", "--format", "json", db));
		double keys = sum(json("aggregate", "--across", "machine", "--subtree", "key_array", "--format", "json", db));
		assertEquals(keys, sum(json("aggregate", "--tree", "machine", "--subtree", "key_array", "--format", "json", db)), 1e-6 * all);
		assertTrue(keys > 0 && keys < all);
		double thread = sum(json("aggregate", "--across", "machine", "--filter", "{\"by\":\"thread\",\"numbers\":[1]}", "--format", "json", db));
		assertTrue(thread > 0 && thread < all);
	}

	@Test
	void thePictureOfTheMachineAsRingsAndOfAnotherMachine() throws Exception {
		Path svg = temporary.resolve("rings.svg");
		Ran.ok("machine", "--layout", "radial", "-o", svg.toString(), db);
		assertTrue(Files.readString(svg).contains("Rings from the inside"));
		Path boxes = temporary.resolve("boxes.svg");
		Ran.ok("machine", "--layout", "boxes", "-o", boxes.toString(), "--topology", "pack:8 [numa] core:64 pu:2", db);
		assertTrue(Files.readString(boxes).contains("8 packages, 8 NUMA nodes, 512 cores, 1,024 CPUs"));
		assertFalse(Files.readString(boxes).contains("Rings"));
		Ran.ok("machine", "-o", boxes.toString(), "--topology", "pack:8 [numa] core:64 pu:2", db);
		assertTrue(Files.readString(boxes).contains("Rings"), "so many CPUs have no room in boxes");
		String text = Ran.ok("machine", "--topology", "pu:1", db);
		assertTrue(text.contains("The machine is not that of the recording: it is synthetic: pu:1."), text);
	}

	/** As rows of memory that are hidden, columns of CPUs that are hidden are not there. */
	@Test
	void aFilterOnCpusLeavesTheOthersOut() {
		String only = "{\"by\":\"cpu\",\"numbers\":[1]}";
		JsonObject all = json("aggregate", "--across", "machine", "--format", "json", "-p", "0", db);
		JsonObject one = json("aggregate", "--across", "machine", "--format", "json", "-p", "0", "--filter", only, db);
		assertTrue(all.toString().contains("\"CPU 0\""), all.toString().substring(0, 500));
		assertFalse(one.toString().contains("\"CPU 0\""), "it has left the picture");
		assertTrue(one.toString().contains("\"CPU 1\""), one.toString().substring(0, 500));
		assertTrue(one.toString().contains("were on CPUs that filters hide"), "and what goes with it is told");
		Ran.ok("render", "--across", "machine", "--filter", only, "-o", temporary.resolve("one.svg").toString(), db);
		Ran.ok("render", "--tree", "machine", "--filter", only, "-o", temporary.resolve("one-time.svg").toString(), db);
	}
}
