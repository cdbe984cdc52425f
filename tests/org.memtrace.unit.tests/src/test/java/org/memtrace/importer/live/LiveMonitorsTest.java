// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.live;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.model.LiveValues;
import org.memtrace.model.LiveValues.Series;

/** Files of monitors that grow while they are read. */
class LiveMonitorsTest {
	@TempDir
	Path directory;

	private static void append(Path file, String text) throws Exception {
		Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
	}

	private static Series of(LiveValues values, String place, String variable) {
		return values.series().stream().filter(s -> s.place().equals(place) && s.variable().equals(variable)).findFirst().orElseThrow();
	}

	/** Lines that are longer than 1 MiB, and longer than what is read at once, are skipped as a whole and counted. */
	@Test
	void linesHaveALimit() throws Exception {
		Path output = directory.resolve("t.txt");
		String first = "Obj Nanoseconds load\nPU:0 100 1\n";
		try (LiveMonitors live = new LiveMonitors(output, 10)) {
			append(output, first + "PU:0 200" + " 2".repeat(600_000) + "\nPU:0 300 3\n");
			LiveValues now = live.read();
			assertArrayEquals(new double[] {1, 3}, of(now, "PU:0", "load").values());
			assertEquals(1, now.skipped());
			assertEquals("t.txt, line 3: line longer than 1 MiB", now.problem());
			append(output, "PU:0 400" + " 4".repeat(3_000_000)); // it goes on
			assertEquals(1, live.read().skipped());
			append(output, " 4".repeat(3_000_000) + "\nPU:0 500 5\n");
			now = live.read();
			assertArrayEquals(new double[] {1, 3, 5}, of(now, "PU:0", "load").values());
			assertEquals(1, now.series().size());
			assertEquals(2, now.skipped());
		}
		Files.writeString(output, "# topology ".repeat(100_000));
		try (LiveMonitors live = new LiveMonitors(output, 10)) {
			String message = org.junit.jupiter.api.Assertions.assertThrows(org.memtrace.model.MemtraceException.class, live::read).getMessage();
			assertEquals(output + " cannot be read: its first line is longer than 1 MiB", message);
		}
	}

	@Test
	void filesOfOneOutputArePutTogetherAsTheyCome() throws Exception {
		Path output = directory.resolve("t.txt");
		Path pu = directory.resolve("t.pu.txt");
		Files.writeString(directory.resolve("tt.pu.txt"), "PU:7 1 1\n");
		try (LiveMonitors live = new LiveMonitors(output, 10)) {
			assertEquals(List.of(), live.read().series(), "nothing is there yet");
			append(pu, "# at PU:0 Machine:0/Core:0\n# at PU:1 Machine:0/Core:1\nObj Nanoseconds load misses\n# scale load 0 8 1\nPU:0 100 1 5");
			assertEquals(0, live.read().samples(), "a line that has not ended may go on");
			append(pu, "\nPU:1 100 2 nan\nPU:0 200 3 6\n");
			LiveValues now = live.read();
			assertArrayEquals(new double[] {1, 3}, of(now, "PU:0", "load").values());
			assertArrayEquals(new long[] {0, 100}, of(now, "PU:0", "load").startNs());
			assertArrayEquals(new long[] {100, 200}, of(now, "PU:0", "load").endNs());
			assertArrayEquals(new double[] {5, 6}, of(now, "PU:0", "misses").values());
			assertEquals(3, now.series().size(), "what was not counted is not there");
			assertEquals(200, now.endNs());
			assertEquals(2, now.samples());
			assertEquals(Map.of("monitor_scale load", "0 8 1"), now.properties());
			assertNull(now.topology());
			append(directory.resolve("t.all.txt"), "# at Machine:0\nObj Nanoseconds sum\n# topology <topology version=\"2.0\">\nMachine:0 300 9\n");
			append(directory.resolve("t.all.txt"), "# topology </topology>\n");
			now = live.read();
			assertArrayEquals(new double[] {9}, of(now, "Machine:0", "sum").values());
			assertEquals("<topology version=\"2.0\">\n</topology>\n", new String(now.topology(), StandardCharsets.UTF_8));
			assertEquals(300, now.endNs());
			assertEquals(0, now.skipped());
			append(pu, "nothing of that\nPU:0 50 1 1\n");
			now = live.read();
			assertEquals(2, now.skipped());
			assertTrue(now.problem().startsWith("t.pu.txt, line 8: "), now.problem());
		}
		assertEquals(List.of(directory.resolve("t.all.txt"), pu), LiveMonitors.files(output));
		Files.writeString(output, "");
		assertEquals(List.of(output), LiveMonitors.files(output), "the file itself, where there is one");
	}

	@Test
	void theFormatOf2015() throws Exception {
		Path file = directory.resolve("old.trace");
		append(file, "%EventDef MonitorValue 0\n%EndEventDef\n%EventDef MonitorNode 1\n%  logscale int\n%EndEventDef\n1 0 PU 3 pu 1\n0 0 0 4 2.5\n");
		try (LiveMonitors live = new LiveMonitors(file, 10)) {
			live.read();
			append(file, "0 0 0 6 3.5\n");
			LiveValues now = live.read();
			assertArrayEquals(new double[] {2.5, 3.5}, of(now, "PU:3", "pu").values());
			assertEquals(6000, now.endNs());
			assertEquals(Map.of("monitor_scale pu", "- - 1"), now.properties());
		}
	}

	/** However a file grows, what is known is the end of what a single read knows. */
	@Test
	void anyPartsGiveTheSame() throws Exception {
		long seed = 20261124;
		System.out.println("seed " + seed);
		Random random = new Random(seed);
		StringBuilder text = new StringBuilder("# at PU:0 Machine:0\nObj Nanoseconds v\n");
		int samples = 500;
		for (int i = 1; i <= samples; i++) {
			text.append("PU:0 ").append(i * 10L).append(' ').append(i * i).append("\nPU:1 ").append(i * 10L).append(' ').append(-i).append('\n');
		}
		for (int most : new int[] {2, 7, 16, 33, 1000}) {
			Path file = directory.resolve("parts" + most + ".txt");
			Files.writeString(file, "");
			try (LiveMonitors live = new LiveMonitors(file, most)) {
				int at = 0;
				while (at < text.length()) {
					int to = Math.min(text.length(), at + 1 + random.nextInt(400));
					append(file, text.substring(at, to));
					at = to;
					LiveValues now = live.read();
					for (Series s : now.series()) {
						int n = s.values().length;
						assertTrue(n <= most && n >= Math.min(most, now.samples() - 1), n + " of " + now.samples());
						for (int k = 0; k < n; k++) {
							long i = s.endNs()[k] / 10;
							assertEquals(s.endNs()[n - 1] / 10 - (n - 1 - k), i, "the last ones, in order");
							assertEquals(s.place().equals("PU:0") ? i * i : -i, s.values()[k]);
							assertEquals((i - 1) * 10, s.startNs()[k]);
						}
					}
				}
				assertEquals(samples, live.read().samples());
				assertEquals(samples * 10L, live.read().endNs());
			}
		}
	}
}
