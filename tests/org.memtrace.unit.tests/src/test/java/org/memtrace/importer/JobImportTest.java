// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.RankNames;
import org.memtrace.storage.Stores;

/** The ranks of a parallel job as one trace: tree, clocks, shared memory, and what is refused. */
class JobImportTest {
	private static final String SEGMENT = "10:20:0";

	@TempDir
	Path temporary;
	private ImportReport report;

	/** A rank with own memory at one page and a segment that is mapped somewhere else in each. */
	private TraceDirectoryBuilder rank(int rank, String host, String boot, long offsetNs, String error, long clock) {
		long mapped = 0x100000L + rank * 0x10000L;
		return new TraceDirectoryBuilder(temporary.resolve("app.job-7/r" + String.format("%04d", rank) + ".memtrace"))
				.manifest("""
						{"format":"memtrace","format_version":1,"name":"app","command":["./app"],"executable":"/bin/app",
						"host":{"name":"%s","boot_id":"%s","page_size_bytes":4096,"cpus_online":2},
						"clock":{"start_ns":%d,"end_ns":%d,"start_realtime":"2024-06-07T08:09:10.5Z",
						"realtime":{"offset_ns":%d,"read_error_ns":50,"max_error_ns":%s}},
						"backend":{"name":"zap","guarantee":{"pages":"complete"}},
						"job":{"launcher":"slurm","id":"7.0","id_scope":"job","rank":%d,"size":2,"local_rank":0,"node":"%s"},
						"status":{"state":"complete","exit_code":%d},"losses":{"total":%d,"by_reason":{"region":%d}},
						"late":{"text":"%d of 9 late"}}
						""".formatted(host, boot, clock, clock + 5000, offsetNs, error, rank, host, rank, rank + 1, rank + 1, rank + 3))
				.file("p0000/image.json", "{\"index\":0,\"pid\":%d,\"executable\":\"/bin/app\",\"start_ns\":%d}".formatted(100 + rank, clock))
				.file("p0000/structures.csv", "Id,Kind,Name,Start,End,Birth,Death,TaskId,Stack,Site,Type,Members,Segment",
						"0,static,own,10000,11000,-1,-1,-1,-1,,,,",
						"1,mmap,grid,%x,%x,%d,-1,%d,-1,a.c:3,,,%s".formatted(mapped, mapped + 0x2000, clock, 100 + rank, SEGMENT))
				.file("p0000/threads.csv", "TaskId,Name,Birth,Death", "%d,app,%d,-1".formatted(100 + rank, clock))
				.file("p0000/intervals.csv", "Interval,Start,End,TargetNs", "0,%d,%d,1000".formatted(clock, clock + 1000))
				.access(0x10000, 1, 1, clock, clock + 1000, 100 + rank) //
				.access(mapped, 2, 0, clock, clock + 1000, 100 + rank) //
				.access(mapped + 0x1000 + 8 * rank, 0, 3, clock + 1000 * rank, clock + 1000 * rank + 500, 100 + rank);
	}

	private TraceStore imported(Path... paths) throws MemtraceException {
		TraceCatalogue catalogue = Stores.inMemory();
		report = new ImportOperation(List.of(paths), InputStream.nullInputStream(), catalogue::create).call(Progress.NONE);
		return catalogue.open(report.trace().id());
	}

	private Path job() {
		return temporary.resolve("app.job-7");
	}

	/** Names of the inner nodes above structures, with their depth. */
	private static List<String> levels(ProducerTree tree) {
		List<String> names = new ArrayList<>();
		for (int id = 0; id < tree.size(); id++) {
			if (tree.kind(id) == ProducerKind.IMAGE || tree.kind(id) == ProducerKind.STRUCTURE) {
				names.add(tree.level(id) + " " + tree.name(id));
			}
		}
		return names;
	}

	/** Start of each access by structure and thread, with the number of threads on the page. */
	private static Map<String, String> rows(TraceStore store) throws MemtraceException {
		Map<String, String> rows = new TreeMap<>();
		ProducerTree tree = store.producers();
		List<Structure> structures = store.structures();
		store.visitAccesses(AccessQuery.ALL, batch -> {
			for (int i = 0; i < batch.count; i++) {
				rows.merge(structures.get(tree.structure(batch.producer[i])).name() + " of thread " + batch.thread[i],
						batch.startNs[i] + "/" + batch.sharing[i], (x, y) -> x + " " + y);
			}
		}, Progress.NONE);
		return rows;
	}

	@Test
	void ranksOfOneMachineHaveOneClockAndOneSharedMemory() throws Exception {
		rank(1, "alpha", "b1", 77, "null", 1200).write();
		rank(0, "alpha", "b1", 99, "null", 1000).write();
		try (TraceStore store = imported(job())) {
			assertEquals(List.of("1 node alpha", "2 rank 0", "3 p0000 app (process 100)", "4 r0 own", "2 rank 1", "3 p0001 app (process 101)",
					"4 r1 own", "2 shared memory of alpha", "3 grid"), levels(store.producers()));
			RankNames names = RankNames.of(store.producers(), store.structures());
			assertEquals(List.of("r0 own", "r0 grid", "r1 own", "r1 grid", "grid"), store.structures().stream()
					.map(x -> names.shown(x, x.name())).toList(), "the last one is that of the node");
			assertEquals("1000/1", rows(store).get("own of thread 0"));
			assertEquals("1200/1", rows(store).get("own of thread 1"));
			// page 0 at the same time by both; page 1 by rank 0 at 1000 to 1500 and by rank 1 at 2200: one look each does not say alone
			assertEquals("1000/2 1000/0", rows(store).get("grid of thread 0"));
			assertEquals("1200/2 2200/0", rows(store).get("grid of thread 1"));
			TraceInfo info = store.info();
			assertEquals("3", info.properties().get("losses"));
			assertEquals("rank 0: 3 of 9 late; rank 1: 4 of 9 late", info.properties().get(TraceInfo.PROPERTY_LATE));
			assertEquals("1", info.properties().get("exit_code"), "the first that is not 0");
			assertEquals("alpha", info.host());
			assertEquals("2", info.properties().get("job_ranks"));
			assertEquals(1000, info.startNs());
			assertEquals(6200, info.endNs());
		}
		assertTrue(report.toText().contains("2 on 1 machine(s); all ranks ran on one machine, with one clock"), report::toText);
		assertTrue(report.toText().contains("1 segment of shared memory, mapped by several processes of a machine, is one memory here; 4 records"),
				report::toText);
	}

	@Test
	void clocksOfSeveralMachinesAreAlignedByUniversalTimeWithTheirError() throws Exception {
		rank(0, "alpha", "b1", 1_000_000, "2000000", 1000).write();
		rank(1, "beta", "b2", 1_000_700, "3000000", 5000).write(); // its clock is 700 ns behind: 5000 there is 5700 here
		try (TraceStore store = imported(job())) {
			assertEquals("5700/1", rows(store).get("own of thread 1"));
			assertEquals("5700/1 6700/1", rows(store).get("grid of thread 1"), "memory is shared within a machine only");
			assertEquals(10700, store.info().endNs());
			assertEquals("r1 app", store.threads().get(1).name());
			assertEquals(5700, store.threads().get(1).birthNs());
			assertEquals(5700, store.intervals().get(1).startNs());
			assertEquals(List.of("1 node alpha", "2 rank 0", "3 p0000 app (process 100)", "4 r0 own", "4 r0 grid", "1 node beta", "2 rank 1",
					"3 p0001 app (process 101)", "4 r1 own", "4 r1 grid"), levels(store.producers()));
			assertEquals("alpha, beta", store.info().host());
		}
		assertTrue(report.warnings().stream().anyMatch(w -> w.contains("may be wrong by 5.000 ms")), report.warnings()::toString);
	}

	@Test
	void aClockThatNothingSynchronisesIsTold() throws Exception {
		rank(0, "alpha", "b1", 1_000_000, "2000000", 1000).write();
		rank(1, "beta", "b2", 1_000_700, "null", 5000).write();
		imported(job()).close();
		assertTrue(report.warnings().stream().anyMatch(w -> w.contains("beta was not synchronised")), report.warnings()::toString);
	}

	@Test
	void ranksCanBeGivenOneByOneAndMissingOnesAreTold() throws Exception {
		Path zero = rank(0, "alpha", "b1", 99, "null", 1000).write();
		Path one = rank(1, "alpha", "b1", 99, "null", 1000).write();
		try (TraceStore store = imported(one, zero)) {
			assertEquals(2, store.threads().size());
			assertEquals(100, store.threads().get(0).taskId(), "in order of the ranks");
		}
		assertEquals(ImportOperation.identity(job()), ImportOperation.identity(job()));
		String both = ImportOperation.identity(job());
		deleteTree(one);
		assertNotEquals(both, ImportOperation.identity(job()));
		imported(job()).close();
		assertTrue(report.warnings().stream().anyMatch(w -> w.contains("of 2 ranks 1 are not here: 1")), report.warnings()::toString);
	}

	@Test
	void whatIsNotOneJobIsRefused() throws Exception {
		Path zero = rank(0, "alpha", "b1", 99, "null", 1000).write();
		Path other = new TraceDirectoryBuilder(temporary.resolve("other.memtrace")).sampleContext().access(0x10000, 1, 0, 1000, 2000, 100)
				.write();
		assertTrue(assertThrows(MemtraceException.class, () -> imported(zero, other)).getMessage().contains("no rank of a parallel job"));
		String manifest = java.nio.file.Files.readString(zero.resolve("manifest.json"));
		Path twice = job().resolve("r0000-again.memtrace");
		copy(zero, twice, manifest);
		assertTrue(assertThrows(MemtraceException.class, () -> imported(job())).getMessage().contains("two runs"));
		deleteTree(twice);
		copy(zero, twice, manifest.replace("\"7.0\"", "\"8.0\"").replace("\"rank\":0", "\"rank\":1"));
		String message = assertThrows(MemtraceException.class, () -> imported(job())).getMessage();
		assertTrue(message.contains("job 8.0") && message.contains("job 7.0"), message);
	}

	@Test
	void machinesWithoutUniversalTimeAreNotPutTogether() throws Exception {
		rank(0, "alpha", "b1", 1_000_000, "2000000", 1000).write();
		Path one = rank(1, "beta", "b2", 1_000_700, "1", 5000).write();
		String manifest = java.nio.file.Files.readString(one.resolve("manifest.json"));
		java.nio.file.Files.writeString(one.resolve("manifest.json"), manifest.replace("\"realtime\"", "\"other\""));
		assertTrue(assertThrows(MemtraceException.class, () -> imported(job())).getMessage().contains("universal time"));
	}

	private static void copy(Path from, Path to, String manifest) throws IOException {
		try (var files = java.nio.file.Files.walk(from)) {
			for (Path file : files.toList()) {
				java.nio.file.Files.copy(file, to.resolve(from.relativize(file).toString()));
			}
		}
		java.nio.file.Files.writeString(to.resolve("manifest.json"), manifest);
	}

	private static void deleteTree(Path folder) throws IOException {
		try (var files = java.nio.file.Files.walk(folder)) {
			for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
				java.nio.file.Files.delete(file);
			}
		}
	}
}
