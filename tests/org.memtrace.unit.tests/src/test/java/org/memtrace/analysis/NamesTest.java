// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.findings.Advisor;
import org.memtrace.analysis.findings.TraceSummary;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.analysis.pattern.PatternText;
import org.memtrace.analysis.pattern.Patterns;
import org.memtrace.analysis.table.StructureTable;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.TraceDirectoryBuilder;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/** A structure has one name, whatever tells of it: the tree of the picture, tables, the summary, findings, patterns, CPU time. */
class NamesTest {
	/** Names that two places, two kinds, or two processes have, and names that nobody else has. */
	private static final Set<String> NAMES = Set.of("grid (a.c:10)", "grid (b.c:11)", "main.o+0x10 (heap)", "main.o+0x10 (mmap)", "alone",
			"table of app", "table of env", "heap (small blocks) of app", "heap (small blocks) of env");
	private static final String HEADER = "Id,Kind,Name,Start,End,Birth,Death,TaskId,Stack,Site";

	@TempDir
	Path directory;

	private Path written() throws Exception {
		TraceDirectoryBuilder b = new TraceDirectoryBuilder(directory.resolve("trace"))
				.file("p0000/image.json", "{\"index\":0,\"pid\":100,\"parent\":-1,\"how\":\"root\",\"executable\":\"/usr/bin/env\",\"start_ns\":1000}")
				.file("p0000/structures.csv", HEADER, "0,static,table,30000,32000,-1,-1,-1,-1,env.c:3",
						"1,brk,heap (small blocks),40000,50000,1000,-1,-1,-1,")
				.file("p0001/image.json", "{\"index\":1,\"pid\":100,\"parent\":-1,\"how\":\"exec\",\"executable\":\"/home/me/app\",\"start_ns\":1000}")
				.file("p0001/structures.csv", HEADER, "0,heap,grid,10000,14000,1000,4000,100,-1,/src/a.c:10",
						"1,heap,grid,60000,64000,1000,-1,100,-1,/src/a.c:10", "2,heap,grid,20000,24000,1000,-1,100,-1,/src/b.c:11",
						"3,static,table,30000,32000,-1,-1,-1,-1,/src/main.c:3", "4,brk,heap (small blocks),40000,50000,1000,-1,-1,-1,",
						"5,heap,main.o+0x10,70000,72000,1000,-1,100,-1,", "6,mmap,main.o+0x10,80000,82000,1000,-1,100,-1,",
						"7,heap,alone,90000,92000,1000,-1,100,-1,/src/a.c:12")
				.file("p0000/accesses-000000.csv", TraceDirectoryBuilder.HEADER, "30000,0,1,1,1,1050,1500,100,0,-1,0",
						"40000,0,1,1,1,1050,1500,100,0,-1,0")
				.file("p0001/accesses-000000.csv", TraceDirectoryBuilder.HEADER)
				.file("p0001/threads.csv", "TaskId,Name,Birth,Death,StackStart,StackEnd,Start", "100,app,1000,-1,0,0,")
				.file("p0001/code.csv", "Ip,Object,Offset,Function,File,Line", "401000,/home/me/app,1000,walk,/src/a.c,12")
				.file("p0001/ticks.csv", "Time,TaskId,Cpu,Mode,Ip,@Virt,Bytes,Access,CpuNs");
		for (int address : new int[] {0x10000, 0x60000, 0x20000, 0x30000, 0x40000, 0x70000, 0x80000, 0x90000}) {
			for (int page = 0; page < 2; page++) {
				b.file("p0001/accesses-000000.csv", String.format("%x,0,1,1,1,1050,1500,100,401000,-1,0", address + page * 4096));
			}
		}
		for (int k = 0; k < 100; k++) {
			b.file("p0001/ticks.csv", (1100 + k) + ",100,0,u,401000," + (k % 2 == 0 ? "20010" : "80010") + ",8,r,1000000");
		}
		return b.write();
	}

	private static String base(String label) {
		return label.replaceFirst(" \\(\\d+ blocks\\)$", "");
	}

	@Test
	void aStructureHasOneName() throws Exception {
		try (TraceCatalogue catalogue = Stores.inMemory()) {
			new ImportOperation(List.of(written()), System.in, catalogue::create).call(Progress.NONE);
			try (TraceStore store = catalogue.open(catalogue.list().get(0).id())) {
				AccessTable table = AccessTable.load(store, Progress.NONE);
				StructureTable structures = StructureTable.of(table, store.structures(), Progress.NONE);
				assertEquals(NAMES, structures.rows().stream().map(r -> base(r.name())).collect(Collectors.toSet()));
				assertTrue(structures.rows().stream().anyMatch(r -> r.name().equals("grid (a.c:10) (2 blocks)")));
				Advisor advisor = Advisor.of(store, store.accessSource(Progress.NONE), Thresholds.STANDARD, Progress.NONE);
				assertEquals(NAMES, advisor.facts().groups().stream().map(g -> g.label).collect(Collectors.toSet()));
				String summary = new TraceSummary(structures).text();
				assertTrue(summary.contains(" at accesses to grid (b.c:11), most in walk"), summary);
				assertTrue(summary.contains(" at accesses to main.o+0x10 (mmap), most in walk"), summary);
				String patterns = PatternText.text(table, Patterns.of(table, Progress.NONE), true);
				Set<String> missing = new TreeSet<>(NAMES);
				missing.removeIf(name -> Stream.of(patterns.split("\n")).anyMatch(line -> line.contains(name)));
				assertEquals(Set.of(), missing, patterns);
			}
		}
	}
}
