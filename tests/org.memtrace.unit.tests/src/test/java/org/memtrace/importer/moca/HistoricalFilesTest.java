// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.moca;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;

import com.github.luben.zstd.ZstdOutputStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.TraceDirectoryBuilder;
import org.memtrace.importer.rows.RowBatch;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/** Files of Moca and TABARNAC, as their programs write them. */
class HistoricalFilesTest {
	private static final Path SHARING = Path.of(System.getProperty("memtrace.root", "../.."), "testdata", "vectors",
			"sharing");
	private static final String FULL_TRACE = """
			@Virt, @Phy, Nreads, Nwrites, CPUMask, Start, End, TaskId
			0000000000601010, 0000000012345010, 3, 1, 001, 10, 20, 0
			0000000000601020, 0000000012345020, 2, 2, 110, 15, 30, 1
			00007ffc00001000, 00007ffc00001000, 1, 0, 001, 7, 7, 0
			""";

	@TempDir
	Path temporary;
	private TraceCatalogue catalogue;
	private ImportReport report;

	@BeforeEach
	void setUp() throws MemtraceException {
		catalogue = Stores.inMemory();
	}

	@AfterEach
	void tearDown() {
		catalogue.close();
	}

	private Path file(String name, String content) throws IOException {
		return Files.writeString(temporary.resolve(name), content);
	}

	private ImportOperation operation(Path... paths) {
		return new ImportOperation(List.of(paths), InputStream.nullInputStream(), catalogue::create)
				.setScratchDirectory(temporary);
	}

	private TraceStore imported(ImportOperation operation) throws MemtraceException {
		report = operation.call(Progress.NONE);
		return catalogue.open(report.trace().id());
	}

	private static List<String> rows(TraceStore store) throws MemtraceException {
		List<String> rows = new ArrayList<>();
		store.visitAccesses(AccessQuery.ALL, b -> {
			for (int i = 0; i < b.count; i++) {
				rows.add(store.producers().name(b.producer[i]) + " " + b.startNs[i] + "-" + b.endNs[i] + " "
						+ store.threads().get(b.thread[i]).name() + " " + b.reads[i] + "/" + b.writes[i] + " shared"
						+ b.sharing[i] + " cpus" + (b.cpuSet[i] < 0 ? "?" : store.cpuSets().get(b.cpuSet[i])) + " "
						+ b.flags[i]);
			}
		}, Progress.NONE);
		return rows;
	}

	private String reason(ImportOperation operation) {
		return assertThrows(MemtraceException.class, () -> operation.call(Progress.NONE)).getMessage()
				.replace(temporary + "/", "");
	}

	private boolean warned(String text) {
		return report.warnings().stream().anyMatch(w -> w.contains(text));
	}

	@Test
	void theFullTraceCountsReadsAndWritesTogetherInClosedIntervals() throws Exception {
		try (TraceStore store = imported(operation(file("anything.txt", FULL_TRACE)))) {
			assertEquals(List.of("7ffc00001000 (1 page) 7-8 thread 0 1/0 shared0 cpus{0} 0",
					"601000 (1 page) 10-21 thread 0 2/1 shared2 cpus{0} 0",
					"601000 (1 page) 15-31 thread 1 0/2 shared2 cpus{1, 2} 0"), rows(store));
			assertEquals("Moca", store.info().type());
			assertEquals("tick", store.info().properties().get("time_unit"));
			assertEquals("anything.txt", store.info().alias());
			assertTrue(warned("logical clock"));
		}
	}

	@Test
	void theOlderHeaderIsReadLikeTheNewerOne() throws Exception {
		List<String> expected;
		try (TraceStore store = imported(operation(file("new.csv", FULL_TRACE)))) {
			expected = rows(store);
		}
		String old = FULL_TRACE.replace("@Virt, @Phy, Nreads, Nwrites, CPUMask, Start, End, TaskId",
				"# a comment\n\nVirtual Addr,Physical Addr, R, W, CPUMask, StartTime, EndTime, Task");
		try (TraceStore store = imported(operation(file("old.csv", old)))) {
			assertEquals(expected, rows(store));
		}
		String reordered = """
				TaskId,End,Start,CPUMask,Nwrites,Nreads,@Virt
				0,20,10,001,1,3,601010
				1,30,15,110,2,2,601020
				0,7,7,001,0,1,7ffc00001000
				""";
		try (TraceStore store = imported(operation(file("reordered.csv", reordered)))) {
			assertEquals(expected, rows(store));
		}
	}

	@Test
	void theExportIsMocasOwnByteForByte() throws Exception {
		Path export = temporary.resolve("Moca-framesoc.csv");
		try (TraceStore store = imported(operation(SHARING.resolve("accesses.csv")).setMocaFramesoc(export))) {
			assertEquals(12, store.accessCount());
			assertTrue(report.toJson().contains("\"End before Start\": 1"), report.toJson());
		}
		assertArrayEquals(Files.readAllBytes(SHARING.resolve("expected-upstream.csv")), Files.readAllBytes(export));
		assertEquals(export + " exists already",
				assertThrows(MemtraceException.class, () -> operation(SHARING.resolve("accesses.csv"))
						.setMocaFramesoc(export).call(Progress.NONE)).getMessage());
	}

	@Test
	void nothingIsExportedWhenTheImportFails() throws Exception {
		Path export = temporary.resolve("x.csv");
		assertEquals("t.csv, line 2: not a number",
				reason(operation(file("t.csv", FULL_TRACE.replace("001, 10", "0x1, 10"))).setStrict(true)
						.setMocaFramesoc(export)));
		try (Stream<Path> files = Files.list(temporary)) {
			assertEquals(List.of("t.csv"), files.map(f -> f.getFileName().toString()).toList());
		}
	}

	@Test
	void ourOwnTracesAreExportedInMocasConventions() throws Exception {
		Path export = temporary.resolve("ours.csv");
		Path directory = new TraceDirectoryBuilder(temporary.resolve("a.memtrace"))
				.file("p0000/accesses-000000.csv", TraceDirectoryBuilder.HEADER, "10008,9000008,2,1,3,100,200,7,0,0,0",
						"10010,0,0,1,8,200,300,8,0,0,0")
				.write();
		imported(operation(directory).setMocaFramesoc(export)).close();
		assertEquals("""
				@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Shared
				0000000000010008,0000000009000008,3,1,00011,100,199,7,1
				0000000000010010,0000000000010010,1,1,01000,200,299,8,1
				""", Files.readString(export), "four CPUs, so five digits; the intervals do not touch");
	}

	/** Sorted in many pieces, the result is the same as in one. */
	@Test
	void theExportDoesNotDependOnThePieces() throws Exception {
		long seed = 20240611;
		System.out.println("seed " + seed);
		Random random = new Random(seed);
		RowBatch batch = new RowBatch();
		for (int i = 0; i < 3000; i++) {
			batch.address[i] = (random.nextInt(40) << 12) + random.nextInt(4096) - (random.nextBoolean() ? 0 : 1L << 44);
			batch.startNs[i] = random.nextInt(300);
			batch.endNs[i] = batch.startNs[i] + 1 + random.nextInt(20);
			batch.reads[i] = 1 + random.nextInt(3);
			batch.taskId[i] = random.nextInt(4);
			batch.cpuSet[i] = -1;
			batch.maskDigits[i] = 3;
			batch.count++;
		}
		List<String> results = new ArrayList<>();
		for (int pieceRows : new int[] { 1 << 18, 1000, 7, 3000, 1 }) {
			Path file = temporary.resolve("pieces" + pieceRows);
			try (MocaFramesocExport export = new MocaFramesocExport(file, temporary, 12, 2, pieceRows)) {
				export.add(batch, 0);
				export.write(List.of(), Progress.NONE);
				assertFalse(Files.exists(file), "not before everything has succeeded");
				export.publish();
			}
			results.add(Files.readString(file));
		}
		assertTrue(results.get(0).lines().count() > 3000);
		results.forEach(result -> assertEquals(results.get(0), result));
	}

	@Test
	void segmentsArePutTogetherAgain() throws Exception {
		List<String> whole;
		try (TraceStore store = imported(operation(SHARING.resolve("accesses.csv")))) {
			whole = rows(store).stream().sorted().toList();
		}
		String counts = Files.readString(SHARING.resolve("expected-upstream.csv"));
		String flags = counts.replaceAll(",1\n", ",0\n").replaceAll(",[2-9]\n", ",1\n");
		for (String convention : List.of(counts, flags)) {
			try (TraceStore store = imported(operation(file("framesoc.csv", convention)))) {
				assertEquals(whole, rows(store).stream().sorted().toList());
				assertTrue(report.toJson().contains("\"segments_put_together\": 18"), report.toJson());
				assertFalse(warned("Shared"), report.toText());
			}
		}
		String wrong = counts.replace("0000000000603000,0000000000603000,1,0,001,7,7,0,1",
				"0000000000603000,0000000000603000,1,0,001,7,7,0,3");
		imported(operation(file("wrong.csv", wrong))).close();
		assertTrue(warned("of 1 accesses the column Shared says otherwise"), report.toText());
	}

	@Test
	void structuresStacksAndPageSizeComeFromTheOtherFiles() throws Exception {
		Path trace = file("trace.csv", """
				@Virt, @Phy, Nreads, Nwrites, CPUMask, Start, End, TaskId
				0000000000601010, 0000000000601010, 1, 0, 001, 1, 2, 0
				0000000000700000, 0000000000700000, 1, 0, 001, 2, 3, 0
				00007ffc00001000, 00007ffc00001000, 1, 0, 001, 3, 3, 0
				00007ffd00001000, 00007ffd00001000, 1, 0, 001, 4, 4, 1
				""");
		Path structures = file("structs.csv", "name,addr,size,backtrace\nkey_array,6295552,4096,NA\n"
				+ "malloc#3,7340032,32816,libc.so.6:0x4f2:0x1a0/app:0x401136\nstack:1262,140724603453440,8192,NA\n"
				+ "broken,12,-1,NA\n");
		Path log = file("stacks.log", "7ffc00001000-7ffc00002000 rw-p 00000000 00:00 0    [stack]\n"
				+ "7ffc00000000-7ffc00002000 rw-p 00000000 00:00 0    [stack]\n7fff-zz\n");
		Path producers = file("Virtual-producers.log", "4096\n0000000000601010,0\n");
		try (TraceStore store = imported(operation(trace, structures, log, producers))) {
			assertEquals(List.of("key_array", "malloc#3 [page 0]", "stack [page 1]", "stack:1262 [page 1]"),
					rows(store).stream().map(r -> r.replaceAll(" \\d+-\\d+ thread.*", "")).toList());
			assertEquals(List.of(StructureKind.STATIC, StructureKind.HEAP, StructureKind.STACK, StructureKind.STACK),
					store.structures().stream().map(s -> s.kind()).toList());
			assertEquals(1262, store.structures().get(2).taskId());
			assertEquals(2 * 4096, store.structures().get(3).sizeBytes(), "the largest that the log has seen");
			assertEquals("[libc.so.6 4f2, libc.so.6 1a0, app 401136]",
					store.stack(store.structures().get(1).stack()).stream()
							.map(f -> f.object() + " " + Long.toHexString(f.ip())).toList().toString());
			assertEquals(4096, store.info().pageSizeBytes());
			assertTrue(report.toJson().contains("\"structure without bytes\": 1"), report.toJson());
			assertTrue(report.toJson().contains("\"not a stack of a memory map\": 1"), report.toJson());
		}
		Path large = file("large.log", "65536\n");
		try (TraceStore store = imported(operation(trace, large))) {
			assertEquals(65536, store.info().pageSizeBytes());
		}
		assertEquals("large.log, line 1: has the page size 65536, another file has 4096",
				reason(operation(trace, producers, large)));
	}

	@Test
	void tabarnacIsOneInterval() throws Exception {
		file("is.full.page.csv", """
				addr,firstacc,type,T0,T1,T2
				1536,2,R,10,0,5
				1536,2,W,0,0,7
				1537,0,R,0,0,0
				1537,0,W,4,0,0
				34359738367,1,R,0,9,0
				34359738367,1,W,0,0,0
				1600,0,X,1,0,0
				""");
		file("is.structs.csv", "name,start,sz\nkey_array,6291456,8192\nAnonymousStruct0,7000000,4096\n");
		file("is.stackmap.csv", "tid,stackmax,sz\n1,34359738368,8192\n2,34359000000,-1\n");
		file("README", "not a trace");
		try (TraceStore store = imported(operation(temporary))) {
			assertEquals(List.of("key_array [page 0] 0-1000000000 thread 2 5/0 shared2 cpus? 0",
					"key_array [page 0] 0-1000000000 thread 2 0/7 shared2 cpus? 0",
					"key_array [page 0] 0-1000000000 thread 0 10/0 shared2 cpus? 0",
					"key_array [page 1] 0-1000000000 thread 0 0/4 shared1 cpus? 0",
					"Stack#1 [page 1] 0-1000000000 thread 1 9/0 shared1 cpus? 0"), rows(store), "who touched first is first");
			assertEquals("TABARNAC", store.info().type());
			assertEquals(List.of(StructureKind.STATIC, StructureKind.HEAP, StructureKind.STACK, StructureKind.STACK),
					store.structures().stream().map(s -> s.kind()).toList());
			assertTrue(warned("8 MiB"));
			assertTrue(report.toJson().contains("\"type is neither R nor W\": 1"), report.toJson());
			assertTrue(report.toJson().contains("\"skipped\": 1"), report.toJson());
		}
		file("is.000000.page.csv", "addr,firstacc,type,T0,T1,T2\n1536,2,R,1,0,5\n");
		try (TraceStore store = imported(operation(temporary))) {
			assertEquals(5, store.accessCount());
			assertTrue(warned("is.000000.page.csv was not read: its counts are contained"), report.toText());
		}
		assertTrue(reason(operation(temporary.resolve("is.000000.page.csv"),
				file("other.csv", "addr,firstacc,type,T0\n1,0,R,1\n"))).endsWith("give only one of them"));
	}

	private static byte[] compressed(String text, boolean gzip) throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (OutputStream out = gzip ? new GZIPOutputStream(bytes) : new ZstdOutputStream(bytes)) {
			out.write(text.getBytes(StandardCharsets.US_ASCII));
		}
		return bytes.toByteArray();
	}

	@Test
	void filesMayBeCompressedWhateverTheirNames() throws Exception {
		List<String> expected;
		try (TraceStore store = imported(operation(file("plain.gz", FULL_TRACE)))) {
			expected = rows(store);
		}
		for (boolean gzip : new boolean[] { true, false }) {
			Path file = Files.write(temporary.resolve("trace.csv"), compressed(FULL_TRACE, gzip));
			try (TraceStore store = imported(operation(file))) {
				assertEquals(expected, rows(store));
			}
			try (TraceStore store = imported(new ImportOperation(List.of(Path.of("-")),
					new ByteArrayInputStream(Files.readAllBytes(file)), catalogue::create))) {
				assertEquals(expected, rows(store), "from standard input");
				assertEquals("standard input", store.info().alias());
			}
		}
		byte[] whole = compressed(FULL_TRACE, true);
		Path cut = Files.write(temporary.resolve("cut.gz"), java.util.Arrays.copyOf(whole, whole.length - 12));
		report = operation(cut).call(Progress.NONE);
		assertTrue(warned("cut.gz: is damaged after line"), report.toText());
	}

	@Test
	void aFolderOfMocaIsReadOnce() throws Exception {
		file("Moca-full-trace.csv", FULL_TRACE);
		Files.copy(SHARING.resolve("expected-upstream.csv"), temporary.resolve("Moca-framesoc.csv"));
		file("Moca-output.log", "loading module\n");
		file("notes.csv", "some,thing\n1,2\n");
		try (TraceStore store = imported(operation(temporary))) {
			assertEquals(3, store.accessCount());
			assertTrue(warned("Moca-framesoc.csv (Moca's file for FrameSoc) was not read: the full trace tells the same"));
			assertTrue(warned("notes.csv is of no known format"));
		}
		String identity = ImportOperation.identity(temporary);
		assertEquals(identity, ImportOperation.identity(temporary));
		file("Moca-full-trace.csv", FULL_TRACE + "0000000000601010, 0000000012345010, 3, 1, 001, 40, 50, 0\n");
		assertFalse(identity.equals(ImportOperation.identity(temporary)));
	}

	@Test
	void anAccessFileOfOursCanStandAlone() throws Exception {
		try (TraceStore store = imported(operation(file("x", TraceDirectoryBuilder.HEADER
				+ "\n10008,0,2,1,3,100,200,7,0,0,0\n")))) {
			assertEquals(List.of("10000 (1 page) 100-200 thread 7 2/1 shared1 cpus{0, 1} 0"), rows(store));
			assertEquals("memtrace", store.info().type());
		}
	}

	@Test
	void whatIsNoTraceIsRefusedInOneSentence() throws Exception {
		Path trace = file("t.csv", FULL_TRACE);
		assertEquals("none.csv: does not exist", reason(operation(trace, temporary.resolve("none.csv"))));
		assertEquals("empty.csv: is empty", reason(operation(file("empty.csv", ""))));
		assertEquals("x.csv: is of no format that can be imported; see 'memtrace import --help'",
				reason(operation(file("x.csv", "a,b\n1,2\n"))));
		assertEquals("dir: is a directory; give it alone, or the files in it",
				reason(operation(trace, Files.createDirectory(temporary.resolve("dir")))));
		assertTrue(reason(operation(trace, file("p.csv", "addr,firstacc,type,T0\n1,0,R,1\n")))
				.startsWith("t.csv: more than one trace is given: "));
		assertTrue(reason(operation(file("s.csv", "name,start,sz\na,1,2\n"))).startsWith("s.csv: has no accesses: "));
		assertEquals("h.csv: has no accesses to import", reason(operation(file("h.csv", FULL_TRACE.lines().findFirst().get() + "\n"))));
		assertEquals("m.csv, line 1: the column Start is missing",
				reason(operation(file("m.csv", FULL_TRACE.replace(" Start,", " Begin,")))));
		assertTrue(reason(operation(file("w.csv", "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId\n"
				+ "601000,601000,1,2,001,1,2,0\n"))).contains("{more writes than accesses=1}"));
	}
}
