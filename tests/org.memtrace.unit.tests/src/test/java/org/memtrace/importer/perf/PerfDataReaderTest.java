// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.GZIPOutputStream;

import org.junit.jupiter.api.Test;
import org.memtrace.importer.EventLines;
import org.memtrace.importer.ImportTest;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.tree.MergeRule;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;

/** Files of perf record: what is asked of perf, by a program that stands for it, and files that the real perf recorded. */
class PerfDataReaderTest extends ImportTest {
	private static final String DATA = "PERFILE2 and what only perf knows";
	private static final String MAPPING = "  app 12/12 100.000000050: PERF_RECORD_MMAP2 12/12: [0x55a4d1000000(0x4000) @ 0 08:01 99 1]: rw-p /usr/bin/app\n";
	private static final String FAULTS = "  app 12/12 100.001000100: page-faults: 55a4d1000040 55a4d0001234 work+0x14 (/usr/bin/app)\n"
			+ "  app 12/13 100.002000100: page-faults: 55a4d1001040 55a4d0001234 work+0x14 (/usr/bin/app)\n";
	private static final String CLOCK = "  app 12/12 100.001000100: cpu-clock: 55a4d0001234 work+0x14 (/usr/bin/app)\n";

	/** Stands for perf: notes how it was called, refuses fields as perf does, prints the text, with mappings when they are asked for. */
	private PerfDataReader perf(String refusals, String text, String ending) throws Exception {
		file("mappings", MAPPING);
		file("text", text);
		Path script = file("perf", "#!/bin/sh\necho \"$*\" >>" + directory.resolve("calls") + "\n" + refusals //
				+ "case \"$*\" in *--show-mmap-events*) cat " + directory.resolve("mappings") + " ;; esac\n" //
				+ "cat " + directory.resolve("text") + "\n" + ending + "\n");
		Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
		return new PerfDataReader(script.toString());
	}

	private static String refuses(String field) {
		return "case \"$*\" in *[,:]" + field + "[,\\ ]*) echo \"Samples for 'page-faults' event do not have "
				+ field.toUpperCase(java.util.Locale.ROOT) + " attribute set. Cannot print '" + field + "' field.\" >&2; exit 234 ;; esac\n";
	}

	private List<String> calls() throws Exception {
		return Files.readAllLines(directory.resolve("calls"));
	}

	private ImportReport read(PerfDataReader reader, Input input, boolean strict, List<MergeRule> rules, Progress progress) throws Exception {
		assertEquals("perf-data", reader.look(input).orElseThrow().reader());
		Path scratch = Files.createDirectories(directory.resolve("scratch"));
		try {
			return reader.read(input, new ImportRequest(catalogue::create, "", strict, scratch, rules, 2, null, null), progress);
		} finally {
			try (var left = Files.list(scratch)) {
				assertEquals(List.of(), left.toList());
			}
		}
	}

	private ImportReport read(PerfDataReader reader) throws Exception {
		return read(reader, new Input(List.of(file("perf.data", DATA)), InputStream.nullInputStream()), false, List.of(), Progress.NONE);
	}

	private long accesses(ImportReport report) throws MemtraceException {
		AtomicLong all = new AtomicLong();
		try (TraceStore store = catalogue.open(report.trace().id())) {
			store.visitAccesses(AccessQuery.ALL, batch -> all.addAndGet(batch.count), Progress.NONE);
		}
		return all.get();
	}

	private String fails(PerfDataReader reader) {
		return assertThrows(MemtraceException.class, () -> read(reader)).getMessage();
	}

	@Test
	void fieldsThatWereNotRecordedAreLeftOut() throws Exception {
		ImportReport report = read(perf(refuses("weight") + refuses("phys_addr") + refuses("cpu"), FAULTS, ""));
		assertEquals(2, accesses(report));
		assertEquals("perf.data", report.trace().alias());
		assertTrue(report.toText().contains("perf.data: perf did not record weight, phys_addr, cpu"), report.toText());
		List<String> calls = calls();
		assertEquals(5, calls.size(), calls.toString()); // three refusals, the look at the events, all with the mappings
		assertTrue(calls.get(0).contains("-F comm,pid,tid,cpu,time,event,addr,data_src,weight,ip,sym,symoff,dso,phys_addr "), calls.get(0));
		assertTrue(calls.get(4).contains("--show-mmap-events"), calls.get(4));
		assertTrue(calls.get(4).contains("-F comm,pid,tid,time,event,addr,data_src,ip,sym,symoff,dso "), calls.get(4));
		assertTrue(calls.get(4).contains("-F trace:comm,pid,tid,time,event,trace"), calls.get(4));
		assertFalse(report.toText().contains("--show-mmap-events"), report.toText()); // the mappings were there
	}

	@Test
	void fieldsThatAnOldPerfDoesNotKnowAreLeftOut() throws Exception {
		String old = "case \"$*\" in *phys_addr*|*weight*) echo 'Invalid field requested.' >&2; exit 129 ;; esac\n"
				+ "case \"$*\" in *trace:*) echo 'tracepoint events do not exist. Remove corresponding -F option to proceed.' >&2; exit 1 ;; esac\n";
		ImportReport report = read(perf(old, FAULTS, ""));
		assertEquals(2, accesses(report));
		assertTrue(report.toText().contains("this version of perf does not know phys_addr, weight"), report.toText());
	}

	@Test
	void aPerfThatRefusesEverythingEndsTheImport() throws Exception {
		String told = fails(perf("echo 'Invalid field requested.' >&2; exit 129\n", "", ""));
		assertTrue(told.endsWith("cannot be read: perf script ended with exit code 129: Invalid field requested."), told);
		Files.delete(directory.resolve("calls"));
		told = fails(perf(refuses("time"), "", ""));
		assertTrue(told.contains("Cannot print 'time' field"), told);
		assertEquals(1, calls().size()); // no event without a time: there is nothing to try
	}

	@Test
	void eventsWithoutAddressesAreEvents() throws Exception {
		ImportReport report = read(perf(refuses("addr"), CLOCK + "  app 12/12 100.1: PERF_RECORD_LOST lost 5\n" + CLOCK, "")); // also phys_addr
		assertEquals(2, EventLines.of(catalogue, report).size());
		assertEquals("5", report.trace().properties().get("losses"));
		assertEquals("perf-events", report.trace().properties().get("reader"));
		assertTrue(report.toText().contains("perf did not record addr"), report.toText());
		assertFalse(calls().stream().anyMatch(call -> call.contains("--show-mmap-events")), calls().toString());
		Input input = new Input(List.of(directory.resolve("perf.data")), InputStream.nullInputStream());
		assertEquals(input.identity(), report.trace().properties().get("source_identity"));
		String told = assertThrows(MemtraceException.class, () -> read(perf(refuses("addr"), CLOCK, ""), input, false,
				List.of(MergeRule.parse("site")), Progress.NONE)).getMessage();
		assertTrue(told.contains("has no samples of memory, to which --merge applies"), told);
	}

	@Test
	void symbolsAreNotAskedForWithoutAnyAddress() throws Exception {
		String plain = "  app 12/12 100.1: cpu-clock:\n";
		ImportReport report = read(perf(refuses("addr") + refuses("ip") + "case \"$*\" in *,sym*|*,dso*) exit 1 ;; esac\n", plain, ""));
		assertEquals(1, EventLines.of(catalogue, report).size());
	}

	@Test
	void lossesOfSamplesAreTold() throws Exception {
		ImportReport report = read(perf("", FAULTS + "  app 12/12 100.1: PERF_RECORD_LOST lost 5\n", ""));
		assertEquals("5", report.trace().properties().get("losses"));
	}

	@Test
	void howPerfEndedIsTold() throws Exception {
		String told = fails(perf("", "", "echo 'incompatible file format' >&2; exit 255"));
		assertTrue(told.endsWith("perf.data: cannot be read: perf script ended with exit code 255: incompatible file format"), told);
		assertTrue(fails(perf("", "", "")).endsWith("perf.data: has no events"));
		PerfDataReader halfway = perf("", FAULTS, "echo \"'trace' not valid for software events. Ignoring.\" >&2; echo cut >&2; exit 3");
		ImportReport report = read(halfway);
		assertEquals(2, accesses(report));
		assertTrue(report.toText().contains("perf.data: is damaged: perf script ended with exit code 3: cut"), report.toText());
		report = read(perf(refuses("addr"), CLOCK, "exit 3"));
		assertTrue(report.toText().contains("perf.data: cannot be read: perf script ended with exit code 3"), report.toText());
		Input input = new Input(List.of(directory.resolve("perf.data")), InputStream.nullInputStream());
		assertThrows(MemtraceException.class, () -> read(halfway, input, true, List.of(), Progress.NONE));
	}

	@Test
	void withoutPerfThePackageIsNamed() {
		assertTrue(fails(new PerfDataReader("/nowhere/perf")).endsWith("which is not installed (Debian: apt-get install linux-perf)"));
	}

	@Test
	void aPerfThatPrintsNothingCanBeCancelled() throws Exception {
		PerfDataReader reader = perf("echo $$ >" + directory.resolve("pid") + "; exec sleep 600\n", "", "");
		Input input = new Input(List.of(file("perf.data", DATA)), InputStream.nullInputStream());
		Path pid = directory.resolve("pid");
		assertThrows(CancelledException.class,
				() -> read(reader, input, false, List.of(), Progress.cancelledWhen(() -> pid.toFile().length() > 1)));
		assertEnds(pid);
	}

	@Test
	void aSlowPerfCanBeCancelledInTheMiddle() throws Exception {
		PerfDataReader reader = perf("", FAULTS, "case \"$*\" in *--show-mmap-events*) echo $$ >" + directory.resolve("pid")
				+ "; exec sleep 600 ;; esac");
		Input input = new Input(List.of(file("perf.data", DATA)), InputStream.nullInputStream());
		Path pid = directory.resolve("pid");
		assertThrows(CancelledException.class,
				() -> read(reader, input, true, List.of(), Progress.cancelledWhen(() -> pid.toFile().length() > 1)));
		assertEnds(pid);
		assertEquals(0, catalogue.list().size());
	}

	private static void assertEnds(Path pid) throws Exception {
		var process = ProcessHandle.of(Long.parseLong(Files.readString(pid).strip()));
		if (process.isPresent()) {
			process.get().onExit().get(1, TimeUnit.MINUTES);
		}
	}

	@Test
	void slowTextIsReadToItsEnd() throws Exception {
		PerfDataReader reader = perf("", FAULTS, "sleep 0.3; cat " + directory.resolve("text"));
		assertEquals(4, accesses(read(reader)));
	}

	@Test
	void whatIsCompressedOrComesThroughAPipeIsUnpackedFirst() throws Exception {
		PerfDataReader reader = perf("cmp -s \"$3\" " + directory.resolve("plain") + " || exit 9\n", FAULTS, "");
		file("plain", DATA);
		Path packed = directory.resolve("perf.data.gz");
		try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
			out.write(DATA.getBytes(StandardCharsets.UTF_8));
		}
		assertEquals(2, accesses(read(reader, new Input(List.of(packed), InputStream.nullInputStream()), false, List.of(), Progress.NONE)));
		Input stream = new Input(List.of(Path.of("-")), new ByteArrayInputStream(DATA.getBytes(StandardCharsets.UTF_8)));
		assertEquals(2, accesses(read(reader, stream, false, List.of(), Progress.NONE)));
	}

	@Test
	void onlyFilesOfPerfAreTaken() throws Exception {
		PerfDataReader reader = perf("", FAULTS, "");
		Path data = file("a.data", DATA);
		assertTrue(reader.look(new Input(List.of(file("b.data", "2ELIFREP")), InputStream.nullInputStream())).isPresent());
		assertFalse(reader.look(new Input(List.of(file("c.data", "PERFILE1")), InputStream.nullInputStream())).isPresent());
		assertThrows(MemtraceException.class,
				() -> reader.look(new Input(List.of(data, directory.resolve("c.data")), InputStream.nullInputStream())));
		assertFalse(reader.look(new Input(List.of(data, directory), InputStream.nullInputStream())).isPresent()); // no trace directory
	}

	private Path recorded(String... options) throws Exception {
		Path data = directory.resolve("real.data");
		Path log = directory.resolve("perf.log");
		boolean there = true;
		try {
			java.util.ArrayList<String> command = new java.util.ArrayList<>(List.of("perf", "record", "-o", data.toString()));
			command.addAll(List.of(options));
			command.addAll(List.of("--", "/bin/ls", "/"));
			there = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start().waitFor() == 0;
		} catch (java.io.IOException e) {
			there = false;
		}
		assumeTrue(there, "perf is not installed or cannot record here");
		return data;
	}

	@Test
	void pageFaultsOfTheRealPerf() throws Exception {
		Path data = recorded("-e", "page-faults:u", "-c", "1", "-d");
		ImportReport report = read(data);
		assertTrue(accesses(report) > 20, report.toText());
		assertEquals("perf", report.trace().properties().get("backend"));
		assertEquals("none", report.trace().properties().get("guarantee_writes"));
		assertTrue(report.toText().contains("perf did not record weight"), report.toText());
		assertFalse(report.toText().contains("have no mappings"), report.toText());
		assertFalse(report.toText().contains("not a line of perf script"), report.toText());
	}

	@Test
	void clockOfTheRealPerf() throws Exception {
		Path data = recorded("-e", "task-clock:u", "-c", "10000");
		ImportReport report = read(data);
		assertEquals("perf-events", report.trace().properties().get("reader"));
		assertTrue(EventLines.of(catalogue, report).get(0).startsWith("task-clock"), report.toText());
	}
}
