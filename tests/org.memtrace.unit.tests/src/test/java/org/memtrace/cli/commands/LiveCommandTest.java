// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Ran;
import org.memtrace.cli.args.ExitCode;

class LiveCommandTest {
	private static final Path EXAMPLE = Path.of(System.getProperty("memtrace.root"), "testdata/format-example");

	@TempDir
	Path directory;

	/** The last chunk of the example, by interval and thread: as many pages as it has lines. */
	@Test
	void pagesByThreadAreTheRecords() throws Exception {
		Map<String, Integer> records = new TreeMap<>();
		for (String chunk : new String[] { "p0000/accesses-000001.csv", "p0001/accesses-000000.csv" }) {
			for (String line : Files.readAllLines(EXAMPLE.resolve(chunk)).stream().skip(1).toList()) {
				records.merge(line.split(",")[5], 1, Integer::sum);
			}
		}
		Map<String, Integer> told = new TreeMap<>();
		for (String line : Ran.ok("live", "--by", "thread", "--format", "csv", EXAMPLE.toString()).lines().skip(1).toList()) {
			String[] fields = line.split(",");
			told.merge(fields[4], Integer.parseInt(fields[6]), Integer::sum);
		}
		assertTrue(!told.isEmpty(), "intervals");
		told.forEach((start, pages) -> assertEquals(records.get(start), pages, "interval from " + start));
	}

	@Test
	void whatIsNoTraceIsSaid() throws Exception {
		Ran none = Ran.of("live", directory.toString());
		assertEquals(ExitCode.INPUT, none.code());
		assertTrue(none.err().contains("is neither a trace directory"), none.err());
		Files.writeString(directory.resolve("manifest.json"), "{\"format\":\"memtrace\",\"format_version\":1,\"status\":{\"state\":\"complete\"}}");
		Ran over = Ran.of("live", directory.toString());
		assertEquals(ExitCode.UNAVAILABLE, over.code());
		assertTrue(over.err().contains("is not being recorded"), over.err());
	}

	/** Values of monitors while they are written: those of the newest sample, on the machine that the file tells. */
	@Test
	void valuesOfMonitors() throws Exception {
		StringBuilder text = new StringBuilder("# at PU:0 Machine:0\nObj Nanoseconds load\n");
		Files.readAllLines(Path.of(System.getProperty("memtrace.root"), "testdata/machines/two-packages.xml"))
				.forEach(l -> text.append("# topology ").append(l).append('\n'));
		text.append("PU:0 100000000 3\nPU:15 100000000 4\nPU:0 200000000 8\nPU:15 2000");
		Files.writeString(directory.resolve("t.pu.txt"), text);
		String output = directory.resolve("t.txt").toString();
		String told = Ran.ok("live", output);
		assertTrue(told.startsWith("2 packages, 2 NUMA nodes, 8 cores, 16 CPUs\nload of CPU (2), at 200 ms; 1 of 2 places active\n"), told);
		assertTrue(told.contains("CPU 0   load          8       3"), told);
		String csv = Ran.ok("live", "--format", "csv", output);
		assertTrue(csv.contains("CPU 0,CPU,0,0,load,8,3\n"), csv);
		String json = Ran.ok("live", "--format", "json", output);
		assertTrue(json.contains("\"memtrace.monitors/1\"") && json.contains("\"value\": 8"), json);
	}
}
