// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/**
 * Whatever a file with accesses holds, an import ends in one of two ways: one sentence with file, line and reason, or a report
 * that counts what was left out; with --strict only the former. The same cases for every format.
 */
class BadInputTest {
	/** A format: header, a good row (of page 600000, thread 1), and the positions of what the cases change. */
	enum Format {
		OURS("@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags", "600000,0,2,1,3,10,20,1,0,-1,0"),
		MOCA("@Virt, @Phy, Nreads, Nwrites, CPUMask, Start, End, TaskId", "0000000000600000, 0, 3, 1, 011, 10, 19, 1"),
		MOCA_OLD("Virtual Addr,Physical Addr, R, W, CPUMask, StartTime, EndTime, Task", "600000,0,3,1,011,10,19,1"),
		FRAMESOC("@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Shared", "600000,0,3,1,011,10,19,1,1");

		private final String header;
		private final String row;

		Format(String header, String row) {
			this.header = header;
			this.row = row;
		}

		/** The good row with another value in a column (counted as in Moca). */
		String with(int column, String value) {
			String[] fields = row.split(", *");
			fields[column] = value;
			return String.join(",", fields);
		}

		String nothing() {
			String[] fields = row.split(", *");
			fields[READS] = "0";
			fields[WRITES] = "0";
			return String.join(",", fields);
		}

		String other() {
			return with(0, "700000");
		}
	}

	private static final int VIRT = 0;
	private static final int READS = 2;
	private static final int WRITES = 3;
	private static final int CPUS = 4;
	private static final int START = 5;
	private static final int END = 6;
	private static final int TASK = 7;

	@TempDir
	Path temporary;
	private TraceCatalogue catalogue;

	@BeforeEach
	void setUp() {
		catalogue = Stores.inMemory();
	}

	@AfterEach
	void tearDown() {
		catalogue.close();
	}

	private ImportOperation operation(byte[] content, boolean strict) throws IOException {
		Path file = Files.write(temporary.resolve("f.csv"), content);
		return new ImportOperation(List.of(file), InputStream.nullInputStream(), catalogue::create).setStrict(strict);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.ISO_8859_1);
	}

	private ImportReport lenient(String text) throws Exception {
		return operation(bytes(text), false).call(Progress.NONE);
	}

	private String refused(String text, boolean strict) throws Exception {
		ImportOperation operation = operation(bytes(text), strict);
		String message = assertThrows(TraceFormatException.class, () -> operation.call(Progress.NONE)).getMessage();
		assertEquals(List.of(), catalogue.list(), "nothing stays");
		assertEquals(1, message.lines().count(), message);
		return message.replace(temporary + "/", "");
	}

	/** A bad row between two good ones: counted with its place, and refused when strict. */
	private void skipped(Format format, String row, String reason) throws Exception {
		String text = format.header + "\n" + format.row + "\n" + row + "\n" + format.other() + "\n";
		ImportReport report = lenient(text);
		JsonObject rows = JsonParser.parseString(report.toJson()).getAsJsonObject().getAsJsonObject("rows");
		assertEquals(3, rows.get("read").getAsLong());
		assertEquals(2, rows.get("imported").getAsLong());
		assertEquals(1, rows.get("skipped").getAsLong());
		assertEquals("{\"" + reason + "\":1}", rows.get("skipped_by_reason").toString());
		assertEquals("f.csv, line 3", rows.getAsJsonObject("first_place_by_reason").get(reason).getAsString()
				.replace(temporary + "/", ""));
		try (TraceStore store = catalogue.open(report.trace().id())) {
			assertEquals(2, store.accessCount());
		}
		catalogue.delete(report.trace().id());
		assertEquals("f.csv, line 3: " + reason, refused(text, true));
	}

	@ParameterizedTest
	@EnumSource
	void rowsThatCannotBeUsedAreSkipped(Format f) throws Exception {
		boolean ours = f == Format.OURS;
		skipped(f, f.with(START, "30"), "End before Start");
		skipped(f, f.with(READS, "-1"), "negative count");
		skipped(f, f.with(WRITES, "-1"), "negative count");
		skipped(f, f.with(READS, "99999999999999999999"), "number out of range");
		skipped(f, f.with(READS, "9007199254740993"), "number out of range");
		skipped(f, f.with(VIRT, "10000000000000000"), "number out of range");
		skipped(f, f.with(START, "-3"), "number out of range");
		skipped(f, f.with(TASK, "4294967296"), "number out of range");
		skipped(f, f.with(READS, ""), "not a number");
		skipped(f, f.with(CPUS, "zz"), "not a number");
		skipped(f, f.with(CPUS, (ours ? "f" : "1").repeat(17_000)), "number out of range");
		skipped(f, f.row + ",5", "wrong number of columns");
		skipped(f, f.row.substring(0, f.row.lastIndexOf(',')), "wrong number of columns");
		skipped(f, "\0\0\0\0", "not a number");
		skipped(f, "\u00ff\u0001\u0080binary,\u0000garbage", "not a number");
		skipped(f, f.header, "repeated header");
		skipped(f, "7".repeat(3 << 19), "line longer than 1 MiB");
		if (ours) {
			skipped(f, f.with(END, "10"), "End equal to Start");
		} else {
			skipped(f, f.with(WRITES, "4"), "more writes than accesses");
		}
		skipped(f, f.nothing(), "neither reads nor writes");
	}

	@ParameterizedTest
	@EnumSource
	void aTruncatedLastLineIsDropped(Format f) throws Exception {
		String text = f.header + "\n" + f.row + "\n" + f.other().substring(0, 9);
		assertEquals("f.csv, line 3: the last line is incomplete", refused(text, true));
		ImportReport report = operation(bytes(text), false).call(Progress.NONE);
		JsonObject rows = JsonParser.parseString(report.toJson()).getAsJsonObject().getAsJsonObject("rows");
		assertEquals(1, rows.get("imported").getAsLong());
		assertEquals(1, rows.get("incomplete_last_lines").getAsLong());
		assertEquals(1, rows.get("skipped").getAsLong());
	}

	@ParameterizedTest
	@EnumSource
	void filesWithoutRowsAreRefused(Format f) throws Exception {
		for (boolean strict : new boolean[] { false, true }) {
			assertEquals("f.csv: is empty", refused("", strict));
			assertEquals("f.csv: has no accesses to import", refused(f.header + "\n", strict));
			assertTrue(refused(f.header, strict).matches("f.csv: (has no accesses to import|ends within its header)"));
			assertTrue(refused("\0\u0001\u00fe\n\u0002garbage", strict).startsWith("f.csv: is of no format"));
		}
		String allBad = refused(f.header + "\nx\ny\n", false);
		assertEquals("f.csv: has no accesses to import; all 2 rows were skipped: {not a number=2}", allBad);
	}

	@ParameterizedTest
	@EnumSource
	void columnsAreFoundByName(Format f) throws Exception {
		String[] names = f.header.split(",");
		String[] fields = f.row.split(",");
		StringBuilder header = new StringBuilder(names[names.length - 1]);
		StringBuilder row = new StringBuilder(fields[names.length - 1]);
		for (int i = names.length - 2; i >= 0; i--) {
			header.append(',').append(names[i]);
			row.append(',').append(fields[i]);
		}
		assertEquals(row(f.header + "\n" + f.row + "\n"), row(header + "\n" + row + "\n"), "reversed");
		assertEquals(row(f.header + "\n" + f.row + "\n"), row(f.header + "\r\n" + f.row + "\r\n"), "CRLF");
		String missing = f.header.replaceFirst(", *End(Time)?", ",Ende");
		assertEquals("f.csv, line 1: the column End is missing", refused(missing + "\n" + f.row + "\n", false));
		String twice = f.header.replaceFirst("(, *)(TaskId|Task)\\b", "$1$2$1$2");
		assertEquals("f.csv, line 1: the column TaskId is there twice", refused(twice + "\n" + f.row + "\n", false));
	}

	@ParameterizedTest
	@EnumSource
	void theUnusualIsRight(Format f) throws Exception {
		assertEquals("ffffffffff600000 (1 page) 10-20 thread 1 2/1 [0, 1]",
				row(f.header + "\n" + f.with(VIRT, "ffffffffff600123") + "\n"));
		String cpus = f == Format.OURS ? "1" + "0".repeat(25) : "1" + "0".repeat(100);
		assertEquals("600000 (1 page) 10-20 thread 1 2/1 [100]", row(f.header + "\n" + f.with(CPUS, cpus) + "\n"));
		ImportReport report = lenient(f.header + "\n" + f.with(TASK, "2147483647") + "\n");
		assertTrue(report.toJson().contains("\"threads_not_listed\": 1"), report.toJson());
		if (f != Format.OURS) {
			assertEquals("600000 (1 page) 19-20 thread 1 2/1 [0, 1]", row(f.header + "\n" + f.with(START, "19") + "\n"),
					"one tick: start = end");
		}
	}

	private String row(String text) throws Exception {
		ImportReport report = operation(bytes(text), true).call(Progress.NONE);
		StringBuilder found = new StringBuilder();
		try (TraceStore store = catalogue.open(report.trace().id())) {
			store.visitAccesses(AccessQuery.ALL, b -> {
				for (int i = 0; i < b.count; i++) {
					found.append(store.producers().name(b.producer[i])).append(' ').append(b.startNs[i]).append('-')
							.append(b.endNs[i]).append(' ').append(store.threads().get(b.thread[i]).name()).append(' ')
							.append(b.reads[i]).append('/').append(b.writes[i]).append(' ')
							.append(store.cpuSets().get(b.cpuSet[i]).toString().replace('{', '[').replace('}', ']'));
				}
			}, Progress.NONE);
		}
		catalogue.delete(report.trace().id());
		return found.toString();
	}

	@Test
	void tabarnacsRows() throws Exception {
		String header = "addr,firstacc,type,T0,T1\n";
		Map<String, String> bad = Map.of("1,0,R,1", "wrong number of columns", "1,0,R,-1,0", "negative count", "1,0,Q,1,0",
				"type is neither R nor W", "1,5,R,1,0", "unknown thread", "x,0,R,1,0", "not a number",
				"9999999999999999,0,R,1,0", "number out of range", "1,0,R,9007199254740993,0", "number out of range",
				"addr,firstacc,type,T0,T1", "repeated header", "\0", "wrong number of columns", "8".repeat(3 << 19),
				"line longer than 1 MiB");
		for (Map.Entry<String, String> e : bad.entrySet()) {
			String text = header + "2,0,R,1,0\n" + e.getKey() + "\n3,1,W,0,4\n";
			ImportReport report = lenient(text);
			assertTrue(report.toJson().contains("\"" + e.getValue() + "\": 1"), e.getValue() + report.toJson());
			assertTrue(report.toJson().contains("\"imported\": 2"), report.toJson());
			catalogue.delete(report.trace().id());
			assertEquals("f.csv, line 3: " + e.getValue(), refused(text, true));
		}
		assertEquals(3, catalogueAccesses(lenient(header.replace("\n", "\r\n") + "1,0,R,1,2\r\n1,0,W,0,4\r\n1,0,")));
		assertEquals("f.csv, line 1: has no column of a thread, such as T0", refused("addr,firstacc,type\n1,0,R\n", false));
	}

	private long catalogueAccesses(ImportReport report) throws MemtraceException {
		try (TraceStore store = catalogue.open(report.trace().id())) {
			return store.accessCount();
		} finally {
			catalogue.delete(report.trace().id());
		}
	}

	@Test
	void structureFiles() throws Exception {
		Path trace = Files.writeString(temporary.resolve("t.csv"), Format.MOCA.header + "\n" + Format.MOCA.row + "\n");
		Map<String, String> bad = Map.of("a,1,-5,NA", "structure without bytes", "a,x,5,NA", "not a number", "a,1,5",
				"wrong number of columns", "a,-1,5,NA", "not a number", "9".repeat(3 << 19), "line longer than 1 MiB");
		for (Map.Entry<String, String> e : bad.entrySet()) {
			Path structures = Files.writeString(temporary.resolve("s.csv"),
					"name,addr,size,backtrace\r\n" + e.getKey() + "\nkey,6291456,4096,NA\ncut,12");
			ImportReport report = new ImportOperation(List.of(trace, structures), InputStream.nullInputStream(),
					catalogue::create).call(Progress.NONE);
			assertTrue(report.toJson().contains("\"" + e.getValue() + "\": 1"), report.toJson());
			assertTrue(report.toJson().contains("\"structures_with_accesses\": 1"), report.toJson());
			assertEquals(structures + ", line 2: " + e.getValue(),
					assertThrows(TraceFormatException.class, () -> new ImportOperation(List.of(trace, structures),
							InputStream.nullInputStream(), catalogue::create).setStrict(true).call(Progress.NONE)).getMessage());
		}
	}
}
