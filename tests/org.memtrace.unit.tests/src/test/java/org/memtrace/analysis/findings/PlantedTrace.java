// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.Interval;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.pattern.Patterns;
import org.memtrace.analysis.report.Report;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.ThreadTimes;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.Stores;

/** A small trace made access by access, with byte addresses. Intervals have 1000 ns. */
public final class PlantedTrace {
	public static final int PAGE = 4096;
	public static final long INTERVAL = 1000;

	private record Access(int structure, int page, int interval, int thread, long reads, long writes, int readOffset, int writeOffset) {
	}

	private final int threads;
	private final int intervals;
	private final List<Structure> structures = new ArrayList<>();
	private final List<Access> accesses = new ArrayList<>();
	private final ThreadTimes.Builder times = new ThreadTimes.Builder();
	private long next = 0x10000000L;

	public PlantedTrace(int threads, int intervals) {
		this.threads = threads;
		this.intervals = intervals;
	}

	/** Declares the type of a structure. */
	public void type(int structure, String typeName) {
		Structure s = structures.get(structure);
		structures.set(structure, new Structure(s.id(), s.image(), s.kind(), s.name(), s.startAddress(), s.endAddress(), s.birthNs(), s.deathNs(),
				s.taskId(), s.stack(), s.site(), typeName));
	}

	/** A structure that lives all the time at addresses of its own. */
	public int structure(String name, StructureKind kind, int pages) {
		int id = structure(name, kind, next, (long) pages * PAGE, 0, Long.MAX_VALUE, 0);
		next += (pages + 16L) * PAGE;
		return id;
	}

	public int structure(String name, StructureKind kind, long address, long bytes, long birthNs, long deathNs, int thread) {
		structures.add(new Structure(structures.size(), 0, kind, name, address, address + bytes, birthNs, deathNs, 100 + thread, -1, "work.c:7"));
		return structures.size() - 1;
	}

	/** Offsets of the first read and write; -1 for none or not known. */
	public void access(int structure, int page, int interval, int thread, long reads, long writes, int readOffset, int writeOffset) {
		accesses.add(new Access(structure, page, interval, thread, reads, writes, readOffset, writeOffset));
	}

	/** From the first byte of the page on. */
	public void read(int structure, int page, int interval, int thread) {
		access(structure, page, interval, thread, 1, 0, 0, -1);
	}

	public void write(int structure, int page, int interval, int thread) {
		access(structure, page, interval, thread, 1, 1, 0, 0);
	}

	/** CPU time that a thread had used until the end of an interval. */
	public void cpu(int thread, int interval, long ns) {
		times.add(thread, (interval + 1) * INTERVAL, ns);
	}

	public int threads() {
		return threads;
	}

	public int intervals() {
		return intervals;
	}

	/** Thread that owns a page when the pages are divided into equal parts. */
	public int owner(int page, int pages) {
		return (int) ((long) page * threads / pages);
	}

	/** What the rules say. */
	public Advisor advise() throws MemtraceException {
		try (TraceCatalogue catalogue = Stores.inMemory(); TraceStore store = store(catalogue)) {
			return Advisor.of(store, store.accessSource(Progress.NONE), Thresholds.STANDARD, Progress.NONE);
		}
	}

	/** How its structures are used. */
	public Patterns patterns() throws MemtraceException {
		try (TraceCatalogue catalogue = Stores.inMemory(); TraceStore store = store(catalogue)) {
			return Patterns.of(AccessTable.load(store, Progress.NONE), Progress.NONE);
		}
	}

	/** The report, with so many rows at most. */
	public String report(int mostRows) throws MemtraceException {
		try (TraceCatalogue catalogue = Stores.inMemory(); TraceStore store = store(catalogue)) {
			Advisor advisor = Advisor.of(store, store.accessSource(Progress.NONE), Thresholds.STANDARD, Progress.NONE);
			return Report.html(store, advisor, null, mostRows, Progress.NONE);
		}
	}

	/** The producers: each structure with its pages, "NAME.ID" and "NAME.ID[page P]". */
	public ProducerTree tree() {
		return tree(new HashMap<>());
	}

	private ProducerTree tree(Map<Integer, Integer> firstLeaf) {
		ProducerTreeBuilder tree = new ProducerTreeBuilder(PAGE);
		tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
		for (Structure s : structures) {
			tree.begin(ProducerKind.STRUCTURE, s.name() + "." + s.id(), s.startAddress(), s.endAddress(), s.id());
			for (int p = 0; p * (long) PAGE < s.sizeBytes(); p++) {
				long start = s.startAddress() + p * (long) PAGE;
				int leaf = tree.leaf(ProducerKind.PAGE, s.name() + "." + s.id() + "[page " + p + "]", start, start + PAGE, s.id());
				firstLeaf.putIfAbsent(s.id(), leaf);
			}
			tree.end();
		}
		tree.end();
		return tree.build();
	}

	private TraceStore store(TraceCatalogue catalogue) throws MemtraceException {
		TraceInfo info;
		try (TraceWriter w = catalogue.create("planted")) {
			List<ThreadInfo> list = new ArrayList<>();
			for (int t = 0; t < threads; t++) {
				list.add(new ThreadInfo(t, 0, 100 + t, "worker", 0, Long.MAX_VALUE, "", t == 0));
			}
			w.threads(list);
			w.structures(structures);
			w.cpuSets(List.of(new BitSet()));
			Map<Integer, Integer> firstLeaf = new HashMap<>();
			ProducerTree producers = tree(firstLeaf);
			w.producers(producers);
			AccessBatch batch = new AccessBatch(accesses.size());
			for (Access a : accesses) {
				int leaf = firstLeaf.get(a.structure()) + a.page();
				long start = a.interval() * INTERVAL;
				batch.add(start, start + INTERVAL, leaf, a.thread(), 0, a.reads(), a.writes(), 1, 0, 0, 0, a.readOffset(), a.writeOffset());
			}
			w.accesses(batch);
			List<Interval> monitored = new ArrayList<>();
			for (int i = 0; i < intervals; i++) {
				monitored.add(new Interval(0, i * INTERVAL, (i + 1) * INTERVAL, INTERVAL, 0, 0, 0, ""));
			}
			w.intervals(monitored);
			w.threadTimes(times.build());
			info = w.commit(new TraceInfo(-1, "planted", "planted", TraceInfo.TYPE_MEMTRACE, "/usr/bin/work", "host", "Linux", threads, 0,
					producers.size(), 0, intervals * INTERVAL, Instant.EPOCH, PAGE, "", Map.of("command", "./work")), "{}", Progress.NONE);
		}
		return catalogue.open(info.id());
	}
}
