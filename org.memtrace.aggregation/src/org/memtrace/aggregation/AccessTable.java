// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.columns.Losses;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.HeapAccessSource;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * The accesses of a trace, all of them or those that a mask wants, with what they refer to. They are read chunk by chunk by
 * {@link #scan} whenever they are looked at, so a table takes no memory for them, whatever their number; {@link #keep} makes one whose
 * chunks stay in memory as far as there is room. The store must be open as long as the table is used. Safe for all threads.
 */
public final class AccessTable implements ModelSource {
	private static final int[] NO_CPUS = {};
	/** More different times than these are not told apart where only their number matters. */
	private static final int MOST_TIMES = 1 << 22;

	private final Trace trace;
	private final AccessScan scan;
	private final Object lock = new Object();
	/** Made when they are asked for. */
	private RowIndex index;
	private final Map<AccessColumn, Integer> largest = new EnumMap<>(AccessColumn.class);
	private AccessTimes times;
	private long timesLimit = -1;
	private TimeDensity density;
	/** The table of all accesses; this one when there is no mask. */
	private final AccessTable unmasked;
	private FirstTouches touches;
	/** Only of the table of all accesses; null before somebody asks, or when there are none. */
	private PreAggregates saved;
	private boolean searchedSaved;
	private int mostCells = AccessCube.MOST_CELLS;
	/** By which first pictures are saved, besides that by type. */
	private List<Dimension> viewpoints = List.of();
	private int mostSingleLeaves = Hierarchy.MOST_SINGLE_LEAVES;
	private Consumer<String> told = text -> {
	};

	/** What accesses refer to. */
	private record Trace(TraceStore store, TraceInfo info, ProducerTree producers, List<ThreadInfo> threads, int[][] cpuSets,
			List<Structure> structures) {
	}

	/** Number of rows before each producer, and before each chunk. */
	private record RowIndex(long[] rowFrom, long[] chunkFrom, BitSet inner) {
	}

	private AccessTable(Trace trace, AccessScan scan, AccessTable unmasked) {
		this.trace = trace;
		this.scan = scan;
		this.unmasked = unmasked == null ? this : unmasked;
	}

	private AccessTable(Trace trace, AccessScan scan) {
		this(trace, scan, null);
	}

	/** All accesses of a trace, to be looked at once or twice: chunks are read whenever they are. */
	public static AccessTable load(TraceStore store, Progress progress) throws MemtraceException {
		return new AccessTable(trace(store), AccessScan.of(new Opened(store, source -> source, progress)));
	}

	/** Opens the chunks when they are looked at first: what is saved with a trace answers much without. */
	private static final class Opened implements AccessScan.Opener {
		private final TraceStore store;
		private final UnaryOperator<AccessSource> wrapper;
		private final Progress progress;
		private AccessSource source;

		Opened(TraceStore store, UnaryOperator<AccessSource> wrapper, Progress progress) {
			this.store = store;
			this.wrapper = wrapper;
			this.progress = progress;
		}

		@Override
		public synchronized AccessSource source() throws MemtraceException {
			if (source == null) {
				source = wrapper.apply(store.accessSource(progress));
			}
			return source;
		}

		@Override
		public synchronized Losses lost() {
			return source == null ? Losses.NONE : source.losses();
		}

		@Override
		public synchronized boolean isOpen() {
			return source != null;
		}
	}

	/** All accesses of a trace, to be looked at again and again: columns that have been read stay in memory as far as there is room. */
	public static AccessTable keep(TraceStore store, Progress progress) throws MemtraceException {
		return keep(store, source -> source, progress);
	}

	/**
	 * All accesses of a trace, to be looked at again and again, with something around what reads the store.
	 *
	 * @param guard puts something around what reads the store
	 */
	public static AccessTable keep(TraceStore store, UnaryOperator<AccessSource> guard, Progress progress) throws MemtraceException {
		return new AccessTable(trace(store), AccessScan.of(new Opened(store,
				source -> source instanceof HeapAccessSource ? source : new PackedSource(guard.apply(source)), progress)));
	}

	/** The accesses of a source that is not that of the store, and nothing that is saved with it; for tests. */
	static AccessTable of(TraceStore store, AccessSource source) throws MemtraceException {
		AccessTable table = new AccessTable(trace(store), AccessScan.of(source));
		table.searchedSaved = true;
		return table;
	}

	/** The accesses of a source, and what is saved with the store; for tests and benchmarks. */
	static AccessTable ofSaved(TraceStore store, AccessSource source) throws MemtraceException {
		return new AccessTable(trace(store), AccessScan.of(source));
	}

	/** Who is told, in a sentence, when something that is saved with the trace is damaged; before the table is used. */
	public AccessTable telling(Consumer<String> listener) {
		told = listener;
		return this;
	}

	/**
	 * Computes what {@link #rows} and first pictures are answered from and saves it with the trace, unless it is there. Reads all accesses
	 * two or three times.
	 *
	 * @param viewpoints by which first pictures are saved, besides that by type
	 * @return whether it is there now; it is not when the store cannot save it or accesses are damaged
	 */
	public static boolean save(TraceStore store, List<Dimension> viewpoints, Progress progress) throws MemtraceException {
		return save(load(store, progress), viewpoints, AccessCube.MOST_CELLS, Hierarchy.MOST_SINGLE_LEAVES, progress);
	}

	/** Saves the sums with the first picture by type only. */
	public static boolean save(TraceStore store, Progress progress) throws MemtraceException {
		return save(store, List.of(), progress);
	}

	/** Saves the sums with other limits: the number of cells, and of leaves without groups. For tests. */
	static boolean save(AccessTable table, List<Dimension> viewpoints, int mostCells, int mostSingleLeaves, Progress progress)
			throws MemtraceException {
		if (table.trace.store.accessCount() == 0) {
			return false;
		}
		synchronized (table.lock) {
			table.mostCells = mostCells;
			table.mostSingleLeaves = mostSingleLeaves;
			table.viewpoints = viewpoints.stream().filter(PreAggregates::savesPicture).toList();
			return table.saved(progress, 1) != null;
		}
	}

	/**
	 * Looks whether what is saved with a trace is what was written, and counts what the accesses count.
	 *
	 * @param viewpoints of the first pictures, besides that by type
	 * @param problems gets a sentence for each thing that is wrong
	 */
	public static void verifySaved(TraceStore store, List<Dimension> viewpoints, Consumer<String> problems) throws MemtraceException {
		String stamp = store.contentStamp();
		if (stamp.isEmpty() || store.accessCount() == 0) {
			return;
		}
		PreAggregates saved = new PreAggregates(store, stamp, problems);
		if (saved.facts() == null) {
			return;
		}
		saved.touches();
		AccessTable table = load(store, Progress.NONE);
		Hierarchy hierarchy = Hierarchy.of(table.trace.producers, 0, table.trace.producers.size(),
				saved.facts().inner()).grouped(table.trace.producers);
		ModelRequest request = ModelRequest.firstPicture(store.info().startNs(), store.info().endNs());
		if (hierarchy.isGrouped()) {
			saved.picture(hierarchy, new ModelBuilder(table, request, Progress.NONE).types(), request);
			for (Dimension viewpoint : viewpoints) {
				ModelRequest by = request.withViewpoint(viewpoint);
				saved.picture(hierarchy, new ModelBuilder(table, by, Progress.NONE).types(), by);
			}
		}
		AccessSource source = store.accessSource(Progress.NONE);
		long[] wanted = new long[3];
		for (int c = 0; c < source.chunks(); c++) {
			wanted[0] += source.info(c).rows();
			wanted[1] += source.info(c).reads();
			wanted[2] += source.info(c).writes();
		}
		Map<String, Supplier<AccessCube>> cubes = new TreeMap<>();
		cubes.put(PreAggregates.TOTALS, saved::totals);
		cubes.put(PreAggregates.CUBE, saved::cube);
		cubes.forEach((name, section) -> {
			AccessCube cube = section.get();
			long[] found = cube == null ? wanted : cube.sums();
			if (!Arrays.equals(found, wanted)) {
				problems.accept(String.format(Locale.ROOT, "The sums that are saved with %s are wrong (%s): they count %,d accesses, %,d reads and"
						+ " %,d writes, the accesses %,d, %,d and %,d", store.info().alias(), name, found[0], found[1], found[2], wanted[0], wanted[1],
						wanted[2]));
			}
		});
	}

	/** What is saved, null when there is nothing, or this table has a mask. */
	private PreAggregates saved(Progress progress) throws MemtraceException {
		if (unmasked != this) {
			return null;
		}
		synchronized (lock) {
			return saved(progress, PreAggregates.LEAST_ACCESSES);
		}
	}

	private PreAggregates saved(Progress progress, long least) throws MemtraceException {
		if (searchedSaved && (saved == null || !saved.isDamaged())) {
			return saved;
		}
		String stamp = trace.store.contentStamp();
		boolean first = !searchedSaved;
		searchedSaved = true; // also for what is computed here
		if (stamp.isEmpty() || trace.store.accessCount() == 0) {
			return null;
		}
		PreAggregates found = first ? new PreAggregates(trace.store, stamp, told) : saved;
		if (first && found.facts() != null) {
			saved = found;
			return saved;
		}
		saved = null;
		if (found.isDamaged() || trace.store.accessCount() >= least) {
			boolean done = false;
			try {
				compute(stamp, progress);
				done = true;
			} finally {
				searchedSaved = done;
			}
		}
		return saved;
	}

	/** Computes and saves everything; nothing where accesses are damaged. */
	private void compute(String stamp, Progress progress) throws MemtraceException {
		AccessQuery all = query(-1, Long.MIN_VALUE, Long.MAX_VALUE);
		Set<AccessColumn> columns = EnumSet.of(AccessColumn.NODE, AccessColumn.SHARING);
		columns.addAll(FirstTouches.COLUMNS);
		List<FirstTouches.Part> firstParts = new ArrayList<>();
		TimeSet set = new TimeSet();
		int maxNode = -1;
		int maxSharing = -1;
		BitSet inner = new BitSet();
		for (First part : scan.run(all, columns, "Preparing sums and first pictures (1 of 3)", progress,
				(from, to) -> new First(trace.producers))) {
			firstParts.add(part.touches);
			maxNode = Math.max(maxNode, part.node.max);
			maxSharing = Math.max(maxSharing, part.sharing.max);
			part.inner.forEach(inner::set);
			if (set.size() <= TimeDensity.GRID) {
				set.addAll(part.times.set);
			}
		}
		AccessTimes known = null;
		if (set.size() <= TimeDensity.GRID) {
			long[][] sorted = set.sorted();
			known = new AccessTimes(sorted[0], sorted[1]);
		}
		FirstTouches first = FirstTouches.of(firstParts);
		TimeDensity.Times numbered = TimeDensity.Times.of(known, trace.info.startNs(), trace.info.endNs());
		AtomicLongArray accesses = new AtomicLongArray(numbered.count());
		AtomicLongArray touched = new AtomicLongArray(numbered.count());
		AccessCube.Builder cube = new AccessCube.Builder(trace.producers, trace.threads.size(), known, trace.info.startNs(), trace.info.endNs(),
				mostCells);
		scan.run(all, AccessCube.COLUMNS, "Preparing sums and first pictures (2 of 3)", progress, (from, to) -> new AccessScan.Part() {
			private final AccessScan.Part density = new Density(numbered, first, accesses, touched);
			private final AccessScan.Part sums = cube.part();

			@Override
			public void chunk(AccessChunk c, int leafFrom, int leafTo) throws MemtraceException {
				density.chunk(c, leafFrom, leafTo);
				sums.chunk(c, leafFrom, leafTo);
			}

			@Override
			public void end() throws MemtraceException {
				sums.end();
			}
		});
		if (!scan.lost().isNone()) {
			return;
		}
		PreAggregates made = new PreAggregates(trace.store, stamp, told);
		PreAggregates.Facts facts = new PreAggregates.Facts(maxNode, maxSharing, inner, known, numbered.density(accesses::get, touched::get));
		made.put(first, known);
		AccessCube built = cube.build();
		if (built != null) {
			made.put(built);
		}
		density = facts.density();
		Hierarchy hierarchy = Hierarchy.of(trace.producers, 0, trace.producers.size(), inner).grouped(trace.producers, mostSingleLeaves);
		if (hierarchy.isGrouped()) {
			List<ModelRequest> requests = new ArrayList<>();
			requests.add(ModelRequest.firstPicture(trace.info.startNs(), trace.info.endNs()));
			viewpoints.forEach(v -> requests.add(requests.getFirst().withViewpoint(v)));
			List<ModelBuilder> builders = new ArrayList<>();
			for (ModelRequest request : requests) {
				builders.add(new ModelBuilder(this, request, progress));
			}
			List<MicroscopicModel> models = ModelBuilder.build(builders, hierarchy, "Preparing sums and first pictures (3 of 3)", progress);
			if (!scan.lost().isNone()) {
				return;
			}
			for (int i = 0; i < models.size(); i++) {
				made.putPicture(models.get(i), builders.get(i).types(), requests.get(i));
			}
		}
		made.put(facts); // the last one: without it nothing is looked for
		saved = made;
	}

	/** What is known after all accesses were looked at for the first time. */
	private static final class First implements AccessScan.Part {
		private final ProducerTree tree;
		final FirstTouches.Part touches = new FirstTouches.Part();
		final Max node = new Max(c -> c.node);
		final Max sharing = new Max(c -> c.sharing);
		final Times times = new Times(TimeDensity.GRID);
		final List<Integer> inner = new ArrayList<>();

		First(ProducerTree tree) {
			this.tree = tree;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			touches.chunk(c, leafFrom, leafTo);
			node.chunk(c, leafFrom, leafTo);
			sharing.chunk(c, leafFrom, leafTo);
			times.chunk(c, leafFrom, leafTo);
			for (int l = leafFrom; l < leafTo; l++) {
				if (!tree.isLeaf(c.leaf[l])) {
					inner.add(c.leaf[l]);
				}
			}
		}
	}

	/**
	 * Sums that answer a question as all accesses would that it is about. They are there for traces with which they were saved, for tables
	 * without a mask.
	 *
	 * @param query what is asked
	 * @param inProportion whether an access that the window cuts counts in part; else it counts when it overlaps the window
	 * @param byTime whether the time of the accesses matters beyond the window
	 * @return null when the accesses have to be read
	 */
	public AccessCube.Rows rows(AccessQuery query, boolean inProportion, boolean byTime, Progress progress) throws MemtraceException {
		if (scan.isMasked()) {
			return null;
		}
		synchronized (lock) {
			for (boolean whole = !byTime;; whole = false) {
				PreAggregates pre = saved(progress);
				AccessCube cube = pre == null ? null : whole ? pre.totals() : pre.cube();
				if (pre != null && pre.isDamaged()) {
					pre = saved(progress);
					cube = pre == null ? null : whole ? pre.totals() : pre.cube();
				}
				AccessCube.Rows rows = cube == null ? null : cube.rows(query, inProportion);
				if (rows != null || !whole) {
					return rows;
				}
			}
		}
	}

	/** Whether a cube tells ranges of producers apart. */
	public boolean tellsApart(int[] producerFrom, int[] producerTo, Progress progress) throws MemtraceException {
		synchronized (lock) {
			PreAggregates pre = saved(progress);
			AccessCube cube = pre == null ? null : pre.totals();
			return cube != null && cube.fits(producerFrom, producerTo);
		}
	}

	private static Trace trace(TraceStore store) throws MemtraceException {
		List<BitSet> sets = store.cpuSets();
		int[][] cpus = new int[sets.size()][];
		for (int i = 0; i < cpus.length; i++) {
			cpus[i] = sets.get(i).stream().toArray();
		}
		return new Trace(store, store.info(), store.producers(), List.copyOf(store.threads()), cpus, store.structures());
	}

	@Override
	public TraceInfo info() {
		return trace.info;
	}

	@Override
	public ProducerTree producers() {
		return trace.producers;
	}

	/** Threads by index. */
	public List<ThreadInfo> threads() {
		return trace.threads;
	}

	/** Structures by index. */
	public List<Structure> structures() {
		return trace.structures;
	}

	/** The trace as it is kept. */
	public TraceStore store() {
		return trace.store;
	}

	/** How to look at many of them. */
	public AccessScan scan() {
		return scan;
	}

	/** The chunks, as all that look at this table read them. */
	public AccessSource source() throws MemtraceException {
		return scan.source();
	}

	/** What could not be read so far; an answer that was made before it was asked is without it. */
	public Losses lost() {
		return scan.lost();
	}

	/** The range of a subtree, negative for everything, in a window. */
	public AccessQuery query(int producer, long fromNs, long toNs) {
		return AccessScan.query(trace.producers, producer, fromNs, toNs);
	}

	/** The request for the whole trace. */
	public ModelRequest wholeRequest() {
		return ModelRequest.whole(trace.info.startNs(), trace.info.endNs());
	}

	/** CPUs of a set, empty when it is not known; not to be changed. */
	public int[] cpus(int cpuSet) {
		return cpuSet < 0 || cpuSet >= trace.cpuSets.length ? NO_CPUS : trace.cpuSets[cpuSet];
	}

	/** Sets of CPUs, not to be changed. */
	int[][] cpuNumbers() {
		return trace.cpuSets;
	}

	/** CPUs of each of the sets that records refer to. */
	public List<BitSet> cpuSets() {
		List<BitSet> sets = new ArrayList<>(trace.cpuSets.length);
		for (int[] cpus : trace.cpuSets) {
			BitSet set = new BitSet();
			for (int cpu : cpus) {
				set.set(cpu);
			}
			sets.add(set);
		}
		return sets;
	}

	/** Largest CPU number of the trace, -1 if none. */
	public int maxCpu() {
		int max = -1;
		for (int[] set : trace.cpuSets) {
			for (int cpu : set) {
				max = Math.max(max, cpu);
			}
		}
		return max;
	}

	/** A table of this trace with only some of the records, or with only their reads or writes. This takes no time. */
	public AccessTable filtered(AccessMask mask) {
		return mask.selectsAll() ? this : new AccessTable(trace, scan.with(mask), unmasked);
	}

	/** A table of this trace with all of its records. */
	public AccessTable unfiltered() {
		return scan.isMasked() ? new AccessTable(trace, scan.withoutMask()) : this;
	}

	private RowIndex index(Progress progress) throws MemtraceException {
		synchronized (lock) {
			if (index == null) {
				int chunks = scan.source().chunks();
				int[][] leaf = new int[chunks][0];
				int[][] rows = new int[chunks][0];
				progress.begin("Pages with accesses", chunks);
				ThreadLocal<AccessChunk> into = ThreadLocal.withInitial(AccessChunk::new);
				Parallel.read(chunks, progress, c -> {
					AccessChunk chunk = into.get();
					if (scan.read(c, scan.with(EnumSet.noneOf(AccessColumn.class)), chunk)) {
						leaf[c] = Arrays.copyOf(chunk.leaf, chunk.leaves);
						rows[c] = new int[chunk.leaves];
						Arrays.setAll(rows[c], l -> chunk.leafFrom[l + 1] - chunk.leafFrom[l]);
					}
					progress.worked(1);
				});
				int n = trace.producers.size();
				long[] from = new long[n + 1];
				long[] chunkFrom = new long[chunks + 1];
				for (int c = 0; c < chunks; c++) {
					long inChunk = 0;
					for (int l = 0; l < leaf[c].length; l++) {
						from[leaf[c][l] + 1] += rows[c][l];
						inChunk += rows[c][l];
					}
					chunkFrom[c + 1] = chunkFrom[c] + inChunk;
				}
				BitSet inner = new BitSet();
				for (int p = 0; p < n; p++) {
					if (from[p + 1] > 0 && !trace.producers.isLeaf(p)) {
						inner.set(p);
					}
					from[p + 1] += from[p];
				}
				index = new RowIndex(from, chunkFrom, inner);
			}
			return index;
		}
	}

	/** Number of records. */
	@Override
	public long records() throws MemtraceException {
		return scan.isMasked() ? index(Progress.NONE).rowFrom[trace.producers.size()] : scan.rows(trace.store);
	}

	/** Number of records of the producers before one. */
	public long rowsBefore(int producer, Progress progress) throws MemtraceException {
		return index(progress).rowFrom[producer];
	}

	/**
	 * Any row by its number.
	 *
	 * @param columns what is looked at
	 * @param values of a dimension that is asked for each row
	 */
	public AccessCursor cursor(Set<AccessColumn> columns, DimensionValues values, Progress progress) throws MemtraceException {
		return new AccessCursor(scan, index(progress).chunkFrom, scan.with(columns), values);
	}

	/** Whether a producer has records of its own. */
	public boolean hasRecords(int producer, Progress progress) throws MemtraceException {
		long[] from = index(progress).rowFrom;
		return from[producer + 1] > from[producer];
	}

	@Override
	public Hierarchy hierarchy(int producer, Progress progress) throws MemtraceException {
		return leaves(producer, progress).hierarchy(trace.producers, producer);
	}

	/**
	 * What a hierarchy of producers depends on besides the tree.
	 *
	 * @param inner producers with accesses of their own that have others below them
	 * @param kept producers that are in it; null for all
	 */
	record Leaves(BitSet inner, BitSet kept) {
		Hierarchy hierarchy(ProducerTree tree, int producer) {
			int from = Math.max(0, producer);
			int to = producer < 0 ? tree.size() : tree.subtreeEnd(producer);
			return kept == null ? Hierarchy.of(tree, from, to, inner) : Hierarchy.of(tree, from, to, inner, kept);
		}
	}

	/** The leaves of {@link #hierarchy}. */
	Leaves leaves(int producer, Progress progress) throws MemtraceException {
		PreAggregates pre = saved(progress);
		if (pre != null) {
			return new Leaves(pre.facts().inner(), null);
		}
		RowIndex rows = index(progress);
		if (!scan.isMasked()) {
			return new Leaves(rows.inner, null);
		}
		// what a filter hides is no empty row: it would count in loss and reduction, and most of a picture could be blank
		ProducerTree tree = trace.producers;
		return new Leaves(rows.inner,
				Hierarchy.withRows(tree, Math.max(0, producer), producer < 0 ? tree.size() : tree.subtreeEnd(producer), p -> rows.rowFrom[p]));
	}

	/** When and by whom each page was touched first, whatever a mask hides. Takes 24 bytes for each page with accesses. */
	public FirstTouches firstTouches(Progress progress) throws MemtraceException {
		if (unmasked != this) {
			return unmasked.firstTouches(progress);
		}
		synchronized (lock) {
			PreAggregates pre = touches != null ? null : saved(progress);
			touches = pre == null ? touches : pre.touches();
			if (touches == null) {
				touches = FirstTouches.of(scan, query(-1, Long.MIN_VALUE, Long.MAX_VALUE), progress);
			}
			return touches;
		}
	}

	/** Adds a part of the accesses to sums of whole numbers, which are the same in whatever order it is done. */
	private static final class Density implements AccessScan.Part {
		private final TimeDensity.Times times;
		private final FirstTouches touches;
		private final AtomicLongArray accesses;
		private final AtomicLongArray touched;
		/** Sums of the times of a chunk. */
		private long[] sum = new long[0];
		private int page = -1;

		Density(TimeDensity.Times times, FirstTouches touches, AtomicLongArray accesses, AtomicLongArray touched) {
			this.times = times;
			this.touches = touches;
			this.accesses = accesses;
			this.touched = touched;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			if (sum.length < c.times) {
				sum = new long[c.timeStartNs.length];
			}
			Arrays.fill(sum, 0, c.times, 0);
			for (int l = leafFrom; l < leafTo; l++) {
				for (int row = c.leafFrom[l]; row < c.leafFrom[l + 1]; row++) {
					sum[c.time[row]] += c.reads[row] + c.writes[row];
				}
				if (c.leaf[l] != page) {
					page = c.leaf[l];
					int at = touches.indexOf(page);
					if (at >= 0) {
						touched.incrementAndGet(times.number(touches.startNs(at), touches.endNs(at)));
					}
				}
			}
			for (int t = 0; t < c.times; t++) {
				if (sum[t] != 0) {
					accesses.addAndGet(times.number(c.timeStartNs[t], c.timeEndNs[t]), sum[t]);
				}
			}
		}
	}

	/** How many accesses happened when, and when the pages that have some were touched first. */
	public TimeDensity timeDensity(Progress progress) throws MemtraceException {
		synchronized (lock) {
			PreAggregates pre = density != null ? null : saved(progress);
			if (pre != null) {
				density = pre.facts().density();
			}
			if (density != null) {
				return density;
			}
		}
		FirstTouches first = firstTouches(progress);
		AccessTimes known = unmasked.times(TimeDensity.GRID, progress);
		synchronized (lock) {
			if (density == null) {
				TimeDensity.Times numbered = TimeDensity.Times.of(known, trace.info.startNs(), trace.info.endNs());
				AtomicLongArray accesses = new AtomicLongArray(numbered.count());
				AtomicLongArray touched = new AtomicLongArray(numbered.count());
				scan.run(query(-1, Long.MIN_VALUE, Long.MAX_VALUE), EnumSet.of(AccessColumn.TIME, AccessColumn.READS, AccessColumn.WRITES),
						"Accesses over time", progress, (a, b) -> new Density(numbered, first, accesses, touched));
				density = numbered.density(accesses::get, touched::get);
			}
			return density;
		}
	}

	/** The slices of a request. */
	TimeSlices slices(ModelRequest request, Progress progress) throws MemtraceException {
		if (request.slicing() == Slicing.UNIFORM || !request.metric().isAmount()) {
			return new TimeSlices(request.fromNs(), request.toNs(), request.slices());
		}
		return timeDensity(progress).slices(request.fromNs(), request.toNs(), request.slices());
	}

	@Override
	public MicroscopicModel model(ModelRequest request, Hierarchy hierarchy, Progress progress) throws MemtraceException {
		ModelBuilder builder = new ModelBuilder(this, request, progress);
		ModelRequest byType = request.withViewpoint(BasicDimensions.TYPE);
		if (hierarchy.isGrouped() && PreAggregates.savesPicture(request.viewpoint())
				&& byType.equals(ModelRequest.firstPicture(trace.info.startNs(), trace.info.endNs()))) {
			PreAggregates pre = saved(progress);
			MicroscopicModel model = pre == null ? null : pre.picture(hierarchy, builder.types(), request);
			if (model == null) {
				model = builder.build(hierarchy, progress);
				if (pre != null && !pre.isDamaged() && scan.lost().isNone()) {
					pre.putPicture(model, builder.types(), request);
				}
			}
			return model;
		}
		return builder.build(hierarchy, progress);
	}

	/**
	 * Pages x parts of a machine: a model whose slices are places, each of length 1, with what was accessed from the CPU there in the window.
	 * What was accessed from several CPUs is divided equally among them; what was accessed from an unknown CPU, or from one that has no
	 * place, is not in it ({@link AccessPlaces} tells how much that is).
	 *
	 * @param request its slices have no meaning
	 * @param hierarchy what {@link #hierarchy} returned for its producer, or that with groups
	 */
	public MicroscopicModel modelByPlace(ModelRequest request, Hierarchy hierarchy, CpuPlaces places, Progress progress)
			throws MemtraceException {
		return ModelBuilder.byPlace(this, request, hierarchy, places, progress);
	}

	/**
	 * Parts of a machine x time: a model whose rows are places. What it leaves out is the same as in {@link #modelByPlace}.
	 *
	 * @param request its producer is the part of memory whose accesses count
	 * @param machine a hierarchy with a leaf for each place
	 * @throws IllegalArgumentException if the metric is {@link Metric#THREADS}, which cannot be summed up over pages
	 */
	public MicroscopicModel modelOfPlaces(ModelRequest request, Hierarchy machine, CpuPlaces places, Progress progress)
			throws MemtraceException {
		return ModelBuilder.ofPlaces(this, request, hierarchy(request.producer(), progress), places, machine, progress);
	}

	private static final class Max implements AccessScan.Part {
		private final Function<AccessChunk, int[]> column;
		private int max = -1;

		Max(Function<AccessChunk, int[]> column) {
			this.column = column;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			int[] values = column.apply(c);
			int to = c.leafFrom[leafTo];
			for (int row = c.leafFrom[leafFrom]; row < to; row++) {
				max = Math.max(max, values[row]);
			}
		}
	}

	private int max(AccessColumn column, Function<AccessChunk, int[]> values, Progress progress) throws MemtraceException {
		synchronized (lock) {
			Integer known = largest.get(column);
			if (known == null) {
				known = -1;
				for (Max part : scan.run(query(-1, Long.MIN_VALUE, Long.MAX_VALUE), EnumSet.of(column), "Largest number", progress,
						(a, b) -> new Max(values))) {
					known = Math.max(known, part.max);
				}
				largest.put(column, known);
			}
			return known;
		}
	}

	/** Largest NUMA node, -1 if none. */
	public int maxNode(Progress progress) throws MemtraceException {
		PreAggregates pre = saved(progress);
		if (pre != null) {
			return pre.facts().maxNode();
		}
		return max(AccessColumn.NODE, c -> c.node, progress);
	}

	/** Largest number of threads that used a page at the same time, -1 if there are no records. */
	public int maxSharing(Progress progress) throws MemtraceException {
		PreAggregates pre = saved(progress);
		if (pre != null) {
			return pre.facts().maxSharing();
		}
		return max(AccessColumn.SHARING, c -> c.sharing, progress);
	}

	private static final class Times implements AccessScan.Part {
		private final int most;
		private final TimeSet set = new TimeSet();

		Times(int most) {
			this.most = most;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			for (int t = 0; t < c.times && set.size() <= most; t++) {
				set.add(c.timeStartNs[t], c.timeEndNs[t]);
			}
		}
	}

	/**
	 * The different times of the accesses, those of all accesses of the trace even if a mask wants only some of them.
	 *
	 * @param most more than these are not collected
	 * @return null when there are more
	 */
	public AccessTimes times(int most, Progress progress) throws MemtraceException {
		PreAggregates pre = unmasked.saved(progress); // before the lock: it has one of its own
		synchronized (lock) {
			if (pre != null && pre.facts().times() != null) {
				times = pre.facts().times();
				timesLimit = TimeDensity.GRID;
			} else if (pre != null && most <= TimeDensity.GRID) {
				timesLimit = TimeDensity.GRID;
			}
			if (times == null && timesLimit < most) {
				TimeSet all = new TimeSet();
				AccessScan unmasked = AccessScan.of(scan.source());
				for (Times part : unmasked.run(query(-1, Long.MIN_VALUE, Long.MAX_VALUE), EnumSet.of(AccessColumn.TIME), "Times",
						progress, (a, b) -> new Times(most))) {
					if (all.size() <= most) {
						all.addAll(part.set);
					}
				}
				if (all.size() <= most) {
					long[][] sorted = all.sorted();
					times = new AccessTimes(sorted[0], sorted[1]);
				}
				timesLimit = most;
			}
			return times == null || times.count() > most ? null : times;
		}
	}

	/**
	 * Number of different times of the trace, which are monitoring intervals where the recorder has such; where each access has a time
	 * of its own, and there are more than some million, the number of accesses.
	 */
	public long intervals(Progress progress) throws MemtraceException {
		AccessTimes known = times(MOST_TIMES, progress);
		return known == null ? scan.rows(trace.store) : known.count();
	}

	/** Sums of producers. */
	private static final class Sums implements AccessScan.Part {
		final int from;
		private double[] sum = new double[16];

		Sums(int from) {
			this.from = from;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			int most = c.leaf[leafTo - 1] - from + 1;
			if (most > sum.length) {
				sum = Arrays.copyOf(sum, Math.max(most, 2 * sum.length));
			}
			for (int l = leafFrom; l < leafTo; l++) {
				double s = 0;
				for (int row = c.leafFrom[l]; row < c.leafFrom[l + 1]; row++) {
					s += c.reads[row] + (double) c.writes[row];
				}
				sum[c.leaf[l] - from] += s;
			}
		}
	}

	/** Accesses of each producer itself, without what is below it. */
	public double[] counts(Progress progress) throws MemtraceException {
		double[] counts = new double[trace.producers.size()];
		for (Sums part : scan.run(query(-1, Long.MIN_VALUE, Long.MAX_VALUE), EnumSet.of(AccessColumn.READS, AccessColumn.WRITES),
				"Accesses of pages", progress, (a, b) -> new Sums(a))) {
			System.arraycopy(part.sum, 0, counts, part.from, Math.min(part.sum.length, counts.length - part.from));
		}
		return counts;
	}

	private static final Set<AccessColumn> DETAILS = EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD, AccessColumn.READS,
			AccessColumn.WRITES, AccessColumn.SHARING, AccessColumn.FIRST);

	/** Facts about a subtree over the whole trace. */
	public AccessDetails details(int producer) throws MemtraceException {
		return details(producer, trace.producers.subtreeEnd(producer), Long.MIN_VALUE, Long.MAX_VALUE);
	}

	/** Facts about a range of producers in a window, without progress. */
	public AccessDetails details(int producerFrom, int producerTo, long fromNs, long toNs) throws MemtraceException {
		return details(producerFrom, producerTo, fromNs, toNs, Progress.NONE);
	}

	/**
	 * Facts about a range of producers in a window. Takes time proportional to the number of their records.
	 *
	 * @param producerFrom first producer id
	 * @param producerTo producer id after the last
	 * @param fromNs start of the window
	 * @param toNs end of the window
	 */
	public AccessDetails details(int producerFrom, int producerTo, long fromNs, long toNs, Progress progress)
			throws MemtraceException {
		return details(new int[] {producerFrom}, new int[] {producerTo}, fromNs, toNs, progress).getFirst();
	}

	/** Sums of several ranges, of which a part sees some. */
	private static final class RangeSums implements AccessScan.Part {
		private final int[] from;
		private final int[] to;
		private final Supplier<DetailsSum> maker;
		private final TreeMap<Integer, DetailsSum> sums = new TreeMap<>();
		private int range;

		RangeSums(int[] from, int[] to, Supplier<DetailsSum> maker) {
			this.from = from;
			this.to = to;
			this.maker = maker;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			DetailsSum sum = null;
			for (int l = leafFrom; l < leafTo; l++) {
				int producer = c.leaf[l];
				while (range < from.length && to[range] <= producer) {
					range++;
					sum = null;
				}
				if (range == from.length) {
					return;
				}
				if (producer >= from[range]) {
					if (sum == null) {
						sum = sums.computeIfAbsent(range, r -> maker.get());
					}
					sum.add(c, l);
				}
			}
		}
	}

	/**
	 * Facts about each of several ranges of producers in a window, in one pass.
	 *
	 * @param producerFrom first producers of the ranges, which ascend and do not overlap
	 * @param producerTo producers after the last ones
	 */
	public List<AccessDetails> details(int[] producerFrom, int[] producerTo, long fromNs, long toNs, Progress progress)
			throws MemtraceException {
		int n = producerFrom.length;
		DetailsSum[] all = new DetailsSum[n];
		Supplier<DetailsSum> maker = () -> new DetailsSum(trace.threads.size(), fromNs, toNs);
		if (n > 0) {
			AccessQuery query = new AccessQuery(fromNs, toNs, producerFrom[0], producerTo[n - 1]);
			for (RangeSums part : scan.run(query, DETAILS, "Sums of structures", progress,
					(a, b) -> new RangeSums(producerFrom, producerTo, maker))) {
				part.sums.forEach((range, sum) -> {
					if (all[range] == null) {
						all[range] = sum;
					} else {
						all[range].add(sum);
					}
				});
			}
		}
		List<AccessDetails> list = new ArrayList<>(n);
		for (DetailsSum sum : all) {
			list.add((sum == null ? maker.get() : sum).details());
		}
		return list;
	}
}
