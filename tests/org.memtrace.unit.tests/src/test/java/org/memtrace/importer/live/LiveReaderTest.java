// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.model.LivePages;
import org.memtrace.model.LivePages.Cell;
import org.memtrace.model.LivePages.Row;
import org.memtrace.model.MemtraceException;

class LiveReaderTest {
	private static final String HEADER = "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags,ReadOffset,WriteOffset,First\n";
	private static final String INTERVALS = "Interval,Start,End,Records\n";
	private static final String STRUCTURES = "Id,Kind,Name,Start,End,Birth,Death,TaskId,Stack,Site\n";
	private static final int PAGE = 4096;

	@TempDir
	Path folder;
	private Path trace;

	@BeforeEach
	void begin() throws IOException {
		trace = folder.resolve("app.memtrace");
	}

	private void manifest(String state) throws IOException {
		Files.createDirectories(trace);
		Files.writeString(trace.resolve("manifest.json"), "{\"format\":\"memtrace\",\"format_version\":1,\"clock\":{\"start_ns\":1000},"
				+ "\"host\":{\"page_size_bytes\":4096},\"status\":{\"state\":\"" + state + "\"}}");
	}

	private void append(String file, String text) throws IOException {
		Path path = trace.resolve(file);
		Files.createDirectories(path.getParent());
		Files.writeString(path, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
	}

	/** A program in the place of memtrace: the structures and threads of now are those in a folder of the test. */
	private Path launcher() throws IOException {
		Path names = Files.createDirectories(folder.resolve("names"));
		Path script = folder.resolve("memtrace");
		Files.writeString(script, "#!/bin/sh\n[ \"$1 $2 $3 $5\" = 'finish --quiet --into --since' ] || exit 9\n[ \"$7\" = '" + trace
				+ "' ] || exit 8\ncp -r '" + names + "/.' \"$4\"\n");
		Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
		return script;
	}

	private void names(String image, String structures) throws IOException {
		Path to = Files.createDirectories(folder.resolve("names").resolve(image));
		Files.writeString(to.resolve("structures.csv"), STRUCTURES + structures);
		Files.writeString(to.resolve("threads.csv"), "TaskId,Name,Birth,Death,Start\n7,app,1000,-1,\n8,w,1000,-1,work\n");
	}

	private static String access(long address, boolean write, long start, long end, int thread) {
		return String.format("%x,0,%d,%d,3,%d,%d,%d,401000,0,0,%s,%s,1%n", address, write ? 0 : 2, write ? 1 : 0, start, end, thread,
				write ? "" : Long.toHexString(address % PAGE), write ? Long.toHexString(address % PAGE) : "");
	}

	private static Row row(List<Row> rows, String name) {
		return rows.stream().filter(r -> r.name().equals(name)).findFirst().orElseThrow(() -> new AssertionError("no " + name + " in " + rows));
	}

	@Test
	void structuresAndThreadsOfWholeIntervals() throws Exception {
		manifest("running");
		names("p0000", "0,heap,A,10000,14000,1000,-1,7,-1,a.c:1\n1,heap,B,14000,14800,1000,-1,7,-1,a.c:2\n2,brk,heap,14000,20000,1000,-1,-1,-1,\n");
		append("p0000/accesses-000000.csv", HEADER + access(0x10000, true, 1000, 2000, 7) + access(0x10010, false, 1000, 2000, 8)
				+ access(0x11000, false, 1000, 2000, 7) + access(0x14000, false, 1000, 2000, 7) + access(0x14900, true, 1000, 2000, 8)
				+ access(0x90000, false, 1000, 2000, -1) + access(0x11000, false, 1000, 2000, -1));
		append("p0000/intervals.csv", INTERVALS);
		try (LiveReader reader = new LiveReader(trace, launcher(), 10)) {
			LivePages none = reader.read();
			assertEquals(LivePages.State.WAITING, none.state(), "the interval has no line");
			assertTrue(none.structures().isEmpty());
			append("p0000/intervals.csv", "0,1000,2000,7");
			assertEquals(LivePages.State.WAITING, reader.read().state(), "the line is not complete");
			append("p0000/intervals.csv", "\n");
			LivePages first = reader.read();
			assertEquals(LivePages.State.RUNNING, first.state());
			assertEquals(List.of(LivePages.UNKNOWN), first.structures().stream().map(Row::name).toList());
			assertEquals(new Cell(1000, 2000, 4, 2, 2, 2), first.structures().get(0).now(), "16 and 20 are shared");
			assertFalse(first.named());
			reader.awaitNames();
			LivePages named = reader.read();
			assertTrue(named.named());
			assertEquals(new Cell(1000, 2000, 2, 1, 1, 2), row(named.structures(), "A").now());
			assertEquals(new Cell(1000, 2000, 1, 0, 0, 1), row(named.structures(), "B").now(), "the other half of its page is no B");
			assertEquals(new Cell(1000, 2000, 1, 0, 1, 1), row(named.structures(), "heap (small blocks)").now());
			assertEquals(new Cell(1000, 2000, 1, 0, 0, 0), row(named.structures(), LivePages.UNKNOWN).now(), "the kernel is no thread");
			assertEquals("a.c:2", row(named.structures(), "B").site());
			assertEquals(new Cell(1000, 2000, 3, 2, 1, 1), row(named.threads(), "thread 7 (main thread)").now());
			assertEquals(new Cell(1000, 2000, 2, 2, 1, 1), row(named.threads(), "thread 8 (work)").now());
			assertEquals(0, row(named.threads(), "no thread (kernel)").now().users());
			assertFalse(named.isPartial(), named.left().toString());
			assertEquals(1000, named.originNs());
			append("p0000/intervals.csv", "1,2000,3000,0\n");
			LivePages quiet = reader.read();
			assertEquals(3000, quiet.endNs(), "an interval without pages is one, too");
			assertEquals(null, row(quiet.structures(), "A").now());
			assertEquals(1, row(quiet.structures(), "A").cells().size());
		}
	}

	/** Records in blocks (testdata/records-example), which come in pieces. */
	@Test
	void blocksThatGrow() throws Exception {
		java.io.ByteArrayOutputStream all = new java.io.ByteArrayOutputStream();
		for (String line : Files.readAllLines(Path.of(System.getProperty("memtrace.root"), "testdata/records-example/plain.hex"))) {
			all.writeBytes(line.startsWith("#") ? new byte[0] : java.util.HexFormat.ofDelimiter(" ").parseHex(line.strip()));
		}
		byte[] blocks = all.toByteArray();
		int first = org.memtrace.importer.memtrace.RecordFile.blockLength(blocks, 0);
		Path chunk = Files.createDirectories(trace.resolve("p0000")).resolve("accesses-000000.mtr");
		manifest("running");
		Files.write(chunk, java.util.Arrays.copyOf(blocks, 30));
		append("p0000/intervals.csv", INTERVALS);
		try (LiveReader reader = new LiveReader(trace, launcher(), 10)) {
			assertEquals(LivePages.State.WAITING, reader.read().state());
			Files.write(chunk, java.util.Arrays.copyOf(blocks, first + 60));
			append("p0000/intervals.csv", "0,1000,100000,5\n");
			LivePages one = reader.read();
			assertEquals(new Cell(1000, 100000, 4, 1, 2, 2), row(one.structures(), LivePages.UNKNOWN).now());
			Files.write(chunk, blocks);
			append("p0000/intervals.csv", "1,100000,200000,0\n2,200000,300000,1\n");
			assertEquals(new Cell(200000, 300000, 1, 0, 1, 1), row(reader.read().structures(), LivePages.UNKNOWN).now());
		}
	}

	@Test
	void memoryThatIsUsedAgainGetsTheNameOfItsTime() throws Exception {
		manifest("running");
		names("p0000", "0,heap,old,10000,11000,1000,-1,7,-1,\n");
		append("p0000/accesses-000000.csv", HEADER + access(0x10000, true, 1000, 2000, 7));
		append("p0000/intervals.csv", INTERVALS + "0,1000,2000,1\n");
		AtomicLong clockNs = new AtomicLong();
		try (LiveReader reader = new LiveReader(trace, launcher(), 10, clockNs::get)) {
			reader.read();
			reader.awaitNames();
			append("p0000/accesses-000000.csv", access(0x10000, true, 3000, 4000, 7));
			append("p0000/intervals.csv", "1,2000,3000,0\n2,3000,4000,1\n");
			names("p0000", "0,heap,old,10000,11000,1000,2500,7,-1,\n1,heap,new,10000,11000,2500,-1,7,-1,\n");
			assertEquals(2, row(reader.read().structures(), "old").cells().size(), "as far as is known now");
			reader.awaitNames();
			assertEquals(1, reader.read().structures().size(), "the next look is not due");
			clockNs.addAndGet(3_600_000_000_000L);
			reader.read();
			reader.awaitNames();
			LivePages later = reader.read();
			assertEquals(1000, row(later.structures(), "old").cells().get(0).startNs());
			assertEquals(1, row(later.structures(), "old").cells().size());
			assertEquals(3000, row(later.structures(), "new").now().startNs());
		}
	}

	/** Files that grow by pieces that end anywhere tell the same as the finished ones, and at no time more than whole intervals. */
	@Test
	void aTraceThatGrowsByPieces() throws Exception {
		long seed = System.nanoTime();
		System.out.println("LiveReaderTest seed " + seed);
		Random random = new Random(seed);
		manifest("running");
		int intervals = 40;
		StringBuilder[] accesses = { new StringBuilder(HEADER), new StringBuilder(HEADER) };
		int[] endOf = new int[intervals];	// bytes of both chunks when an interval is written
		StringBuilder lines = new StringBuilder(INTERVALS);
		int[] endOfLine = new int[intervals];
		Map<Long, Map<Long, Set<Integer>>> expected = new TreeMap<>();
		Map<Long, Set<Long>> written = new HashMap<>();
		for (int i = 0; i < intervals; i++) {
			long start = 1000 + i * 100L;
			int chunk = i < intervals / 2 ? 0 : 1;
			Set<String> seen = new HashSet<>();
			for (int r = random.nextInt(30); r > 0; r--) {
				long page = 16 + random.nextInt(12);
				int thread = 7 + random.nextInt(3);
				if (seen.add(page + " " + thread)) {
					boolean write = random.nextBoolean();
					accesses[chunk].append(access(page * PAGE + random.nextInt(PAGE), write, start, start + 100, thread));
					expected.computeIfAbsent(start, k -> new TreeMap<>()).computeIfAbsent(page, k -> new HashSet<>()).add(thread);
					if (write) {
						written.computeIfAbsent(start, k -> new HashSet<>()).add(page);
					}
				}
			}
			endOf[i] = accesses[chunk].length();
			lines.append(i).append(',').append(start).append(',').append(start + 100).append(',').append(seen.size()).append('\n');
			endOfLine[i] = lines.length();
		}
		int[] have = new int[2];
		int haveLines = 0;
		try (LiveReader reader = new LiveReader(trace, null, intervals)) {
			while (haveLines < lines.length()) {
				int whole = 0;
				while (whole < intervals && endOfLine[whole] <= haveLines) {
					whole++;
				}
				// the accesses of an interval are written before its line: at most one interval is under way
				int chunk = whole < intervals / 2 ? 0 : 1;
				int end = whole == intervals ? endOf[intervals - 1] : endOf[whole];
				int more = Math.min(end - have[chunk], random.nextInt(400));
				append("p0000/accesses-00000" + chunk + ".csv", accesses[chunk].substring(have[chunk], have[chunk] + more));
				have[chunk] += more;
				if (have[chunk] == end) {
					int until = whole == intervals ? lines.length() : endOfLine[whole];
					more = Math.min(until - haveLines, 1 + random.nextInt(20));
					append("p0000/intervals.csv", lines.substring(haveLines, haveLines + more));
					haveLines += more;
					if (chunk == 1 && whole == intervals / 2 + 3) { // compressed: the reader has it to its end
						Files.deleteIfExists(trace.resolve("p0000/accesses-000000.csv"));
					}
				}
				check(reader.read(), haveLines, endOfLine, expected, written);
			}
			manifest("complete");
			LivePages all = reader.read();
			assertEquals(LivePages.State.ENDED, all.state());
			assertEquals(intervals, all.intervals());
			assertEquals(0, all.left().records());
			check(all, haveLines, endOfLine, expected, written);
		}
		try (LiveReader lastOnes = new LiveReader(trace, null, 5)) {
			LivePages five = lastOnes.read();
			assertEquals(1000 + (intervals - 5) * 100L, five.startNs());
			five.structures().forEach(r -> assertTrue(r.cells().size() <= 5));
			assertEquals(1000 + intervals * 100L, five.endNs());
		}
	}

	private static void check(LivePages pages, int haveLines, int[] endOfLine, Map<Long, Map<Long, Set<Integer>>> expected,
			Map<Long, Set<Long>> written) {
		List<Cell> cells = new ArrayList<>();
		for (int i = 0; i < endOfLine.length && endOfLine[i] <= haveLines; i++) {
			Map<Long, Set<Integer>> of = expected.get(1000 + i * 100L);
			if (of != null) {
				cells.add(new Cell(1000 + i * 100L, 1100 + i * 100L, of.size(), (int) of.values().stream().filter(t -> t.size() > 1).count(),
						written.getOrDefault(1000 + i * 100L, Set.of()).size(), (int) of.values().stream().flatMap(Set::stream).distinct().count()));
			}
		}
		assertEquals(cells, pages.structures().isEmpty() ? List.of() : pages.structures().get(0).cells());
		Map<Long, Integer> byThread = new TreeMap<>();
		pages.threads().forEach(r -> r.cells().forEach(c -> byThread.merge(c.startNs(), c.pages(), Integer::sum)));
		Map<Long, Integer> pairs = new TreeMap<>();
		cells.forEach(c -> pairs.put(c.startNs(), expected.get(c.startNs()).values().stream().mapToInt(Set::size).sum()));
		assertEquals(pairs, byThread);
	}

	@Test
	void oneThatBeginsLateToldOnlyWholeIntervals() throws Exception {
		manifest("running");
		StringBuilder text = new StringBuilder(HEADER);
		StringBuilder lines = new StringBuilder(INTERVALS);
		int perInterval = 5000;
		int count = 0;
		for (; text.length() < LiveImage.TAIL + (2 << 20); count++) {
			long start = 1000 + count * 100L;
			for (int i = 0; i < perInterval; i++) {
				text.append(access(0x100000L + (long) i * PAGE, true, start, start + 100, 7));
			}
			lines.append(count).append(',').append(start).append(',').append(start + 100).append(',').append(perInterval).append('\n');
		}
		append("p0000/accesses-000000.csv", text.toString());
		append("p0000/intervals.csv", lines.toString());
		try (LiveReader reader = new LiveReader(trace, null, 100)) {
			LivePages pages = reader.read();
			assertEquals(0, pages.left().records());
			assertTrue(pages.left().intervals() > 0);
			List<Cell> cells = pages.structures().get(0).cells();
			assertEquals(count - pages.left().intervals(), cells.size());
			assertEquals(Set.of(perInterval), Set.copyOf(cells.stream().map(Cell::pages).distinct().toList()));
			assertEquals(cells.get(0).startNs(), pages.startNs());
			assertEquals(count, pages.intervals());
		}
	}

	@Test
	void whatIsMissingIsCounted() throws Exception {
		manifest("running");
		append("p0000/accesses-000000.csv", HEADER + access(0x10000, true, 1000, 2000, 7) + "nonsense,0\n"
				+ access(0x11000, true, 1000, 2000, 7));
		append("p0000/intervals.csv", INTERVALS + "0,1000,2000,3\n");
		try (LiveReader reader = new LiveReader(trace, null, 10)) {
			LivePages pages = reader.read();
			assertEquals(1, pages.left().records());
			assertEquals(2, pages.structures().get(0).now().pages());
			assertTrue(pages.isPartial());
			assertTrue(pages.left().reason().contains("memtrace is not here"), pages.left().reason());
		}
	}

	@Test
	void theRestOfAPageIsNotOfTheStructureInIt() throws Exception {
		manifest("running");
		names("p0000", "0,heap,A,10000,10800,1000,-1,7,-1,\n1,heap,B,11800,12000,1000,-1,7,-1,\n");
		append("p0000/accesses-000000.csv", HEADER + access(0x10100, true, 1000, 2000, 7) + access(0x10900, true, 1000, 2000, 8)
				+ access(0x11900, true, 1000, 2000, 7) + access(0x11100, true, 1000, 2000, 8));
		append("p0000/intervals.csv", INTERVALS + "0,1000,2000,4\n");
		try (LiveReader reader = new LiveReader(trace, launcher(), 10)) {
			reader.read();
			reader.awaitNames();
			LivePages pages = reader.read();
			assertEquals(new Cell(1000, 2000, 1, 0, 1, 1), row(pages.structures(), "A").now());
			assertEquals(new Cell(1000, 2000, 1, 0, 1, 1), row(pages.structures(), "B").now());
			assertEquals(new Cell(1000, 2000, 2, 0, 2, 1), row(pages.structures(), LivePages.UNKNOWN).now());
		}
	}

	@Test
	void theKernelSharesNoPage() throws Exception {
		manifest("running");
		append("p0000/accesses-000000.csv", HEADER + access(0x10000, true, 1000, 2000, 7) + access(0x10000, false, 1000, 2000, -1)
				+ access(0x11000, true, 1000, 2000, -1) + access(0x11000, false, 1000, 2000, 7) + access(0x12000, true, 1000, 2000, -1)
				+ access(0x12000, false, 1000, 2000, 7) + access(0x12000, false, 1000, 2000, 8));
		append("p0000/intervals.csv", INTERVALS + "0,1000,2000,7\n");
		try (LiveReader reader = new LiveReader(trace, null, 10)) {
			assertEquals(new Cell(1000, 2000, 3, 1, 3, 2), reader.read().structures().get(0).now());
		}
	}

	@Test
	void manyImagesAreBounded() throws Exception {
		manifest("running");
		int images = LiveReader.MOST_IMAGES + 3;
		for (int i = 0; i < images; i++) {
			String image = String.format("p%04d/", i);
			append(image + "accesses-000000.csv", HEADER + access(0x10000, true, 1000 + i, 2000 + i, 7));
			append(image + "intervals.csv", INTERVALS + "0," + (1000 + i) + "," + (2000 + i) + ",1\n");
		}
		try (LiveReader reader = new LiveReader(trace, null, 10)) {
			LivePages pages = reader.read();
			assertEquals(LiveReader.MOST_IMAGES, pages.images());
			assertEquals(3, pages.left().images());
			assertEquals(LiveReader.MOST_IMAGES, pages.threads().size(), "a thread of each image");
			assertEquals(3, reader.read().left().images(), "they do not come back");
		}
	}

	@Test
	void rowsAreBounded() throws Exception {
		manifest("running");
		StringBuilder structures = new StringBuilder();
		StringBuilder text = new StringBuilder(HEADER);
		int count = IntervalRecords.MOST_ROWS + 100;
		for (int i = 0; i < count; i++) {
			long at = 0x100000L + (long) i * PAGE;
			structures.append(String.format("%d,heap,s%d,%x,%x,1000,-1,7,-1,\n", i, i, at, at + PAGE));
			text.append(access(at, true, 1000, 2000, 7));
		}
		names("p0000", structures.toString());
		append("p0000/accesses-000000.csv", text.toString());
		append("p0000/intervals.csv", INTERVALS + "0,1000,2000," + count + "\n");
		try (LiveReader reader = new LiveReader(trace, launcher(), 10)) {
			reader.read();
			reader.awaitNames();
			LivePages pages = reader.read();
			assertEquals(IntervalRecords.MOST_ROWS - 1, pages.structures().size(), "all but the row of pages without a structure");
			assertEquals(count, pages.structures().stream().mapToInt(r -> r.now().pages()).sum());
			assertEquals(102, row(pages.structures(), "other structures").now().pages());
		}
	}

	@Test
	void aTraceThatIsNotThereYet() throws Exception {
		try (LiveReader reader = new LiveReader(trace, null, 10)) {
			assertEquals(LivePages.State.WAITING, reader.read().state());
			manifest("running");
			assertEquals(LivePages.State.WAITING, reader.read().state());
			append("p0000/accesses-000000.csv", HEADER.substring(0, 20));
			append("p0000/intervals.csv", "Interv");
			assertEquals(LivePages.State.WAITING, reader.read().state());
			append("p0000/accesses-000000.csv", HEADER.substring(20) + access(0x10000, true, 1000, 2000, 7));
			append("p0000/intervals.csv", INTERVALS.substring(6) + "0,1000,2000,1\n");
			assertEquals(1, reader.read().structures().get(0).now().pages());
		}
	}

	@Test
	void anotherVersionIsRefused() throws Exception {
		Files.createDirectories(trace);
		Files.write(trace.resolve("manifest.json"), "{\"format\":\"memtrace\",\"format_version\":99}".getBytes(StandardCharsets.UTF_8));
		try (LiveReader reader = new LiveReader(trace, null, 10)) {
			assertThrows(MemtraceException.class, reader::read);
		}
	}

	@Test
	void temporaryFilesAreRemovedWhenALookIsUnderWay() throws Exception {
		manifest("running");
		append("p0000/accesses-000000.csv", HEADER + access(0x10000, true, 1000, 2000, 7));
		append("p0000/intervals.csv", INTERVALS + "0,1000,2000,1\n");
		Path made = folder.resolve("where");
		Path script = launcher();
		Files.writeString(script, "#!/bin/sh\necho \"$4\" > '" + made + ".new'; mv '" + made + ".new' '" + made
				+ "'; while [ -d '" + folder + "' ]; do sleep 0.1; done\n");
		try (LiveReader reader = new LiveReader(trace, script, 10)) {
			reader.read();
			while (!Files.exists(made)) {
				Thread.sleep(10);
			}
			assertTrue(Files.exists(Path.of(Files.readString(made).strip())));
		}
		assertFalse(Files.exists(Path.of(Files.readString(made).strip())));
	}

	@Test
	void temporaryFilesAreRemoved() throws Exception {
		manifest("running");
		names("p0000", "0,heap,A,10000,14000,1000,-1,7,-1,\n");
		append("p0000/accesses-000000.csv", HEADER + access(0x10000, true, 1000, 2000, 7));
		append("p0000/intervals.csv", INTERVALS + "0,1000,2000,1\n");
		Path made = folder.resolve("where");
		Path script = launcher();
		Files.writeString(script, Files.readString(script) + "echo \"$4\" > '" + made + "'\n");
		try (LiveReader reader = new LiveReader(trace, script, 10)) {
			reader.read();
			reader.awaitNames();
			assertEquals("A", reader.read().structures().get(0).name());
		}
		assertFalse(Files.exists(Path.of(Files.readString(made).strip())));
		List<Path> left = new ArrayList<>();
		try (var files = Files.walk(trace)) {
			files.filter(Files::isRegularFile).map(trace::relativize).sorted(Comparator.naturalOrder()).forEach(left::add);
		}
		assertEquals(List.of(Path.of("manifest.json"), Path.of("p0000/accesses-000000.csv"), Path.of("p0000/intervals.csv")), left,
				"nothing is written to the trace");
	}
}
