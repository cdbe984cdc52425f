// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Ran;
import org.memtrace.model.fine.FineCounts;
import org.memtrace.model.fine.FineEstimate;

/** The worked example of docs/reference/trace-fine.md: what a reader must find, also where a line or a chunk is bad. */
class FineImportTest {
	private static final Path EXAMPLE = Path.of(System.getProperty("memtrace.root"), "testdata/fine-example");
	private static final String COLUMNS = "bin,structure,state,pages,pages_low,pages_high,known_percent";

	@TempDir
	private Path temporary;

	private Path copy() throws IOException {
		Path to = temporary.resolve("app.memtrace");
		try (Stream<Path> all = Files.walk(EXAMPLE)) {
			all.forEach(p -> {
				try {
					Files.copy(p, to.resolve(EXAMPLE.relativize(p).toString()));
				} catch (IOException e) {
					throw new UncheckedIOException(e);
				}
			});
		}
		return to;
	}

	/** Some columns of the rows of the table. */
	private List<String> rows(Path trace, String columns) {
		String db = temporary.resolve("t" + System.nanoTime() + ".db").toString();
		Ran.ok("import", "-o", db, trace.toString());
		List<String[]> lines = Ran.ok("query", "--what", "fine", "--format", "csv", db).lines().map(l -> l.split(",", -1)).toList();
		int[] wanted = Arrays.stream(columns.split(",")).mapToInt(c -> Arrays.asList(lines.getFirst()).indexOf(c)).toArray();
		return lines.stream().skip(1).map(l -> Arrays.stream(wanted).mapToObj(c -> l[c]).collect(Collectors.joining(","))).toList();
	}

	private List<String> states(Path trace) {
		return rows(trace, "bin,structure,state");
	}

	private void edit(Path file, UnaryOperator<String> change) throws IOException {
		String before = Files.readString(file);
		String after = change.apply(before);
		assertTrue(!before.equals(after), "the test changes something");
		Files.writeString(file, after);
	}

	@Test
	void theExampleHasItsValues() {
		List<String> rows = rows(EXAMPLE, COLUMNS);
		assertEquals(List.of("0,A,exact,16.0,16.0,16.0,100.0", "0,B,exact,32.0,32.0,32.0,100.0", "0,C,exact,0.0,0.0,0.0,100.0"),
				rows.subList(0, 3));
		assertTrue(rows.contains("1,A,estimated,16.0,11.351,16.0,25.0"), rows.toString());
		assertTrue(rows.contains("1,B,estimated,24.5,15.858,31.0,18.75"), rows.toString());
		assertTrue(rows.contains("1,C,exact,3.0,3.0,3.0,100.0"), rows.toString());
		assertTrue(rows.contains("2,C,not known,,0.0,3.0,0.0"), rows.toString());
		assertTrue(rows.contains("3,A,not known,,,,"), "events were lost");
		assertTrue(rows.stream().noneMatch(r -> r.startsWith("6,")), "a bin that is missing");
		assertTrue(rows.contains("5,A,exact,12.0,12.0,12.0,100.0"), rows.toString());
		assertTrue(rows.stream().anyMatch(r -> r.startsWith("5,B,estimated,32.0,23.696,32.0,")), rows.toString());
		assertTrue(rows.contains("5,C,exact,0.0,0.0,0.0,100.0"), "no line: not used");
		assertTrue(rows.contains("7,A,estimated,0.0,0.0,4.649,25.0"), rows.toString());
		assertTrue(rows.contains("7,C,exact,5.0,5.0,5.0,100.0"), rows.toString());
		assertTrue(rows.stream().noneMatch(r -> r.startsWith("8,")), "a bin that was cut off");
		assertEquals(21, rows.size());
	}

	@Test
	void aLineThatBreaksARuleMakesItsBinNotKnown() throws IOException {
		for (String[] change : new String[][] {{"1,3,15,2,2,0,1,1,0", "1,3,15,2,3,0,1,1,0"}, {"1,3,15,2,2,0,1,1,0", "1,3,15,16,2,0,1,1,0"},
			{"1,3,15,2,2,0,1,1,0", "1,9,15,2,2,0,1,1,0"}, {"1,3,15,2,2,0,1,1,0", "1,2,15,2,2,0,1,1,0"},
			{"1,3,15,2,2,0,1,1,0", "1,3,15,2,2,0,1,2,0"}, {"1,3,15,2,2,0,1,1,0", "1,3,15,2,1,0,1,1,0"}}) {
			Path trace = temporary.resolve("app.memtrace");
			if (Files.exists(trace)) {
				try (Stream<Path> all = Files.walk(trace)) {
					for (Path p : all.sorted((a, b) -> b.compareTo(a)).toList()) {
						Files.delete(p);
					}
				}
			}
			copy();
			edit(trace.resolve("p0000/fine-000000.csv"), s -> s.replace(change[0], change[1]));
			List<String> states = states(trace);
			assertTrue(states.contains("1,A,not known") && states.contains("1,B,not known") && states.contains("1,C,not known"), change[1]);
			assertTrue(states.contains("2,A,estimated") && states.contains("0,B,exact"), "only this bin: " + change[1]);
		}
	}

	@Test
	void binsInAndBesideAGapOfChunksAreNotKnown() throws IOException {
		Path trace = copy();
		Files.move(trace.resolve("p0000/fine-000001.csv"), trace.resolve("p0000/fine-000002.csv"));
		List<String> states = states(trace);
		assertTrue(states.contains("5,A,not known") && states.contains("7,A,not known"), states.toString());
		assertTrue(states.contains("4,A,exact"), states.toString());
		Files.delete(trace.resolve("p0000/fine-000000.csv"));
		assertTrue(states(trace).stream().allMatch(s -> s.endsWith("not known")), "nothing is before the only chunk");
	}

	@Test
	void withoutBinsThereIsNoFineClock() throws IOException {
		Path trace = copy();
		Files.delete(trace.resolve("p0000/bins.csv"));
		assertEquals(List.of(), states(trace));
	}

	@Test
	void countsComeBackAsTheyWere() {
		Random random = new Random(20261128);
		List<FineCounts.Count> counts = new ArrayList<>();
		for (int i = 0; i < 500; i++) {
			long mapped = random.nextInt(1000);
			counts.add(new FineCounts.Count(i % 3, i, random.nextInt(20), mapped, random.nextInt((int) mapped + 1), 0, 0, random.nextLong(1 << 30),
					0, 0));
		}
		FineCounts all = new FineCounts(List.of(new FineCounts.Bin(1, 7, 10, 11, 20, -1, true, 3, 0, true)),
				List.of(new FineCounts.Stratum(1, 4, 0xffffffffff600000L, 0xffffffffff601000L, -1)), counts,
				List.of(new FineCounts.First(1, 7, 4, 100, 1, 0, 2, 1, 99)),
				List.of(new FineCounts.Stay(1, 4096, 10, 20, 3, 0, 5, 0, ""), new FineCounts.Stay(1, 4096, 10, 20, 3, 2, 5, 1, "7:1;8:1")));
		assertEquals(all, FineCounts.parse(all.toBytes()));
	}

	@Test
	void aPageWithManyThreadsIsKept() throws IOException {
		Path trace = copy();
		Path panel = trace.resolve("p0000/panel.csv");
		String line = Files.readAllLines(panel).get(1);
		String[] f = line.split(",", -1);
		f[3] = f[4] = "5";
		f[6] = "0";
		f[7] = "101:2;-1:3"; // -1: others than the first 15
		edit(panel, s -> s.replace(line, String.join(",", f)));
		String db = temporary.resolve("many.db").toString();
		assertTrue(!Ran.ok("import", "-o", db, trace.toString()).contains("not a stay in the panel"));
		assertEquals(java.util.Map.of(101L, 2L, -1L, 3L), new FineCounts.Stay(0, 0, 0, 1, 5, 5, 0, 0, f[7]).looksByTask());
	}

	/** The law of the estimator: samples of pages of which a known number was used. */
	@Test
	void intervalsHold() {
		long seed = 4711;
		Random random = new Random(seed);
		int held = 0;
		int n = 4000;
		for (int i = 0; i < n; i++) {
			FineEstimate e = new FineEstimate();
			int true_ = 0;
			for (int stratum = 0; stratum < 3; stratum++) {
				int mapped = 40 + random.nextInt(400);
				int sampled = 8 + random.nextInt(24);
				int used = random.nextInt(mapped + 1);
				int hit = 0; // of an urn
				for (int s = 0, left = used; s < sampled; s++) {
					if (random.nextInt(mapped - s) < left) {
						hit++;
						left--;
					}
				}
				int armedHit = random.nextInt(5);
				e.add(mapped, sampled, hit, armedHit + 2, armedHit);
				true_ += used + armedHit;
			}
			assertTrue(e.low() <= e.value() && e.value() <= e.high(), "seed " + seed);
			held += e.low() <= true_ && true_ <= e.high() ? 1 : 0;
		}
		assertTrue(held >= 0.93 * n, held + " of " + n + " intervals hold, seed " + seed);
	}
}
