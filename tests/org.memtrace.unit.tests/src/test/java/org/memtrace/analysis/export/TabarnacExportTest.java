// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.TraceDirectoryBuilder;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/** The files of TABARNAC, byte by byte. */
class TabarnacExportTest {
	@TempDir
	Path temporary;
	private TraceCatalogue catalogue;

	@BeforeEach
	void setUp() throws Exception {
		catalogue = Stores.inMemory();
	}

	@AfterEach
	void tearDown() {
		catalogue.close();
	}

	private TraceStore imported(Path path) throws Exception {
		return catalogue.open(new ImportOperation(List.of(path), InputStream.nullInputStream(), catalogue::create)
				.setScratchDirectory(temporary).call(Progress.NONE).trace().id());
	}

	private TabarnacExport.Omitted export(TraceStore store, Path to, long periodNs) throws Exception {
		Files.createDirectories(to);
		return TabarnacExport.write(store, AccessFilter.of(AccessQuery.ALL), to, "is", periodNs, Progress.NONE);
	}

	private static String text(Path folder, String name) throws Exception {
		return new String(Files.readAllBytes(folder.resolve(name)), StandardCharsets.UTF_8);
	}

	private static TraceDirectoryBuilder trace(Path path) {
		return new TraceDirectoryBuilder(path).sampleContext();
	}

	/** B lives longer than A at the same addresses; the static object is smaller than a page; thread 100 is T0, 101 is T1. */
	@Test
	void countsOfEachPageAndThread() throws Exception {
		String header = TraceDirectoryBuilder.HEADER;
		Path path = trace(temporary.resolve("t.memtrace")).file("p0000/accesses-000000.csv", header,
				"10008,0,3,0,0,1000,1500,101,0,-1,0", "10000,0,0,5,0,1000,1500,100,0,-1,0", "13000,0,1,1,0,1000,1500,100,0,-1,0",
				"10000,0,40,2,0,1500,2000,100,0,-1,0", "20010,0,0,9000000000,0,1500,2000,100,0,-1,0",
				"7f3ff0,0,7,8,0,1500,2000,101,0,-1,0", "30000,0,6,0,0,1500,2000,-1,0,-1,1").write();
		Path out = temporary.resolve("out");
		try (TraceStore store = imported(path)) {
			TabarnacExport.Omitted omitted = export(store, out, 0);
			assertEquals(6, omitted.unattributed());
			assertEquals(1, omitted.structures());
		}
		assertEquals("""
				addr,firstacc,type,T0,T1
				16,1,R,40,3
				16,1,W,7,0
				19,0,R,1,0
				19,0,W,1,0
				32,0,R,0,0
				32,0,W,9000000000,0
				2035,1,R,0,7
				2035,1,W,0,8
				""", text(out, "is.full.page.csv"));
		assertEquals("name,start,sz\nB;  quoted ,65536,16384\n", text(out, "is.structs.csv"));
		assertEquals("tid,stackmax,sz\n1,2036,16384\n", text(out, "is.stackmap.csv"));
		try (Stream<Path> files = Files.list(out)) {
			assertEquals(3, files.count());
		}
	}

	/** Periodic files are cumulative, the last one is the full one; a period without accesses has a file, too. */
	@Test
	void periods() throws Exception {
		Path path = trace(temporary.resolve("t.memtrace")).file("p0000/accesses-000000.csv", TraceDirectoryBuilder.HEADER,
				"10000,0,1,0,0,1000,1500,100,0,-1,0", "10000,0,2,0,0,1500,2000,100,0,-1,0", "11000,0,0,4,0,3000,3500,101,0,-1,0").write();
		Path out = temporary.resolve("out");
		try (TraceStore store = imported(path)) {
			export(store, out, 500);
		}
		String head = "addr,firstacc,type,T0,T1\n";
		assertEquals(head + "16,0,R,1,0\n16,0,W,0,0\n", text(out, "is.000000.page.csv"));
		assertEquals(head + "16,0,R,3,0\n16,0,W,0,0\n", text(out, "is.000001.page.csv"));
		assertEquals(text(out, "is.000001.page.csv"), text(out, "is.000002.page.csv"));
		assertEquals(text(out, "is.000001.page.csv"), text(out, "is.000003.page.csv"));
		assertEquals(text(out, "is.full.page.csv"), text(out, "is.000004.page.csv"));
		assertEquals(head + "16,0,R,3,0\n16,0,W,0,0\n17,1,R,0,0\n17,1,W,0,4\n", text(out, "is.full.page.csv"));
		assertTrue(Files.notExists(out.resolve("is.000005.page.csv")));
	}

	/** What TABARNAC wrote is written again, whatever it is. */
	@Test
	void whatWasReadIsWritten() throws Exception {
		long seed = 15;
		Random random = new Random(seed);
		for (int round = 0; round < 20; round++) {
			int threads = 1 + random.nextInt(9);
			StringBuilder pages = new StringBuilder("addr,firstacc,type");
			for (int t = 0; t < threads; t++) {
				pages.append(",T").append(t);
			}
			pages.append('\n');
			long page = 1L << random.nextInt(36);
			for (int p = 0; p < 1 + random.nextInt(60); p++, page += 1 + random.nextInt(3)) {
				long[][] counts = new long[2][threads];
				for (int i = 0; i < 2 * threads; i++) {
					// every thread has accesses somewhere: on the first page
					counts[i % 2][i / 2] = p == 0 && i % 2 == 0 ? 1 + random.nextInt(5)
							: random.nextInt(3) == 0 ? 0 : random.nextLong() >>> 11 + random.nextInt(52);
				}
				int first = random.nextInt(threads);
				counts[1][first] = Math.max(1, counts[1][first]);
				for (int w = 0; w < 2; w++) {
					pages.append(page).append(',').append(first).append(w == 0 ? ",R" : ",W");
					for (long n : counts[w]) {
						pages.append(',').append(n);
					}
					pages.append('\n');
				}
			}
			String structs = "name,start,sz\nkey_array," + 4096L * page + ",8192\n";
			String stacks = "tid,stackmax,sz\n0," + (page + 5000) + ",8388608\n";
			Path in = Files.createDirectory(temporary.resolve("in" + round));
			Files.writeString(in.resolve("is.full.page.csv"), pages);
			Files.writeString(in.resolve("is.structs.csv"), structs);
			Files.writeString(in.resolve("is.stackmap.csv"), stacks);
			Path out = temporary.resolve("out" + round);
			try (TraceStore store = imported(in)) {
				export(store, out, 0);
			}
			assertEquals(pages.toString(), text(out, "is.full.page.csv"), "seed " + seed + ", round " + round);
			assertEquals(structs, text(out, "is.structs.csv"));
			assertEquals(stacks, text(out, "is.stackmap.csv"));
		}
	}

	@Test
	void oneProcessOnly() throws Exception {
		Path path = trace(temporary.resolve("t.memtrace")).file("p0000/accesses-000000.csv", TraceDirectoryBuilder.HEADER,
				"10000,0,1,0,0,1000,1500,100,0,-1,0")
				.file("p0001/image.json", "{\"index\":1,\"pid\":200,\"parent\":0,\"how\":\"fork\",\"executable\":\"/bin/app\",\"start_ns\":1000}")
				.file("p0001/accesses-000000.csv", TraceDirectoryBuilder.HEADER, "10000,0,1,0,0,1000,1500,200,0,-1,0").write();
		try (TraceStore store = imported(path)) {
			IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> export(store, temporary.resolve("out"), 0));
			assertTrue(e.getMessage().contains("several processes"), e.getMessage());
		}
	}

	/** Lines of the file are in the order of page numbers, which are unsigned. */
	@Test
	void order() throws Exception {
		Path path = trace(temporary.resolve("t.memtrace")).file("p0000/accesses-000000.csv", TraceDirectoryBuilder.HEADER,
				"7ffffffff000,0,1,0,0,1000,1500,100,0,-1,0", "1000,0,1,0,0,1000,1500,100,0,-1,0", "a000,0,1,0,0,1000,1500,100,0,-1,0").write();
		Path out = temporary.resolve("out");
		try (TraceStore store = imported(path)) {
			export(store, out, 0);
		}
		assertEquals("addr,1,1,10,10,34359738367,34359738367",
				text(out, "is.full.page.csv").lines().map(l -> l.substring(0, l.indexOf(','))).collect(Collectors.joining(",")));
	}
}
