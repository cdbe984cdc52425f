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

	/** A kind of events, all of whose fields but the common ones have eight bytes. */
	private static String format(int id, String name, String... fields) {
		StringBuilder text = new StringBuilder("## " + name + "\nID: " + id
				+ "\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n");
		for (int i = 0; i < fields.length; i++) {
			text.append("\tfield:").append(fields[i]).append(";\toffset:").append(8 + 8 * i).append(";\tsize:8;\tsigned:1;\n");
		}
		return text.toString();
	}

	/** An event 10 ns after the one before. */
	private static void put(ByteBuffer page, int id, int tid, Object... values) {
		page.putInt(word(0, 10)).putInt(12 + 8 * values.length).putInt(id).putInt(tid);
		for (Object value : values) {
			if (value instanceof String text) {
				page.put(java.util.Arrays.copyOf(text.getBytes(), 8));
			} else {
				page.putLong(((Number) value).longValue());
			}
		}
	}

	/** A call writes into the page cache, and another thread brings it to the device later: beside other files. */
	@Test
	void aRequestOfAnotherThreadBelongsToTheCallThatWroteThere() throws Exception {
		String formats = HEADER + format(1, "syscalls/sys_enter_write", "unsigned int fd", "size_t count")
				+ format(2, "syscalls/sys_exit_write", "long ret")
				+ format(3, "ext4/ext4_da_write_begin", "dev_t dev", "ino_t ino", "loff_t pos", "unsigned int len")
				+ format(4, "ext4/ext4_ext_map_blocks_exit", "dev_t dev", "ino_t ino", "ext4_fsblk_t pblk", "ext4_lblk_t lblk", "int len", "int ret")
				+ format(5, "block/block_rq_issue", "dev_t dev", "sector_t sector", "unsigned int bytes", "char rwbs[8]", "char comm[8]")
				+ format(6, "block/block_rq_complete", "dev_t dev", "sector_t sector", "char rwbs[8]")
				+ format(7, "syscalls/sys_enter_dup2", "unsigned int oldfd", "unsigned int newfd")
				+ format(8, "syscalls/sys_exit_dup2", "long ret");
		long disk = 8L << 20;
		long partition = disk | 1;
		ByteBuffer page = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
		put(page, 7, 5, 3, 1);
		put(page, 8, 5, 1);
		for (int call = 0; call < 2; call++) { // the descriptor 1 is a copy of 3 by now
			put(page, 1, 5, 1, 4096);
			put(page, 3, 5, partition, 77, 4096 * call, 4096);
			put(page, 2, 5, 4096);
		}
		put(page, 4, 99, partition, 77, 100, 0, 2, 2);
		put(page, 4, 99, partition, 78, 500, 0, 2, 2);
		put(page, 5, 99, disk, 2048 + 808, 4096, "W", "kworker"); // the second page of the file
		put(page, 5, 99, disk, 2048 + 4000, 4096, "W", "kworker"); // of a file of others
		put(page, 5, 99, disk, 2048 + 816, 4096, "W", "kworker"); // behind the end of the file
		put(page, 5, 99, disk, 2048 + 9000, 4096, "W", "kworker"); // of nobody knows which
		for (long sector : new long[] {808, 816, 4000, 9000}) {
			put(page, 6, 99, disk, 2048 + sector, "W");
		}
		ByteBuffer all = ByteBuffer.allocate(16 + page.position()).order(ByteOrder.LITTLE_ENDIAN);
		all.putLong(1000).putLong(page.position()).put(page.array(), 0, page.position());
		String head = "{\"schema\": \"memtrace.io/1\", \"source\": \"tracefs\", \"pid\": 5,"
				+ " \"buffers\": [{\"file\": \"calls-0.raw\", \"cpu\": 0}],"
				+ " \"devices\": [{\"major\": 8, \"minor\": 1, \"start_sector\": 2048, \"disk_major\": 8, \"disk_minor\": 0}]}";
		String files = "time_ns,pid,fd,major,minor,inode,block_bytes,path\n1001,5,3,8,1,77,4096,/data/x, y\n1001,5,1,0,6,3,4096,/dev/null\n";
		ImportReport report = read(folder("io", Map.of("formats", formats.getBytes(), "calls-0.raw", all.array(), "io.json", head.getBytes(),
				"files.csv", files.getBytes(), "counters.csv", new byte[0])));
		List<CallRow> calls = ask(report, "/data/x, y", io -> io.calls(10, Progress.NONE));
		assertEquals(List.of("write 4096 0", "write 4096 1"), calls.stream().map(r -> r.event().operation() + " " + r.event().bytes() + " "
				+ r.below()[4]).toList());
		List<Below> below = ask(report, "", io -> io.call(calls.get(1).event().call(), Progress.NONE));
		assertEquals(List.of("system call write  0", "file system da_write_begin (ext4)  4096", "block write sector 4096"), below.stream()
				.map(b -> b.event().level() + " " + b.event().operation() + " " + b.event().by() + " " + Math.max(0, b.event().offset())).toList());
		assertEquals("kworker 99", below.get(2).event().thread());
		assertEquals("3", report.trace().properties().get("io_requests_of_others"));
		assertEquals(0, calls.get(0).below()[1], "a call is not below itself");
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
