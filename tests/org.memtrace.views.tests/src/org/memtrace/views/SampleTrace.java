// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTreeBuilder;

/**
 * A multiplication of matrices in small, with a known picture: the main thread writes A and B in the first fifth, then four
 * workers read their own quarter of A, all of B, and write their own quarter of C.
 */
public final class SampleTrace {
	/** Producers of the three structures: the root is 0, each has 4 parts of 8 pages. */
	public static final int A = 1;
	public static final int B = 38;
	public static final int C = 75;
	public static final int PAGES = 32;
	public static final int STEPS = 50;
	public static final int INITIALISATION = 10;
	public static final long STEP_NS = 1_000_000;
	private static final int WORKERS = 4;
	private static final String[] NAMES = { "A", "B", "C" };

	private SampleTrace() {
	}

	public static TraceInfo write(TraceCatalogue catalogue, String name) throws MemtraceException {
		return write(catalogue.create(name), name);
	}

	/** Writes the trace and closes the writer. */
	public static TraceInfo write(TraceWriter target, String name) throws MemtraceException {
		return write(target, name, Instant.parse("2026-11-20T05:30:00Z"));
	}

	/** @param recorded when the program ran */
	public static TraceInfo write(TraceWriter target, String name, Instant recorded) throws MemtraceException {
		return write(target, name, recorded, NAMES, false);
	}

	/** A later run in which each worker initialises what it uses, and the third matrix is called "result". */
	public static TraceInfo writeRepaired(TraceCatalogue catalogue, String name) throws MemtraceException {
		return write(catalogue.create(name), name, Instant.parse("2026-11-20T06:30:00Z"), new String[] {NAMES[0], NAMES[1], "result"}, true);
	}

	private static TraceInfo write(TraceWriter target, String name, Instant recorded, String[] names, boolean parallel)
			throws MemtraceException {
		try (TraceWriter writer = target) {
			List<ThreadInfo> threads = new ArrayList<>();
			for (int i = 0; i <= WORKERS; i++) {
				threads.add(new ThreadInfo(i, 0, 100 + i, i == 0 ? "main" : "worker " + i, 0, Long.MAX_VALUE,
						i == 0 ? "" : "multiply", i == 0));
			}
			writer.threads(threads);
			ProducerTreeBuilder tree = new ProducerTreeBuilder(4096);
			tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
			List<Structure> structures = new ArrayList<>();
			int[][] page = new int[names.length][PAGES];
			for (int s = 0; s < names.length; s++) {
				long start = 0x7f0000000000L + s * 0x100000L;
				long end = start + PAGES * 4096L;
				structures.add(new Structure(s, 0, StructureKind.HEAP, names[s], start, end, 0, Long.MAX_VALUE, 100, -1,
						"matmul.c:" + (10 + s)));
				tree.begin(ProducerKind.STRUCTURE, names[s], start, end, s);
				for (int part = 0; part < WORKERS; part++) {
					int from = part * PAGES / WORKERS;
					int to = (part + 1) * PAGES / WORKERS;
					tree.begin(ProducerKind.PART, names[s] + " [pages " + from + "-" + (to - 1) + "]",
							start + from * 4096L, start + to * 4096L, s);
					for (int p = from; p < to; p++) {
						page[s][p] = tree.leaf(ProducerKind.PAGE, names[s] + " [page " + p + "]", start + p * 4096L,
								start + (p + 1) * 4096L, s);
					}
					tree.end();
				}
				tree.end();
			}
			tree.end();
			writer.structures(structures);
			var producers = tree.build();
			writer.producers(producers);
			BitSet cpu = new BitSet();
			cpu.set(0);
			writer.cpuSets(List.of(cpu));
			AccessBatch batch = new AccessBatch(STEPS * PAGES * (WORKERS + 2));
			for (int step = 0; step < STEPS; step++) {
				long start = step * STEP_NS;
				for (int p = 0; p < PAGES; p++) {
					int owner = 1 + p * WORKERS / PAGES;
					if (step < INITIALISATION) {
						int by = parallel ? owner : 0;
						batch.add(start, start + STEP_NS, page[0][p], by, 0, 0, 4, 1, 0, 0, 0);
						batch.add(start, start + STEP_NS, page[1][p], by, 0, 0, 4, 1, 0, 0, 0);
						continue;
					}
					batch.add(start, start + STEP_NS, page[0][p], owner, 0, 8 + p % 3, 0, 1, 0, 0, 0);
					batch.add(start, start + STEP_NS, page[2][p], owner, 0, 0, 8 + step % 2, 1, 0, 0, 0);
					for (int t = 1; t <= WORKERS; t++) {
						batch.add(start, start + STEP_NS, page[1][p], t, 0, 2, 0, WORKERS, 0, 0, 0);
					}
				}
			}
			writer.accesses(batch);
			return writer.commit(new TraceInfo(-1, name, name, TraceInfo.TYPE_MEMTRACE, "/usr/bin/matmul", "testhost",
					"Linux", 4, 0, producers.size(), 0, STEPS * STEP_NS, recorded, 4096, "",
					Map.of("command", "matmul 128")), "{}", Progress.NONE);
		}
	}
}
