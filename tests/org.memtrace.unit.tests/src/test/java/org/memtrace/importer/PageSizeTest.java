// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;

/** Traces of machines whose pages are larger, as those of arm64 are. */
class PageSizeTest extends ImportTest {
	private static final String HEADER = "@Virt,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags,ReadOffset,WriteOffset";

	private Path trace(int pageBytes) throws Exception {
		long page = pageBytes;
		Path trace = new TraceDirectoryBuilder(directory.resolve("sample.memtrace"))
				.file("p0000/image.json",
						"{\"index\":0,\"pid\":100,\"parent\":-1,\"how\":\"root\",\"executable\":\"/bin/app\",\"start_ns\":1000,\"page_size_bytes\":"
								+ page + "}")
				.file("p0000/threads.csv", "TaskId,Name,Birth,Death,StackStart,StackEnd,Start", "100,app,1000,-1,0,0,",
						"101,worker,1200,3000,7f0000,7f4000,work")
				.file("p0000/structures.csv", "Id,Kind,Name,Start,End,Birth,Death,TaskId,Stack,Site",
						String.format("0,heap,A,%x,%x,1100,-1,100,-1,main.c:10", 16 * page, 18 * page))
				.file("p0000/accesses-000000.csv", HEADER,
						// the last byte of the first page, by two threads in one interval
						String.format("%x,1,0,3,1100,1500,100,401000,0,0,%x,", 17 * page - 1, page - 1),
						String.format("%x,0,1,3,1100,1500,101,401000,0,0,,%x", 16 * page + 8, 8),
						// the first byte of the next one
						String.format("%x,1,1,3,1500,2000,101,401000,0,0,0,%x", 17 * page, page / 2))
				.write();
		Path manifest = trace.resolve("manifest.json");
		Files.writeString(manifest, Files.readString(manifest).replace("\"page_size_bytes\":4096", "\"page_size_bytes\":" + page)
				.replace("\"granularity_bytes\":4096", "\"granularity_bytes\":" + page));
		return trace;
	}

	@ParameterizedTest
	@ValueSource(ints = { 4096, 16384, 65536 })
	void pagesAreThoseOfTheMachine(int pageBytes) throws Exception {
		ImportReport report = read(trace(pageBytes));
		assertEquals(pageBytes, report.trace().pageSizeBytes());
		assertEquals(Integer.toString(pageBytes), report.trace().properties().get("guarantee_granularity_bytes"));
		try (TraceStore store = catalogue.open(report.trace().id())) {
			assertEquals(pageBytes, store.info().pageSizeBytes());
			assertEquals(3, store.accessCount());
			var tree = store.producers();
			Set<String> rows = new TreeSet<>();
			store.visitAccesses(AccessQuery.ALL, b -> {
				for (int i = 0; i < b.count; i++) {
					rows.add((tree.startAddress(b.producer[i]) - 16L * pageBytes) + " of "
							+ (tree.endAddress(b.producer[i]) - tree.startAddress(b.producer[i])) + ": thread " + b.thread[i] + " read at "
							+ b.readOffset[i] + ", wrote at " + b.writeOffset[i] + ", shared " + b.sharing[i]);
				}
			}, Progress.NONE);
			String size = " of " + pageBytes + ": thread ";
			assertEquals(new TreeSet<>(Set.of("0" + size + "0 read at " + (pageBytes - 1) + ", wrote at -1, shared 2",
					"0" + size + "1 read at -1, wrote at 8, shared 2",
					pageBytes + size + "1 read at 0, wrote at " + pageBytes / 2 + ", shared 0")), rows);
		}
	}

	/** An image that was recorded on another machine than the manifest says. */
	@ParameterizedTest
	@ValueSource(ints = { 16384, 65536 })
	void sizesThatDifferAreRefused(int pageBytes) throws Exception {
		Path trace = trace(pageBytes);
		Path manifest = trace.resolve("manifest.json");
		Files.writeString(manifest, Files.readString(manifest).replace("\"page_size_bytes\":" + pageBytes, "\"page_size_bytes\":4096"));
		String message = assertThrows(TraceFormatException.class, () -> read(trace)).getMessage();
		assertTrue(message.contains("has pages of " + pageBytes + " bytes, others in this trace have 4096"), message);
	}
}
