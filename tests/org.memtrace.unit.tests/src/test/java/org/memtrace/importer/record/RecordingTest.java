// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

/** The recorder as a child, played by a script; and what it writes, played by the test. */
class RecordingTest {
	@TempDir
	private Path directory;
	private final StringBuffer out = new StringBuffer();
	private final StringBuffer err = new StringBuffer();

	private String launcher(String script) throws IOException {
		// what started the tests may ignore SIGINT, as a shell does for what it runs in the background, and a shell cannot trap that
		Path file = Files.writeString(directory.resolve("memtrace"), "#!/usr/bin/env -S --default-signal=INT sh\n" + script);
		assertTrue(file.toFile().setExecutable(true));
		return file.toString();
	}

	private Recording start(String script) throws IOException, MemtraceException {
		RecordSettings s = RecordSettings.of("app", "x").withOutput("new/t").withDirectory(directory.toString())
				.withEnvironment(Map.of("GREETING", "hello"));
		return Recording.start(launcher(script), s, (text, error) -> (error ? err : out).append(text));
	}

	private static Recording.Result end(Recording recording) throws InterruptedException {
		assertTrue(recording.waitFor(30_000), "still running");
		return recording.result();
	}

	@Test
	void outputAndTrace() throws Exception {
		Recording recording = start("echo \"$GREETING $*\"; echo oops >&2; mkdir \"$3\"; echo {} >\"$3/manifest.json\"; exit 3");
		Recording.Result result = end(recording);
		assertEquals("hello record -o new/t -- app x\n", out.toString());
		assertEquals("oops\n", err.toString());
		assertEquals(new Recording.Result(3, directory.resolve("new/t"), "", false), result);
	}

	/** What the workbench sets for itself is not what the program would have had alone. */
	@Test
	void variablesOfTheWorkbenchAreNotInherited() throws Exception {
		System.setProperty("memtrace.own_variables", "PWD,HOME");
		try {
			end(start("echo \"${HOME-none} $GREETING\"; exit 3"));
		} finally {
			System.clearProperty("memtrace.own_variables");
		}
		assertEquals("none hello\n", out.toString());
	}

	/** A full disk: the recorder's code is not the one of the program. */
	@Test
	void traceThatIsNotComplete() throws Exception {
		Recording recording = start("mkdir \"$3\"; echo '{\"status\":{\"exit_code\":0,\"incomplete\":\"No space left on device\"}}'"
				+ " >\"$3/manifest.json\"; exit 1");
		assertEquals(new Recording.Result(0, directory.resolve("new/t"), "", false), end(recording));
	}

	/** It is killed, and its program goes on: whose code it is, and whom to end, is known. */
	@Test
	void recorderThatIsKilledLeavesAnOrphan() throws Exception {
		Recording recording = start("mkdir -p \"$3/p0000\"; sleep 300 >/dev/null 2>&1 & echo $! >\"$3/pid\""
				+ "; echo '{\"status\":{\"state\":\"running\"}}' >\"$3/manifest.json\"; echo ready; wait");
		waitFor("ready");
		Path trace = directory.resolve("new/t");
		long pid = Long.parseLong(Files.readString(trace.resolve("pid")).strip());
		long namespace = Long.parseLong(Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString().replaceAll("\\D", ""));
		String image = "{\"pid\": " + pid + ", \"start_ns\": %d, \"pid_namespace\": %d}";
		Path json = trace.resolve("p0000/image.json");
		ProcessHandle.of(recording.pid()).orElseThrow().destroyForcibly();
		assertEquals(new Recording.Result(137, trace, "", true), end(recording));
		Files.writeString(json, image.formatted(Long.MAX_VALUE / 2, namespace));
		List<ProcessHandle> found = Orphans.of(trace);
		assertEquals(List.of(pid), found.stream().map(ProcessHandle::pid).toList());
		Files.writeString(json, image.formatted(0L, namespace));
		assertEquals(List.of(), Orphans.of(trace), "a later process with its number is somebody else");
		Files.writeString(json, image.formatted(Long.MAX_VALUE / 2, namespace + 1));
		assertEquals(List.of(), Orphans.of(trace), "numbers of another namespace are others");
		found.get(0).destroyForcibly();
		for (int i = 0; i < 1500 && Orphans.isRunning(found.get(0)); i++) {
			Thread.sleep(20);
		}
		Files.writeString(json, image.formatted(Long.MAX_VALUE / 2, namespace));
		assertEquals(List.of(), Orphans.of(trace));
		Files.writeString(json, "{\"pid\": ");
		assertEquals(List.of(), Orphans.of(trace), "half written");
	}

	@Test
	void withoutTraceTheReasonIsSaid() throws Exception {
		Recording.Result result = end(start("echo 'memtrace record: app: program not found' >&2; echo; exit 127"));
		assertEquals(new Recording.Result(127, null, "app: program not found.", false), result);
		Files.delete(directory.resolve("memtrace"));
		assertEquals("The recorder ended with code 5 and said nothing.", end(start("exit 5")).message());
	}

	@Test
	void stopIsInterruptThenTerminate() throws Exception {
		String waits = "mkdir \"$3\"; echo {} >\"$3/manifest.json\"; echo ready; while :; do sleep 0.02; done";
		Recording polite = start("trap 'echo INT; exit 130' INT; " + waits);
		waitFor("ready");
		assertTrue(polite.isRunning());
		assertFalse(polite.isStopping());
		polite.stop();
		assertEquals(130, end(polite).exitCode());
		assertTrue(out.toString().endsWith("INT\n"), out::toString);
		Files.delete(directory.resolve("memtrace"));
		Files.delete(directory.resolve("new/t/manifest.json"));
		Files.delete(directory.resolve("new/t"));
		out.setLength(0);
		Recording stubborn = start("trap '' INT; trap 'exit 143' TERM; " + waits);
		waitFor("ready");
		stubborn.stop();
		stubborn.stop();
		assertEquals(143, end(stubborn).exitCode());
	}

	/** What a shell starts in the background ignores SIGINT, and so do the programs that it starts. */
	@Test
	void programThatIgnoresInterruptIsTerminatedAtOnce() throws Exception {
		Recording recording = start("trap '' INT; sleep 60 & child=$!; trap 'kill $child; exit 143' TERM; echo ready; wait");
		waitFor("ready");
		recording.stop();
		assertEquals(143, end(recording).exitCode());
	}

	private void waitFor(String text) throws InterruptedException {
		for (int i = 0; i < 1500 && !out.toString().contains(text); i++) {
			Thread.sleep(20);
		}
		assertTrue(out.toString().contains(text), out::toString);
	}

	@Test
	void recorderThatIsNotThere() {
		MemtraceException e = assertThrows(MemtraceException.class,
				() -> Recording.start("/no/memtrace", RecordSettings.of("app").withOutput(directory.resolve("t").toString()),
						(text, error) -> {
						}));
		assertTrue(e.getMessage().startsWith("/no/memtrace cannot be run: "), e.getMessage());
	}

	private static final String HEADER = "Interval,Start,End,Subphases,TargetNs,Faults,Records,Unattributed,LostRing,LostTable,"
			+ "Resident,ScanNs,ZapNs,MonitorCpuNs,ProgramCpuNs,Event,LostWrite,LostRegion\n";

	/** Lines that arrive in pieces, in several images, and losses of all kinds. */
	@Test
	void countersReadOn() throws IOException {
		LiveCounters live = new LiveCounters(directory.resolve("t"));
		assertEquals(0, live.read().images(), "not made yet");
		Path first = Files.createDirectories(directory.resolve("t/p0000")).resolve("intervals.csv");
		Files.writeString(first, HEADER + "0,0,100,5,100,9,5,1,2,3,4096,1,1,10,1000,,1,1\n1,100,20");
		LiveCounters.Counts c = live.read();
		assertEquals(new LiveCounters.Counts(1, 1, 5, 9, 1, 7, 4096, 100, 10, 1000, List.of(5L)), c);
		assertEquals(0.01, c.overhead());
		Files.writeString(first, "0,5,150,1,2,0,0,0,8192,1,1,10,1000,governor:lengthened,0,0\n", StandardOpenOption.APPEND);
		Path second = Files.createDirectories(directory.resolve("t/p0001")).resolve("intervals.csv");
		Files.writeString(second, HEADER + "0,0,200,5,150,1,10,0,0,0,4096,1,1,0,0,,0,0\n");
		c = live.read();
		assertEquals(2, c.images());
		assertEquals(2, c.intervals());
		assertEquals(17, c.records());
		assertEquals(12288, c.residentBytes());
		assertEquals(150, c.targetNs());
		assertEquals(List.of(5L, 12L), c.history(), "intervals of images that end together are one");
		StringBuilder many = new StringBuilder();
		for (int i = 2; i < 500; i++) {
			many.append(i).append(",0,").append(100 * i).append(",5,100,1,1,0,0,0,0,0,0,0,0,,0,0\n");
		}
		Files.writeString(first, many, StandardOpenOption.APPEND);
		c = live.read();
		assertEquals(LiveCounters.HISTORY, c.history().size());
		assertEquals(17 + 498, c.records());
		assertEquals(c, live.read(), "nothing new");
	}

	@Test
	void theExampleOfTheFormat() {
		LiveCounters.Counts c = new LiveCounters(Path.of(System.getProperty("memtrace.root"), "testdata", "format-example")).read();
		assertEquals(2, c.images());
		assertEquals(3, c.lost(), "as the manifest says");
	}

	@Test
	void checkIsParsed() throws Exception {
		String json = """
				{"backends": [
				  {"name": "zap", "title": "User space", "works": "partly", "why": "no threads", "fix": "sysctl x=2",
				   "abilities": ["accesses", "running-process"],
				   "facilities": [{"name": "perf", "works": "no", "why": "refused"}]},
				  {"name": "kmod", "works": "no", "why": "not built", "fix": null, "facilities": []}],
				 "auto": "zap", "reason": "works partly here"}
				""";
		CheckResult check = CheckResult.parse(json);
		assertEquals("zap", check.automatic());
		assertEquals(new CheckResult.Backend("zap", "User space", CheckResult.Works.PARTLY, "no threads", "sysctl x=2",
				Set.of("accesses", CheckResult.RUNNING_PROCESS), List.of(new CheckResult.Facility("perf", CheckResult.Works.NO, "refused"))),
				check.backend("auto"));
		assertEquals("User space (zap)", check.backend("zap").label());
		assertEquals("", check.backend("kmod").fix());
		assertEquals("kmod", check.backend("kmod").label(), "an older recorder");
		assertEquals(List.of(check.backend("zap")), check.with(CheckResult.RUNNING_PROCESS));
		assertNull(check.backend("other"));
		for (String bad : List.of("", "[]", "{\"backends\": 3}", "{\"backends\": [1]}", "{\"backends\": [{\"name\": {}}]}")) {
			assertThrows(TraceFormatException.class, () -> CheckResult.parse(bad), bad);
		}
		assertEquals(check, CheckResult.run(launcher("cat <<'END'\n" + json + "END\nexit 4\n"), Progress.NONE));
		Files.delete(directory.resolve("memtrace"));
		MemtraceException e = assertThrows(MemtraceException.class,
				() -> CheckResult.run(launcher("echo broken >&2; exit 1"), Progress.NONE));
		assertTrue(e.getMessage().endsWith("said: broken"), e.getMessage());
		Files.delete(directory.resolve("memtrace"));
		Progress cancelled = Progress.cancelledWhen(() -> true);
		assertThrows(CancelledException.class, () -> CheckResult.run(launcher("exec sleep 100"), cancelled));
	}
}
