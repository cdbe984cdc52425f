// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.analysis.node.NodeDistances;
import org.memtrace.analysis.source.Instructions;
import org.memtrace.analysis.source.TickShares;
import org.memtrace.model.CloseLook;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.memory.MemoryArea;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.PageCells;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.memory.TypeMembers;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.RankNames;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.columns.Losses;

/**
 * Makes {@link TraceFacts} in one pass over the chunks of accesses, leaf by leaf. Several ranges of memory are read at the same time; their
 * facts add up. What is counted follows spec/insight.md 3.1.
 */
public final class FactsCollector {
	/** Share of all accesses that makes a thread one of the team, and of the share that each thread would have if all were alike. */
	private static final double TEAM = 0.02;
	private static final double TEAM_OF_EQUAL = 0.25;
	/** Share of the late accesses of a part that makes its main user its only one. */
	private static final double SINGLE = 0.8;
	/** Of fewer looks at a part, of a thread in an interval, nobody can say whose it is. */
	private static final int ENOUGH = 3;
	/** Share of the late intervals of a part in which its first toucher writes it, from which on it fills it again and again. */
	private static final double REFILLED = 0.25;
	/** Share of the samples of a word that are not by its main user, from which on several threads use it: not a sum that is read once. */
	private static final double FOREIGN = 0.1;
	/** Groups with fewer leaves are not looked at for strides. */
	private static final int STRIDE_LEAVES = 64;
	/** Groups without any access are facts, too, when they are so large. */
	private static final long UNTOUCHED_BYTES = 1 << 20;
	private static final int LINE_BYTES = 64;
	private static final int WORD_BYTES = 8;
	private static final Set<AccessColumn> PLACES = EnumSet.of(AccessColumn.CPU_SET, AccessColumn.NODE);
	private static final Set<AccessColumn> COLUMNS = EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD, AccessColumn.READS,
			AccessColumn.WRITES, AccessColumn.IP, AccessColumn.READ_OFFSET, AccessColumn.WRITE_OFFSET, AccessColumn.FIRST, AccessColumn.SHARING);

	private final TraceStore store;
	private final AccessSource source;
	private final ProducerTree tree;
	private final List<ThreadInfo> threads;
	private final List<Structure> structures;
	private final InnerStatics inner;
	private final int pageBytes;
	private final Ownership owners;
	/** Group of each structure, -1 when it has no leaf. */
	private final int[] groupOf;
	private final List<GroupFacts> groups = new ArrayList<>();
	private final int[] leavesOfGroup;
	/** Structure of each producer that is a leaf, of a leaf with many blocks one of them; -1 none. */
	private final int[] structureOf;
	/** Of leaves that have several blocks: these. */
	private final Map<Integer, int[]> blocksOf;
	private final CodePlaces code;
	/** Frames of {@link #code} that are of the program and not of a library. */
	private final BitSet ownFrames = new BitSet();
	/** By structure: its first leaf and the one after its last. */
	private final int[] firstLeaf;
	private final int[] endLeaf;
	private final IntervalNumbers intervals;
	/** NUMA nodes of the recorded machine, 0 not known. */
	private final int nodes;
	/** Node of each set of CPUs, -1 several or not known; empty for a machine with one node. */
	private final int[] nodeOfSet;

	private FactsCollector(TraceStore store, AccessSource source) throws MemtraceException {
		this.store = store;
		this.source = source;
		tree = store.producers();
		threads = store.threads();
		structures = store.structures();
		pageBytes = Math.max(1, store.info().pageSizeBytes());
		inner = new InnerStatics(structures, pageBytes);
		Optional<byte[]> note = store.readNote(TraceStore.NOTE_CODE);
		code = note.isPresent() ? CodePlaces.of(note.get()) : CodePlaces.NONE;
		for (int f = 0; f < code.frames().size(); f++) {
			String object = code.frames().get(f).object();
			ownFrames.set(f, !Ownership.isLibrary(object) && !Ownership.isOthers(object));
		}
		Optional<MemoryLayout> layout = store.layout();
		owners = new Ownership(store, layout.map(MemoryLayout::areas).orElse(List.of()), code.frames());
		groupOf = group(layout.map(MemoryLayout::areas).orElse(List.of()));
		int[] structureOfCell = layout.map(MemoryLayout::cells).orElse(PageCells.NONE).structure();
		int[] leafOfCell = layout.isPresent() ? store.producersOfCells() : new int[0];
		structureOf = LeafStructures.of(tree, structureOfCell, leafOfCell, groupOf);
		blocksOf = LeafStructures.blocks(tree, structureOfCell, leafOfCell, structureOf);
		leavesOfGroup = new int[groups.size()];
		firstLeaf = new int[structures.size()];
		Arrays.fill(firstLeaf, Integer.MAX_VALUE);
		endLeaf = new int[structures.size()];
		for (int p = 0; p < tree.size(); p++) {
			if (tree.isLeaf(p) && structureOf[p] >= 0) {
				int s = structureOf[p];
				leavesOfGroup[groupOf[s]]++;
				firstLeaf[s] = Math.min(firstLeaf[s], p);
				endLeaf[s] = Math.max(endLeaf[s], p + 1);
			}
		}
		intervals = IntervalNumbers.of(store);
		NodeDistances machine = machine();
		nodes = Math.max(number("numa_nodes"), machine.nodes());
		nodeOfSet = machine.nodes() < 2 ? new int[0] : store.cpuSets().stream().mapToInt(machine::nodeOf).toArray();
	}

	private NodeDistances machine() throws MemtraceException {
		byte[] xml = store.readNote(TraceStore.NOTE_TOPOLOGY).orElse(null);
		try {
			return xml == null ? NodeDistances.NONE : NodeDistances.read(xml);
		} catch (MemtraceException e) {
			// the nodes are not known then, which each condition about them says; the machine view tells what is wrong with the topology
			return NodeDistances.NONE;
		}
	}

	/** A property of the trace that is a number; 0 without, or when it is not ours. */
	private int number(String property) {
		try {
			return Integer.parseInt(store.info().properties().getOrDefault(property, "0").trim());
		} catch (NumberFormatException e) {
			return 0;
		}
	}

	/** Reads all accesses of a trace. */
	public static TraceFacts of(TraceStore store, AccessSource source, Progress progress) throws MemtraceException {
		return of(store, source, progress, List.of());
	}

	/**
	 * Reads all accesses of a trace.
	 *
	 * @param others questions that share the reading
	 */
	public static TraceFacts of(TraceStore store, AccessSource source, Progress progress, List<? extends AccessScan.Pass<?>> others)
			throws MemtraceException {
		return new FactsCollector(store, source).run(progress, others);
	}

	private int[] group(List<MemoryArea> areas) throws MemtraceException {
		record Key(int image, StructureKind kind, String name, String site, boolean others) {
		}
		Map<Key, Integer> known = new LinkedHashMap<>();
		String executable = store.info().application();
		int[] of = new int[structures.size()];
		RankNames names = RankNames.of(tree, structures);
		for (Structure s : structures) {
			String name = RankNames.plain(s.name());
			boolean others = owners.isOthers(s);
			Key key = new Key(s.image(), s.kind(), name, s.site(), others);
			Integer g = known.get(key);
			if (g == null) {
				g = groups.size();
				known.put(key, g);
				groups.add(new GroupFacts(name, names.shown(s, name), s.kind(), s.site(), s.image(), isLibrary(s, areas, executable), threads.size()));
			}
			of[s.id()] = g;
			GroupFacts group = groups.get(g);
			if (group.structures.isEmpty()) {
				group.elementType = s.elementType();
				group.others = others;
				group.constants = owners.isConstant(s);
			} else if (!group.elementType.equals(s.elementType())) {
				group.elementType = "";
			}
			group.structures.add(s.id());
		}
		Map<ImageType, String> members = members(structures);
		for (GroupFacts g : groups) {
			g.members = TypeMembers.parse(members.getOrDefault(new ImageType(g.image, g.elementType), "")).orElse(null);
			g.padding = ElementPadding.of(g.members).orElse(null);
			measure(g);
		}
		return of;
	}

	private record ImageType(int image, String element) {
	}

	/** The members of the types of each image; empty for a name that several types have. */
	private static Map<ImageType, String> members(List<Structure> structures) {
		Map<ImageType, String> members = new HashMap<>();
		for (Structure s : structures) {
			if (!s.members().isEmpty()) {
				members.merge(new ImageType(s.image(), s.elementType()), s.members(), (a, b) -> a.equals(b) ? a : "");
			}
		}
		return members;
	}

	/** Data that no change of the program can move: of the C library, of run time systems, of the dynamic linker. */
	private boolean isLibrary(Structure s, List<MemoryArea> areas, String executable) {
		// small blocks are of the program and of libraries: only the code that uses them tells which
		if (s.kind() == StructureKind.FILE || s.kind() == StructureKind.BRK && code.isEmpty()) {
			return true;
		}
		if (s.site().matches("(lib[^:/ ]*\\.so[^:/ ]*|ld-linux[^:/ ]*|ld\\.so[^:/ ]*)\\+0x.*")) {
			return true;
		}
		if (s.kind() != StructureKind.STATIC) {
			return false;
		}
		for (MemoryArea a : areas) {
			if (a.image() == s.image() && Long.compareUnsigned(a.start(), s.startAddress()) <= 0
					&& Long.compareUnsigned(s.startAddress(), a.end()) < 0) {
				return Ownership.isLibrary(a.name()) && !a.name().equals(executable);
			}
		}
		return false;
	}

	/** Whether it is known that code of the program, and not of a library, made an access. */
	private boolean isOwnCode(int image, long ip) {
		int frame = code.of(image, ip);
		return frame >= 0 && ownFrames.get(frame);
	}

	private void measure(GroupFacts g) {
		record Change(long ns, long bytes) {
		}
		List<Change> changes = new ArrayList<>();
		for (int id : g.structures) {
			Structure s = structures.get(id);
			long bytes = s.sizeBytes() - inner.bytes(s);
			g.bytes += bytes;
			changes.add(new Change(s.birthNs(), bytes));
			if (s.deathNs() != Long.MAX_VALUE) {
				changes.add(new Change(s.deathNs(), -bytes));
			}
		}
		changes.sort(Comparator.comparingLong(Change::ns).thenComparingLong(Change::bytes));
		long now = 0;
		for (Change c : changes) {
			now += c.bytes();
			g.liveBytes = Math.max(g.liveBytes, now);
		}
	}

	private TraceFacts run(Progress progress, List<? extends AccessScan.Pass<?>> others) throws MemtraceException {
		List<Part> parts = new ArrayList<>();
		List<AccessScan.Pass<?>> passes = new ArrayList<>(others);
		passes.add(new AccessScan.Pass<Part>() {
			@Override
			public Set<AccessColumn> columns() {
				if (nodeOfSet.length == 0) {
					return COLUMNS;
				}
				Set<AccessColumn> all = EnumSet.copyOf(COLUMNS);
				all.addAll(PLACES);
				return all;
			}

			@Override
			public Part part() {
				return new Part();
			}

			@Override
			public void end(List<Part> all) {
				parts.addAll(all);
			}
		});
		AccessScan.of(source).run(AccessQuery.ALL, "Looking for facts", progress, passes);
		boolean offsets = false;
		for (Part part : parts) {
			offsets |= part.sawOffset;
			for (int g = 0; g < part.found.length; g++) {
				if (part.found[g] != null) {
					groups.get(g).add(part.found[g]);
				}
			}
		}
		groups.forEach(g -> g.decideLines(structures::get));
		byte[] look = store.readNote(CloseLook.NOTE).orElse(null);
		if (look != null) {
			new CloseFacts.Collector(CloseLook.parse(look), threads, structures, groupOf).collect(groups, this::leafAt);
		}
		Steps.collect(Instructions.of(store, false), structures, groups, groupOf);
		LoopWork[] loops = LoopWork.of(TickShares.of(store), threads, groups.size(), groupOf);
		for (int g = 0; g < loops.length; g++) {
			groups.get(g).loops = loops[g];
		}
		groups.removeIf(g -> g.parts == 0 && g.liveBytes < UNTOUCHED_BYTES);
		for (GroupFacts g : groups) {
			// blocks that share a page: a record of it tells of one of them only
			if (g.isRegular()) {
				g.handedOn += g.seldom.handedOn;
				g.handedOnSingle += g.seldom.handedOnSingle;
			}
			g.dividedParts = Divided.parts(g, structures, threads, store.info());
			g.pagesOfBlocks = Math.max(g.parts, Math.ceilDiv(g.bytes, pageBytes));
			g.used = g.code.used(code, g.image);
			g.usedNearlyAlone = g.code.isNearlyAlone(g.used, code, g.image);
			g.firstWritten = g.code.firstWritten(code, g.image);
			g.firstWriters = g.code.writers(g.firstWritten, code, g.image);
		}
		return describe(offsets);
	}

	/** The leaf of a structure that holds an address, -1 none. */
	private int leafAt(int structure, long address) {
		int group = groupOf[structure];
		int from = firstLeaf[structure];
		int to = endLeaf[structure];
		if (from >= to) { // it lived where others of its name did: the leaves are theirs
			from = groups.get(group).structures.stream().mapToInt(s -> firstLeaf[s]).min().orElse(0);
			to = groups.get(group).structures.stream().mapToInt(s -> endLeaf[s]).max().orElse(0);
		}
		for (int p = from; p < to; p++) {
			if (tree.isLeaf(p) && structureOf[p] >= 0 && groupOf[structureOf[p]] == group
					&& tree.startAddress(p) / pageBytes == address / pageBytes) {
				return p;
			}
		}
		return -1;
	}

	private TraceFacts describe(boolean offsets) throws MemtraceException {
		double accesses = 0;
		long parts = 0;
		double[] byThread = new double[threads.size()];
		for (int c = 0; c < source.chunks(); c++) {
			accesses += (double) source.info(c).reads() + source.info(c).writes();
		}
		for (GroupFacts g : groups) {
			parts += g.parts;
			for (int t = 0; t < byThread.length; t++) {
				byThread[t] += g.byThread[t];
			}
		}
		int[] team = team(accesses, byThread);
		Map<Integer, int[]> teams = teams(byThread);
		for (GroupFacts g : groups) {
			g.team = teams.size() < 2 ? team : teams.getOrDefault(g.image, team);
			g.weight = Math.max(accesses > 0 ? g.accesses / accesses : 0, parts > 0 ? (double) g.parts / parts : 0);
		}
		long recorded = 0;
		try {
			recorded = Long.parseLong(store.info().properties().getOrDefault("losses", "0").trim());
		} catch (NumberFormatException e) {
			// the property is not ours
		}
		Losses lost = source.losses();
		return new TraceFacts(store.info(), threads, structures, List.copyOf(groups), team, intervals, intervals.starts(), intervals.ends(),
				accesses, parts, nodes, store.threadTimes(), offsets, recorded + lost.accesses(), lost);
	}

	/** The threads that do the work. */
	private static int[] team(double accesses, double[] byThread) {
		double least = accesses * Math.min(TEAM, TEAM_OF_EQUAL / Math.max(1, Arrays.stream(byThread).filter(a -> a > 0).count()));
		return IntStream.range(0, byThread.length).filter(t -> byThread[t] >= least && byThread[t] > 0).toArray();
	}

	/** The team of each process image with threads. */
	private Map<Integer, int[]> teams(double[] byThread) {
		Map<Integer, int[]> teams = new HashMap<>();
		for (int image : threads.stream().map(ThreadInfo::image).distinct().toList()) {
			double[] its = byThread.clone();
			Arrays.setAll(its, t -> threads.get(t).image() == image ? byThread[t] : 0);
			teams.put(image, team(Arrays.stream(its).sum(), its));
		}
		return teams;
	}

	/** Looks at a range of leaves, one after the other. */
	private final class Part implements AccessScan.Part {
		final GroupFacts[] found = new GroupFacts[groups.size()];
		boolean sawOffset;
		// the rows of a leaf, -1 before the first
		private int open = -1;
		private int n;
		private long[] start = new long[64];
		private long[] begin = new long[64];
		private int[] interval = new int[64];
		private int[] thread = new int[64];
		private long[] reads = new long[64];
		private long[] writes = new long[64];
		private int[] readOffset = new int[64];
		private int[] writeOffset = new int[64];
		private long[] ip = new long[64];
		/** Only of a leaf with several blocks: which one. */
		private int[] block = new int[64];
		// only where the machine has several nodes
		private int[] threadNode = new int[64];
		private int[] pageNode = new int[64];
		private final double[] byNode = new double[nodes];
		// of a leaf, by thread
		private final double[] late = new double[threads.size()];
		private final double[] lateWrites = new double[threads.size()];
		private final int[] seenIn = new int[threads.size()];
		private final int[] userIntervals = new int[threads.size()];
		private int[] users = new int[8];
		private int userCount;
		private long[] samples = new long[64];
		/** Intervals in which another thread may have used the leaf without being seen. */
		private final BitSet sharingNotKnown = new BitSet();
		// the late part before this one
		private int lastStructure = -1;
		private int lastLeaf = -1;
		private int lastMain = -1;

		@Override
		public void chunk(AccessChunk chunk, int leafFrom, int leafTo) {
			for (int l = leafFrom; l < leafTo; l++) {
				if (open != chunk.leaf[l]) {
					end();
				}
				open = chunk.leaf[l];
				take(chunk, chunk.leafFrom[l], chunk.leafFrom[l + 1]);
			}
		}

		@Override
		public void end() {
			if (open >= 0) {
				int[] blocks = blocksOf.get(open);
				if (blocks == null) {
					leaf(open, structureOf[open]);
				} else {
					blocks(open, blocks);
				}
				n = 0;
				sharingNotKnown.clear();
			}
		}

		/** The rows of each block, as if it had a leaf of its own: who uses memory after its next life began does not share it. */
		private void blocks(int leaf, int[] blocks) {
			int[] order = IntStream.range(0, n).boxed().sorted(Comparator.comparingInt(r -> block[r])).mapToInt(Integer::intValue).toArray();
			block = sorted(block, order);
			start = sorted(start, order);
			begin = sorted(begin, order);
			interval = sorted(interval, order);
			thread = sorted(thread, order);
			reads = sorted(reads, order);
			writes = sorted(writes, order);
			readOffset = sorted(readOffset, order);
			writeOffset = sorted(writeOffset, order);
			ip = sorted(ip, order);
			threadNode = sorted(threadNode, order);
			pageNode = sorted(pageNode, order);
			int all = n;
			for (int from = 0; from < all;) {
				int b = block[from];
				int to = from;
				while (to < all && block[to] == b) {
					to++;
				}
				n = to - from;
				for (Object column : new Object[] {start, begin, interval, thread, reads, writes, readOffset, writeOffset, ip, threadNode,
					pageNode}) {
					System.arraycopy(column, from, column, 0, n);
				}
				leaf(leaf, blocks[b]);
				from = to;
			}
		}

		private static int[] sorted(int[] values, int[] order) {
			return IntStream.range(0, values.length).map(i -> values[i < order.length ? order[i] : i]).toArray();
		}

		private static long[] sorted(long[] values, int[] order) {
			return IntStream.range(0, values.length).mapToLong(i -> values[i < order.length ? order[i] : i]).toArray();
		}

		/** The block that has a byte and lives longest in a time; the first one when none does. */
		private int block(int[] blocks, int leaf, int offset, long startNs, long endNs) {
			long address = (tree.startAddress(leaf) & -(long) pageBytes) + offset;
			int best = 0;
			long most = -1;
			for (int b = 0; b < blocks.length; b++) {
				Structure s = structures.get(blocks[b]);
				boolean has = offset < 0 || Long.compareUnsigned(s.startAddress(), address) <= 0 && Long.compareUnsigned(address, s.endAddress()) < 0;
				long lives = Math.min(endNs, s.deathNs()) - Math.max(startNs, s.birthNs());
				if (has && lives > most) {
					most = lives;
					best = b;
				}
			}
			return best;
		}

		private void take(AccessChunk chunk, int from, int to) {
			int s = structureOf[open];
			if (s < 0) {
				return;
			}
			GroupFacts g = facts(groupOf[s]);
			boolean own = g.isSmallBlocks();
			if (n + to - from > interval.length) {
				int room = Math.max(2 * interval.length, n + to - from);
				start = Arrays.copyOf(start, room);
				begin = Arrays.copyOf(begin, room);
				interval = Arrays.copyOf(interval, room);
				thread = Arrays.copyOf(thread, room);
				reads = Arrays.copyOf(reads, room);
				writes = Arrays.copyOf(writes, room);
				readOffset = Arrays.copyOf(readOffset, room);
				writeOffset = Arrays.copyOf(writeOffset, room);
				ip = Arrays.copyOf(ip, room);
				block = Arrays.copyOf(block, room);
				threadNode = Arrays.copyOf(threadNode, room);
				pageNode = Arrays.copyOf(pageNode, room);
			}
			int[] blocks = blocksOf.get(open);
			for (int r = from; r < to; r++) {
				// who touches a page first does it for the program: in malloc, memset, a constructor
				if (own && n > 0 && !isOwnCode(g.image, chunk.ip[r])) {
					g.passedOver += chunk.reads[r] + chunk.writes[r];
					continue;
				}
				start[n] = chunk.startNs(r);
				begin[n] = chunk.beginNs(r);
				g.firstNs = Math.min(g.firstNs, begin[n]);
				g.lastNs = Math.max(g.lastNs, chunk.endNs(r));
				interval[n] = intervals.of(g.image, start[n]);
				sharingNotKnown.set(interval[n], sharingNotKnown.get(interval[n]) || chunk.sharing[r] == AccessBatch.SHARING_NOT_KNOWN);
				thread[n] = chunk.thread[r] < threads.size() ? chunk.thread[r] : -1;
				reads[n] = chunk.reads[r];
				writes[n] = chunk.writes[r];
				readOffset[n] = chunk.readOffset[r];
				writeOffset[n] = chunk.writeOffset[r];
				sawOffset |= readOffset[n] >= 0 || writeOffset[n] >= 0;
				ip[n] = chunk.ip[r];
				if (blocks != null) {
					block[n] = block(blocks, open, readOffset[n] >= 0 ? readOffset[n] : writeOffset[n], start[n], chunk.endNs(r));
				}
				if (nodeOfSet.length > 0) {
					int set = chunk.cpuSet[r];
					threadNode[n] = set >= 0 && set < nodeOfSet.length ? nodeOfSet[set] : -1;
					pageNode[n] = chunk.node[r];
				}
				n++;
			}
		}

		private GroupFacts facts(int group) {
			if (found[group] == null) {
				GroupFacts g = groups.get(group);
				found[group] = new GroupFacts(g.name, g.label, g.kind, g.site, g.image, g.library, threads.size());
			}
			return found[group];
		}

		/** All rows of a leaf that are of a structure are there. */
		private void leaf(int leaf, int structure) {
			if (n == 0) {
				return;
			}
			int group = groupOf[structure];
			GroupFacts g = facts(group);
			g.parts++;
			g.leafFrom = Math.min(g.leafFrom, leaf);
			g.leafTo = Math.max(g.leafTo, leaf + 1);
			int first = interval[0];
			g.firstIntervals.set(first);
			int toucher = FirstAccess.thread(start, begin, thread, n);
			boolean unwritten = true;
			userCount = 0;
			double sum = 0;
			boolean strides = leavesOfGroup[group] >= STRIDE_LEAVES;
			int shared = 0;
			int alone = 0;
			int lateIntervals = 0;
			for (int from = 0; from < n;) {
				int to = from;
				int usersNow = 0;
				boolean written = false;
				while (to < n && interval[to] == interval[from]) {
					int t = thread[to];
					double amount = (double) reads[to] + writes[to];
					g.accesses += amount;
					g.writes += writes[to];
					g.code.use(ip[to], t, interval[to] != first ? amount : 0, writes[to] > 0, unwritten);
					unwritten &= writes[to] == 0;
					if (t >= 0) {
						g.byThread[t] += amount;
						if (interval[to] != first) {
							sum += amount;
							g.lateByThread[t] += amount;
							g.lateWritesByThread[t] += writes[to];
							if (late[t] == 0 && userIntervals[t] == 0) {
								user(t);
							}
							late[t] += amount;
							lateWrites[t] += writes[to];
							if (seenIn[t] != interval[to] + 1) {
								seenIn[t] = interval[to] + 1;
								userIntervals[t]++;
								usersNow++;
							}
							if (t != toucher && toucher >= 0) {
								g.foreignIntervals.set(interval[to]);
							}
							written |= writes[to] > 0;
							if (strides) {
								entry(g, leaf, to);
							}
						}
					}
					to++;
				}
				if (usersNow > 0) {
					lateIntervals++;
					g.pairs++;
					g.intervals.set(interval[from]);
					if (usersNow == 1) {
						alone += sharingNotKnown.get(interval[from]) ? 0 : 1;
						g.privatePairs++;
					} else if (written) {
						shared++;
						g.sharedPairs++;
						g.sharedIntervals.set(interval[from]);
					}
				}
				from = to;
			}
			if (toucher >= 0) {
				g.firstTouched[toucher]++;
			}
			if (userCount > 0) {
				late(g, leaf, structure, toucher, sum, lateIntervals, shared, alone);
				if (nodeOfSet.length > 0) {
					places(g, late[mainUser()] >= SINGLE * sum);
				}
				if (groups.get(group).padding != null) {
					elements(g, groups.get(group), leaf, structure);
				}
			}
			if (strides) { // the group is large
				Structure s = structures.get(structure);
				double page = tree.startAddress(leaf) / pageBytes - s.startAddress() / pageBytes + 0.5;
				g.place(page * pageBytes / Math.max(pageBytes, s.sizeBytes()), toucher, userCount > 0 ? mainUser() : -1);
			}
			for (int u = 0; u < userCount; u++) {
				late[users[u]] = 0;
				lateWrites[users[u]] = 0;
				seenIn[users[u]] = 0;
				userIntervals[users[u]] = 0;
			}
		}

		private void user(int t) {
			if (userCount == users.length) {
				users = Arrays.copyOf(users, 2 * userCount);
			}
			users[userCount++] = t;
		}

		private void late(GroupFacts g, int leaf, int structure, int toucher, double sum, int lateIntervals, int shared, int alone) {
			int main = mainUser();
			boolean single = late[main] >= SINGLE * sum;
			int seen = 0;
			for (int u = 0; u < userCount; u++) {
				seen += userIntervals[users[u]];
			}
			g.lateParts++;
			g.mainUser[main]++;
			g.singleParts += single ? 1 : 0;
			g.usersOf(structure).add(main, 1);
			g.lateOfOwn[main] += late[main];
			if (lastStructure == structure && lastLeaf == leaf - 1) {
				g.neighbours++;
				g.alikeNeighbours += lastMain == main ? 1 : 0;
			}
			lastStructure = structure;
			lastLeaf = leaf;
			lastMain = main;
			g.touchedParts += toucher >= 0 ? 1 : 0;
			boolean other = toucher >= 0 && toucher != main;
			g.otherUser += other ? 1 : 0;
			if (seen < ENOUGH) {
				g.seldom.part(single, other);
			} else if (other) {
				g.handedOn++;
				g.handedOnSingle += single ? 1 : 0;
				g.refilled += intervalsWritten(toucher) >= Math.max(2, REFILLED * lateIntervals) ? 1 : 0;
			}
			g.usedBy(userCount, 1);
			if (userCount == 2) {
				g.meet(users[0], users[1]);
			}
			g.privateShares += (double) alone / lateIntervals;
			if (leavesOfGroup[groupOf[structure]] < STRIDE_LEAVES) {
				lineUsers(g, leaf, structure);
			}
			if (userCount > 1) {
				g.multiUserParts++;
				if (shared > 0) {
					int[] who = Arrays.copyOf(users, userCount);
					int[] when = new int[userCount];
					for (int u = 0; u < userCount; u++) {
						when[u] = userIntervals[who[u]];
					}
					int before = g.commonLines;
					lines(g, leaf, structure);
					g.hot.add(new GroupFacts.Hot(leaf, page(leaf, structure), lateIntervals, shared, who, when, writers(), g.commonLines - before));
				} else {
					lines(g, leaf, structure);
				}
			}
		}

		/** Late intervals in which a thread writes the leaf. */
		private int intervalsWritten(int t) {
			int count = 0;
			int last = interval[0];
			for (int r = 0; r < n; r++) {
				if (thread[r] == t && writes[r] > 0 && interval[r] != last && interval[r] != interval[0]) {
					last = interval[r];
					count++;
				}
			}
			return count;
		}

		/** Threads with late writes to the leaf. */
		private int writers() {
			BitSet writers = new BitSet();
			for (int r = 0; r < n; r++) {
				if (thread[r] >= 0 && interval[r] != interval[0] && writes[r] > 0) {
					writers.set(thread[r]);
				}
			}
			return writers.cardinality();
		}

		/**
		 * On which nodes the late accesses of the leaf found its page, and from which nodes they came.
		 *
		 * @param single whether one thread makes nearly all of them
		 */
		private void places(GroupFacts g, boolean single) {
			double sum = 0;
			double away = 0;
			Arrays.fill(byNode, 0);
			for (int r = 0; r < n; r++) {
				if (thread[r] < 0 || interval[r] == interval[0] || threadNode[r] < 0 || pageNode[r] < 0) {
					continue;
				}
				double amount = (double) reads[r] + writes[r];
				sum += amount;
				byNode[threadNode[r]] += amount;
				away += threadNode[r] == pageNode[r] ? 0 : amount;
			}
			if (sum == 0) {
				return;
			}
			g.placed += sum;
			g.remote += away;
			g.placedParts++;
			boolean oneSide = single || Arrays.stream(byNode).max().orElse(0) >= SINGLE * sum;
			g.misplacedParts += oneSide && away >= sum / 2 ? 1 : 0;
		}

		/** Where in an element threads entered the leaf; only late samples. */
		private void elements(GroupFacts g, GroupFacts whole, int leaf, int structure) {
			long first = structures.get(structure).startAddress();
			long page = tree.startAddress(leaf) & -(long) pageBytes;
			for (int r = 0; r < n; r++) {
				int offset = readOffset[r] >= 0 ? readOffset[r] : writeOffset[r];
				if (thread[r] >= 0 && interval[r] != interval[0] && offset >= 0) {
					g.elementEntries++;
					g.paddingEntries += whole.padding.has(page + offset - first) ? 1 : 0;
				}
			}
		}

		/** The thread with most late accesses of the leaf; of equals the one that writes more, then the first one. */
		private int mainUser() {
			int main = users[0];
			for (int u = 1; u < userCount; u++) {
				int t = users[u];
				int more = Double.compare(late[t], late[main]);
				if (more == 0) {
					more = Double.compare(lateWrites[t], lateWrites[main]);
				}
				main = more > 0 || more == 0 && t < main ? t : main;
			}
			return main;
		}

		/** Number of the page of a leaf in its structure. */
		private long page(int leaf, int structure) {
			long start = structures.get(structure).startAddress();
			return Long.divideUnsigned(tree.startAddress(leaf), pageBytes) - Long.divideUnsigned(start, pageBytes);
		}

		/** Where a thread entered a page. */
		private void entry(GroupFacts g, int leaf, int row) {
			int offset = readOffset[row] >= 0 ? readOffset[row] : writeOffset[row];
			if (offset >= 0) {
				long key = (long) interval[row] << 32 | thread[row];
				PageEntries entries = g.entries.get(key);
				if (entries == null) {
					entries = new PageEntries(thread[row]);
					g.entries.put(key, entries);
				}
				entries.enter((tree.startAddress(leaf) & -(long) pageBytes) + offset, pageBytes);
			}
		}

		/** Which lines and words of a leaf that several threads use have several threads; only late samples. */
		private void lines(GroupFacts g, int leaf, int structure) {
			int count = 0;
			for (int r = 0; r < n; r++) {
				if (thread[r] < 0 || interval[r] == interval[0]) {
					continue;
				}
				// a read and a write of one record in the same line are seen once
				boolean twice = reads[r] > 0 && writes[r] > 0 && readOffset[r] >= 0 && writeOffset[r] >= 0
						&& readOffset[r] / LINE_BYTES == writeOffset[r] / LINE_BYTES;
				for (int half = 0; half < 2; half++) {
					int offset = half == 0 ? reads[r] > 0 ? readOffset[r] : -1 : writes[r] > 0 ? writeOffset[r] : -1;
					if (offset < 0) {
						continue;
					}
					if (count == samples.length) {
						samples = Arrays.copyOf(samples, 2 * count);
					}
					// place, thread, seen before, written: sorts by place
					samples[count++] = (long) offset << 32 | (long) thread[r] << 2 | (twice && half == 1 ? 2 : 0) | half;
				}
			}
			Arrays.sort(samples, 0, count);
			for (int from = 0; from < count;) {
				int to = from;
				while (to < count && line(samples[to]) == line(samples[from])) {
					to++;
				}
				int records = 0;
				for (int i = from; i < to; i++) {
					records += (samples[i] & 2) == 0 ? 1 : 0;
				}
				g.lineRecords += records;
				g.repeatedRecords += records > 1 ? records : 0;
				line(g, leaf, structure, count, from, to);
				from = to;
			}
		}

		private static int line(long sample) {
			return (int) (sample >>> 32) / LINE_BYTES;
		}

		/** Who is seen in which lines of a leaf; only late samples. */
		private void lineUsers(GroupFacts g, int leaf, int structure) {
			if (g.lineUses == null) {
				g.lineUses = new LineUses();
			}
			long page = tree.startAddress(leaf) & -(long) pageBytes;
			for (int r = 0; r < n; r++) {
				if (thread[r] >= 0 && interval[r] != interval[0]) {
					for (int offset : new int[] {reads[r] > 0 ? readOffset[r] : -1, writes[r] > 0 ? writeOffset[r] : -1}) {
						if (offset >= 0) {
							g.lineUses.seen(structure, page + offset, thread[r]);
						}
					}
				}
			}
		}

		private void line(GroupFacts g, int leaf, int structure, int count, int from, int to) {
			if (to - from < 2) {
				return;
			}
			g.lines++;
			GroupFacts.Line line = new GroupFacts.Line(threads.size());
			int[] written = new int[threads.size()];
			int[] inWord = new int[threads.size()];
			int[] mostInWord = new int[threads.size()];
			boolean common = false;
			int distinct = 0;
			for (int w = from; w < to;) {
				int end = w;
				int most = 0;
				boolean anyWrite = false;
				while (end < to && word(samples[end]) == word(samples[w])) {
					int t = thread(samples[end]);
					most = Math.max(most, ++inWord[t]);
					boolean write = (samples[end] & 1) != 0;
					anyWrite |= write;
					written[t] += write ? 1 : 0;
					distinct += line.offset[t] < 0 && inWord[t] == 1 ? 1 : 0;
					if (inWord[t] > mostInWord[t]) { // the word that it uses most stands for it
						mostInWord[t] = inWord[t];
						line.offset[t] = (int) (samples[w] >>> 32) % LINE_BYTES;
					}
					end++;
				}
				for (int i = w; i < end; i++) {
					inWord[thread(samples[i])] = 0;
				}
				boolean several = end - w - most > 0 && end - w - most >= FOREIGN * (end - w);
				if (end - w >= 2) {
					g.words++;
					g.sharedWords += several ? 1 : 0;
				}
				common |= several && anyWrite;
				w = end;
			}
			g.sharedLines += distinct > 1 ? 1 : 0;
			int often = 0;
			for (int t = 0; t < written.length; t++) {
				if (written[t] > 0) {
					line.writers.set(t);
				}
				often += written[t] >= 2 ? 1 : 0;
			}
			// loops that divide the line in several ways, one after the other: all of them come to the same word
			common |= line.writers.cardinality() >= 2 && line.writers.stream().map(t -> line.offset[t]).distinct().count() == 1;
			g.commonLines += common && line.writers.cardinality() >= 2 ? 1 : 0;
			if (!common && line.writers.cardinality() >= 2) {
				line.samples = to - from;
				for (int i = from; i < to; i++) {
					line.records += (samples[i] & 2) == 0 ? 1 : 0;
				}
				line.address = (tree.startAddress(leaf) & -(long) pageBytes) + (long) line(samples[from]) * LINE_BYTES;
				if (g.lineUses == null) {
					g.apart(leaf, line, often >= 2);
				} else {
					g.lineUses.apart.add(apart(leaf, structure, line, often >= 2, count, from, to));
				}
			}
		}

		/** A line with what tells whether it is a border, of the first so many samples. */
		private LineUses.Apart apart(int leaf, int structure, GroupFacts.Line line, boolean often, int count, int from, int to) {
			int[] first = new int[threads.size()];
			int[] last = new int[threads.size()];
			double[] share = new double[threads.size()];
			int[] all = new int[threads.size()];
			Arrays.fill(first, -1);
			for (int i = 0; i < count; i++) {
				all[thread(samples[i])]++;
			}
			for (int i = from; i < to; i++) { // in the order of their bytes
				int t = thread(samples[i]);
				last[t] = (int) (samples[i] >>> 32) % LINE_BYTES;
				first[t] = first[t] < 0 ? last[t] : first[t];
				share[t] += 1.0 / all[t];
			}
			return new LineUses.Apart(structure, leaf, line, often, first, last, share);
		}

		private static int thread(long sample) {
			return (int) (sample & 0xffffffffL) >>> 2;
		}

		private static int word(long sample) {
			return (int) (sample >>> 32) / WORD_BYTES;
		}
	}
}
