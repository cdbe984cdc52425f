// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.column.TraceTable;
import org.memtrace.analysis.findings.TraceSummary;
import org.memtrace.analysis.source.TickShares;
import org.memtrace.analysis.table.StructureTable;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.memtrace.TickParser;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.memory.Ticks;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/** From ticks.csv to the shares of time. */
class TickImportTest {
	private static final String HEADER = "Time,TaskId,Cpu,Mode,Ip,@Virt,Bytes,Access,CpuNs";

	@TempDir
	Path directory;

	private TraceDirectoryBuilder trace(String... lines) {
		return new TraceDirectoryBuilder(directory.resolve("trace")).sampleContext().access(0x20010, 1, 1, 1000, 1500, 100)
				.file("p0000/ticks.csv", lines).file("p0000/code.csv", "Ip,Object,Offset,Function,File,Line",
						"401000,/bin/app,1000,walk,/src/app.c,12", "401010,/bin/app,1010,walk,/src/app.c,12", "402000,/bin/app,2000,add,/src/app.c,30",
						"700000,/usr/lib/memtrace/libmemtrace-preload.so,0,ctx_log,,0");
	}

	private static Ticks parse(SkipCounter skips, Path written) throws MemtraceException {
		Ticks.Builder ticks = new Ticks.Builder();
		TickParser.read(TraceDirectory.open(written).images().get(0), (address, time) -> Ticks.NO_STRUCTURE, ticks, skips, Progress.NONE);
		return ticks.build();
	}

	/** So many equal ticks. */
	private static String[] lines(Object... countsAndLines) {
		List<String> all = new ArrayList<>(List.of(HEADER));
		for (int i = 0; i < countsAndLines.length; i += 2) {
			for (int k = 0; k < (Integer) countsAndLines[i]; k++) {
				all.add((1000 + k) + "," + countsAndLines[i + 1]);
			}
		}
		return all.toArray(String[]::new);
	}

	@Test
	void rowsThatAreNoTicksAreCounted() throws Exception {
		SkipCounter skips = new SkipCounter(false);
		Ticks ticks = parse(skips, trace(HEADER, "1200,100,0,u,401000,20010,8,r,1000000", "1100,100,1,f,401000,,0,,2000000",
				"-1,100,0,u,401000,20010,8,r,1000000", "1200,-1,0,u,401000,20010,8,r,1000000", "1200,100,-1,u,401000,20010,8,r,1000000",
				"1200,100,0,x,401000,20010,8,r,1000000", "1200,100,0,u,401000,20010,8,q,1000000", "1200,100,0,u,401000,20010,8,r,0",
				"1200,100,0,u,401000,20010,0,-,1000000", "1200,100,0,u,zz,20010,8,r,1000000", "1200,100,0,u").write());
		assertEquals(2, ticks.all().size());
		assertEquals(9, skips.total());
		assertEquals(1100, ticks.all().get(0).timeNs());
		assertFalse(ticks.all().get(0).place().addressKnown());
		assertEquals(Ticks.Access.READ, ticks.all().get(1).place().access());
		assertEquals(0x20010, ticks.all().get(1).address());
		TraceFormatException e = assertThrows(TraceFormatException.class, () -> parse(new SkipCounter(false), trace("Time,TaskId").write()));
		assertTrue(e.getMessage().contains("Cpu"), e.getMessage());
	}

	@Test
	void whatIsStoredComesBack() throws Exception {
		Ticks ticks = parse(new SkipCounter(false), trace(HEADER, "1200,100,0,u,401000,7fff20010,8,rw,1000000",
				"1100,100,1,s,ffffffffff600000,,0,,2000000",
				"1300,101,0,u,401000,7fff20010,8,?,1000000").write());
		assertEquals(ticks.all(), Ticks.of(ticks.toBytes()).all());
		assertEquals(3, ticks.all().size());
		byte[] stored = ticks.toBytes();
		assertThrows(StoreException.class, () -> Ticks.of(Arrays.copyOf(stored, stored.length / 2)));
		assertThrows(StoreException.class, () -> Ticks.of(new byte[9]));
	}

	/** Time of the program, of the kernel and of the recorder stand apart; shares are of the first. */
	@Test
	void sharesAreOfTheProgramsOwnCode() throws Exception {
		Path written = trace(lines(60, "100,0,u,401000,20010,8,r,1000000", 20, "100,1,u,401010,20018,8,w,1000000",
				15, "101,0,u,402000,,0,-,1000000",
				5, "100,0,u,401000,,8,r,1000000", 30, "100,0,f,401000,20010,8,r,1000000", 10, "100,0,s,402000,,0,,1000000",
				7, "100,0,u,700000,20010,8,w,1000000")).write();
		List<String> rows = new ArrayList<>();
		try (TraceCatalogue catalogue = Stores.inMemory()) {
			new ImportOperation(List.of(written), System.in, catalogue::create).call(Progress.NONE);
			try (TraceStore store = catalogue.open(catalogue.list().get(0).id())) {
				TraceTable.TICKS.source().rows(store, AccessQuery.ALL, values -> rows.add(Arrays.toString(values)), Progress.NONE);
				TickShares shares = TickShares.of(store);
				assertEquals(100_000_000, shares.userNs());
				assertEquals(30_000_000, shares.kernelNs(Ticks.Mode.FAULT));
				assertEquals(7_000_000, shares.ownNs());
				assertEquals(15_000_000, shares.withoutMemoryNs());
				assertEquals(5_000_000, shares.unknownNs());
				TickShares.Share table = shares.structures().get(0);
				assertEquals("table", table.structure().name());
				assertEquals(80_000_000, table.cpuNs());
				assertEquals(30_000_000, table.faultNs());
				assertEquals("walk (app.c:12)", table.hottest().where());
				String text = new TraceSummary(StructureTable.of(AccessTable.load(store, Progress.NONE), store.structures(), Progress.NONE)).text();
				assertTrue(text.contains("\nTime       100 ms of CPU time in the program's own code"), text);
				assertTrue(text.contains("\n           80 ± 8 % at accesses to table, most in walk (app.c:12)\n"), text);
				assertTrue(text.contains("\n           15.0 % at instructions without memory, 5.0 % not known\n"), text);
				assertTrue(text.contains("in the kernel: 30 ms in page faults (30 ms of table)"), text);
			}
		}
		assertEquals("[0, 100, user, walk, /src/app.c, 12, /bin/app, table, 3, read, 8, 1, 60, 60000000, 408163, 1000, 1059]", rows.get(0));
		assertEquals(7, rows.size());
	}

	@Test
	void tooFewTicksSayNothing() throws Exception {
		Path written = trace(lines(19, "100,0,u,401000,20010,8,r,1000000")).write();
		try (TraceCatalogue catalogue = Stores.inMemory()) {
			new ImportOperation(List.of(written), System.in, catalogue::create).call(Progress.NONE);
			try (TraceStore store = catalogue.open(catalogue.list().get(0).id())) {
				TraceSummary summary = new TraceSummary(StructureTable.of(AccessTable.load(store, Progress.NONE), store.structures(), Progress.NONE));
				assertTrue(summary.text().contains("19 ticks, too few to say where\n"), summary.text());
				assertEquals(19, summary.toJson(null).getAsJsonObject("time").get("ticks").getAsLong());
			}
		}
	}

	/** A trace of before, or one whose recorder was to take none. */
	@Test
	void withoutTicksThereIsNoTime() throws Exception {
		Path written = new TraceDirectoryBuilder(directory.resolve("none")).sampleContext().access(0x20010, 1, 1, 1000, 1500, 100).write();
		try (TraceCatalogue catalogue = Stores.inMemory()) {
			new ImportOperation(List.of(written), System.in, catalogue::create).call(Progress.NONE);
			try (TraceStore store = catalogue.open(catalogue.list().get(0).id())) {
				assertTrue(TickShares.of(store).isEmpty());
				TraceSummary summary = new TraceSummary(StructureTable.of(AccessTable.load(store, Progress.NONE), store.structures(), Progress.NONE));
				assertFalse(summary.text().contains("Time  "), summary.text());
				assertNull(summary.toJson(null).get("time").isJsonNull() ? null : "time");
			}
		}
	}

	@Test
	void theIntervalOfAShareIsWilsons() {
		assertEquals(3.0, TickShares.halfWidthPercent(630, 1000), 0.02);
		assertEquals(0.19, TickShares.halfWidthPercent(0, 1000), 0.01);
	}
}
