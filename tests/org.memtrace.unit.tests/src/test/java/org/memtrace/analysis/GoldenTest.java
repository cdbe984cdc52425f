// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Ran;
import org.memtrace.importer.ImportOperation;
import org.memtrace.model.Progress;
import org.memtrace.storage.Stores;

/**
 * What the commands say about the recorded traces in testdata/traces, compared with testdata/golden. When a difference is
 * wanted, the failure tells the command that accepts it.
 */
class GoldenTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root", "../..")).toAbsolutePath().normalize();
	private static final List<String> TRACES = List.of("matmul-naive", "bucketsort-dynamic", "stencil-serial");

	@TempDir
	static Path temp;

	private record Output(String file, String... arguments) {
	}

	private static final List<Output> OUTPUTS = List.of(
			new Output("summary.txt", "summary"),
			new Output("machine.txt", "machine"),
			new Output("sharing.txt", "aggregate", "--rows", "60"),
			new Output("uniform.txt", "aggregate", "--rows", "60", "--slicing", "uniform"),
			new Output("thread-levels.txt", "aggregate", "--list", "--view", "thread", "--rows", "60", "--slices", "25"),
			new Output("first-half.csv", "aggregate", "--view", "rw", "--metric", "writes", "-p", "0.4", "--to", "100ms",
					"--rows", "20", "--slices", "20", "--format", "csv"),
			new Output("curves.txt", "aggregate", "--curves", "--normalised", "--falling", "--rows", "20", "--slices", "20"),
			new Output("across.txt", "aggregate", "--across", "machine", "--rows", "60"),
			new Output("across-levels.txt", "aggregate", "--across", "machine", "--list", "--view", "thread", "--rows", "60", "--topology",
					"pack:2 [numa] core:2 pu:1"),
			new Output("across.csv", "aggregate", "--across", "machine", "--view", "thread", "--rows", "20", "--format", "csv"),
			new Output("machine-time.txt", "aggregate", "--tree", "machine", "--view", "thread", "--slices", "20"),
			new Output("across.svg", "render", "--across", "machine", "--width", "640", "--height", "400", "-o", "@"),
			new Output("event-types.txt", "aggregate", "--view", "event_type", "--equal-types", "--initial", "change", "--rows", "30",
					"--slices", "20"),
			new Output("parts.svg", "render", "--kind", "time-parts", "--width", "400", "--height", "150", "-o", "@"),
			new Output("sharing.svg", "render", "--width", "640", "--height", "400", "-o", "@"),
			new Output("thread.svg", "render", "--view", "thread", "--width", "640", "--height", "400", "-o", "@"));

	@TestFactory
	List<DynamicTest> recordedTraces() throws Exception {
		List<DynamicTest> tests = new ArrayList<>();
		for (String trace : TRACES) {
			Path directory = ROOT.resolve("testdata/traces").resolve(trace);
			assertTrue(Files.isDirectory(directory), directory + " is missing");
			Path database = temp.resolve(trace + ".db");
			new ImportOperation(directory, name -> Stores.createFile(database, notice -> {
			})).call(Progress.NONE);
			for (Output output : OUTPUTS) {
				tests.add(DynamicTest.dynamicTest(trace + " " + output.file(), () -> check(trace, database, output)));
			}
		}
		return tests;
	}

	private static void check(String trace, Path database, Output output) throws Exception {
		Path actual = ROOT.resolve("build/golden").resolve(trace).resolve(output.file());
		Files.createDirectories(actual.getParent());
		List<String> arguments = new ArrayList<>();
		for (String a : output.arguments()) {
			arguments.add(a.equals("@") ? actual.toString() : a);
		}
		arguments.add(database.toString());
		String out = Ran.ok(arguments.toArray(String[]::new));
		if (!output.file().endsWith(".svg")) {
			Files.writeString(actual, out);
		}
		Path golden = ROOT.resolve("testdata/golden").resolve(trace).resolve(output.file());
		String accept = "accept with: mkdir -p " + ROOT.relativize(golden.getParent()) + " && cp " + ROOT.relativize(actual)
				+ " " + ROOT.relativize(golden);
		assertTrue(Files.exists(golden), "no " + ROOT.relativize(golden) + "; " + accept);
		assertEquals(Files.readString(golden), Files.readString(actual), accept);
	}
}
