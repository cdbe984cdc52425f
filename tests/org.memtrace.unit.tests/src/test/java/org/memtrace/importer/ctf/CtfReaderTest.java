// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.ctf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.importer.EventLines;
import org.memtrace.importer.ImportTest;
import org.memtrace.importer.InputReaders;
import org.memtrace.importer.TraceDirectoryBuilder;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.Input;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/** CTF traces: what becomes of each event, and traces that the real babeltrace2 reads. */
class CtfReaderTest extends ImportTest {
	private static final long S = CtfWriter.OFFSET_S * 1_000_000_000;

	/** A program that prints this, instead of babeltrace2. */
	private CtfReader printing(String text, String errors, int exitCode) throws Exception {
		file("text", text);
		file("errors", errors);
		Path script = file("printer", "#!/bin/sh\ncat " + directory.resolve("errors") + " >&2\ncat " + directory.resolve("text")
				+ "\nexit " + exitCode
				+ "\n");
		Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
		return new CtfReader(script.toString());
	}

	private Path folder(String events) throws Exception {
		Path folder = Files.createDirectories(directory.resolve("session"));
		Files.writeString(folder.resolve("metadata"), "/* CTF 1.8 */ " + events);
		Files.writeString(folder.resolve("channel0_0"), "binary");
		return folder;
	}

	private ImportReport read(CtfReader reader, Path path, boolean strict, Progress progress) throws Exception {
		ImportRequest request = new ImportRequest(catalogue::create, "", strict, Files.createDirectories(directory.resolve("scratch")),
				List.of(), 2,
				null, null);
		Input input = new Input(List.of(path), InputStream.nullInputStream());
		assertEquals("ctf", reader.look(input).orElseThrow().reader());
		return reader.read(input, request, progress);
	}

	private static String line(long ns, int cpu, int thread, String name, String fields) {
		return "timestamp = 0." + String.format("%09d", ns) + ", trace:hostname = h, name = " + name
				+ ", stream.packet.context = { cpu_id = " + cpu
				+ " }, stream.event.context = { pid = 10, tid = " + thread + ", procname = \"app\" }, event.fields = { " + fields + " }\n";
	}

	private static String lineWithoutThread(long ns, int cpu, String name, String fields) {
		return "timestamp = 0." + String.format("%09d", ns) + ", trace:hostname = h, name = " + name
				+ ", stream.packet.context = { cpu_id = " + cpu
				+ " }, event.fields = { " + fields + " }\n";
	}

	private static String switched(String previous, int previousThread, String next, int nextThread) {
		return "prev_comm = \"" + previous + "\", prev_tid = " + previousThread + ", next_comm = \"" + next + "\", next_tid = "
				+ nextThread;
	}

	@Test
	void systemCallsAreStates() throws Exception {
		String text = line(10, 0, 11, "syscall_entry_read", "fd = 3, count = 8") //
				+ line(12, 0, 12, "syscall_exit_write", "ret = 1") // began before the trace
				+ line(15, 1, 11, "app:step", "n = 5") // while it is in the call
				+ line(20, 1, 11, "syscall_exit_read", "ret = 4, fd = 3") //
				+ line(21, 0, 11, "syscall_entry_close", "fd = 3") // whose end was lost
				+ line(25, 0, 11, "syscall_entry_write", "fd = 4") //
				+ line(30, 0, 12, "raw_syscalls:sys_enter", "id = 7") + line(31, 0, 12, "raw_syscalls:sys_exit", "id = 7, ret = 0") //
				+ line(33, 0, 13, "syscall_entry_exit_group", "error_code = 0") + line(34, 0,
						13, "sched_process_exit", "comm = \"app\", tid = 13") //
				+ line(40, 0, 12, "app:end", "");
		ImportReport report = read(printing(text, "", 0), folder(""), false, Progress.NONE);
		assertEquals(List.of("app:end PUNCTUAL app 12 40 40 0.0", "app:step PUNCTUAL app 11 15 15 0.0 n=5",
				"exit_group STATE system calls 33 34 0.0 error_code=0",
				"read STATE system calls 10 20 0.0 fd=3, count=8, ret=4", "sched_process_exit PUNCTUAL app 13 34 34 0.0 comm=app, tid=13",
				"system call 7 STATE system calls 30 31 0.0 id=7, ret=0", "write STATE system calls 25 40 0.0 fd=4"),
				EventLines.of(catalogue, report));
		String told = report.toText();
		assertTrue(told.contains("1: end of a system call that did not begin (first: " + directory.resolve("session") + ", line 2)"), told);
		assertTrue(told.contains("1: system call whose end is not there"), told);
		assertTrue(told.contains("1 system calls were under way at the end"), told);
		try (TraceStore store = catalogue.open(report.trace().id())) {
			ProducerTree tree = store.producers();
			assertEquals("process 10", tree.name(0));
			assertEquals("app 11", tree.name(1));
			assertEquals("system calls", tree.name(2));
			assertEquals(1, tree.parent(2));
		}
	}

	@Test
	void threadsRunBetweenSwitches() throws Exception {
		String text = lineWithoutThread(10, 0, "irq", "n = 1") // nobody knows whose it is
				+ lineWithoutThread(11, 0, "sched_process_fork", "child_comm = \"kid\", child_tid = 5, child_pid = 4")
				+ lineWithoutThread(20, 0, "sched_switch", switched("swapper/0", 0, "kid", 5)) //
				+ lineWithoutThread(22, 0, "app:step", "n = 2") // by 5, which runs
				+ lineWithoutThread(23, 1, "sched_switch", switched("swapper/1", 0, "b", 6)) //
				+ lineWithoutThread(30, 0, "sched_switch", switched("kid", 5, "c", 7)) //
				+ lineWithoutThread(40, 0, "sched_switch", switched("lost", 8, "kid", 5)) // 7 left and 8 came unseen
				+ lineWithoutThread(50, 1, "app:end", "");
		ImportReport report = read(printing(text, "", 0), folder(""), false, Progress.NONE);
		List<String> events = EventLines.of(catalogue, report);
		assertEquals(List.of("on a CPU STATE b 6 23 50 0.0 cpu=1", "on a CPU STATE kid 5 20 30 0.0 cpu=0",
				"on a CPU STATE kid 5 40 50 0.0 cpu=0"),
				events.stream().filter(e -> e.startsWith("on a CPU")).toList());
		assertTrue(events.contains("app:step PUNCTUAL kid 5 22 22 0.0 n=2"), events.toString());
		assertTrue(events.contains("irq PUNCTUAL CPU 0 10 10 0.0 n=1"), events.toString());
		assertTrue(events.contains("app:end PUNCTUAL b 6 50 50 0.0"), events.toString());
		try (TraceStore store = catalogue.open(report.trace().id())) {
			ProducerTree tree = store.producers();
			int kid = java.util.stream.IntStream.range(0,
					tree.size()).filter(id -> tree.name(id).equals("kid 5")).findFirst().orElseThrow();
			assertEquals("process 4", tree.name(tree.parent(kid)));
		}
	}

	@Test
	void hostsHaveTheirOwnThreads() throws Exception {
		String text = line(10, 0, 11, "syscall_entry_read", "") + line(11, 0, 11, "syscall_entry_read", "").replace("= h,", "= g,")
				+ line(12, 0, 11, "syscall_exit_read", "") + line(14, 0, 11, "syscall_exit_read", "").replace("= h,", "= g,");
		Path folder = folder("env { hostname = \"h\"; };");
		Files.writeString(Files.createDirectories(folder.resolveSibling("session/two")).resolve("unused"), "");
		Path two = Files.createDirectories(directory.resolve("both/two"));
		Files.writeString(two.resolve("metadata"), "/* CTF 1.8 */ env { hostname = \"g\"; };");
		Files.move(folder, directory.resolve("both/one"));
		ImportReport report = read(printing(text, "", 0), directory.resolve("both"), false, Progress.NONE);
		assertEquals(List.of("read STATE system calls 10 12 0.0", "read STATE system calls 11 14 0.0"), EventLines.of(catalogue, report));
		try (TraceStore store = catalogue.open(report.trace().id())) {
			assertEquals("g", store.producers().name(0));
		}
	}

	@Test
	void pageFaultsAreAccessesWhenThereIsNothingElse() throws Exception {
		String fault = "x86_exceptions_page_fault_user";
		String text = line(10, 0, 11, fault, "address = 0x7F0000001008, ip = 0x400100, error_code = 0x6") //
				+ line(20, 1, 12, fault, "address = 0x7F0000001010, ip = 0x400200, error_code = 4") //
				+ line(30, 1, 12, fault, "ip = 0x400200, error_code = 4") //
				+ line(40, 1, 12, "x86_exceptions_page_fault_kernel", "address = 0xFFFFFFFF81000000, ip = 0x1, error_code = 0") //
				+ "garbage\n";
		String discarded = "WARNING: Tracer discarded 3 events between [1] and [2] in trace \"h\"\n";
		Path folder = folder("event { name = \"" + fault + "\"; }; event { name = \"lttng_statedump_start\"; };");
		ImportReport report = read(printing(text, discarded, 0), folder, false, Progress.NONE);
		try (TraceStore store = catalogue.open(report.trace().id())) {
			List<String> all = new ArrayList<>();
			store.visitAccesses(AccessQuery.ALL, b -> {
				for (int i = 0; i < b.count; i++) {
					all.add(Long.toHexString(store.producers().startAddress(b.producer[i])) + " " + Math.max(b.readOffset[i],
							b.writeOffset[i]) + " "
							+ store.threads().get(b.thread[i]).taskId() + " " + b.reads[i] + "r" + b.writes[i] + "w "
									+ Long.toHexString(b.ip[i])
							+ " sharing " + b.sharing[i]);
				}
			}, Progress.NONE);
			assertEquals(List.of("7f0000001000 16 12 1r0w 400200 sharing 2", "7f0000001000 8 11 0r1w 400100 sharing 2"),
					all.stream().sorted().toList());
			assertEquals(2, store.threads().size());
		}
		String told = report.toText();
		for (String reason : List.of("1: page fault without an address", "1: an address of the kernel",
				"1: not an event as babeltrace2 prints it")) {
			assertTrue(told.contains(reason), reason + " is not in\n" + told);
		}
		assertTrue(report.toJson().contains("\"lost_by_recorder\": 3"), report.toJson());
		// with other events they are instants
		folder("event { name = \"" + fault + "\"; }; event { name = \"sched_switch\"; };");
		ImportReport events = read(printing(text, discarded, 0), folder, false, Progress.NONE);
		assertTrue(EventLines.of(catalogue, events).contains(
				fault + " PUNCTUAL app 11 10 10 0.0 address=0x7F0000001008, ip=0x400100, error_code=0x6"), events.toText());
		assertTrue(events.toText().matches("(?s).*lost by the recorder +3 events.*"), events.toText());
	}

	@Test
	void aRecordingGivesNamesToPageFaults() throws Exception {
		Path recording = directory.resolve("app.memtrace");
		new TraceDirectoryBuilder(recording).sampleContext().write();
		Path folder = folder("clock { name = monotonic; freq = 1000000000; }; event { name = \"sched_switch\"; };");
		CtfReader reader = printing("", "", 0);
		Input input = new Input(List.of(recording, folder), InputStream.nullInputStream());
		assertTrue(assertThrows(MemtraceException.class, () -> reader.look(input)).getMessage().contains("has no page faults"));
		folder("clock { name = other; }; event { name = \"x86_exceptions_page_fault_user\"; };");
		assertTrue(assertThrows(MemtraceException.class, () -> reader.look(input)).getMessage().contains("another clock"));
		folder("clock { name = monotonic; freq = 1000000000; }; event { name = \"x86_exceptions_page_fault_user\"; };");
		assertEquals("page faults in a CTF trace, with the names of a recording", reader.look(input).orElseThrow().description());
		assertEquals("ctf", InputReaders.detect(List.of(recording, folder)).reader());
		assertEquals("memtrace", InputReaders.detect(List.of(recording)).reader());
		CtfReader faults = printing("timestamp = 00000000000000001500, name = x86_exceptions_page_fault_user, stream.event.context = { pid = 100, "
				+ "tid = 101 }, event.fields = { address = 0x10040, ip = 0x401234, error_code = 6 }\ntimestamp = 00000000000000001600, name = app:mark\n",
				"", 0);
		ImportReport report = faults.read(input, new ImportRequest(catalogue::create, "", false, directory, List.of(), 2, null, null),
				Progress.NONE);
		try (TraceStore store = catalogue.open(report.trace().id())) {
			store.visitAccesses(AccessQuery.ALL, b -> {
				assertEquals("A", store.structures().get(store.producers().structure(b.producer[0])).name());
				assertEquals(101, store.threads().get(b.thread[0]).taskId());
				assertEquals(1, b.writes[0]);
			}, Progress.NONE);
			assertEquals(1, store.accessCount());
		}
		assertTrue(report.toText().contains("1 events that are no page faults are left out"), report.toText());
	}

	@Test
	void whatCannotBeReadIsOneSentence() throws Exception {
		Path folder = folder("");
		assertEquals("CTF traces are read by " + directory.resolve("nothing")
				+ ", which is not installed (Debian: apt-get install babeltrace2)",
				assertThrows(MemtraceException.class, () -> read(new CtfReader(directory.resolve("nothing").toString()), folder, false,
						Progress.NONE))
						.getMessage());
		CtfReader failing = printing(line(1, 0,
				1, "a", ""), "ERROR:    [Babeltrace CLI] (x.c:1)\n  first\nCAUSED BY [ctf] (y.c:2)\n  the bytes\n  are bad, "
				+ "it-addr=0x1\n", 1);
		assertEquals(folder + ": is damaged: babeltrace2 says: the bytes are bad",
				assertThrows(MemtraceException.class, () -> read(failing, folder, true, Progress.NONE)).getMessage());
		assertTrue(assertThrows(MemtraceException.class, () -> read(failing, folder, false, Progress.NONE)).getMessage()
				.endsWith("metadata: cannot be read: babeltrace2 says: the bytes are bad"));
		assertThrows(CancelledException.class, () -> read(printing("", "", 0), folder, false, Progress.cancelledWhen(() -> true)));
		assertEquals(0, catalogue.list().size());
		try (var left = Files.list(directory.resolve("scratch"))) {
			assertEquals(List.of(), left.toList());
		}
	}

	@Test
	void anyLinesEndWell() throws Exception {
		byte[] seed = (line(10, 0, 11, "syscall_entry_read", "fd = 3, s = \"a \\\"b\", v = { x = 1 }, e = ( \"B\" : container = 3 )")
				+ line(20, 1, 11, "syscall_exit_read", "ret = 4") + lineWithoutThread(20, 0, "sched_switch", switched("swapper/0",
						0, "kid", 5))
				+ lineWithoutThread(30, 0, "sched_switch", switched("kid", 5, "c", 7))).getBytes(java.nio.charset.StandardCharsets.UTF_8);
		Path folder = folder("");
		int imported = 0;
		for (int n = 0; n < 60; n++) {
			Random random = new Random(n);
			byte[] bytes = seed.clone();
			for (int m = random.nextInt(6); m >= 0; m--) {
				bytes[random.nextInt(bytes.length)] = random.nextBoolean() ? (byte) random.nextInt(256)
						: (byte) " ={}\",()[]0\n\\".charAt(random.nextInt(13));
			}
			bytes = Arrays.copyOf(bytes, random.nextInt(5) == 0 ? random.nextInt(bytes.length) : bytes.length);
			CtfReader reader = printing("", "", 0);
			Files.write(directory.resolve("text"), bytes);
			try {
				catalogue.delete(read(reader, folder, false, Progress.NONE).trace().id());
				imported++;
			} catch (MemtraceException e) {
				assertTrue(e.getMessage().contains("session"), "seed " + n + ": " + e);
			} catch (RuntimeException | OutOfMemoryError e) {
				throw new AssertionError("seed " + n, e);
			}
		}
		assertTrue(imported > 30, imported + " imported");
	}

	private static boolean hasBabeltrace() {
		return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":")).anyMatch(p -> Files.isExecutable(Path.of(p,
				CtfReader.PROGRAM)));
	}

	/** Three packets on each of two CPUs, two events lost. */
	private Path written() throws Exception {
		CtfWriter trace = new CtfWriter(directory.resolve("written")).event("sched_switch",
				"string prev_comm; i32 prev_tid; string next_comm; i32 next_tid;").event("syscall_entry_read", "i32 fd;")
				.event("syscall_exit_read", "i64 ret;").event("app:mark", "enum : u32 { A = 0, B = 1 ... 4 } e; u32 n; u32 list[n]; hex x;");
		trace.put(0, "sched_switch", 0, 0, "swapper/0", "swapper/0", 0, "app", 11).put(5, "syscall_entry_read", 10, 11, "app",
				3).packet(0, 0);
		trace.put(1, "app:mark", 10, 12, "a \"b\" },\n=", 3, 2, 5, 6, -1L).packet(1, 0);
		trace.put(20, "sched_switch", 10, 11, "app", "app", 11, "swapper/0", 0).packet(0, 2);
		trace.put(25, "syscall_exit_read", 10, 11, "app", -4L).packet(1, 0);
		trace.put(40, "app:mark", 10, 12, "app", 9, 0, 1L).packet(0, 0);
		trace.put(45, "app:mark", 10, 12, "app", 0, 0, 1L).packet(1, 0);
		return trace.write();
	}

	@Test
	void theRealBabeltraceReadsAll() throws Exception {
		assumeTrue(hasBabeltrace(), "babeltrace2 is not installed");
		ImportReport report = read(written());
		assertEquals(List.of("app:mark PUNCTUAL a \"b\" },\n= 12 " + (S + 1) + " " + (S + 1)
				+ " 0.0 e=B, n=2, list=[ [0] = 5, [1] = 6 ], x=0xFFFFFFFFFFFFFFFF",
				"app:mark PUNCTUAL a \"b\" },\n= 12 " + (S + 40) + " " + (S + 40) + " 0.0 e=9, n=0, list=[ ], x=0x1",
				"app:mark PUNCTUAL a \"b\" },\n= 12 " + (S + 45) + " " + (S + 45) + " 0.0 e=A, n=0, list=[ ], x=0x1",
				"on a CPU STATE app 11 " + S + " " + (S + 20) + " 0.0 cpu=0", "read STATE system calls " + (S + 5) + " " + (S + 25)
						+ " 0.0 fd=3, ret=-4"),
				EventLines.of(catalogue, report).stream().filter(e -> !e.startsWith("sched_switch")).toList());
		assertTrue(report.toText().matches("(?s).*lost by the recorder +2 events.*"), report.toText());
		assertEquals("written", report.trace().alias());
		assertEquals("CTF", report.trace().type());
	}

	@Test
	void cutStreamsGiveTheirWholePackets() throws Exception {
		assumeTrue(hasBabeltrace(), "babeltrace2 is not installed");
		Path folder = written();
		Path stream = folder.resolve("channel0_1");
		long whole = Files.size(stream);
		int before = Integer.MAX_VALUE;
		for (long size = whole - 1; size > 0; size -= 37) {
			Files.write(stream, Arrays.copyOf(Files.readAllBytes(stream), (int) size));
			ImportReport report = read(folder);
			int events = EventLines.of(catalogue, report).stream().filter(e -> e.contains(" PUNCTUAL ")).toList().size();
			assertTrue(events >= 3 && events <= before, size + ": " + events + " events after " + before); // those of CPU 0 are all there
			assertTrue(report.warnings().get(0).startsWith(stream
					+ ": damaged after byte ") || report.warnings().isEmpty() || events == before,
					report.toText());
			before = events;
		}
		assertEquals(3, before);
		MemtraceException strict = assertThrows(MemtraceException.class, () -> read(new CtfReader(), folder, true, Progress.NONE));
		assertTrue(strict.getMessage().startsWith(folder + ": is damaged: babeltrace2 "), strict.getMessage());
		Files.writeString(folder.resolve("metadata"), "/* CTF 1.8 */ trace {");
		assertTrue(assertThrows(MemtraceException.class,
				() -> read(folder)).getMessage().contains("metadata: cannot be read: babeltrace2 "));
		assertFalse(catalogue.list().isEmpty());
	}
}
