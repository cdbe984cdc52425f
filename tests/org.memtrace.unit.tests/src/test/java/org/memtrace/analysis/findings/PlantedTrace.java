// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CloseLook;
import org.memtrace.model.InstructionCounts;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.Interval;
import org.memtrace.analysis.diff.PlaceTimes;
import org.memtrace.analysis.diff.RegionUse;
import org.memtrace.analysis.diff.Run;
import org.memtrace.analysis.diff.TraceDiff;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.pattern.Patterns;
import org.memtrace.analysis.report.Report;
import org.memtrace.analysis.table.StructureTable;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.MemoryArea;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.PageCells;
import org.memtrace.model.tree.MemoryTrees;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.model.Progress;
import org.memtrace.model.Regions;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.memory.Ticks;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.ThreadTimes;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.Stores;

/** A small trace made access by access, with byte addresses. Intervals have 1000 ns. */
public final class PlantedTrace {
	/** Properties of the trace. */
	final Map<String, String> properties = new TreeMap<>(Map.of("command", "./work"));

	public static final int PAGE = 4096;
	/** Stands for the structures that {@link #merge} makes one producer. */
	public static final int MERGED = -1;
	public static final long INTERVAL = 1000;

	private record Access(int structure, int page, int interval, int thread, long reads, long writes, int readOffset, int writeOffset,
			long ip, int cpu, int node) {
	}

	/** A machine with nodes 0 and 1; CPUs 0 to 31 are on the first one, the others on the second one. */
	private static final String TWO_NODES = """
			<topology version="2.0">
			  <object type="NUMANode" os_index="0" cpuset="0xffffffff"/>
			  <object type="NUMANode" os_index="1" cpuset="0xffffffff,0x0"/>
			</topology>
			""";
	/** CPUs of {@link #TWO_NODES}. */
	public static final int CPUS = 64;

	/** The file of the program. */
	public String application = "/usr/bin/work";
	/** Image of each thread, 0 without; that of structures is set by {@link #image}. */
	public final Map<Integer, Integer> imageOfThread = new HashMap<>();
	/** Parts of the memory maps. */
	public final List<MemoryArea> areas = new ArrayList<>();
	/** Times of accesses and intervals, and the end, are so many times later. */
	public long stretch = 1;
	private final int threads;
	private final int intervals;
	private final List<Structure> structures = new ArrayList<>();
	private final List<Access> accesses = new ArrayList<>();
	private final List<List<CallFrame>> stacks = new ArrayList<>();
	private final ThreadTimes.Builder times = new ThreadTimes.Builder();
	private final CodePlaces.Builder code = new CodePlaces.Builder();
	private long next = 0x10000000L;
	private long ip;
	private String merged;
	private long mergedFrom;
	private int mergedPages;
	private boolean twoNodes;
	private long briefNs;
	private String startRoutine = "";
	private CloseLook look = CloseLook.NONE;
	private final Ticks.Builder ticks = new Ticks.Builder();
	private int tickCount;
	private final Map<Integer, Integer> intervalsOfImage = new TreeMap<>();
	private final InstructionCounts.Builder instructions = new InstructionCounts.Builder();
	private final Regions.Builder regions = new Regions.Builder();
	private int cpu = -1;
	private int node;

	public PlantedTrace(int threads, int intervals) {
		this.threads = threads;
		this.intervals = intervals;
	}

	/** The machine has two nodes; the accesses that are added from now on are by this CPU, of a page on this node; -1 not known. */
	public void place(int onCpu, int ofNode) {
		twoNodes = true;
		cpu = onCpu;
		node = ofNode;
	}

	/** An instruction of a thread that goes through a structure, with {@link #code} at its address; strides as in instructions.csv. */
	public void instruction(int structure, int thread, long address, boolean write, long accesses, String strides) {
		long at = structures.get(structure).startAddress();
		instructions.add(new InstructionCounts.Use(0, 100 + thread, address, write, 8, accesses, at, at + 64,
				InstructionCounts.strides(strides)));
	}

	/**
	 * Samples of the CPU clock, a millisecond of CPU time each, 1 ms after one another.
	 *
	 * @param structure what is accessed, 8 bytes; -1: nothing, the instruction accesses no memory
	 * @param at the instruction, with {@link #code}
	 */
	public void ticks(int structure, long offset, Ticks.Access access, int thread, int onCpu, long at, long firstMs, int count) {
		Ticks.Place place = new Ticks.Place(0, 100 + thread, Ticks.Mode.USER, at, structure < 0 ? Ticks.Access.NONE : access,
				structure < 0 ? 0 : 8, structure, structure >= 0);
		tickCount += count;
		for (int i = 0; i < count; i++) {
			ticks.add(place, (firstMs + i) * 1_000_000, onCpu, structure < 0 ? 0 : address(structure) + offset, 1_000_000);
		}
	}

	/** What record --zoom saw. */
	public void look(CloseLook.Builder samples) {
		look = samples.build();
	}

	/** So many samples of the CPU clock of a thread at an instruction, with {@link #code} at its address, that reads a structure; -1 none. */
	public void ticks(int thread, long address, int structure, int count) {
		Ticks.Place place = new Ticks.Place(imageOfThread.getOrDefault(thread, 0), 100 + thread, Ticks.Mode.USER, address,
				structure < 0 ? Ticks.Access.NONE : Ticks.Access.READ, 8, structure, structure >= 0);
		for (int i = 0; i < count; i++) {
			ticks.add(place, tickCount++ % (intervals * INTERVAL), 0, structure < 0 ? 0 : address(structure), 1_000_000);
		}
	}

	/** Another process was recorded for so many intervals; its threads are of {@link #imageOfThread}. */
	public void process(int image, int itsIntervals) {
		intervalsOfImage.put(image, itsIntervals);
	}

	/** First address of a structure. */
	public long address(int structure) {
		return structures.get(structure).startAddress();
	}

	/** All threads but the first one live so long, one after the other. */
	public void brief(long ns) {
		briefNs = ns;
	}

	/** The function that all threads but the first one begin with; it is not known without. */
	public void start(String routine) {
		startRoutine = routine;
	}

	/** Declares the type of a structure. */
	public void type(int structure, String typeName) {
		type(structure, typeName, "");
	}

	/** With the bytes and members of an element. */
	public void type(int structure, String typeName, String members) {
		Structure s = structures.get(structure);
		structures.set(structure, new Structure(s.id(), s.image(), s.kind(), s.name(), s.startAddress(), s.endAddress(), s.birthNs(), s.deathNs(),
				s.taskId(), s.stack(), s.site(), typeName, members));
	}

	/** The process image that a structure belongs to. */
	public void image(int structure, int image) {
		Structure s = structures.get(structure);
		structures.set(structure, new Structure(s.id(), image, s.kind(), s.name(), s.startAddress(), s.endAddress(), s.birthNs(), s.deathNs(),
				s.taskId(), s.stack(), s.site(), s.typeName(), s.members()));
	}

	/** The call stack of the allocation of a structure, the innermost frame first. */
	public void stack(int structure, List<CallFrame> frames) {
		Structure s = structures.get(structure);
		structures.set(structure, new Structure(s.id(), s.image(), s.kind(), s.name(), s.startAddress(), s.endAddress(), s.birthNs(), s.deathNs(),
				s.taskId(), stacks.size(), s.site(), s.typeName(), s.members()));
		stacks.add(frames);
	}

	/** Says where a structure is allocated or defined, "work.c:7" without. */
	public void site(int structure, String site) {
		Structure s = structures.get(structure);
		structures.set(structure, new Structure(s.id(), s.image(), s.kind(), s.name(), s.startAddress(), s.endAddress(), s.birthNs(), s.deathNs(),
				s.taskId(), s.stack(), site, s.typeName()));
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
		accesses.add(new Access(structure, page, interval, thread, reads, writes, readOffset, writeOffset, ip, cpu, node));
	}

	/** The code that makes the accesses that are added from now on. */
	public void code(long address, String function, String file, int line) {
		code(address, "work", function, file, line);
	}

	/** With the file of the code. */
	public void code(long address, String object, String function, String file, int line) {
		code.add(0, new CallFrame(address, object, function, file, line));
		ip = address;
	}

	/** Structures in this range are one producer; their pages are accessed as those of {@link #MERGED}. */
	public void merge(String label, long address, int pages) {
		merged = label;
		mergedFrom = address;
		mergedPages = pages;
	}

	/** From the first byte of the page on. */
	public void read(int structure, int page, int interval, int thread) {
		access(structure, page, interval, thread, 1, 0, 0, -1);
	}

	public void write(int structure, int page, int interval, int thread) {
		access(structure, page, interval, thread, 1, 1, 0, 0);
	}

	/** The thread is in a region of the program in the intervals [from, to). */
	public void region(int thread, String name, double from, double to) {
		regions.begin(0, 100 + thread, name, (long) (from * INTERVAL));
		regions.end(0, 100 + thread, name, (long) (to * INTERVAL));
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

	/** Where a loop that goes down a column of numbers of 8 bytes enters a page: in the first row that begins in it, or goes into it. */
	public int columnEntry(int page, int rowBytes, int column) {
		long place = 8L * column;
		long before = (long) page * PAGE;
		return (int) (place + (Math.max(0, before - place) + rowBytes - 1) / rowBytes * rowBytes - before);
	}

	/** What the rules say. */
	public Advisor advise() throws MemtraceException {
		try (TraceCatalogue catalogue = Stores.inMemory(); TraceStore store = store(catalogue)) {
			return Advisor.of(store, store.accessSource(Progress.NONE), Thresholds.STANDARD, Progress.NONE);
		}
	}

	/** The summary, with its first lines. */
	public String summary() throws MemtraceException {
		try (TraceCatalogue catalogue = Stores.inMemory(); TraceStore store = store(catalogue)) {
			Advisor advisor = Advisor.of(store, store.accessSource(Progress.NONE), Thresholds.STANDARD, Progress.NONE);
			return new TraceSummary(StructureTable.of(AccessTable.load(store, Progress.NONE), store.structures(), Progress.NONE)).text(advisor)
					+ AdviceText.brief(advisor, 3);
		}
	}

	/** As a side of a comparison, with its regions. */
	public Run run(String label) throws MemtraceException {
		try (TraceCatalogue catalogue = Stores.inMemory(); TraceStore store = store(catalogue)) {
			Advisor advisor = Advisor.of(store, store.accessSource(Progress.NONE), Thresholds.STANDARD, Progress.NONE);
			return new Run(label, advisor, RegionUse.of(advisor.facts(), store, store.accessSource(Progress.NONE), Progress.NONE));
		}
	}

	/** What it does with the structures of a comparison, as one of its runs. */
	public PlaceTimes placeTimes(TraceDiff diff, Run run) throws MemtraceException {
		try (TraceCatalogue catalogue = Stores.inMemory(); TraceStore store = store(catalogue)) {
			return PlaceTimes.of(diff, run, store, store.accessSource(Progress.NONE), Progress.NONE);
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
		if (merged != null) {
			tree.begin(ProducerKind.GROUP, merged, mergedFrom, mergedFrom + (long) mergedPages * PAGE, -1);
			for (int p = 0; p < mergedPages; p++) {
				long start = mergedFrom + p * (long) PAGE;
				firstLeaf.putIfAbsent(MERGED, tree.leaf(ProducerKind.PAGE, merged + "[page " + p + "]", start, start + PAGE, -1));
			}
			tree.end();
		}
		for (Structure s : structures) {
			if (isMerged(s)) {
				continue;
			}
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

	private boolean isMerged(Structure s) {
		return merged != null && s.startAddress() >= mergedFrom && s.startAddress() < mergedFrom + (long) mergedPages * PAGE;
	}

	/** A cell for each producer, then one for each block in each page of {@link #MERGED}. */
	private PageCells cells(ProducerTree tree) {
		int[] leaves = trees(tree).virtualLeaf();
		PageCells cells = PageCells.of(leaves.length);
		for (int c = 0; c < tree.size(); c++) {
			cells.set(c, 0, tree.startAddress(c), tree.structure(c), PageCells.NO_FRAME, -1);
		}
		int c = tree.size();
		for (Structure s : structures) {
			for (long page = s.startAddress() / PAGE * PAGE; isMerged(s) && page < s.endAddress(); page += PAGE) {
				cells.set(c++, 0, page, s.id(), PageCells.NO_FRAME, -1);
			}
		}
		return cells;
	}

	private MemoryTrees trees(ProducerTree tree) {
		IntStream.Builder leaves = IntStream.builder();
		for (int c = 0; c < tree.size(); c++) {
			leaves.add(c);
		}
		int first = 0;
		while (merged != null && tree.kind(first) != ProducerKind.GROUP) {
			first++;
		}
		for (Structure s : structures) {
			for (long page = s.startAddress() / PAGE; isMerged(s) && page * PAGE < s.endAddress(); page++) {
				leaves.add(first + 1 + (int) (page - mergedFrom / PAGE));
			}
		}
		return new MemoryTrees(tree, leaves.build().toArray(), null, null);
	}

	private TraceStore store(TraceCatalogue catalogue) throws MemtraceException {
		TraceInfo info;
		try (TraceWriter w = catalogue.create("planted")) {
			List<ThreadInfo> list = new ArrayList<>();
			for (int t = 0; t < threads; t++) {
				boolean brief = t > 0 && briefNs > 0;
				list.add(new ThreadInfo(t, imageOfThread.getOrDefault(t, 0), 100 + t, "worker", brief ? t * briefNs : 0,
						brief ? (t + 1) * briefNs : Long.MAX_VALUE,
						t == 0 ? "" : startRoutine, t == 0));
			}
			w.threads(list);
			w.structures(structures);
			for (int i = 0; i < stacks.size(); i++) {
				w.stack(i, stacks.get(i));
			}
			List<BitSet> cpuSets = new ArrayList<>(List.of(new BitSet()));
			for (int c = 0; c < CPUS; c++) {
				cpuSets.add(BitSet.valueOf(new long[] {1L << c}));
			}
			w.cpuSets(cpuSets);
			Map<Integer, Integer> firstLeaf = new HashMap<>();
			ProducerTree producers = tree(firstLeaf);
			if (merged == null && areas.isEmpty()) {
				w.producers(producers);
			} else {
				w.trees(new MemoryLayout(cells(producers), areas, Map.of(), PAGE, 4, List.of()), trees(producers));
			}
			AccessBatch batch = new AccessBatch(accesses.size());
			for (Access a : accesses) {
				int leaf = firstLeaf.get(a.structure()) + a.page();
				long start = a.interval() * INTERVAL * stretch;
				batch.add(start, start + INTERVAL * stretch, leaf, a.thread(), a.cpu() + 1, a.reads(), a.writes(), 1, a.node(), 0, a.ip(),
						a.readOffset(), a.writeOffset(), -1);
			}
			w.accesses(batch);
			List<Interval> monitored = new ArrayList<>();
			for (int i = 0; i < intervals; i++) {
				monitored.add(new Interval(0, i * INTERVAL * stretch, (i + 1) * INTERVAL * stretch, INTERVAL * stretch, 0, 0, 0, ""));
			}
			intervalsOfImage.forEach((image, n) -> {
				for (int i = 0; i < n; i++) {
					monitored.add(new Interval(image, i * INTERVAL * stretch, (i + 1) * INTERVAL * stretch, INTERVAL * stretch, 0, 0, 0, ""));
				}
			});
			w.intervals(monitored);
			w.threadTimes(times.build());
			if (twoNodes) {
				w.note(TraceStore.NOTE_TOPOLOGY, TWO_NODES.getBytes(StandardCharsets.UTF_8));
			}
			if (!look.isEmpty()) {
				w.note(CloseLook.NOTE, look.toBytes());
			}
			if (tickCount > 0) {
				w.note(Ticks.NOTE, ticks.build().toBytes());
			}
			InstructionCounts counted = instructions.build();
			if (!counted.isEmpty()) {
				w.note(InstructionCounts.NOTE, counted.toBytes());
			}
			Regions named = regions.build(intervals * INTERVAL);
			if (!named.isEmpty()) {
				w.note(Regions.NOTE, named.toBytes());
			}
			w.note(TraceStore.NOTE_CODE, code.build().toBytes());
			info = w.commit(new TraceInfo(-1, "planted", "planted", TraceInfo.TYPE_MEMTRACE, application, "host", "Linux", threads, 0,
					producers.size(), 0, intervals * INTERVAL * stretch, Instant.EPOCH, PAGE, "", new TreeMap<>(properties)), "{}", Progress.NONE);
		}
		return catalogue.open(info.id());
	}
}
