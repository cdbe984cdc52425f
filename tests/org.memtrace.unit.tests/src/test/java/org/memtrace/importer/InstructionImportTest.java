// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.analysis.column.TraceTable;
import org.memtrace.analysis.source.Instructions;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.memtrace.InstructionParser;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.model.InstructionCounts;
import org.memtrace.model.InstructionCounts.Reach;
import org.memtrace.model.InstructionCounts.Use;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/** From instructions.csv to the tables of instructions. */
class InstructionImportTest {
	private static final String HEADER = "Id,TaskId,Ip,Write,Bytes,Count,First,Last,Strides";

	@TempDir
	Path directory;

	private TraceDirectoryBuilder trace(String... lines) {
		return new TraceDirectoryBuilder(directory.resolve("trace")).sampleContext().access(0x20010, 1, 1, 1000, 1500, 100)
				.file("p0000/instructions.csv", lines);
	}

	private static InstructionCounts parse(SkipCounter skips, Path written) throws MemtraceException {
		InstructionCounts.Builder counts = new InstructionCounts.Builder();
		InstructionParser.read(TraceDirectory.open(written).images().get(0), counts, skips);
		return counts.build();
	}

	private static Use use(long task, String strides, long accesses) {
		return new Use(0, task, 0x401000, false, 8, accesses, 0x20000, 0x20100, InstructionCounts.strides(strides));
	}

	@Test
	void theLastLineOfANumberCounts() throws Exception {
		SkipCounter skips = new SkipCounter(true);
		InstructionCounts counts = parse(skips, trace(HEADER, "0,100,401000,0,8,5,20000,20020,1:8:4:0", "1,100,401010,1,4,1,20000,20000,",
				"0,100,401000,0,8,9,20000,20040,-3:-512:1:1 1:8:6:0").write());
		assertEquals(2, counts.uses().size());
		Use u = counts.uses().get(0);
		assertEquals(9, u.accesses());
		assertEquals(0x20040, u.last());
		assertEquals(6, u.dominant().same());
		assertEquals(8, u.dominant().value());
		assertEquals(2, u.count(Reach.PAGE));
		assertEquals(6, u.count(Reach.ELEMENT));
		assertTrue(counts.uses().get(1).write());
		assertEquals(null, counts.uses().get(1).dominant());
	}

	@Test
	void rowsThatAreNoInstructionsAreCounted() throws Exception {
		SkipCounter skips = new SkipCounter(false);
		InstructionCounts counts = parse(skips, trace(HEADER, "0,100,401000,0,8,5,20000,20020,1:8:4:0",
				"0,100,401000,0,8,4,20000,20020,1:8:3:0", // less than before
				"-1,100,401000,0,8,5,20000,20020,1:8:4:0", "1,-1,401000,0,8,5,20000,20020,1:8:4:0",
				"1,100,401000,2,8,5,20000,20020,1:8:4:0", "1,100,401000,0,8,0,20000,20020,", "1,100,401000,0,8,5,20000,20020,1:8:4",
				"1,100,401000,0,8,5,20000,20020,6:8:4:0", "1,100,401000,0,8,5,20000,20020,1:8:4:2", "1,100,401000,0,8,5,20000,20020,1:8:-4:2",
				"1,100,401000,0,8,9,20000,20020,1:8:4:0 1:8:4:0", "1,100,401000,0,8,9,20000,20020,1:8:9223372036854775807:1",
				"1,100,40100g,0,8,5,20000,20020,1:8:4:0", "1,100,401000,0,8,5,20000")
				.raw("p0000/instructions.csv", "2,100,401000,0,8,5,20000,20").write());
		assertEquals(1, counts.uses().size());
		assertEquals(5, counts.uses().get(0).accesses());
		assertEquals(13, skips.total());
		assertEquals(1, skips.incompleteLines());
	}

	@Test
	void aMissingColumnIsAnError() throws Exception {
		Path written = trace("Id,TaskId,Ip,Write,Bytes,Count,First,Strides", "1,2,3,0,8,1,0,").write();
		TraceFormatException e = assertThrows(TraceFormatException.class, () -> parse(new SkipCounter(false), written));
		assertTrue(e.getMessage().contains("Last"), e.getMessage());
	}

	@Test
	void stridesOfSeveralThreadsAddUp() {
		Use both = use(1, "-1:-8:2:0 3:512:10:1", 14).with(use(2, "3:256:4:2 4:8192:7:0", 14));
		assertEquals(28, both.accesses());
		assertEquals("-1:-8:2:0 3:512:10:7 4:8192:7:0", InstructionCounts.text(both.strides()));
		assertEquals("3:512:14:3", InstructionCounts.text(use(1, "3:512:10:1", 12).with(use(2, "3:512:4:2", 7)).strides()));
	}

	@Test
	void whatIsStoredComesBack() {
		InstructionCounts.Builder b = new InstructionCounts.Builder();
		b.add(use(1, "-5:-9000000:2:3 0:0:1:0 1:8:40:0", 47));
		b.add(use(2, "", 1));
		b.add(new Use(3, 7, -16, true, 16, 2, -4096, 0x7fff_ffff_ffffL, InstructionCounts.strides("5:99999999:1:0")));
		InstructionCounts counts = b.build();
		assertEquals(counts.uses(), InstructionCounts.parse(counts.toBytes()).uses());
		assertEquals(3, counts.uses().size());
		String damaged = new String(counts.toBytes(), StandardCharsets.UTF_8).replace("-5:-9000000", "-5:x");
		assertEquals(2, InstructionCounts.parse(damaged.getBytes(StandardCharsets.UTF_8)).uses().size());
		assertTrue(InstructionCounts.parse(new byte[0]).isEmpty());
	}

	/** Damaged lines are left out or counted, and nothing else happens. */
	@Test
	void anyBytesAreReadOrSkipped() throws Exception {
		String good = HEADER + "\n0,100,401000,0,8,5,20000,20020,-3:-512:1:1 1:8:2:0\n1,101,7fff401010,1,16,1,20000,20000,\n"
				+ "0,100,401000,0,8,9,20000,20040,-3:-512:1:1 1:8:6:0\n";
		Random random = new Random(15);
		int read = 0;
		for (int i = 0; i < 300; i++) {
			byte[] bytes = good.getBytes(StandardCharsets.UTF_8);
			for (int k = random.nextInt(4); k >= 0; k--) {
				bytes[HEADER.length() + random.nextInt(bytes.length - HEADER.length())] = (byte) ":,-0129\n \"x\t".charAt(random.nextInt(12));
			}
			Path written = new TraceDirectoryBuilder(directory.resolve("trace" + i)).sampleContext().raw("p0000/instructions.csv",
					new String(bytes, StandardCharsets.UTF_8)).write();
			try {
				for (Use u : parse(new SkipCounter(false), written).uses()) {
					assertTrue(u.accesses() > 0 && u.strides().stream().mapToLong(s -> s.count()).sum() <= u.accesses());
					assertEquals(u.strides(), InstructionCounts.strides(InstructionCounts.text(u.strides())));
					read++;
				}
			} catch (TraceFormatException e) {
				assertFalse(e.getMessage().isBlank());
			}
		}
		assertTrue(read > 100, "mostly read: " + read);
	}

	@Test
	void theTablesHaveFunctionsLinesAndStructures() throws Exception {
		Path written = trace(HEADER, "0,100,401000,0,8,1001,20010,20018,-3:-520:1:0 3:4096:999:0",
				"1,101,401000,0,8,501,20010,20018,3:4096:500:0",
				"2,100,401010,1,4,3,20010,99999999,1:4:2:0").file("p0000/code.csv", "Ip,Object,Offset,Function,File,Line",
				"401000,/bin/app,1000,walk,/src/app.c,12").write();
		List<String> rows = new ArrayList<>();
		List<String> threads = new ArrayList<>();
		try (TraceCatalogue catalogue = Stores.inMemory()) {
			new ImportOperation(List.of(written), System.in, catalogue::create).call(Progress.NONE);
			try (TraceStore store = catalogue.open(catalogue.list().get(0).id())) {
				TraceTable.INSTRUCTIONS.source().rows(store, AccessQuery.ALL, values -> rows.add(Arrays.toString(values)), Progress.NONE);
				TraceTable.THREAD_INSTRUCTIONS.source().rows(store, AccessQuery.ALL, values -> threads.add(Arrays.toString(values)), Progress.NONE);
				List<Instructions.Row> all = Instructions.of(store, false);
				assertEquals("4,096 bytes apart (100 %)", all.get(0).stride());
				assertTrue(all.get(0).jumps());
				assertEquals("one after the other (100 %)", all.get(1).stride());
				assertFalse(all.get(1).jumps());
			}
		}
		assertEquals(List.of("[0, 4198400, walk, /src/app.c, 12, /bin/app, table, 3, read, 8, 1502, 2, 4096, 998003, 0, 0, 0, 1500, 0, 0, -3:-520:1:0 3:4096:1499:0]",
				"[0, 4198416, null, null, null, null, table, …, 3, write, 4, 3, 1, 4, 666667, 0, 2, 0, 0, 0, 0, 1:4:2:0]"), rows);
		assertEquals(List.of("1001, 100, 4096", "501, 101, 4096", "3, 100, 4"),
				threads.stream().map(r -> r.replaceAll(".*(?:read, 8|write, 4), (\\d+, \\d+, \\d+),.*", "$1")).toList());
	}
}
