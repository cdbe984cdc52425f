// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.pattern;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.findings.rules.Check;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.tree.ProducerTree;

/**
 * The label of each structure in each window of time. Windows are the monitoring intervals, several in one when there are many; equal parts
 * of the run without intervals. One pass over the accesses. Immutable, so safe for all threads.
 */
public final class Patterns {
	/** Windows of a trace with few structures. */
	private static final int MOST_WINDOWS = 200;
	/** Structures times windows times threads, about: this is what memory is needed for. */
	private static final int MOST_CELLS = 400_000;
	/** A structure is seldom used by more threads in one window. */
	private static final int MOST_THREADS = 8;
	private static final int LEAST_WINDOWS = 8;
	private static final int WINDOWS = 50;
	/** Of a structure with more pages that several threads use none is looked at as hot. */
	private static final int MOST_CROWDED = 64;
	private static final double LASTING_SHARE = 0.25;
	private static final Set<AccessColumn> COLUMNS = EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD, AccessColumn.READS,
			AccessColumn.WRITES, AccessColumn.READ_OFFSET, AccessColumn.WRITE_OFFSET);

	/**
	 * A part of the run in which a structure has one label.
	 *
	 * @param reading that of the window with the largest index
	 */
	public record Span(int structure, long fromNs, long toNs, PatternReading reading, double accesses) {
	}

	private final AccessTable table;
	private final long[] starts;
	/** By structure and window; null where nothing was used. */
	private final Map<Integer, PatternReading[]> readings;
	private final Map<Integer, double[]> accesses;

	private Patterns(AccessTable table, long[] starts, Map<Integer, PatternReading[]> readings, Map<Integer, double[]> accesses) {
		this.table = table;
		this.starts = starts;
		this.readings = readings;
		this.accesses = accesses;
	}

	/** Looks at all accesses, whatever is filtered. */
	public static Patterns of(AccessTable filtered, Progress progress) throws MemtraceException {
		Pass pass = new Pass(filtered);
		pass.table.scan().run(AccessQuery.ALL, "Looking for patterns", progress, List.of(pass));
		return pass.patterns();
	}

	/** Looks for patterns in a scan that others need, too. It must be one of all accesses. */
	public static final class Pass implements AccessScan.Pass<AccessScan.Part> {
		private final AccessTable table;
		private final long[] starts;
		private final int pageBytes;
		private Patterns patterns;

		/** Whatever is filtered, all accesses are looked at. */
		public Pass(AccessTable filtered) throws MemtraceException {
			table = filtered.unfiltered();
			starts = starts(table);
			pageBytes = Math.max(1, table.info().pageSizeBytes());
		}

		@Override
		public Set<AccessColumn> columns() {
			return COLUMNS;
		}

		@Override
		public AccessScan.Part part() {
			return new Part(table, starts, pageBytes);
		}

		@Override
		public void end(List<AccessScan.Part> parts) {
			patterns = of(table, starts, pageBytes, parts);
		}

		/** What was found; null before the scan. */
		public Patterns patterns() {
			return patterns;
		}
	}

	private static Patterns of(AccessTable table, long[] starts, int pageBytes, List<AccessScan.Part> parts) {
		Map<Integer, Map<Integer, WindowUse>> uses = new TreeMap<>();
		for (AccessScan.Part part : parts) { // in the order of their pages
			((Part) part).uses.forEach((structure, windows) -> uses.merge(structure, windows, (a, b) -> {
				b.forEach((w, use) -> a.merge(w, use, (x, y) -> {
					x.join(y);
					return x;
				}));
				return a;
			}));
		}
		markCrowded(uses, parts);
		Map<Integer, PatternReading[]> readings = new TreeMap<>();
		Map<Integer, double[]> accesses = new HashMap<>();
		uses.forEach((structure, windows) -> {
			PatternReading[] all = new PatternReading[starts.length];
			double[] sums = new double[starts.length];
			windows.forEach((w, use) -> {
				all[w] = PatternReading.of(use, pageBytes, table.structures().get(structure).kind() == StructureKind.STACK,
						table.info().counts().plural());
				sums[w] = use.accesses;
			});
			steady(all, windows.size(), Pattern.PING_PONG);
			steady(all, windows.size(), Pattern.ALL_TO_ALL);
			readings.put(structure, all);
			accesses.put(structure, sums);
		});
		return new Patterns(table, starts, readings, accesses);
	}

	/** Tells the windows which of their pages most threads use over the run; a structure with many such pages has none that is hot. */
	private static void markCrowded(Map<Integer, Map<Integer, WindowUse>> uses, List<AccessScan.Part> parts) {
		Map<Integer, List<Crowd>> crowds = new HashMap<>();
		parts.forEach(p -> ((Part) p).crowds.forEach((s, some) -> crowds.computeIfAbsent(s, k -> new ArrayList<>()).addAll(some)));
		crowds.forEach((structure, some) -> {
			Map<Integer, WindowUse> windows = uses.get(structure);
			Map<Integer, Integer> pages = new HashMap<>();
			windows.values().forEach(u -> u.threads.forEach((t, use) -> pages.merge(t, use.pages, Integer::sum)));
			int team = PatternReading.team(pages.values().stream().mapToInt(Integer::intValue).toArray());
			List<Crowd> hot = some.size() > MOST_CROWDED ? List.of()
					: some.stream().filter(c -> PatternReading.isCrowded(c.windowsOfThread, c.windows.length, windows.size(), team)).toList();
			for (Crowd c : hot.size() > PatternReading.MOST_HOT ? List.<Crowd>of() : hot) {
				for (int i = 0; i < c.windows.length; i++) {
					WindowUse u = windows.get(c.windows[i]);
					u.crowdedPages++;
					u.crowdedAccesses += c.accesses[i];
				}
			}
		});
	}

	/** What several threads do only once or twice is a hand-over. */
	private static void steady(PatternReading[] all, int used, Pattern pattern) {
		long n = Arrays.stream(all).filter(r -> r != null && r.pattern() == pattern).count();
		Check lasting = Check.atLeast("windows in which it is so", n, Math.max(PatternReading.LASTING, LASTING_SHARE * used)).counter();
		for (int w = 0; w < all.length && !lasting.holds(); w++) {
			if (all[w] != null && all[w].pattern() == pattern) {
				all[w] = all[w].without(pattern, lasting);
			}
		}
	}

	private static long[] starts(AccessTable table) throws MemtraceException {
		TreeSet<Long> all = new TreeSet<>();
		table.store().intervals().forEach(i -> all.add(i.startNs()));
		int most = Math.clamp(MOST_CELLS / Math.max(1, table.structures().size()) / Math.clamp(table.threads().size(), 1, MOST_THREADS),
				LEAST_WINDOWS, MOST_WINDOWS);
		if (all.isEmpty()) {
			long[] equal = new long[Math.min(WINDOWS, most)];
			Arrays.setAll(equal, i -> table.info().startNs() + (long) ((double) table.info().durationNs() * i / equal.length));
			return equal;
		}
		long[] each = all.stream().mapToLong(Long::longValue).toArray();
		int together = Math.ceilDiv(each.length, most);
		long[] some = new long[Math.ceilDiv(each.length, together)];
		Arrays.setAll(some, i -> each[i * together]);
		return some;
	}

	private static int window(long[] starts, long ns) {
		int i = Arrays.binarySearch(starts, ns);
		return Math.max(0, i >= 0 ? i : -i - 2);
	}

	/** Number of the window of a time. */
	public int window(long ns) {
		return window(starts, ns);
	}

	/** Number of windows. */
	public int windows() {
		return starts.length;
	}

	/** Reading of a structure in a window; null where it was not used. */
	public PatternReading reading(int structure, int window) {
		PatternReading[] all = readings.get(structure);
		return all == null ? null : all[window];
	}

	/** Structures that were used. */
	public Set<Integer> structures() {
		return readings.keySet();
	}

	/** Strides that were found, ascending. */
	public long[] strides() {
		TreeSet<Long> all = new TreeSet<>();
		readings.values().forEach(rs -> Arrays.stream(rs).filter(r -> r != null && r.strideBytes() > 0).forEach(r -> all.add(r.strideBytes())));
		return all.stream().mapToLong(Long::longValue).toArray();
	}

	/** What a person calls a label. */
	public static String title(Pattern pattern, long strideBytes) {
		return pattern == null ? "no pattern" : pattern.title() + (strideBytes <= 0 ? "" : strideBytes % 1024 == 0
				? " " + Units.bytes(strideBytes) : " " + strideBytes + " B");
	}

	/** The parts of the run with one label each, in the order of time. */
	public List<Span> spans(int structure) {
		List<Span> spans = new ArrayList<>();
		PatternReading[] all = readings.getOrDefault(structure, new PatternReading[0]);
		for (int w = 0; w < all.length; w++) {
			if (all[w] == null) {
				continue;
			}
			long to = w + 1 < starts.length ? starts[w + 1] : table.info().endNs();
			double sum = accesses.get(structure)[w];
			Span last = spans.isEmpty() ? null : spans.get(spans.size() - 1);
			if (last != null && last.reading().pattern() == all[w].pattern() && last.reading().strideBytes() == all[w].strideBytes()) {
				PatternReading clearer = all[w].index() > last.reading().index() ? all[w] : last.reading();
				spans.set(spans.size() - 1, new Span(structure, last.fromNs(), to, clearer, last.accesses() + sum));
			} else {
				spans.add(new Span(structure, starts[w], to, all[w], sum));
			}
		}
		return spans;
	}

	/** Share of the accesses to some structures by label, the largest first. */
	public Map<String, Double> shares(List<Integer> structures) {
		Map<String, Double> sums = new HashMap<>();
		double whole = 0;
		for (int s : structures) {
			PatternReading[] all = readings.getOrDefault(s, new PatternReading[0]);
			for (int w = 0; w < all.length; w++) {
				if (all[w] != null) {
					sums.merge(title(all[w].pattern(), all[w].strideBytes()), accesses.get(s)[w], Double::sum);
					whole += accesses.get(s)[w];
				}
			}
		}
		Map<String, Double> shares = new java.util.LinkedHashMap<>();
		double all = whole;
		sums.entrySet().stream().sorted(Map.Entry.<String, Double>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey()))
				.forEach(e -> shares.put(e.getKey(), e.getValue() / all));
		return shares;
	}

	/**
	 * A page that more than two threads use, each in several windows.
	 *
	 * @param windowsOfThread for each of them, in how many windows
	 * @param windows those in which several use it, with writes
	 * @param accesses to it in each of these
	 */
	private record Crowd(int[] windowsOfThread, int[] windows, double[] accesses) {
	}

	/** Collects a range of leaves. */
	private static final class Part implements AccessScan.Part {
		private final ProducerTree tree;
		private final List<Structure> structures;
		private final long[] starts;
		private final int pageBytes;
		final Map<Integer, Map<Integer, WindowUse>> uses = new HashMap<>();
		/** By structure, one more than are looked at. */
		final Map<Integer, List<Crowd>> crowds = new HashMap<>();
		private int open = -1;
		/** Of the open leaf: threads and their windows; windows with several threads and a write. */
		private int users;
		private int[] user = new int[8];
		private int[] windowsOfUser = new int[8];
		private int together;
		private int[] togetherWindow = new int[8];
		private double[] togetherAccesses = new double[8];
		/** Of the open leaf and window. */
		private int window = -1;
		private int count;
		private int[] thread = new int[8];
		private double[] sum = new double[8];
		private int[] offset = new int[8];
		private boolean written;
		private int[] windowOf = {};

		Part(AccessTable table, long[] starts, int pageBytes) {
			tree = table.producers();
			structures = table.structures();
			this.starts = starts;
			this.pageBytes = pageBytes;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			if (windowOf.length < c.times) {
				windowOf = new int[c.times];
			}
			for (int t = 0; t < c.times; t++) {
				windowOf[t] = Patterns.window(starts, c.timeStartNs[t]);
			}
			for (int l = leafFrom; l < leafTo; l++) {
				int s = tree.structure(c.leaf[l]);
				if (c.leaf[l] != open) {
					end();
					open = c.leaf[l];
				}
				for (int r = c.leafFrom[l]; s >= 0 && s < structures.size() && r < c.leafFrom[l + 1]; r++) {
					int w = windowOf[c.time[r]];
					if (w != window) {
						close();
						window = w;
					}
					add(c, r);
				}
			}
		}

		private void add(AccessChunk c, int r) {
			int t = c.thread[r];
			int at = 0;
			while (at < count && thread[at] != t) {
				at++;
			}
			if (at == count) {
				if (count == thread.length) {
					thread = Arrays.copyOf(thread, 2 * count);
					sum = Arrays.copyOf(sum, 2 * count);
					offset = Arrays.copyOf(offset, 2 * count);
				}
				thread[at] = t;
				sum[at] = 0;
				offset[at] = c.readOffset[r] >= 0 ? c.readOffset[r] : c.writeOffset[r];
				count++;
			}
			sum[at] += (double) c.reads[r] + c.writes[r];
			written |= c.writes[r] > 0;
		}

		private void close() {
			if (count > 0) {
				int s = tree.structure(open);
				int page = (int) ((tree.startAddress(open) - structures.get(s).startAddress()
						+ (structures.get(s).startAddress() & pageBytes - 1L)) / pageBytes);
				uses.computeIfAbsent(s, k -> new HashMap<>()).computeIfAbsent(window, k -> new WindowUse()).page(page, count, thread, sum, offset,
						written, pageBytes);
				remember();
			}
			count = 0;
			written = false;
		}

		/** Who used the open leaf in the window that ends. */
		private void remember() {
			double accesses = 0;
			for (int i = 0; i < count; i++) {
				accesses += sum[i];
				if (thread[i] < 0) {
					continue;
				}
				int at = 0;
				while (at < users && user[at] != thread[i]) {
					at++;
				}
				if (at == users) {
					if (users == user.length) {
						user = Arrays.copyOf(user, 2 * users);
						windowsOfUser = Arrays.copyOf(windowsOfUser, 2 * users);
					}
					user[at] = thread[i];
					windowsOfUser[at] = 0;
					users++;
				}
				windowsOfUser[at]++;
			}
			if (count > 1 && written) {
				if (together == togetherWindow.length) {
					togetherWindow = Arrays.copyOf(togetherWindow, 2 * together);
					togetherAccesses = Arrays.copyOf(togetherAccesses, 2 * together);
				}
				togetherWindow[together] = window;
				togetherAccesses[together++] = accesses;
			}
		}

		@Override
		public void end() {
			close();
			if (together >= PatternReading.LASTING && Arrays.stream(windowsOfUser, 0, users).filter(n -> n >= 2).count() > 2) {
				List<Crowd> some = crowds.computeIfAbsent(tree.structure(open), k -> new ArrayList<>());
				if (some.size() <= MOST_CROWDED) {
					some.add(new Crowd(Arrays.copyOf(windowsOfUser, users), Arrays.copyOf(togetherWindow, together),
							Arrays.copyOf(togetherAccesses, together)));
				}
			}
			users = 0;
			together = 0;
			window = -1;
		}
	}
}
