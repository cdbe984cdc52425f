// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.importer.record.Installation;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.storage.Stores;

/** A trace directory as a killed recorder leaves it; {@code memtrace finish} is played by a script. */
class TraceCompletionTest {
	private static final Installation NONE = new Installation(null, "The recorder is not here.");
	@TempDir
	private Path directory;
	private Path trace;

	@BeforeEach
	void killed() throws IOException {
		trace = directory.resolve("t");
		TraceDirectoryBuilder builder = new TraceDirectoryBuilder(trace).sampleContext().raw("p0000/context.log", "raw");
		builder.access(0x10000, 1, 2, 1100, 1200, 100).write();
		for (String name : new String[] { "structures.csv", "stacks.csv", "threads.csv" }) {
			Files.move(trace.resolve("p0000").resolve(name), directory.resolve(name));
		}
	}

	private Installation launcher(String script) throws IOException {
		Path file = Files.writeString(directory.resolve("memtrace"), "#!/bin/sh\n" + script);
		assertTrue(file.toFile().setExecutable(true));
		return new Installation(file, null);
	}

	private String finish() {
		return "[ \"$*\" = \"finish " + trace + "\" ] || exit 99\ncp " + directory + "/*.csv " + trace + "/p0000/\n";
	}

	private ImportReport importWith(Installation installation) throws MemtraceException {
		String why = TraceCompletion.complete(trace, installation, Progress.NONE);
		try (TraceCatalogue catalogue = Stores.inMemory()) {
			return new ImportOperation(trace, catalogue::create).setIncomplete(why).call(Progress.NONE);
		}
	}

	private String warning(Installation installation) throws MemtraceException {
		return importWith(installation).warnings().get(0);
	}

	@Test
	void completed() throws Exception {
		ImportReport report = importWith(launcher(finish() + "echo 'memtrace: t: 1 process image completed' >&2"));
		assertTrue(report.warnings().isEmpty(), report.warnings()::toString);
		assertTrue(report.toText().contains("in known structures   100.0 %"), report::toText);
		assertNull(TraceCompletion.complete(trace, NONE, Progress.NONE), "nothing is left to be done");
	}

	/** Killed again while it was completed: one of the three files is there. */
	@Test
	void halfCompleted() throws Exception {
		Files.copy(directory.resolve("structures.csv"), trace.resolve("p0000/structures.csv"));
		assertTrue(TraceCompletion.isNeeded(trace));
		assertNull(TraceCompletion.complete(trace, launcher(finish()), Progress.NONE));
	}

	@Test
	void whatIsMissingIsSaid() throws Exception {
		String missing = trace + ": structures, call stacks and threads are missing: ";
		assertEquals(missing + "the recorder was killed and could not complete the trace here. The recorder is not here.", warning(NONE));
		assertEquals(missing + "the recorder was killed, and the trace was not completed: memtrace finish: t: no space",
				warning(launcher("echo 'memtrace finish: hint' >&2; echo 'memtrace finish: t: no space' >&2; exit 1")));
		assertEquals(missing + "the recorder was killed, and the trace was not completed: memtrace finish ended with code 139",
				warning(launcher("exit 139")));
		assertEquals(missing + "it is still being recorded; this is the state of now", warning(launcher("exit 4")));
	}

	/** Names that were seen stay: of a process that still runs there are the structures and threads of now. */
	@Test
	void namesOfNow() throws Exception {
		String now = "cp " + directory + "/structures.csv " + directory + "/threads.csv " + trace + "/p0000/\n";
		ImportReport report = importWith(launcher(now + "echo 'memtrace: t: 0 process images completed, others still run' >&2"));
		assertEquals(List.of(trace + ": call stacks are missing: processes of the program still run; this is the state of now"),
				report.warnings());
		assertTrue(report.toText().contains("in known structures   100.0 %"), report::toText);
		assertTrue(TraceCompletion.isNeeded(trace), "to be completed when they have ended");
	}

	@Test
	void processesThatStillRun() throws Exception {
		assertEquals(trace + ": processes of the program still run; this is the state of now",
				warning(launcher(finish() + "echo 'memtrace: t: 1 process image completed, others still run' >&2")));
	}

	@Test
	void otherInputIsNotTouched() throws Exception {
		Installation fails = launcher("touch " + directory + "/called");
		for (Path path : new Path[] { directory, directory.resolve("none"), directory.resolve("stacks.csv") }) {
			assertNull(TraceCompletion.complete(path, fails, Progress.NONE));
		}
		assertTrue(Files.notExists(directory.resolve("called")));
	}

	@Test
	void cancelled() throws Exception {
		Progress cancelled = Progress.cancelledWhen(() -> true);
		Installation slow = launcher("exec sleep 100");
		assertThrows(CancelledException.class, () -> TraceCompletion.complete(trace, slow, cancelled));
	}
}
