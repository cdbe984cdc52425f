// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordSettingsTest {
	@TempDir
	private Path directory;

	/** What the command table says; all of it is compared in RecordOptionTest. */
	@Test
	void optionsComeFromTheCommandTable() {
		assertEquals(RecordOption.Kind.TEXT, RecordOption.BACKEND.kind());
		assertEquals(CheckResult.AUTOMATIC, RecordOption.BACKEND.defaultText());
		assertEquals("50ms", RecordOption.INTERVAL.defaultText());
		assertEquals("64", RecordOption.SUBPHASES.max());
		assertEquals(List.of("on", "off"), RecordOption.WRITE_TRACKING.choices());
		assertEquals(RecordOption.Kind.FLAG, RecordOption.PHYSICAL.kind());
	}

	@Test
	void commandLine() {
		RecordSettings s = new RecordSettings(0, "./my app", List.of("-n", "two words"), "/tmp",
				Map.of("OMP_NUM_THREADS", "4"), "run 1",
				Map.of(RecordOption.INTERVAL, "20ms", RecordOption.SUBPHASES, "5", RecordOption.COMPRESS, RecordOption.SET,
						RecordOption.PURPOSE, ""));
		assertEquals(List.of("/x/memtrace", "record", "-o", "run 1", "--interval", "20ms", "--compress", "--", "./my app", "-n",
				"two words"), s.command("/x/memtrace"), "defaults are not repeated");
		assertEquals("cd /tmp && OMP_NUM_THREADS=4 memtrace record -o 'run 1' --interval 20ms --compress -- './my app' -n 'two words'",
				s.shellText());
		RecordSettings running = new RecordSettings(4711, "", List.of(), "", Map.of("X", ""), "",
				Map.of(RecordOption.BACKEND, "kmod", RecordOption.DURATION, "5s"));
		assertEquals("X='' memtrace record --backend kmod --duration 5s --pid 4711", running.shellText());
	}

	@Test
	void whatIsWrongIsSaid() throws IOException {
		Path app = Files.writeString(directory.resolve("app"), "#!/bin/sh\n");
		RecordSettings s = RecordSettings.of("./app").withDirectory(directory.toString());
		assertEquals("./app is not an executable file.", s.problem(""));
		assertTrue(app.toFile().setExecutable(true));
		assertNull(s.problem(""));
		assertEquals("No program in PATH is called app.", RecordSettings.of("app").problem("/nowhere:"));
		assertNull(RecordSettings.of("app").problem("/nowhere:" + directory));
		assertEquals("The program /no/app does not exist.", RecordSettings.of("/no/app").problem(""));
		assertEquals("The program /no/app does not exist.", RecordSettings.of("/no/app").withDirectory("/no").problem(""));
		assertEquals("Choose a program.", RecordSettings.of("").problem(""));
		assertEquals("The working directory /no does not exist.", s.withDirectory("/no").problem(""));
		Files.createDirectory(directory.resolve("t"));
		assertEquals("The trace directory t exists; a trace is never overwritten.", s.withOutput("t").problem(""));
		assertEquals("--interval must be a time with a unit, such as 50ms.", s.with(RecordOption.INTERVAL, "50").problem(""));
		assertEquals("--interval must be at least 1ms.", s.with(RecordOption.INTERVAL, "999us").problem(""));
		assertEquals("--interval must be at most 60s.", s.with(RecordOption.INTERVAL, "1.1min").problem(""));
		assertEquals("--subphases must be a whole number.", s.with(RecordOption.SUBPHASES, "2.5").problem(""));
		assertEquals("--max-overhead must be a number.", s.with(RecordOption.MAX_OVERHEAD, "1e").problem(""));
		assertEquals("--min-alloc must be a size, such as 4096 or 64k.", s.with(RecordOption.MIN_ALLOC, "4x").problem(""));
		assertNull(s.with(RecordOption.MIN_ALLOC, "64KiB").with(RecordOption.MAX_OVERHEAD, ".5").problem(""));
		assertEquals("There is no process 2147483646.", new RecordSettings(2147483646, "", List.of(), "", Map.of(), "",
				Map.of()).problem(""));
	}

	@Test
	void freeDirectoriesAreNumbered() throws IOException {
		assertEquals("app.memtrace", RecordSettings.freeDirectory(directory, "app").getFileName().toString());
		Files.createDirectory(directory.resolve("app.memtrace"));
		Files.createDirectory(directory.resolve("app.memtrace-2"));
		assertEquals("app.memtrace-3", RecordSettings.freeDirectory(directory, "app").getFileName().toString());
	}

	@Test
	void historyIsReadBack() {
		RecordSettings s = new RecordSettings(0, "a", List.of("b", "ü\n"), "/tmp", Map.of("A", "1", "B", ""), "out",
				Map.of(RecordOption.INTERVAL, "20ms", RecordOption.PHYSICAL, RecordOption.SET));
		assertEquals(s, RecordSettings.fromJson(s.toJson()));
		assertNull(RecordSettings.fromJson("{"));
		assertNull(RecordSettings.fromJson("{\"pid\":1}"), "what another version wrote is not taken");
		assertNull(RecordSettings.fromJson(""));
	}

	@Test
	void installation() throws IOException {
		Path bin = Files.createDirectories(directory.resolve("bin"));
		Path memtrace = Files.writeString(bin.resolve("memtrace"), "#!/bin/sh\n");
		Map<String, String> path = Map.of("PATH", "/nowhere:" + bin);
		assertTrue(Installation.find("", "Linux", "", path).problem().contains("not here"), "not executable");
		assertTrue(memtrace.toFile().setExecutable(true));
		assertEquals(memtrace, Installation.find("", "Linux", "", path).launcher());
		assertEquals(memtrace, Installation.find("", "Linux", memtrace.toString(), Map.of()).launcher());
		assertEquals(memtrace, Installation.find(memtrace.toString(), "Linux", "", Map.of()).launcher());
		assertTrue(Installation.find("/no/memtrace", "Linux", "", path).problem().startsWith("/no/memtrace is not"));
		assertTrue(Installation.find("", "Mac OS X", memtrace.toString(), path).problem().startsWith("Programs are recorded on Linux"));
		Installation here = Installation.find("", "Linux", "", path);
		assertNull(here.example("stencil"));
		Path stencil = Files.writeString(Files.createDirectories(directory.resolve("examples")).resolve("stencil"), "");
		assertTrue(stencil.toFile().setExecutable(true));
		assertEquals(stencil, here.example("stencil"));
	}

	/** The list of examples names programs and variants that exist. */
	@Test
	void examplesExist() throws IOException {
		for (Example e : Example.ALL) {
			Path source = Path.of(System.getProperty("memtrace.root"), "examples", e.program(), e.program() + ".c");
			String variants = Files.readAllLines(source).stream().filter(l -> l.contains("char variants[]")).findFirst().orElseThrow()
					.replaceAll(".*\"(.*)\".*", "$1");
			assertTrue(List.of(variants.split("\\|")).contains(e.variant()), e.toString());
			assertNull(e.settings(Path.of("/bin/true"), directory).problem(""));
		}
	}
}
