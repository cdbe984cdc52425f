// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TimeRange;
import org.memtrace.model.store.TraceStore;

/**
 * Inputs that somebody made to do harm, or that a disk made: each is used as far as it can be, and what is not is counted with its reason.
 */
class HostileInputTest extends ImportTest {
	private static final String EVENTS = "type,category,producer,start_ns,end_ns,value\n";

	private static String path(int parts) {
		return IntStream.range(0, parts).mapToObj(i -> "p" + i).collect(Collectors.joining("/"));
	}

	@Test
	void pathsOfProducersHaveALimit() throws Exception {
		ImportReport report = read(file("a.csv", EVENTS + "a,state," + path(256) + ",1,2,0\na,state," + path(257) + ",1,2,0\nl,link,p,1,2,"
				+ path(300) + "\na,state," + path(100_000) + ",1,2,0\n"));
		assertEquals(1, report.trace().events());
		String text = report.toText();
		assertTrue(text.contains("3: its producer, or the one that it leads to, has a path of more than 256 parts"), text);
		try (TraceStore store = catalogue.open(report.trace().id())) {
			assertEquals(257, store.producers().size(), "256, and the start of the link");
		}
	}

	@Test
	void tracksOfPerfettoInEachOtherHaveALimit() throws Exception {
		for (boolean upward : new boolean[] { true, false }) {
			PerfettoBytes trace = new PerfettoBytes();
			for (int k = 1; k <= 1000; k++) {
				int i = upward ? k : 1001 - k;
				trace.packet(60, new PerfettoBytes().number(1, i).number(5, i - 1).text(2, "t" + i));
			}
			for (int track : new int[] { 200, 256, 257, 900, 1000 }) {
				trace.instant(track, 5);
			}
			ImportReport report = read(Files.write(directory.resolve("a.pftrace"), trace.bytes()));
			assertEquals(2, report.trace().events(), report.toText());
			assertTrue(report.toText().contains("3: its producer, or the one that it leads to, has a path of more"), report.toText());
		}
	}

	@Test
	void timesOutOfRangeAreCountedByAllReaders() throws Exception {
		long first = TimeRange.FIRST_NS;
		long last = TimeRange.LAST_NS;
		ImportReport report = read(file("a.csv", EVENTS + "a,event,p,-9223372036854775807,,0\na,event,p,9223372036854775806,,0\n" //
				+ "a,event,p," + first + ",,0\na,state2,p,1,2,0\nb,state,p," + first + "," + last + ",0\nb,state,p,0," + (last + 1)
				+ ",0\nb,state,p," + (first - 1) + ",0,0\na,event,p," + last + ",,0\n"));
		assertEquals(3, report.trace().events());
		assertTrue(report.toText().contains("4: time out of range"), report.toText());
		assertEquals(1L << 62, report.trace().durationNs());
		try (TraceStore store = catalogue.open(report.trace().id())) {
			assertEquals(3, EventTable.load(store, Progress.NONE).size());
		}
		report = read(new TraceDirectoryBuilder(directory.resolve("t")).sampleContext().access(0x10000, 1, 0, 1100, 1500, 100)
				.access(0x10000, 1, 0, 1100, 2 * (last / 2) + 4, 100).access(0x10000, 1, 0, last, last + 2, 100).write());
		assertEquals(Map.of("time out of range", 2L), skipped(report));
	}

	@SuppressWarnings("unchecked")
	private static Map<String, Long> skipped(ImportReport report) {
		String json = report.toJson();
		var rows = com.google.gson.JsonParser.parseString(json).getAsJsonObject().getAsJsonObject("rows").getAsJsonObject("skipped_by_reason");
		return rows.asMap().entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, e -> e.getValue().getAsLong()));
	}

	/** Types that are told once, and in no list that is copied for each: 50,000 were 19 seconds of processor time. */
	@Test
	void aTypeForEachEvent() throws Exception {
		StringBuilder all = new StringBuilder("type,category,producer,start_ns,end_ns,value,parameters\n");
		int n = 50_000;
		for (int i = 0; i < n; i++) {
			all.append("type ").append(i).append(",state,p,").append(i).append(',').append(i + 1).append(",0,a=").append(i).append('\n');
		}
		ImportReport report = read(file("a.csv", all.toString()));
		assertEquals(n, report.trace().events());
		assertTrue(report.toJson().contains("\"event_types\": " + n), report.toJson());
	}

	@Test
	void placesThatTheHeaderOfParaverDoesNotHave() throws Exception {
		ImportReport report = read(file("a.prv", "#Paraver (01/01/20 at 00:00):1000_ns:1(4):1:1(1:1)\n1:1:1:999999999:1:0:10:1\n"
				+ "1:1:1:1:999999999:0:10:1\n1:1:0:0:0:0:10:1\n1:1:1:1:-1:0:10:1\n1:1:1:1:1:0:10:1\n3:1:1:1:1:1:2:1:1:2:1:3:4:0:0\n"));
		assertEquals(1, report.trace().events());
		assertEquals(Map.of("application, task or thread that the header does not have", 5L), skipped(report));
		try (TraceStore store = catalogue.open(report.trace().id())) {
			assertEquals(3, store.producers().size());
		}
	}

	@Test
	void jsonHasLimits() throws Exception {
		String one = "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}";
		String deep = "{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"args\":{\"x\":" + "[".repeat(200_000)
				+ "]".repeat(200_000) + "}}";
		String message = assertThrows(MemtraceException.class, () -> read(file("a.json", "[" + deep + "]"))).getMessage();
		assertTrue(message.contains("has no events to import; ") && message.contains("in each other, more than 255 deep"), message);
		ImportReport report = read(file("b.json", "[" + one + "," + deep + "]"));
		assertEquals(1, report.trace().events());
		assertTrue(report.warnings().getFirst().contains("is damaged after event 1: arrays and objects are in each other, more than 255 deep"),
				report.toText());
		String text = "x\\\"".repeat(1 << 19);
		report = read(file("c.json", "[" + one + "," + one.replace("\"a\"", "\"" + text + "\"") + "]"));
		assertEquals(1, report.trace().events());
		assertTrue(report.warnings().getFirst().contains("a text is longer than 1 MiB"), report.toText());
	}

	/** 1 GiB of blanks, through which the parser of JSON goes by itself. */
	@Test
	void blanksCanBeCancelled() {
		byte[] head = "{\"traceEvents\": [".getBytes(StandardCharsets.UTF_8);
		InputStream blanks = new InputStream() {
			private long at;

			@Override
			public int read() {
				return at < head.length ? head[(int) at++] : at++ < 1L << 30 ? ' ' : -1;
			}
		};
		int[] asked = { 0 };
		Progress cancelled = new Progress() {
			@Override
			public void begin(String step, long total) {
				// nobody looks
			}

			@Override
			public void worked(long units) {
				// nobody looks
			}

			@Override
			public boolean isCancelled() {
				return ++asked[0] > 20;
			}
		};
		assertThrows(CancelledException.class,
				() -> new ImportOperation(List.of(Path.of("-")), blanks, catalogue::create).call(cancelled));
	}

	/** A disk that gives no more bytes is no damaged file, whose beginning counts: nothing is imported. */
	@Test
	void aDiskThatFailsIsNoDamagedFile() throws Exception {
		StringBuilder rows = new StringBuilder();
		for (int i = 0; i < 40_000; i++) {
			rows.append("a,state,p,").append(i).append(',').append(i + 1).append(",0\n");
		}
		String moca = "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId\n" + "601000,0,3,1,1,0,9,0\n".repeat(40_000);
		String monitors = "PU:0 1000 5\n".repeat(40_000);
		String chrome = "[" + "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1},".repeat(20_000);
		for (String text : List.of(EVENTS + rows, moca, monitors, chrome)) {
			InputStream failing = new FilterInputStream(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8))) {
				private int given;

				@Override
				public int read(byte[] buffer, int offset, int length) throws IOException {
					if (given > 200_000) {
						throw new IOException("Input/output error");
					}
					int n = super.read(buffer, offset, Math.min(length, 50_000));
					given += n;
					return n;
				}
			};
			String message = assertThrows(MemtraceException.class,
					() -> new ImportOperation(List.of(Path.of("-")), failing, catalogue::create).call(Progress.NONE)).getMessage();
			assertTrue(message.matches("standard input: cannot be read behind byte 2\\d{5}: Input/output error"), message);
		}
		assertEquals(List.of(), catalogue.list());
	}

	/** Processes, threads and containers without number: a trace has a limit, and the sentence names it and the row. */
	@Test
	void producersHaveALimit() throws Exception {
		int most = EventSink.MOST_PRODUCERS;
		byte[] head = EVENTS.getBytes(StandardCharsets.UTF_8);
		InputStream many = new InputStream() {
			private byte[] line = head;
			private int at;
			private int rows;

			@Override
			public int read() {
				if (at == line.length) {
					if (rows > most + 1) {
						return -1;
					}
					line = ("a,event,p" + rows++ + ",1,,0\n").getBytes(StandardCharsets.UTF_8);
					at = 0;
				}
				return line[at++];
			}
		};
		String message = assertThrows(MemtraceException.class,
				() -> new ImportOperation(List.of(Path.of("-")), many, catalogue::create).call(Progress.NONE)).getMessage();
		assertEquals("-: row 2,097,153: there are more than 2,097,152 event producers, and a trace can have no more", message);
		assertEquals(List.of(), catalogue.list());
	}

	@Test
	void linesOfMonitorsHaveALimit() throws Exception {
		ImportReport report = read(file("m.txt", "PU:0 1000 5\nPU:0 2000" + " 1".repeat(600_000) + "\nPU:0 3000 6\nPU:0 4000 71"));
		assertEquals(Map.of("line longer than 1 MiB", 1L), skipped(report));
		assertEquals(2, report.trace().events());
		assertTrue(report.toText().contains("1: incomplete last line"), "the value may be 71 or the beginning of 712");
	}

	@Test
	void aTraceDirectoryHasOnlyFiles() throws Exception {
		Path trace = new TraceDirectoryBuilder(directory.resolve("t")).sampleContext().access(0x10000, 1, 0, 1100, 1500, 100).write();
		Path zero = Path.of("/dev/zero");
		assumeTrue(Files.exists(zero), "this system has no devices");
		Path chunk = Files.createSymbolicLink(trace.resolve("p0000/accesses-000001.csv"), zero);
		String message = assertThrows(MemtraceException.class, () -> read(trace)).getMessage();
		assertTrue(message.contains("p0000/accesses-000001.csv: is a device, and a trace directory has only files"), message);
		Files.delete(chunk);
		assumeTrue(new ProcessBuilder("mkfifo", trace.resolve("p0000/regions.csv").toString()).start().waitFor() == 0, "no mkfifo");
		message = assertThrows(MemtraceException.class, () -> read(trace)).getMessage();
		assertTrue(message.contains("p0000/regions.csv: is a named pipe, and a trace directory has only files"), message);
	}

	@Test
	void aSizeOfPagesThatIsNotToldIsNoFact() throws Exception {
		for (String size : List.of("0", "null")) {
			Path trace = new TraceDirectoryBuilder(directory.resolve("t" + size)).sampleContext().access(0x10000, 1, 0, 1100, 1500, 100).write();
			Path manifest = trace.resolve("manifest.json");
			Files.writeString(manifest, Files.readString(manifest).replace("\"page_size_bytes\":4096", "\"page_size_bytes\":" + size));
			ImportReport report = read(trace);
			assertTrue(report.warnings().stream().anyMatch(w -> w.contains("does not tell the size of pages; 4096 bytes are taken")),
					report.warnings().toString());
		}
	}
}
