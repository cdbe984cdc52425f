// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.findings.TraceSummary;
import org.memtrace.analysis.table.StructureTable;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.rows.RowSpill;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.rows.SpilledRow;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.ThreadTimes;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.UnsupportedVersionException;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

class ImportOperationTest {
	@TempDir
	Path temporary;

	private final TraceCatalogue catalogue = Stores.inMemory();

	private TraceDirectoryBuilder sample() {
		return new TraceDirectoryBuilder(temporary.resolve("sample.memtrace")).sampleContext();
	}

	private ImportOperation operation(Path directory) {
		return new ImportOperation(directory, catalogue::create).setScratchDirectory(temporary);
	}

	private static List<String> rows(TraceStore store) throws MemtraceException {
		List<String> rows = new ArrayList<>();
		var tree = store.producers();
		store.visitAccesses(AccessQuery.ALL, b -> {
			for (int i = 0; i < b.count; i++) {
				rows.add(tree.name(b.producer[i]) + " " + b.startNs[i] + "-" + b.endNs[i] + " t" + b.thread[i] + " "
						+ b.reads[i] + "/" + b.writes[i] + " shared" + b.sharing[i]);
			}
		}, Progress.NONE);
		return rows;
	}

	/** The samples belong to the thread that lived then; threads.csv knows the rest. */
	/** What was not seen becomes a sentence, and bytes and names by kind; that all was seen is no warning. */
	@Test
	void keepsWhatWasNotSeen() throws Exception {
		Path directory = sample().access(0x10008, 1, 0, 1100, 1500, 100).write();
		Path manifest = directory.resolve("manifest.json");
		String text = Files.readString(manifest);
		String told = "\"unseen\":{\"shared_bytes\":134217728,\"file_bytes\":0,\"text\":\"128 MiB of shared memory not seen\"}";
		assertTrue(text.contains(told), text);
		Files.writeString(manifest, text.replace(told, "\"unseen\":{\"state\":\"some\",\"bytes\":5000,\"text\":\"not seen: much\",\"kinds\":["
				+ "{\"kind\":\"file-read\",\"bytes\":4800,\"names\":[{\"name\":\"/a\",\"bytes\":4000},{\"name\":\"/b\",\"bytes\":500}],"
				+ "\"more_names\":3},{\"kind\":\"private\",\"bytes\":200,\"names\":[{\"name\":\"\",\"bytes\":200}]}]}"));
		Map<String, String> some = operation(directory).call(Progress.NONE).trace().properties();
		assertEquals("not seen: much", some.get(TraceInfo.PROPERTY_UNSEEN));
		assertNull(some.get(TraceInfo.PROPERTY_ALL_SEEN));
		assertEquals("5000", some.get("unseen_bytes"));
		assertEquals("4800 bytes: /a 4000, /b 500 and 3 more", some.get("unseen_file-read"));
		assertEquals("200 bytes", some.get("unseen_private"));
		Files.writeString(manifest, text.replace(told, "\"unseen\":{\"state\":\"all\",\"bytes\":0,\"text\":\"all memory seen\",\"kinds\":[]}"));
		Map<String, String> all = operation(directory).call(Progress.NONE).trace().properties();
		assertEquals("all memory seen", all.get(TraceInfo.PROPERTY_ALL_SEEN));
		assertNull(all.get(TraceInfo.PROPERTY_UNSEEN));
	}

	@Test
	void cpuTimesOfThreadsAreRead() throws Exception {
		Path directory = sample().access(0x10008, 1, 0, 1100, 1500, 100).write();
		Files.writeString(directory.resolve("p0000/threads.csv"), String.join("\n", "TaskId,Name,Birth,Death,StackStart,StackEnd,Start,CpuNs",
				"100,app,1000,-1,0,0,,700", "101,worker,1200,3000,7f0000,7f4000,work,250", "101,next,3500,-1,0,0,,-1",
				"102,idle,1200,3000,0,0,,0", ""));
		Files.writeString(directory.resolve("p0000/threadtimes.csv"), String.join("\n", "TaskId,Time,CpuNs", "100,1500,400", "100,2000,600",
				"101,2000,250", "101,3600,30", "999,2000,5", "100,x,1", ""));
		ImportReport report = operation(directory).call(Progress.NONE);
		try (TraceStore store = catalogue.open(report.trace().id())) {
			ThreadTimes times = store.threadTimes();
			assertEquals(700, times.total(0));
			assertEquals(200, times.used(0, 1500, 2000));
			assertEquals(250, times.total(1));
			assertEquals(30, times.total(2));
			assertEquals(0, times.total(3));
		}
		assertTrue(report.toText().contains("CPU time of a thread that is not in threads.csv"), report.toText());
	}

	/** Shared mappings have pages of their own in each process: that is told where there are several processes. */
	@Test
	void memoryThatSeveralProcessesMayHaveIsTold() throws Exception {
		for (boolean two : new boolean[] {false, true}) {
			TraceDirectoryBuilder builder = sample().access(0x10008, 1, 0, 1100, 1500, 100);
			builder.file("p0000/accesses-000000.csv", "11000,0,1,0,3,1100,1500,100,401000,0,4");
			if (two) {
				builder.file("p0001/image.json", "{\"index\":1,\"pid\":200,\"parent\":0,\"how\":\"fork\",\"start_ns\":1000}")
						.file("p0001/accesses-000000.csv", TraceDirectoryBuilder.HEADER, "11000,0,1,0,3,1100,1500,200,401000,0,4");
			}
			String told = operation(builder.write()).call(Progress.NONE).trace().properties().get(TraceInfo.PROPERTY_NOT_PRIVATE);
			assertEquals(two ? "66.7 % of the records are of memory that other processes may use, too: each has pages, threads and first touches "
					+ "of its own here, and what they share is not known" : null, told);
		}
	}

	/** Pages that the kernel mapped around a read are records like others, and are told apart. */
	@Test
	void pagesMappedAroundAReadAreTold() throws Exception {
		TraceDirectoryBuilder builder = sample().access(0x10008, 1, 0, 1100, 1500, 100);
		builder.file("p0000/accesses-000000.csv", "11000,0,1,0,3,1100,1500,100,401000,0,b", "12000,0,1,0,0,1100,1500,-1,0,0,b",
				"20000,0,1,0,0,1100,1500,-1,0,0,3");
		Path directory = builder.write();
		Path manifest = directory.resolve("manifest.json");
		Files.writeString(manifest, Files.readString(manifest).replace("\"granularity_bytes\":4096",
				"\"granularity_bytes\":4096,\"read_group_bytes\":65536"));
		ImportReport report = operation(directory).call(Progress.NONE);
		assertEquals("50.0 % of the records are of pages that may not have been touched; the kernel maps groups of up to 16 pages around a read",
				report.trace().properties().get(TraceInfo.PROPERTY_MAYBE_UNTOUCHED));
		assertEquals("65536", report.trace().properties().get("guarantee_read_group_bytes"));
		assertTrue(report.toJson().contains("\"maybe_untouched\": 2"), report.toJson());
		try (TraceStore store = catalogue.open(report.trace().id())) {
			assertEquals(4, store.accessCount());
			List<Integer> flags = new ArrayList<>();
			store.visitAccesses(AccessQuery.ALL, b -> {
				for (int i = 0; i < b.count; i++) {
					flags.add(b.flags[i]);
				}
			}, Progress.NONE);
			flags.sort(null);
			assertEquals(List.of(0, 3, 11, 11), flags);
		}
		assertNull(operation(sample().access(0x10008, 1, 0, 1100, 1500, 100).write()).call(Progress.NONE).trace().properties()
				.get(TraceInfo.PROPERTY_MAYBE_UNTOUCHED));
	}

	@Test
	void importsTheSample() throws Exception {
		Path directory = sample().access(0x10008, 1, 0, 1100, 1500, 100).access(0x10010, 0, 2, 1100, 1500, 101)
				.access(0x20018, 1, 1, 1100, 1500, 100).access(0x11000, 1, 0, 1500, 2000, 100)
				.access(0x10000, 3, 0, 2000, 2500, 100).access(0x50000, 1, 0, 2000, 2500, -1)
				.access(0x7f1000, 0, 1, 2000, 2500, 101).access(0x60000, 1, 0, 2000, 2500, 555).write();
		ImportReport report = operation(directory).call(Progress.NONE);
		TraceInfo info = report.trace();
		assertEquals("sample", info.alias());
		assertEquals("/bin/app", info.application());
		assertEquals(1000, info.startNs());
		assertEquals(9000, info.endNs());
		assertEquals(4, info.cpus());
		assertEquals("./app -n 'two words'", info.properties().get("command"));
		assertEquals("3", info.properties().get("losses"));
		assertEquals("128 MiB of shared memory not seen", info.properties().get("unseen"));
		assertEquals("counted for 10 % of the time", info.properties().get(TraceInfo.PROPERTY_WINDOWS));
		assertEquals("5 blocks that lived shortly", info.properties().get(TraceInfo.PROPERTY_UNLISTED));
		assertEquals("2 of 9 intervals took longer", info.properties().get(TraceInfo.PROPERTY_LATE));
		assertEquals("3 processes not recorded", info.properties().get("unrecorded"));
		assertEquals("complete", info.properties().get("guarantee_pages"));
		assertEquals(ImportOperation.identity(directory), info.properties().get(ImportSource.PROPERTY_SOURCE_IDENTITY));
		try (TraceStore store = catalogue.open(info.id())) {
			assertEquals(List.of("A [page 0] 1100-1500 t0 1/0 shared2", "A [page 0] 1100-1500 t1 0/2 shared2",
					"table 1100-1500 t0 1/1 shared0", "A [page 1] 1500-2000 t0 1/0 shared0",
					"B, \"quoted\" [page 0] 2000-2500 t0 3/0 shared0", "50000 (1 page) 2000-2500 t-1 1/0 shared0",
					"60000 (1 page) 2000-2500 t2 1/0 shared0", "stack of worker [page 1] 2000-2500 t1 0/1 shared0"), rows(store));
			assertEquals(StructureKind.HEAP, store.structures().get(0).kind());
			assertEquals(0, store.structures().get(0).stack());
			assertEquals("main", store.stack(0).get(0).function());
			assertEquals(0x7f0123, store.stack(0).get(1).ip());
			assertEquals(1000, store.structures().get(3).birthNs(), "-1 is the start of the trace");
			assertEquals(Long.MAX_VALUE, store.structures().get(3).deathNs());
			assertEquals(List.of("app", "worker", "thread 555"), store.threads().stream().map(t -> t.name()).toList());
			assertTrue(store.threads().get(0).main());
			assertEquals(BitSet.valueOf(new long[] { 3 }), store.cpuSets().get(0));
			assertEquals(List.of(new Interval(0, 1000, 1500, 500, 4, 0, 0, "", new Interval.Measured(-1, 1, 3, -1, 10, 0, 0, 1, 1, 1, 1)),
					new Interval(0, 1500, 2000, 500, 4, 3, 1, "governor:lengthened",
							new Interval.Measured(2010, 2, 3, 11, 8192, 9, 10, 6, 5, 3, 4))), store.intervals(), "all columns are kept");
			assertEquals(report.toJson(), store.importReport().orElseThrow());
		}
		String text = report.toText();
		assertTrue(text.contains("rows read             8 in 1 files of 1 process image(s)"), text);
		assertTrue(text.contains("reads                 8 (all written: 8)"), text);
		assertTrue(text.contains("writes                4 (all written: 4)"), text);
		assertTrue(text.contains("in known structures   83.3 % of the page faults"), text);
		assertTrue(text.contains("lost by the recorder  3 page faults {ring_overflow=3}"), text);
		assertTrue(report.toJson().contains("\"threads_not_listed\": 1"), report.toJson());
	}

	@Test
	void imagesHaveTheirOwnAddresses() throws Exception {
		Path directory = sample().access(0x10008, 1, 0, 1100, 1500, 100)
				.file("p0001/image.json", "{\"index\":1,\"pid\":200,\"parent\":0,\"how\":\"fork\",\"executable\":\"/bin/app\"}")
				.file("p0001/accesses-000000.csv", TraceDirectoryBuilder.HEADER, "10008,0,1,0,1,1050,1500,100,0,-1,0",
						"10008,0,0,1,1,1200,1500,200,0,-1,0")
				.file("p0002/image.json", "{\"index\":2,\"backend\":\"none\",\"backend_message\":\"no perf\"}").write();
		ImportReport report = operation(directory).call(Progress.NONE);
		try (TraceStore store = catalogue.open(report.trace().id())) {
			assertEquals(List.of("10000 (1 page) 1050-1500 t2 1/0 shared2", "A [page 0] 1100-1500 t0 1/0 shared0",
					"10000 (1 page) 1200-1500 t3 0/1 shared2"), rows(store));
			assertEquals("p0001 app (process 200)", store.producers().name(store.producers().nextSibling(1)));
		}
	}

	@Test
	void aTaskIdThatIsUsedAgainIsAnotherThread() throws Exception {
		Path directory = sample().file("p0000/threads.csv", "101,next,3500,-1,0,0,")
				.access(0x50000, 1, 0, 1300, 1400, 101).access(0x50000, 2, 0, 2900, 3600, 101)
				.access(0x50000, 3, 0, 3400, 3900, 101).access(0x50000, 4, 0, 3400, 3900, 100)
				.access(0x50000, 5, 0, 3950, 4000, 101).access(0x50000, 6, 0, 3950, 4000, -1)
				.access(0x50000, 7, 0, 3960, 3970, 101).write();
		ImportReport report = operation(directory).call(Progress.NONE);
		try (TraceStore store = catalogue.open(report.trace().id())) {
			List<String> threads = new ArrayList<>();
			store.visitAccesses(AccessQuery.ALL, b -> {
				for (int i = 0; i < b.count; i++) {
					threads.add(b.reads[i] + (b.thread[i] < 0 ? "" : store.threads().get(b.thread[i]).name()));
				}
			}, Progress.NONE);
			threads.sort(null);
			assertEquals(List.of("1worker", "2worker", "3next", "4app", "5next", "6", "7next"), threads,
					"by the longer part; in a tie the first");
		}
	}

	@Test
	void aThreadWithoutATaskIdIsNotTheOneOfUnattributedAccesses() throws Exception {
		Path directory = sample().file("p0000/threads.csv", "-1,ghost,1000,-1,0,0,").access(0x50000, 2, 0, 1300, 1400, -1)
				.access(0x51000, 1, 0, 1300, 1400, 100).write();
		ImportReport report = operation(directory).call(Progress.NONE);
		assertTrue(report.toText().contains("p0000/threads.csv"), report.toText());
		assertTrue(report.toText().contains("thread without a task id"), report.toText());
		try (TraceStore store = catalogue.open(report.trace().id())) {
			assertEquals(List.of("app", "worker"), store.threads().stream().map(ThreadInfo::name).toList());
			store.visitAccesses(AccessQuery.ALL, b -> {
				for (int i = 0; i < b.count; i++) {
					assertEquals(b.reads[i] == 2 ? -1 : 0, b.thread[i]);
				}
			}, Progress.NONE);
		}
	}

	@Test
	void chunksArePlainOrCompressedAndMayBeTruncated() throws Exception {
		TraceDirectoryBuilder builder = sample();
		for (int c = 0; c < 4; c++) {
			String file = String.format("p0000/accesses-%06d.csv", c);
			builder.file(file, TraceDirectoryBuilder.HEADER);
			for (int i = 0; i < 50; i++) {
				int start = 1000 + c * 500 + i;
				builder.file(file, String.format("%x,0,1,0,1,%d,%d,100,0,0,0", 0x50000 + i * 4096, start, start + 400));
			}
		}
		Path image = builder.write().resolve("p0000");
		TraceDirectoryBuilder.compress(image.resolve("accesses-000000.csv"));
		Path both = image.resolve("accesses-000001.csv");
		byte[] plain = Files.readAllBytes(both);
		TraceDirectoryBuilder.compress(both);
		Files.write(both, plain); // the recorder was killed before it removed the plain file: it must not count twice
		Path cut = image.resolve("accesses-000003.csv");
		byte[] bytes = Files.readAllBytes(cut);
		Files.write(cut, Arrays.copyOf(bytes, bytes.length - 5));
		ImportReport report = operation(image.getParent()).call(Progress.NONE);
		try (TraceStore store = catalogue.open(report.trace().id())) {
			assertEquals(199, store.accessCount());
		}
		assertTrue(report.toJson().contains("\"incomplete_last_lines\": 1"), report.toJson());
		// a compressed file that ends within a frame
		TraceDirectoryBuilder.compress(cut);
		Path compressed = Path.of(cut + ".zst");
		byte[] frames = Files.readAllBytes(compressed);
		Files.write(compressed, Arrays.copyOf(frames, frames.length - 30));
		ImportReport truncated = operation(image.getParent()).call(Progress.NONE);
		try (TraceStore store = catalogue.open(truncated.trace().id())) {
			assertTrue(store.accessCount() >= 150 && store.accessCount() < 200, "" + store.accessCount());
		}
	}

	@Test
	void chunksMayBeGzipped() throws Exception {
		Path image = sample().access(0x10008, 1, 0, 1100, 1500, 100).access(0x10010, 0, 2, 1100, 1500, 101).write()
				.resolve("p0000");
		Path chunk = image.resolve("accesses-000000.csv");
		try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(Path.of(chunk + ".gz")))) {
			Files.copy(chunk, out);
		}
		try (TraceStore store = catalogue.open(operation(image.getParent()).call(Progress.NONE).trace().id())) {
			assertEquals(2, store.accessCount(), "the plain file and the compressed one are the same accesses");
		}
		Files.delete(chunk);
		try (TraceStore store = catalogue.open(operation(image.getParent()).call(Progress.NONE).trace().id())) {
			assertEquals(2, store.accessCount());
		}
	}

	@Test
	void rowsOutOfOrderAreSorted() throws Exception {
		TraceDirectoryBuilder builder = sample();
		List<long[]> rows = new ArrayList<>();
		Random random = new Random(7);
		for (int i = 0; i < 3000; i++) {
			long start = 1000 + random.nextInt(500);
			rows.add(new long[] { 0x50000 + random.nextInt(20) * 4096, start, start + 1 + random.nextInt(30), 100 + random.nextInt(4) });
		}
		rows.forEach(r -> builder.access(r[0], 1, 0, r[1], r[2], r[3]));
		ImportReport report = operation(builder.write()).call(Progress.NONE);
		rows.sort((a, b) -> Long.compare(a[1], b[1]));
		long[] expected = rows.stream().mapToLong(r -> rows.stream()
				.filter(o -> o[0] == r[0] && o[1] < r[2] && o[2] > r[1]).mapToLong(o -> o[3]).distinct().count()).sorted().toArray();
		List<Long> sharing = new ArrayList<>();
		try (TraceStore store = catalogue.open(report.trace().id())) {
			store.visitAccesses(AccessQuery.ALL, b -> {
				for (int i = 0; i < b.count; i++) {
					sharing.add(Math.max(1L, b.sharing[i])); // a look for each does not say whether there were others
				}
			}, Progress.NONE);
		}
		assertEquals(Arrays.stream(expected).boxed().toList(), sharing.stream().sorted().toList());
		assertTrue(report.toText().contains("rows out of order"), report.toText());
	}

	@Test
	void refusalsAreOneSentence() throws Exception {
		assertEquals("does not exist", reason(() -> operation(temporary.resolve("nothing")).call(Progress.NONE)));
		assertEquals("is not a trace directory, it has no manifest.json", reason(() -> operation(temporary).call(Progress.NONE)));
		Path directory = sample().write();
		assertEquals("has no accesses to import", reason(() -> operation(directory).call(Progress.NONE)));
		Files.writeString(directory.resolve("manifest.json"), "{\"format\":\"memtrace\",\"format_version\":2}");
		assertThrows(UnsupportedVersionException.class, () -> operation(directory).call(Progress.NONE));
		for (String bad : List.of("", "[]", "{\"format\":\"other\"}", "{\"format\":\"memtrace\"}", "{\"format", "\u0000")) {
			Files.writeString(directory.resolve("manifest.json"), bad);
			assertThrows(TraceFormatException.class, () -> operation(directory).call(Progress.NONE), bad);
		}
		Files.writeString(directory.resolve("manifest.json"), "{\"format\":\"memtrace\",\"format_version\":1}");
		Files.writeString(directory.resolve("p0000/image.json"),
				"{\"backend\":\"none\",\"backend_message\":\"perf events are not allowed\"}");
		assertEquals("has no accesses to import; the collector could not work: perf events are not allowed",
				reason(() -> operation(directory).call(Progress.NONE)));
		assertEquals(List.of(), catalogue.list());
	}

	private static String reason(org.junit.jupiter.api.function.Executable action) {
		String message = assertThrows(TraceFormatException.class, action).getMessage();
		return message.substring(message.indexOf(": ") + 2);
	}

	@Test
	void whatTheRecorderCouldNotWriteIsSaid() throws Exception {
		Path directory = sample().access(0x10008, 1, 0, 1100, 1500, 100).write();
		Path manifest = directory.resolve("manifest.json");
		Files.writeString(manifest, Files.readString(manifest).replace("\"signal\":null", "\"incomplete\":\"No space left on device\""));
		assertEquals(List.of("the recorder could not write everything: No space left on device"),
				operation(directory).call(Progress.NONE).warnings());
	}

	@Test
	void whatTheProgramAdvisedAboutHugePagesIsAFactOfTheStructure() throws Exception {
		Path directory = new TraceDirectoryBuilder(temporary.resolve("advised")).file("p0000/image.json", "{\"index\":0,\"pid\":100}")
				.file("p0000/structures.csv", "Id,Kind,Name,Start,End,HugeBytes,NoHugeBytes", "0,heap,grid,10000,18000,8192,4096",
						"1,heap,old,20000,21000,,")
				.file("p0000/intervals.csv", "Start,End,Resident", "1000,2000,12288", "2000,3000,8192")
				.access(0x10008, 1, 0, 1100, 1500, 100).access(0x20008, 1, 0, 1100, 1500, 100).write();
		ImportReport report = operation(directory).call(Progress.NONE);
		try (TraceStore store = catalogue.open(report.trace().id())) {
			assertEquals(List.of("grid 8192 4096", "old -1 -1"), store.structures().stream().map(s -> s.name() + " " + s.hugeBytes() + " "
					+ s.noHugeBytes()).toList());
			TraceSummary summary = new TraceSummary(StructureTable.of(AccessTable.load(store, Progress.NONE), store.structures(),
					Progress.NONE));
			assertTrue(summary.text().contains("Advice     huge pages wanted for 8.0 KiB of grid, not wanted for 4.0 KiB of grid; it was recorded"
					+ " in small pages\n"), summary.text());
			assertTrue(summary.text().contains("Resident   12.0 KiB at most at the end of an interval, of the memory that the recorder saw\n"),
					summary.text());
			assertEquals(12288, summary.toJson(null).get("resident_bytes").getAsLong());
		}
	}

	/** What is not read is told, with the reason; what later versions add is a warning. */
	@Test
	void nothingOfTheDirectoryIsDroppedSilently() throws Exception {
		Path directory = sample().file("p0000/accesses-000000.csv", TraceDirectoryBuilder.HEADER + ",Colour",
				"10008,0,1,0,3,1100,1500,100,401000,0,0,7")
				.file("p0000/zoomcost.csv", "Start,End", "1000,2000", "2000,3000").file("p0000/first.csv", "@Virt,Write,Time,TaskId",
						"10010,1,1400,100", "10008,0,1234,100", "10008,0,1200,101")
				.file("p0000/regions.csv", "Time,TaskId,Event,Name,Depth", "1000,100,begin,solve,0").raw("p0000/new.bin", "x").write();
		ImportReport report = operation(directory).call(Progress.NONE);
		assertEquals(List.of("sample.memtrace/p0000/regions.csv: its column Depth is not known to this version and not kept",
				"sample.memtrace/p0000/new.bin: the file is not known to this version and not kept",
				"sample.memtrace/p0000/accesses-000000.csv: its column Colour is not known to this version and not kept"),
				report.warnings().stream().map(w -> w.substring(Math.max(0, w.indexOf("sample.memtrace")))).toList());
		assertTrue(report.toText().contains("p0000/zoomcost.csv, 2 lines: what the close look cost is kept as a sentence\n"), report.toText());
		try (TraceStore store = catalogue.open(report.trace().id())) {
			store.visitAccesses(AccessQuery.ALL, b -> assertEquals(134, b.firstNs[0], "1234 of first.csv"), Progress.NONE);
		}
	}

	@Test
	void aKilledRecorderLeavesATraceThatCanBeImported() throws Exception {
		Path directory = sample().access(0x10008, 1, 0, 1100, 1500, 100).raw("p0000/context.log", "raw")
				.file("p0000/intervals.csv", "2,2000,2500,1,500,4,3,0,0,0,10,1,1,1,1,write:ENOSPC,20,100,0,0,0,0").write();
		Files.delete(directory.resolve("p0000/structures.csv"));
		Files.delete(directory.resolve("p0000/threads.csv"));
		Files.writeString(directory.resolve("manifest.json"), "{\"format\":\"memtrace\",\"format_version\":1,\"status\":{\"state\":\"running\"}}");
		ImportReport report = operation(directory).call(Progress.NONE);
		assertEquals("sample", report.trace().alias(), "the name of the directory");
		assertTrue(report.warnings().get(0).contains("memtrace finish"), report.warnings().toString());
		assertEquals("123", report.trace().properties().get("losses"), "from the intervals, for whatever reason");
	}

	@Test
	void cancellingLeavesNothing() throws Exception {
		TraceDirectoryBuilder builder = sample();
		for (int i = 0; i < 30_000; i++) {
			builder.access(0x50000 + i % 100 * 4096, 1, 0, 1100 + i, 1500 + i, 100);
		}
		Path directory = builder.write();
		TraceCatalogue onDisk = Stores.openCatalogue(temporary.resolve("catalogue"), n -> {
		});
		for (int after = 0; after < 40; after += 3) {
			int limit = after;
			int[] calls = { 0 };
			Progress progress = Progress.cancelledWhen(() -> calls[0]++ >= limit);
			try {
				new ImportOperation(directory, onDisk::create).setScratchDirectory(temporary).call(progress);
			} catch (CancelledException e) {
				assertEquals(List.of(), onDisk.list());
				try (Stream<Path> files = Files.list(onDisk.directory())) {
					assertEquals(List.of("SOCTRACE_SYSTEM_DB"), files.map(f -> f.getFileName().toString()).toList());
				}
				continue;
			}
			assertEquals(1, onDisk.list().size());
			onDisk.delete(0);
		}
		onDisk.close();
	}

	@Test
	void compressedAndSpilledRowsAreTheSame() throws Exception {
		RowSpill spill = new RowSpill(temporary, new RowSpill.Budget(20_000));
		List<String> expected = new ArrayList<>();
		Random random = new Random(3);
		SpilledRow row = new SpilledRow();
		for (int i = 0; i < 40_000; i++) {
			row.startNs = random.nextBoolean() ? row.startNs : random.nextLong(Long.MAX_VALUE / 2);
			row.endNs = row.startNs + 1 + (random.nextBoolean() ? 5 : random.nextLong(1L << 40));
			row.leaf = random.nextInt(Integer.MAX_VALUE);
			row.thread = random.nextInt(5) - 1;
			row.cpuSet = random.nextInt(3) - 1;
			row.reads = random.nextInt(3) == 0 ? random.nextLong(Long.MAX_VALUE) : random.nextInt(2);
			row.writes = random.nextInt(2);
			row.ip = random.nextInt(100);
			row.node = random.nextInt(3) - 1;
			row.flags = random.nextInt(8);
			expected.add(text(row));
			spill.add(row);
		}
		spill.finish();
		try (Stream<Path> files = Files.list(temporary)) {
			assertEquals(0, files.count(), "the file has no name");
		}
		RowSpill.Cursor cursor = spill.read();
		for (String text : expected) {
			assertTrue(cursor.next());
			assertEquals(text, text(cursor.row));
		}
		assertFalse(cursor.next());
		spill.close();
	}

	private static String text(SpilledRow r) {
		return r.startNs + " " + r.endNs + " " + r.leaf + " " + r.thread + " " + r.cpuSet + " " + r.reads + " " + r.writes + " "
				+ r.ip + " " + r.node + " " + r.flags;
	}

	/** Random damage to all files: an import works and conserves its sums, or says why not; nothing else may happen. */
	@Test
	void randomDamage() throws Exception {
		TraceDirectoryBuilder builder = sample();
		for (int i = 0; i < 60; i++) {
			builder.access(0x10000 + i % 7 * 4096 + i, i % 3, 1 + i % 2, 1100 + i * 10, 1500 + i * 10, 100 + i % 3);
		}
		Path directory = builder.write();
		List<Path> files;
		try (Stream<Path> all = Files.walk(directory)) {
			files = all.filter(Files::isRegularFile).sorted().toList();
		}
		int imported = 0;
		int refused = 0;
		for (long seed = 1; seed <= 400; seed++) {
			Random random = new Random(seed);
			Path file = files.get(random.nextInt(files.size()));
			byte[] original = Files.readAllBytes(file);
			Files.write(file, damage(original, random));
			try {
				ImportReport report = operation(directory).setStrict(seed % 4 == 0).call(Progress.NONE);
				imported++;
				long[] sum = new long[1];
				try (TraceStore store = catalogue.open(report.trace().id())) {
					store.visitAccesses(AccessQuery.ALL, b -> sum[0] += b.count, Progress.NONE);
					assertEquals(store.accessCount(), sum[0]);
				}
				catalogue.delete(report.trace().id());
			} catch (MemtraceException e) {
				refused++;
				assertFalse(e.getMessage().isBlank());
			} catch (RuntimeException | Error e) {
				throw new AssertionError("seed " + seed + ", file " + file.getFileName(), e);
			}
			Files.write(file, original);
		}
		assertTrue(imported > 50 && refused > 20, imported + " imported, " + refused + " refused");
	}

	private static byte[] damage(byte[] original, Random random) {
		byte[] bytes = original.clone();
		switch (random.nextInt(5)) {
		case 0 -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
		case 1 -> {
			for (int i = 0; i < 1 + random.nextInt(8); i++) {
				bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
			}
		}
		case 2 -> {
			int at = random.nextInt(bytes.length);
			byte[] text = List.of("\n", ",", "-", "ffffffffffffffffffff", "\"", "\0", "\r\n", "99999999999999999999", "}{").get(random.nextInt(9))
					.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
			byte[] longer = new byte[bytes.length + text.length];
			System.arraycopy(bytes, 0, longer, 0, at);
			System.arraycopy(text, 0, longer, at, text.length);
			System.arraycopy(bytes, at, longer, at + text.length, bytes.length - at);
			bytes = longer;
		}
		case 3 -> {
			int from = random.nextInt(bytes.length);
			int to = Math.min(bytes.length, from + random.nextInt(50));
			byte[] shorter = new byte[bytes.length - (to - from)];
			System.arraycopy(bytes, 0, shorter, 0, from);
			System.arraycopy(bytes, to, shorter, from, bytes.length - to);
			bytes = shorter;
		}
		default -> {
			int from = random.nextInt(bytes.length);
			System.arraycopy(original, 0, bytes, from, bytes.length - from);
		}
		}
		return bytes;
	}
}
