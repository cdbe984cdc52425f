// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;
import org.memtrace.importer.EventLines;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.ImportTest;
import org.memtrace.importer.TraceDirectoryBuilder;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.CountUnit;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.MemoryLevel;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;

/**
 * Texts of perf script. Those with mappings, call chains and page faults are as perf 6.1 wrote them here; those of the three
 * processors are made, because none of them was at hand: the words by perf's sources, the numbers by linux/perf_event.h.
 */
class PerfReaderTest extends ImportTest {
	private static final String MAPPINGS = """
			# captured on    : Mon Nov 23 12:55:21 2026
			       perf-exec     0/0     [000]     0.000000000: PERF_RECORD_COMM: perf-exec:1234/1234
			             app  1234/1234  [000]   100.000000050: PERF_RECORD_COMM exec: app:1234/1234
			             app  1234/1234  [000]   100.000000060: PERF_RECORD_MMAP2 1234/1234: [0x7ffca5565000(0x21000) @ 0x7ffffffde000 00:00 0 0]: rw-p [stack]
			             app  1234/1234  [000]   100.000000100: PERF_RECORD_MMAP2 1234/1234: [0x55a4d1000000(0x4000) @ 0x3000 08:01 99 1]: rw-p /usr/bin/app
			             app  1234/1234  [000]   100.000000110: PERF_RECORD_MMAP2 1234/1234: [0x55a4d0001000(0x4000) @ 0x1000 08:01 99 1]: r-xp /usr/bin/app
			             app  1234/1234  [000]   100.000000120: PERF_RECORD_MMAP2 1234/1234: [0x7f8768dad000(0x2000) @ 0x7f8768dad000 00:00 0 0]: rw-p //anon
			""";
	private static final String INTEL = """
			             app  1234/1234  [000]   100.001000100:     cpu/mem-loads,ldlat=30/P:      55a4d1000040 counters+0x40 (/usr/bin/app)         68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A                7     55a4d0001234 work+0x14 (/usr/bin/app)          1a2b3040
			             app  1234/1235  [003]   100.002000100:     cpu/mem-loads,ldlat=30/P:      55a4d1000048 counters+0x48 (/usr/bin/app)        668800842 |OP LOAD|LVL L3 hit|SNP HitM|TLB L1 or L2 hit|LCK No|BLK  N/A              412     55a4d0001234 work+0x14 (/usr/bin/app)          1a2b3048
			             app  1234/1235  [003]   100.002500100:           cpu/mem-stores/P:      55a4d1001048 counters+0x1048 (/usr/bin/app)          5080184 |OP STORE|LVL L1 miss|SNP N/A|TLB N/A|LCK N/A|BLK  N/A                0     55a4d0001244 operator|(A<int> const&, B (*)(int))+0x24 (/usr/bin/app)          1a2b4048
			             app  1234/1235  [003]   100.003000100:     cpu/mem-loads,ldlat=30/P:      7f8768dad010 [unknown] (//anon)       3a01102042 |OP LOAD|LVL Remote RAM hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A            70000     55a4d0001238 work+0x18 (/usr/bin/app)          1a2b5010
			""";
	private static final String AMD = """
			 app with space  1234/1235  [003]   100.002000100:     ibs_op//:      55a4d1000048        1a00000042 |OP LOAD|LVL Local RAM hit|SNP N/A|TLB N/A|LCK N/A|BLK N/A   311   12     55a4d0001234 work+0x14 (/usr/bin/app)
			 app with space  1234/1235  [003]   100.002000200:     ibs_op//:                 0                1 |OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK N/A     0    0     55a4d0001234 work+0x14 (/usr/bin/app)
			 app with space  1234/1235  [003]   100.002000300:     ibs_op//:  ffff88810a2b3c40               1e00000042 |OP LOAD|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK N/A     9    0     ffffffff81001234 clear_page+0x14 ([kernel.kallsyms])
			""";
	private static final String ARM = """
			             app  1234/1235  [003]   100.002000100:       memory:      55a4d1000048        200000042 |OP LOAD|LVL L1 hit|SNP N/A|TLB Walker hit|LCK No|BLK  N/A   31     55a4d0001234 work+0x14 (/usr/bin/app)
			             app  1234/1235  [003]   100.002000100:   l1d-access:      55a4d1000048        200000042 |OP LOAD|LVL L1 hit|SNP N/A|TLB Walker hit|LCK No|BLK  N/A   31     55a4d0001234 work+0x14 (/usr/bin/app)
			             app  1234/1236  [001]   100.003000100:       memory:      55a4d1000050       9600000044 |OP STORE|LVL L3 hit|SNP Peer|TLB Walker hit|LCK No|BLK  N/A  130     55a4d0001238 work+0x18 (/usr/bin/app)
			""";
	private static final String FAULTS = """
			    app 1234/1234 [000] 100.001000100: page-faults:     55a4d1000040 counters+0x40 (/usr/bin/app)     55a4d0001234 work+0x14 (/usr/bin/app)
			    app 1234/1234 [000] 100.001000200:          1 page-faults:     7f8768dad010 [unknown] (//anon) ffffffff817554ea elf_load+0x28a ([kernel.kallsyms])
			    app 1234/1235 [001] 100.041000200: page-faults:     7f8768dae000
			\t    55a4d0001238 work+0x18 (/usr/bin/app)
			\t    55a4d0001300 main+0x20 (/usr/bin/app)

			""";

	private static final String NEXT_IS_COMPILER = "prev_comm=java prev_pid=5824 prev_prio=130 prev_state=R ==> next_comm=C1 Comp next_pid=5840 next_prio=130";
	private static final String NEXT_IS_JAVA = "prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=java next_pid=5824 next_prio=130";

	private ImportReport read(String text) throws Exception {
		return read(Files.writeString(directory.resolve("app.perf.txt"), text));
	}

	/** Each access in a line: page, structure, thread, reads, writes, places in the page, level, latency. */
	private List<String> accesses(ImportReport report) throws MemtraceException {
		List<String> lines = new ArrayList<>();
		try (TraceStore store = catalogue.open(report.trace().id())) {
			store.visitAccesses(AccessQuery.ALL, b -> {
				for (int i = 0; i < b.count; i++) {
					int s = store.producers().structure(b.producer[i]);
					lines.add(Long.toHexString(store.producers().startAddress(b.producer[i])) + " " + (s < 0 ? "-" : store.structures().get(s).name())
							+ " " + store.threads().get(b.thread[i]).taskId() + " " + b.reads[i] + "r" + b.writes[i] + "w "
							+ Integer.toHexString(Math.max(b.readOffset[i], b.writeOffset[i])) + " " + MemoryLevel.of(b.flags[i]) + " "
							+ MemoryLevel.latencyCycles(b.flags[i]) + " " + (b.flags[i] & AccessBatch.FLAGS) + " " + Long.toHexString(b.ip[i]));
				}
			}, Progress.NONE);
		}
		return lines.stream().sorted().toList();
	}

	@Test
	void intelsLoadsAndStores() throws Exception {
		ImportReport report = read(MAPPINGS + INTEL);
		assertEquals(List.of("55a4d1000000 counters 1234 1r0w 40 L1 7 0 55a4d0001234", //
				"55a4d1000000 counters 1235 1r0w 48 MODIFIED 412 0 55a4d0001234", //
				"55a4d1001000 counters 1235 0r1w 48 BEYOND_L1 0 0 55a4d0001244",
				"7f8768dad000 anonymous memory 1235 1r0w 10 REMOTE_MEMORY 65535 0 55a4d0001238"), accesses(report));
		assertEquals(CountUnit.SAMPLES, report.trace().counts());
		assertEquals("sampled", report.trace().properties().get("guarantee_pages"));
		assertEquals("decoded", report.trace().properties().get("guarantee_writes"));
		assertEquals(directory.resolve("app.perf.txt").toString(), report.trace().properties().get(ImportSource.PROPERTY_SOURCE));
		try (TraceStore store = catalogue.open(report.trace().id())) {
			Set<String> names = store.structures().stream().map(Structure::name).collect(Collectors.toSet());
			assertEquals(Set.of("stack of main thread", "app data", "app code", "anonymous memory", "counters"), names);
		}
	}

	@Test
	void amdsSamplesWithoutAnAddressAreCounted() throws Exception {
		ImportReport report = read(MAPPINGS + AMD);
		assertEquals(List.of("55a4d1000000 app data 1235 1r0w 48 LOCAL_MEMORY 311 0 55a4d0001234"), accesses(report));
		assertTrue(report.toJson().contains("\"no address of data\": 1"), report.toJson());
		assertTrue(report.toJson().contains("\"an address of the kernel\": 1"), report.toJson());
		assertTrue(report.toJson().contains("\"skipped\": 2"), report.toJson());
		try (TraceStore store = catalogue.open(report.trace().id())) {
			assertEquals("app with space", store.threads().get(0).name());
		}
	}

	/** {@code perf record -d} of a clock: perf prints the field, and nothing is in it. */
	@Test
	void samplesOfWhichNoneHasAnAddressAreInstants() throws Exception {
		ImportReport report = read("""
				             app  1234/1234  [000]   100.001000100:  cpu-clock:u:                0     55a4d0001234 work+0x14 (/usr/bin/app)
				             app  1234/1235  [003]   100.002000100:  cpu-clock:u:                0     55a4d0001238 work+0x18 (/usr/bin/app)
				""");
		assertEquals(2, report.trace().events());
		assertTrue(report.toText().contains("2 punctual events"), report.toText());
		assertTrue(report.warnings().toString().contains("perf was asked for addresses of data (-d), and no event has one"), report.toText());
		String merge = assertThrows(MemtraceException.class, () -> new ImportOperation(List.of(directory.resolve("app.perf.txt")), System.in,
				catalogue::create).setFanout(4).call(Progress.NONE)).getMessage();
		assertTrue(merge.contains("2 no address of data"), merge);
	}

	@Test
	void armsSampleIsTakenOnce() throws Exception {
		ImportReport report = read(ARM);
		assertEquals(List.of("55a4d1000000 - 1235 1r0w 48 L1 31 0 55a4d0001234", "55a4d1000000 - 1236 0r1w 50 MODIFIED 130 0 55a4d0001238"),
				accesses(report));
		assertTrue(report.toJson().contains("\"told again by the event memory\": 1"), report.toJson());
		assertTrue(report.toText().contains("--show-mmap-events"), report.toText());
	}

	@Test
	void pageFaultsHaveNoDirection() throws Exception {
		ImportReport report = read(MAPPINGS + FAULTS);
		assertEquals(List.of("55a4d1000000 counters 1234 1r0w 40 null 0 2 55a4d0001234",
				"7f8768dad000 anonymous memory 1234 1r0w 10 null 0 2 ffffffff817554ea",
				"7f8768dae000 anonymous memory 1235 1r0w 0 null 0 2 55a4d0001238"), accesses(report));
		assertEquals("none", report.trace().properties().get("guarantee_writes"));
	}

	@Test
	void aRecordingGivesTheNames() throws Exception {
		Path recording = directory.resolve("app.memtrace");
		new TraceDirectoryBuilder(recording).sampleContext().write();
		String text = """
				app 100/101 [001] 0.000001500: cpu/mem-loads/P: 10040 68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 hit|LCK No|BLK  N/A 7 401234 f+0x1 (/bin/app)
				app 100/100 [001] 0.000002500: cpu/mem-loads/P: 10048 68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 hit|LCK No|BLK  N/A 8 401234 f+0x1 (/bin/app)
				other 200/200 [001] 0.000002500: cpu/mem-loads/P: 10048 68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 hit|LCK No|BLK  N/A 8 401234 f+0x1 (/bin/app)
				app 100/100 [001] 500.000002500: cpu/mem-loads/P: 10048 68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 hit|LCK No|BLK  N/A 8 401234 f+0x1 (/bin/app)
				""";
		Path samples = Files.writeString(directory.resolve("app.perf.txt"), text);
		ImportReport report = read(recording, samples);
		assertEquals(List.of("10000 A 101 1r0w 40 L1 7 0 401234", "10000 B, \"quoted\" 100 1r0w 48 L1 8 0 401234"), accesses(report));
		assertTrue(report.toJson().contains("\"of a process that was not recorded\": 1"), report.toJson());
		assertTrue(report.toJson().contains("\"outside the time of the recording\": 1"), report.toJson());
		assertEquals("app -n 'two words'".replace("app", "./app"), report.trace().properties().get("command"));
		try (TraceStore store = catalogue.open(report.trace().id())) {
			assertFalse(store.readNote(TraceStore.NOTE_CODE).isEmpty(), "function of the samples");
		}

		Files.writeString(samples, text.replace(" 0.00000", " 700.00000"));
		String why = assertThrows(MemtraceException.class, () -> read(recording, samples)).getMessage();
		assertTrue(why.contains("outside the time of the recording"), why);
	}

	@Test
	void memoryThatIsMappedAgainIsAnotherStructure() throws Exception {
		String again = """
				             app  1234/1234  [000]   100.002000000: PERF_RECORD_MMAP2 1234/1234: [0x7f8768dad000(0x3000) @ 0 08:01 99 1]: r--p /data/input
				             app  1234/1234  [000]   100.030000200: page-faults:     7f8768dad010 [unknown] (/data/input)     55a4d0001234 work+0x14 (/usr/bin/app)
				""";
		ImportReport report = read(MAPPINGS + FAULTS + again);
		assertTrue(accesses(report).contains("7f8768dad000 input constants 1234 1r0w 10 null 0 2 55a4d0001234"), accesses(report).toString());
		try (TraceStore store = catalogue.open(report.trace().id())) {
			Structure first = store.structures().stream().filter(s -> s.name().equals("anonymous memory")).findFirst().orElseThrow();
			assertEquals(100_000_000_120L, first.birthNs());
			assertEquals(100_002_000_000L, first.deathNs());
			CallFrame frame = CodePlaces.of(store.readNote(TraceStore.NOTE_CODE).orElseThrow()).frames().stream()
					.filter(f -> f.function().equals("work")).findFirst().orElseThrow();
			assertEquals("/usr/bin/app", frame.object());
		}
	}

	@Test
	void aProcessThatRunsAnotherProgramHasTwoImages() throws Exception {
		Path recording = directory.resolve("two.memtrace");
		new TraceDirectoryBuilder(recording).sampleContext()
				.file("p0001/image.json",
						"{\"index\":1,\"pid\":100,\"parent\":0,\"how\":\"exec\",\"executable\":\"/bin/b\",\"start_ns\":3000}")
				.file("p0001/structures.csv", "Id,Kind,Name,Start,End,Birth,Death,TaskId,Stack,Site", "0,heap,C,10000,14000,3000,-1,100,-1,b.c:1")
				.file("p0001/stacks.csv", "Stack,Depth,Ip,Object,Offset,Function,File,Line")
				.file("p0001/threads.csv", "TaskId,Name,Birth,Death,StackStart,StackEnd,Start", "100,b,3000,-1,0,0,").write();
		ImportReport report = read(recording, Files.writeString(directory.resolve("app.perf.txt"), """
				app 100/100 [001] 0.000002999: cpu/mem-loads/P: 10048 68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 hit|LCK No|BLK  N/A 8 401234 f+0x1 (/bin/app)
				b 100/100 [001] 0.000003000: cpu/mem-loads/P: 10050 68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 hit|LCK No|BLK  N/A 9 401234 f+0x1 (/bin/b)
				"""));
		assertEquals(List.of("10000 B, \"quoted\" 100 1r0w 48 L1 8 0 401234", "10000 C 100 1r0w 50 L1 9 0 401234"), accesses(report));
	}

	/** As perf 6.1 wrote them, with fewer frames. */
	@Test
	void otherEventsAreInstantsAndTimesOnACpu() throws Exception {
		ImportReport report = read("""
				falsesharing  5723/5724 14509.979317:     250000        cpu-clock:\s
				\t           150af handle_intel.constprop.0+0x2f (/usr/lib/ld.so)
				\t               0 [unknown] ([unknown])

				falsesharing  5723/5724 14509.979559:     250000        cpu-clock:     ffffffff817554ea elf_load+0x28a ([kernel.kallsyms])
				   java  5824 [000] 14509.980000: sched:sched_switch: %s
				C1 Comp  5840 [000] 14509.981000: sched:sched_switch: C1 Comp:5840 [120] S ==> swapper/0:0 [120]
				swapper      0 [000] 14509.982000: sched:sched_switch: %s
				   java  5824 [001] 14509.984000: irq:irq_handler_entry: irq=11 name=virtio0
				""".formatted(NEXT_IS_COMPILER, NEXT_IS_JAVA));
		assertEquals(List.of("cpu-clock PUNCTUAL falsesharing 5724 14509979317000 14509979317000 0.0 function=handle_intel.constprop.0;object=/usr/lib/ld.so",
				"cpu-clock PUNCTUAL falsesharing 5724 14509979559000 14509979559000 0.0 function=elf_load;object=[kernel.kallsyms]",
				"irq:irq_handler_entry PUNCTUAL java 5824 14509984000000 14509984000000 0.0 text=irq=11 name=virtio0",
				"on a CPU STATE C1 Comp 5840 14509980000000 14509981000000 0.0 cpu=0",
				"on a CPU STATE java 5824 14509982000000 14509984000000 0.0 cpu=0",
				"sched:sched_switch PUNCTUAL C1 Comp 5840 14509981000000 14509981000000 0.0 text=C1 Comp:5840 [120] S ==> swapper/0:0 [120]",
				"sched:sched_switch PUNCTUAL java 5824 14509980000000 14509980000000 0.0 text=" + NEXT_IS_COMPILER,
				"sched:sched_switch PUNCTUAL swapper 0 14509982000000 14509982000000 0.0 text=" + NEXT_IS_JAVA),
				EventLines.of(catalogue, report).stream().map(line -> line.replace(", object", ";object")).toList());
	}

	@Test
	void anAddressThatMayBeOfCodeIsNoAccess() throws Exception {
		ImportReport report = read(FAULTS + "    app 1234/1234 [000] 100.060000100: page-faults:     55a4d0001234 work+0x14 (/usr/bin/app)\n");
		assertEquals(3, accesses(report).size());
		assertTrue(report.toJson().contains("\"one address, which may be of data or of code (perf script -F addr,ip tells both)\": 1"),
				report.toJson());
	}

	/** Any damage gives a trace or one sentence. */
	@Test
	void damagedTextsEndWell() throws Exception {
		String whole = MAPPINGS + INTEL + AMD + ARM + FAULTS + "java 5824 [000] 14509.98: sched:sched_switch: " + NEXT_IS_COMPILER + "\n";
		String[] tokens = { "", "\n", ":", "|", "(", "0x", "-1", "18446744073709551615", "[99999]", "ffffffffffffffff", "+0x", "\0", " " };
		int good = 0;
		for (int n = 0; n < 300; n++) {
			Random random = new Random(n);
			String text = whole;
			for (int m = random.nextInt(6); m >= 0; m--) {
				int from = random.nextInt(text.length());
				int to = Math.min(text.length(), from + random.nextInt(random.nextInt(5) == 0 ? 2000 : 12));
				text = text.substring(0, from) + tokens[random.nextInt(tokens.length)] + text.substring(to);
			}
			try {
				assertTrue(read(text).trace().endNs() > 0, "seed " + n);
				good++;
			} catch (MemtraceException e) {
				assertFalse(e.getMessage().contains("please report"), "seed " + n + ": " + e.getMessage());
			}
		}
		assertTrue(good > 250, good + " of 300");
	}

	@Test
	void whatCannotBeUsedIsSaid() throws Exception {
		ImportReport cut = read(FAULTS + "    app 1234/1234 [000] 100.0010");
		assertTrue(cut.toText().contains("incomplete"), cut.toText());
		ImportReport odd = read(FAULTS + "    app 1234/1234 [000] 100.001000100: cycles:\nnonsense\n");
		assertTrue(odd.toJson().contains("\"not a line of perf script\": 1"), odd.toJson());
		String unusable = AMD.lines().skip(1).collect(Collectors.joining("\n", "", "\n"));
		String why = assertThrows(MemtraceException.class, () -> read(unusable)).getMessage();
		assertTrue(why.contains("1 no address of data"), why);
		assertTrue(why.contains("app.perf.txt"), why);
		Path other = Files.writeString(directory.resolve("b.csv"), "type,category,producer,start_ns\n");
		Path samples = Files.writeString(directory.resolve("c.txt"), FAULTS);
		assertThrows(MemtraceException.class, () -> read(samples, other));
	}

	@Test
	void levelsOfAllEncodings() {
		assertEquals(MemoryLevel.L1, DataSource.level(0x68100142L));
		assertNull(DataSource.level(0x1e05080021L), "a page fault");
		assertEquals(MemoryLevel.REMOTE_MODIFIED, DataSource.level(0x10L << 19 | 1L << 37 | 3L << 33));
		assertEquals(MemoryLevel.REMOTE_CACHE, DataSource.level(3L << 33 | 1L << 37));
		assertEquals(MemoryLevel.LOCAL_MEMORY, DataSource.level(0xdL << 33));
		assertEquals(MemoryLevel.REMOTE_MEMORY, DataSource.level((0x2L | 0x100) << 5), "before 4.14");
		assertEquals(MemoryLevel.L2, DataSource.level((0x2L | 0x20) << 5));
		assertEquals(MemoryLevel.CXL, DataSource.level(9L << 33));
		assertTrue(DataSource.isStore(4) && !DataSource.isLoad(4) && DataSource.isLoad(8));
	}

	@Test
	void flagsKeepLevelAndLatency() {
		for (MemoryLevel level : MemoryLevel.values()) {
			for (long latency : new long[] { 0, 1, 255, 256, 65_535, 65_536, Long.MAX_VALUE }) {
				int flags = MemoryLevel.flags(level, latency) | AccessBatch.FLAGS;
				assertEquals(level, MemoryLevel.of(flags));
				assertEquals(Math.min(latency, MemoryLevel.MAX_LATENCY_CYCLES), MemoryLevel.latencyCycles(flags));
			}
		}
		assertNull(MemoryLevel.of(AccessBatch.FLAGS));
	}
}
