// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.IntervalNumbers;
import org.memtrace.analysis.findings.facts.LeafStructures;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.Regions;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.PageCells;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;

/**
 * What one run does with its structures in each region that the program named, from one pass over the accesses. A record belongs to the
 * innermost region in the middle of its time, as the property {@code region} has it. What is shared and handed on is counted as in
 * {@link GroupFacts}: after the first interval of a page. Immutable.
 */
public final class RegionUse {
	/** A run without regions. */
	public static final RegionUse NONE = new RegionUse(Regions.NONE);
	private static final Set<AccessColumn> COLUMNS = EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD, AccessColumn.READS,
			AccessColumn.WRITES, AccessColumn.FIRST);

	/** A structure, or all data of the program, in a region. */
	static final class Cell {
		double reads;
		double writes;
		/** (page, interval) pairs, and those that are shared and written. */
		long pairs;
		long sharedPairs;
		/** Pages that are used. */
		long pages;
		/** Pages that are used after their first interval and whose first toucher is known; those of them that another thread uses most here. */
		long latePages;
		long handedOn;
		/** Pages that are touched first here, by thread. */
		final double[] firstTouched;
		/** Pages by their main user here. */
		final double[] mainUser;

		Cell(int threads) {
			firstTouched = new double[threads];
			mainUser = new double[threads];
		}

		private void add(Cell o) {
			reads += o.reads;
			writes += o.writes;
			pairs += o.pairs;
			sharedPairs += o.sharedPairs;
			pages += o.pages;
			latePages += o.latePages;
			handedOn += o.handedOn;
			for (int t = 0; t < firstTouched.length; t++) {
				firstTouched[t] += o.firstTouched[t];
				mainUser[t] += o.mainUser[t];
			}
		}

		double touchedFirst() {
			return Arrays.stream(firstTouched).sum();
		}

		/** Share of the pages that were touched first here that one thread touched; not a number when none was. */
		double firstTouchShare() {
			return touchedFirst() == 0 ? Double.NaN : Arrays.stream(firstTouched).max().orElse(0) / touchedFirst();
		}
	}

	/** A region in this run. */
	static final class Region {
		final String name;
		/** Time that some thread was in it, and how often it was entered. */
		final double timeNs;
		final int times;
		/** Of all memory. */
		double accesses;
		/** The data of the program: not its stacks and libraries. */
		final Cell data;
		final Map<GroupFacts, Cell> structures = new IdentityHashMap<>();

		private Region(String name, Regions regions, int threads) {
			this.name = name;
			List<Regions.Region> all = regions.times(name);
			timeNs = all.stream().mapToDouble(r -> r.toNs() - r.fromNs()).sum();
			times = all.size();
			data = new Cell(threads);
		}
	}

	private final Regions regions;
	/** In the order of their first begin. */
	private final List<Region> all = new ArrayList<>();
	/** Of the whole run, in regions or not. */
	private double accesses;

	private RegionUse(Regions regions) {
		this.regions = regions;
	}

	/** Names of the regions in the order of their first begin. */
	public List<String> names() {
		return regions.names();
	}

	/** A region, null when it is not there. */
	Region region(String name) {
		return all.stream().filter(r -> r.name.equals(name)).findFirst().orElse(null);
	}

	double accesses() {
		return accesses;
	}

	/**
	 * Counts; reads no access when the trace has no regions.
	 *
	 * @param facts of the trace
	 * @param store the trace, with the tree of virtual addresses, as when its facts were found
	 */
	public static RegionUse of(TraceFacts facts, TraceStore store, AccessSource source, Progress progress) throws MemtraceException {
		byte[] note = store.readNote(Regions.NOTE).orElse(null);
		Regions regions = note == null ? Regions.NONE : Regions.parse(note);
		if (regions.isEmpty()) {
			return NONE;
		}
		Counting c = new Counting(facts, store, regions);
		AccessScan.of(source).run(AccessQuery.ALL, "Counting by region", progress, List.of(c));
		return c.result;
	}

	/** One pass. */
	private static final class Counting implements AccessScan.Pass<Counting.Part> {
		private final int threads;
		private final List<GroupFacts> groups;
		private final RegionUse result;
		private final Regions.Innermost innermost;
		private final IntervalNumbers intervals;
		/** By producer: its group, -1 none. */
		private final int[] groupOfLeaf;
		private final int regions;

		Counting(TraceFacts facts, TraceStore store, Regions named) throws MemtraceException {
			threads = facts.threads().size();
			groups = facts.groups();
			result = new RegionUse(named);
			named.names().forEach(n -> result.all.add(new Region(n, named, threads)));
			regions = result.all.size();
			innermost = named.innermost(facts.threads());
			intervals = IntervalNumbers.of(store);
			int[] groupOf = new int[facts.structures().size()];
			Arrays.fill(groupOf, -1);
			for (int g = 0; g < groups.size(); g++) {
				for (int id : groups.get(g).structures) {
					groupOf[id] = g;
				}
			}
			Optional<MemoryLayout> layout = store.layout();
			int[] structure = LeafStructures.of(store.producers(), layout.map(MemoryLayout::cells).orElse(PageCells.NONE).structure(),
					layout.isPresent() ? store.producersOfCells() : new int[0], groupOf);
			groupOfLeaf = Arrays.stream(structure).map(s -> s < 0 ? -1 : groupOf[s]).toArray();
		}

		@Override
		public Set<AccessColumn> columns() {
			return COLUMNS;
		}

		@Override
		public Part part() {
			return new Part();
		}

		@Override
		public void end(List<Part> parts) {
			for (Part part : parts) {
				result.accesses += part.accesses;
				for (int r = 0; r < regions; r++) {
					Region region = result.all.get(r);
					region.accesses += part.byRegion[r];
					for (int g = 0; g < groups.size(); g++) {
						Cell c = part.found[r * groups.size() + g];
						if (c == null) {
							continue;
						}
						GroupFacts group = groups.get(g);
						region.structures.computeIfAbsent(group, k -> new Cell(threads)).add(c);
						if (!group.library && group.kind != StructureKind.STACK) {
							region.data.add(c);
						}
					}
				}
			}
		}

		/** Of a range of leaves. */
		private final class Part implements AccessScan.Part {
			final Cell[] found = new Cell[regions * groups.size()];
			final double[] byRegion = new double[regions];
			double accesses;
			/** The rows of a leaf, -1 before the first. */
			private int leaf = -1;
			private int n;
			private int[] interval = new int[64];
			private int[] thread = new int[64];
			/** Whether it is known when its first access was. */
			private boolean[] moment = new boolean[64];
			/** Number of the region, -1 none; so of each access whose thread is not known. */
			private int[] region = new int[64];
			private long[] reads = new long[64];
			private long[] writes = new long[64];
			/** Of a leaf: accesses after its first interval by region and thread, and which of them are not 0. */
			private final double[] late = new double[regions * threads];
			private final double[] lateWrites = new double[regions * threads];
			private int[] lateKeys = new int[64];
			private int lateCount;
			/** By region: key of its main user so far, -1 none. */
			private final int[] main = new int[regions];
			/** Last leaf, interval or count in which something was seen, by region or thread. */
			private final long[] usedIn = new long[regions];
			private final long[] countedIn = new long[regions];
			private final long[] seenIn = new long[threads];
			private long stamp;

			Part() {
				Arrays.fill(main, -1);
			}

			@Override
			public void chunk(AccessChunk chunk, int leafFrom, int leafTo) {
				for (int l = leafFrom; l < leafTo; l++) {
					if (chunk.leaf[l] != leaf) {
						end();
						leaf = chunk.leaf[l];
					}
					take(chunk, chunk.leafFrom[l], chunk.leafFrom[l + 1]);
				}
			}

			private void take(AccessChunk chunk, int from, int to) {
				int group = groupOfLeaf[leaf];
				int image = group < 0 ? 0 : groups.get(group).image;
				if (n + to - from > interval.length) {
					int room = Math.max(2 * interval.length, n + to - from);
					interval = Arrays.copyOf(interval, room);
					thread = Arrays.copyOf(thread, room);
					moment = Arrays.copyOf(moment, room);
					region = Arrays.copyOf(region, room);
					reads = Arrays.copyOf(reads, room);
					writes = Arrays.copyOf(writes, room);
				}
				for (int r = from; r < to; r++) {
					long start = chunk.startNs(r);
					int in = innermost.at(chunk.thread[r], start + (chunk.endNs(r) - start) / 2);
					accesses += (double) chunk.reads[r] + chunk.writes[r];
					if (in >= 0) {
						byRegion[in] += (double) chunk.reads[r] + chunk.writes[r];
					}
					if (group >= 0) {
						interval[n] = intervals.of(image, start);
						thread[n] = chunk.thread[r] < threads ? chunk.thread[r] : -1;
						moment[n] = chunk.firstNs[r] >= 0;
						region[n] = in;
						reads[n] = chunk.reads[r];
						writes[n] = chunk.writes[r];
						n++;
					}
				}
			}

			private Cell cell(int in) {
				int at = in * groups.size() + groupOfLeaf[leaf];
				if (found[at] == null) {
					found[at] = new Cell(threads);
				}
				return found[at];
			}

			/** All rows of the leaf are there. */
			@Override
			public void end() {
				if (n == 0) {
					return;
				}
				long ofLeaf = ++stamp;
				int toucher = toucher();
				if (toucher >= 0 && region[0] >= 0) {
					cell(region[0]).firstTouched[toucher]++;
				}
				for (int i = 0; i < n; i++) {
					int t = thread[i];
					if (region[i] < 0) {
						continue;
					}
					Cell c = cell(region[i]);
					c.reads += reads[i];
					c.writes += writes[i];
					if (usedIn[region[i]] != ofLeaf) {
						usedIn[region[i]] = ofLeaf;
						c.pages++;
					}
					if (interval[i] != interval[0]) {
						int key = region[i] * threads + t;
						if (late[key] == 0) {
							if (lateCount == lateKeys.length) {
								lateKeys = Arrays.copyOf(lateKeys, 2 * lateCount);
							}
							lateKeys[lateCount++] = key;
						}
						late[key] += (double) reads[i] + writes[i];
						lateWrites[key] += writes[i];
					}
				}
				for (int from = 0; from < n;) {
					int to = from;
					while (to < n && interval[to] == interval[from]) {
						to++;
					}
					if (interval[from] != interval[0]) {
						pairs(from, to);
					}
					from = to;
				}
				mainUsers(toucher);
				n = 0;
			}

			/** The thread of the first row, -1 where a row without a thread may have been before. */
			private int toucher() {
				for (int i = 0; i < n && interval[i] == interval[0]; i++) {
					if (thread[i] < 0 && !moment[i]) {
						return -1;
					}
				}
				return thread[0];
			}

			/** The rows [from, to) of one interval. */
			private void pairs(int from, int to) {
				long ofInterval = ++stamp;
				for (int i = from; i < to; i++) {
					if (region[i] < 0 || countedIn[region[i]] == ofInterval) {
						continue;
					}
					countedIn[region[i]] = ofInterval;
					long now = ++stamp;
					int users = 0;
					boolean written = false;
					for (int k = i; k < to; k++) {
						if (region[k] == region[i]) {
							users += seenIn[thread[k]] == now ? 0 : 1;
							seenIn[thread[k]] = now;
							written |= writes[k] > 0;
						}
					}
					Cell c = cell(region[i]);
					c.pairs++;
					c.sharedPairs += users > 1 && written ? 1 : 0;
				}
			}

			/** In each region the thread with most late accesses; of equals the one that writes more, then the first one, as in the facts. */
			private void mainUsers(int toucher) {
				for (int i = 0; i < lateCount; i++) {
					int key = lateKeys[i];
					int best = main[key / threads];
					int more = best < 0 ? 1 : Double.compare(late[key], late[best]);
					more = more == 0 ? Double.compare(lateWrites[key], lateWrites[best]) : more;
					if (more > 0 || more == 0 && key < best) {
						main[key / threads] = key;
					}
				}
				for (int i = 0; i < lateCount; i++) {
					int in = lateKeys[i] / threads;
					if (main[in] >= 0) {
						Cell c = cell(in);
						c.latePages += toucher >= 0 ? 1 : 0;
						c.mainUser[main[in] % threads]++;
						c.handedOn += toucher >= 0 && main[in] % threads != toucher ? 1 : 0;
						main[in] = -1;
					}
				}
				for (int i = 0; i < lateCount; i++) {
					late[lateKeys[i]] = 0;
					lateWrites[lateKeys[i]] = 0;
				}
				lateCount = 0;
			}
		}
	}
}
