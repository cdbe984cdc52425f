// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.io.IoLevels;
import org.memtrace.analysis.io.IoLevels.Below;
import org.memtrace.analysis.io.IoLevels.By;
import org.memtrace.analysis.io.IoLevels.CallRow;
import org.memtrace.analysis.io.IoLevels.Row;
import org.memtrace.importer.EventLines;
import org.memtrace.importer.ImportTest;
import org.memtrace.importer.InputReaders;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;

/** Recordings of record --io, and what is asked of them. */
class IoReaderTest extends ImportTest {
	private static final Path DD = Path.of(System.getProperty("memtrace.root", "../.."), "testdata", "io", "dd");
	/** The file of the example that dd writes and reads. */
	private static final String FILE = "inode 254:0/";

	/** The example as it was recorded, changed or not. */
	private Path folder(String name, Map<String, byte[]> changed) throws Exception {
		Path folder = Files.createDirectories(directory.resolve(name));
		for (Map.Entry<String, byte[]> e : example().entrySet()) {
			Files.write(folder.resolve(e.getKey()), changed.getOrDefault(e.getKey(), e.getValue()));
		}
		return folder;
	}

	private static Map<String, byte[]> example() throws Exception {
		Map<String, byte[]> files = new TreeMap<>();
		try (var list = Files.list(DD)) {
			for (Path path : list.toList()) {
				String name = path.getFileName().toString();
				if (name.endsWith(".hex")) {
					files.put(name.substring(0, name.length() - 4), HexFormat.of().parseHex(Files.readString(path).replace("\n", "")));
				} else {
					files.put(name, Files.readAllBytes(path));
				}
			}
		}
		return files;
	}

	private <T> T ask(ImportReport report, String file, Question<T> question) throws MemtraceException {
		try (TraceStore store = catalogue.open(report.trace().id())) {
			return question.of(new IoLevels(store, file, Long.MIN_VALUE, Long.MAX_VALUE));
		}
	}

	/** What a test asks. */
	private interface Question<T> {
		T of(IoLevels io) throws MemtraceException;
	}

	private static String text(Row r) {
		return r.level() + " " + r.name() + " " + r.events() + " " + r.bytes();
	}

	@Test
	void bufferedReadsComeFromThePageCacheAndDirectOnesFromTheDevice() throws Exception {
		ImportReport report = read(folder("io", Map.of()));
		List<CallRow> reads = ask(report, FILE, io -> io.calls(1000, Progress.NONE)).stream().filter(r -> r.event().operation().equals("read"))
				.toList();
		assertEquals(6, reads.size());
		for (int i = 0; i < 6; i++) {
			long[] below = reads.get(i).below();
			assertEquals(4096, reads.get(i).event().bytes());
			assertEquals(i < 3 ? "file system 0, page cache 1, block 0" : "file system 1, page cache 0, block 1",
					"file system " + below[2] + ", page cache " + below[3] + ", block " + below[4], "read " + i);
		}
	}

	@Test
	void eachLevelHasTheBytesOfThePrograms() throws Exception {
		ImportReport report = read(folder("io", Map.of()));
		List<String> rows = ask(report, "/10257036", io -> io.rows(By.OPERATION, Progress.NONE)).stream().map(IoReaderTest::text).toList();
		// three writes and six reads of 4096 bytes; fsync writes them together; three direct reads
		assertEquals(List.of("system call openat 3 0", "system call read 6 24576", "system call write 3 12288"),
				rows.stream().filter(r -> r.matches("system call (openat|read|write) .*")).sorted().toList(), rows::toString);
		assertTrue(rows.contains("file system da_write_begin (ext4) 3 12288"), rows::toString);
		assertTrue(rows.contains("file system direct (iomap) 3 12288"), rows::toString);
		assertTrue(rows.contains("page cache look up pages 3 12288"), rows::toString);
		assertTrue(rows.contains("block read 3 12288"), rows::toString);
		assertTrue(rows.contains("block write 1 12288"), rows::toString);
	}

	@Test
	void oneCallWithWhatIsBelowIt() throws Exception {
		ImportReport report = read(folder("io", Map.of()));
		CallRow sync = ask(report, "", io -> io.calls(1000, Progress.NONE)).stream().filter(r -> r.event().operation().equals("fsync"))
				.findFirst().orElseThrow();
		List<Below> below = ask(report, "", io -> io.call(sync.event().call(), Progress.NONE));
		List<String> texts = below.stream().map(b -> b.depth() + " " + b.event().level() + " " + b.event().operation() + " " + b.event().by())
				.toList();
		assertEquals("0 system call fsync ", texts.get(0));
		assertTrue(texts.contains("1 file system sync_file (ext4) "), texts::toString);
		assertTrue(texts.contains("2 block write thread"), texts::toString);
		for (Below b : below) {
			assertTrue(b.event().startNs() >= sync.event().startNs(), () -> b + " begins before its call");
			assertTrue(b.event().startNs() < sync.event().endNs(), () -> b + " begins behind its call");
		}
		assertTrue(ask(report, "", io -> io.call(1_000_000, Progress.NONE)).isEmpty());
	}

	@Test
	void countersAreWhatTheKernelCounted() throws Exception {
		ImportReport report = read(folder("io", Map.of()));
		List<String> rows = ask(report, "", io -> io.rows(By.OPERATION, Progress.NONE)).stream().filter(r -> r.level().equals("counter"))
				.map(IoReaderTest::text).sorted().toList();
		assertEquals(List.of("counter bytes from devices 0 122880", "counter bytes read 0 37680", "counter bytes to devices 0 16384",
				"counter bytes written 0 36957", "counter read calls 12 0", "counter write calls 12 0"), rows);
	}

	@Test
	void aChildIsCountedOnceWhenItsParentHasItsNumbers() throws Exception {
		String header = "time_ns,pid,parent,name,rchar,wchar,syscr,syscw,read_bytes,write_bytes,cancelled_write_bytes\n";
		// at 30 the child has ended and was not waited for; at 40 the parent has its 100 and 5 more of its own
		byte[] counters = (header + "10,1,0,sh,7,0,0,0,0,0,0\n10,2,1,dd,60,0,0,0,0,0,0\n20,1,0,sh,7,0,0,0,0,0,0\n20,2,1,dd,100,0,0,0,0,0,0\n"
				+ "30,1,0,sh,7,0,0,0,0,0,0\n40,1,0,sh,112,0,0,0,0,0,0\n").getBytes();
		byte[] head = "{\"schema\": \"memtrace.io/1\", \"source\": \"proc\", \"sentence\": \"tracefs needs root\"}".getBytes();
		ImportReport report = read(folder("io", Map.of("counters.csv", counters, "io.json", head)));
		assertEquals(List.of("counter: bytes read VARIABLE process dd (2) 10 10 60.0", "counter: bytes read VARIABLE process dd (2) 10 20 40.0",
				"counter: bytes read VARIABLE process sh (1) 10 10 7.0", "counter: bytes read VARIABLE process sh (1) 30 40 5.0"),
				EventLines.of(catalogue, report));
		assertEquals("tracefs needs root", report.trace().properties().get("io_sentence"));
	}

	@Test
	void lossesAreThoseOfAllBuffers() throws Exception {
		String head = new String(example().get("io.json")).replaceFirst("\"overrun\": 0", "\"overrun\": 17")
				.replaceFirst("\"dropped\": 0", "\"dropped\": 3");
		ImportReport report = read(folder("io", Map.of("io.json", head.getBytes())));
		assertEquals("20", report.trace().properties().get("losses"));
	}

	@Test
	void aTraceOfAnotherKindHasNoLevels() throws Exception {
		ImportReport report = read(file("a.csv", "type,category,producer,start_ns,end_ns,value\nx,state,a,1,2,0\n"));
		MemtraceException e = assertThrows(MemtraceException.class, () -> ask(report, "", io -> io.rows(By.LEVEL, Progress.NONE)));
		assertTrue(e.getMessage().contains("--io"), e.getMessage());
	}

	@Test
	void theFolderIsRecognisedByItsContent() throws Exception {
		assertEquals("io", InputReaders.detect(List.of(folder("any name", Map.of()))).reader());
		Path other = folder("other", Map.of("io.json", "{}".getBytes()));
		assertThrows(MemtraceException.class, () -> InputReaders.detect(List.of(other)));
	}

	private static final String HEADER = "## header_page\n\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			+ "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

	/** A page of words. */
	private static byte[] page(long timeNs, int flags, int... words) {
		ByteBuffer page = ByteBuffer.allocate(16 + 4 * words.length).order(ByteOrder.LITTLE_ENDIAN);
		page.putLong(timeNs).putLong(4L * words.length | flags & 0xffffffffL);
		for (int word : words) {
			page.putInt(word);
		}
		return page.array();
	}

	private static List<String> ring(byte[]... pages) throws Exception {
		ByteBuffer all = ByteBuffer.allocate(1 << 16);
		for (byte[] page : pages) {
			all.put(page);
		}
		EventFormats formats = EventFormats.parse(HEADER + "## a/b\nID: 7\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
				+ "\tfield:int v;\toffset:4;\tsize:4;\tsigned:1;\n", "formats");
		RingFile ring = new RingFile(new ByteArrayInputStream(all.array(), 0, all.position()), 3, formats);
		List<String> events = new ArrayList<>();
		while (ring.next()) {
			events.add(ring.timeNs() + " " + (ring.format() == null ? "?" : ring.number(ring.format(), "v", -1)));
		}
		events.add("missed " + ring.missed() + ", damaged " + ring.damagedBytes());
		return events;
	}

	private static int word(int type, int delta) {
		return type | delta << 5;
	}

	@Test
	void eachKindOfRecordInAPage() throws Exception {
		// an event of two words; one with its length in front; a long pause; padding of one that was taken back; an absolute time
		assertEquals(List.of("1010 -5", "1015 6", String.valueOf(1015 + (2L << 27) + 4 + 1) + " 7", "missed 0, damaged 0"),
				ring(page(1000, 0, word(2, 10), 7, -5, word(0, 5), 12, 7, 6, word(30, 4), 2, word(2, 1), 7, 7)));
		assertEquals(List.of("1003 8", "missed 0, damaged 0"), ring(page(1000, 0, word(29, 1), 8, 0, word(2, 2), 7, 8)));
		assertEquals(List.of(((9L << 27) + 5 + 1) + " 8", "missed 0, damaged 0"), ring(page(1000, 0, word(31, 5), 9, word(2, 1), 7, 8)));
		// padding without a time ends the page; the next page has its own time
		assertEquals(List.of("2001 9", "missed 0, damaged 0"), ring(page(1000, 0, word(29, 0), 1, 2, 3), page(2000, 0, word(2, 1), 7, 9)));
	}

	@Test
	void missedEventsAreCounted() throws Exception {
		ByteBuffer missed = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(41);
		assertEquals(List.of("1010 5", "2001 9", "missed 41, damaged 0"), ring(page(1000, 3 << 30, word(2, 10), 7, 5), missed.array(),
				page(2000, 0, word(2, 1), 7, 9)));
	}

	@Test
	void aTornPageIsTold() throws Exception {
		byte[] torn = java.util.Arrays.copyOf(page(2000, 0, word(2, 1), 7, 9), 22);
		assertEquals(List.of("1010 5", "missed 0, damaged 22"), ring(page(1000, 0, word(2, 10), 7, 5), torn));
		assertEquals(List.of("missed 0, damaged 8"), ring(page(1000, 0, word(9, 10), 7)));
	}

	@Test
	void anyBytesGiveATraceOrOneSentence() throws Exception {
		long seed = Long.getLong("memtrace.seed", System.nanoTime());
		System.out.println("IoReaderTest seed " + seed);
		Random random = new Random(seed);
		List<String> names = new ArrayList<>(example().keySet());
		int traces = 0;
		for (int n = 0; n < 60; n++) {
			String name = names.get(random.nextInt(names.size()));
			byte[] bytes = example().get(name).clone();
			for (int k = random.nextInt(12); k >= 0 && bytes.length > 0; k--) {
				bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
			}
			if (random.nextInt(4) == 0) {
				bytes = java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
			}
			Path folder = folder("io" + n, Map.of(name, bytes));
			try {
				ImportReport report = read(folder);
				ask(report, "", io -> io.calls(10, Progress.NONE));
				traces++;
			} catch (MemtraceException e) {
				assertFalse(e.getMessage().contains("\n"), e.getMessage());
			}
		}
		assertTrue(traces > 0, "no changed example could be read, seed " + seed);
	}
}
