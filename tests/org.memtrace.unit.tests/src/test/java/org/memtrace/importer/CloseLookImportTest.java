// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.analysis.column.TraceTable;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.memtrace.CloseLookParser;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.model.CloseLook;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/** From zoom.csv to the table of lines. */
class CloseLookImportTest {
	private static final String HEADER = "Time,TaskId,@Virt,Access,Ip,Cpu";

	@TempDir
	Path directory;

	private TraceDirectoryBuilder trace(String... lines) {
		return new TraceDirectoryBuilder(directory.resolve("trace")).sampleContext().access(0x20010, 1, 1, 1000, 1500, 100)
				.file("p0000/zoom.csv", lines);
	}

	private CloseLook parse(SkipCounter skips, Path written) throws MemtraceException {
		CloseLook.Builder look = new CloseLook.Builder();
		new CloseLookParser().read(TraceDirectory.open(written).images().get(0), look, skips, Progress.NONE);
		return look.build();
	}

	@Test
	void rowsThatAreNoSamplesAreCounted() throws Exception {
		SkipCounter skips = new SkipCounter(false);
		CloseLook look = parse(skips, trace(HEADER, "1100,100,20010,rw,401000,0", "1200,101,20018,w,0,1", "1300,100,20010,?,0,0",
				"x,100,20010,r,0,0",
				"1300,100,2001g,r,0,0", "1300,-1,20010,r,0,0", "1300,100,20010,,0,0", "1300,100,20010,r,0", "1300,100,20010,r,0,0,0",
				"1300,100,ffffffffffffffffff,r,0,0").raw("p0000/zoom.csv", "1400,100,200").write());
		assertEquals(1, look.lines().size());
		CloseLook.Line line = look.lines().get(0);
		assertEquals(0x20000, line.address());
		assertEquals(3, line.samples());
		assertEquals(2, line.handOvers());
		assertEquals(List.of(new CloseLook.Use(100, 16, 2, 1), new CloseLook.Use(101, 24, 0, 1)), line.uses());
		assertEquals(7, skips.total());
		assertEquals(1, skips.incompleteLines());
	}

	@Test
	void theOrderOfColumnsDoesNotMatter() throws Exception {
		CloseLook look = parse(new SkipCounter(true), trace("Cpu,Access,@Virt,New,TaskId,Time", "0,w,20010,zz,100,7").write());
		assertEquals(List.of(new CloseLook.Use(100, 16, 0, 1)), look.lines().get(0).uses());
		assertEquals(7, look.lines().get(0).fromNs());
	}

	@Test
	void aMissingColumnIsAnError() throws IOException {
		Path written = trace("Time,TaskId,Access", "1,2,r").write();
		TraceFormatException e = assertThrows(TraceFormatException.class, () -> parse(new SkipCounter(false), written));
		assertTrue(e.getMessage().contains("@Virt"), e.getMessage());
	}

	@Test
	void theTableHasTheUses() throws Exception {
		Path written = trace(HEADER, "1100,100,20010,w,0,0", "1200,101,20018,r,0,1").write();
		List<String> rows = new ArrayList<>();
		try (TraceCatalogue catalogue = Stores.inMemory()) {
			new ImportOperation(List.of(written), System.in, catalogue::create).call(Progress.NONE);
			try (TraceStore store = catalogue.open(catalogue.list().get(0).id())) {
				TraceTable.LINES.source().rows(store, AccessQuery.ALL, values -> rows.add(Arrays.toString(values)), Progress.NONE);
			}
		}
		assertEquals(List.of("[0, 131072, 16, 100, 0, 1, 2, 1, 1100, 1200]", "[0, 131072, 24, 101, 1, 0, 2, 1, 1100, 1200]"), rows);
	}
}
