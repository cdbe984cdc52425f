// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.LeafStructures;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.PageCells;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * What one run does with the structures of a {@link DiffMap}, by place in the structure and by time of the run, from one pass over its
 * accesses. A place is an equal part of each block of the structure; a slice is an equal part of the run. An access counts in the places
 * and slices that its page and its time overlap, each with its part. Immutable.
 */
public final class PlaceTimes {
	/** Structures at most, the heaviest: each one takes memory. */
	public static final int MOST = 40;
	/** Places of a structure; smaller ones have one for each page. */
	public static final int PLACES = 32;
	/** Equal parts of a run. */
	static final int SLICES = 400;
	private static final Set<AccessColumn> COLUMNS = EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD, AccessColumn.READS,
			AccessColumn.WRITES, AccessColumn.FIRST);

	/** Of one structure; arrays are by {@code place * SLICES + slice}. */
	static final class Cells {
		final int places;
		final double[] reads;
		final double[] writes;
		/** Pages that were touched first, by role of the thread {@code << 32 | place * SLICES + slice}. */
		final Map<Long, Double> firstTouches = new TreeMap<>();

		private Cells(int places) {
			this.places = places;
			reads = new double[places * SLICES];
			writes = new double[places * SLICES];
		}

		private void add(Cells o) {
			for (int i = 0; i < reads.length; i++) {
				reads[i] += o.reads[i];
				writes[i] += o.writes[i];
			}
			o.firstTouches.forEach((key, pages) -> firstTouches.merge(key, pages, Double::sum));
		}
	}

	/** Duration of the run in the clock of the trace. */
	final long durationNs;
	/** Of all memory, not only of what is compared. */
	double reads;
	double writes;
	/** By structure of the map; null where the run has no access to it. */
	final Cells[] cells;

	private PlaceTimes(long durationNs, int structures) {
		this.durationNs = durationNs;
		cells = new Cells[structures];
	}

	/**
	 * Counts.
	 *
	 * @param diff has the run
	 * @param store the trace of the run, with the tree of virtual addresses, as when its facts were found
	 */
	public static PlaceTimes of(TraceDiff diff, Run run, TraceStore store, AccessSource source, Progress progress)
			throws MemtraceException {
		return new Counting(diff, run, store).count(source, progress);
	}

	/** One pass. */
	private static final class Counting implements AccessScan.Pass<Counting.Part> {
		private final TraceInfo info;
		private final Run run;
		private final PlaceTimes result;
		/** By structure of the map. */
		private final int[] places;
		/** By producer: structure of the map, or -1; number among the leaves of its block, and how many these are. */
		private final int[] shownOf;
		private final int[] rank;
		private final int[] blockOf;
		private final int[] leavesOfBlock;

		Counting(TraceDiff diff, Run run, TraceStore store) throws MemtraceException {
			this.run = run;
			info = store.info();
			List<StructureDiff> shown = shown(diff);
			places = places(diff);
			result = new PlaceTimes(info.durationNs(), shown.size());
			List<GroupFacts> groups = run.facts().groups();
			int[] groupOf = new int[run.facts().structures().size()];
			Arrays.fill(groupOf, -1);
			for (int g = 0; g < groups.size(); g++) {
				for (int id : groups.get(g).structures) {
					groupOf[id] = g;
				}
			}
			int[] shownOfGroup = new int[groups.size()];
			Arrays.fill(shownOfGroup, -1);
			for (int s = 0; s < shown.size(); s++) {
				GroupFacts g = diff.group(shown.get(s), run);
				if (g != null) {
					shownOfGroup[groups.indexOf(g)] = s;
				}
			}
			ProducerTree tree = store.producers();
			Optional<MemoryLayout> layout = store.layout();
			blockOf = LeafStructures.of(tree, layout.map(MemoryLayout::cells).orElse(PageCells.NONE).structure(),
					layout.isPresent() ? store.producersOfCells() : new int[0], groupOf);
			leavesOfBlock = new int[groupOf.length];
			shownOf = new int[tree.size()];
			rank = new int[tree.size()];
			for (int p = 0; p < tree.size(); p++) {
				int block = tree.isLeaf(p) ? blockOf[p] : -1;
				shownOf[p] = block < 0 || groupOf[block] < 0 ? -1 : shownOfGroup[groupOf[block]];
				if (shownOf[p] >= 0) {
					rank[p] = leavesOfBlock[block]++;
				}
			}
		}

		PlaceTimes count(AccessSource source, Progress progress) throws MemtraceException {
			AccessScan.of(source).run(AccessQuery.ALL, "Comparing places and times", progress, List.of(this));
			return result;
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
				result.reads += part.reads;
				result.writes += part.writes;
				for (int s = 0; s < part.found.length; s++) {
					if (result.cells[s] == null) {
						result.cells[s] = part.found[s];
					} else if (part.found[s] != null) {
						result.cells[s].add(part.found[s]);
					}
				}
			}
		}

		/** Of a range of leaves. */
		private final class Part implements AccessScan.Part {
			final Cells[] found = new Cells[places.length];
			double reads;
			double writes;
			private int leaf = -1;
			/** Who touched it first, before the first row; -1 not known, and later. */
			private int toucher = -1;

			@Override
			public void chunk(AccessChunk chunk, int leafFrom, int leafTo) {
				for (int l = leafFrom; l < leafTo; l++) {
					if (chunk.leaf[l] != leaf) {
						leaf = chunk.leaf[l];
						toucher = toucher(chunk, chunk.leafFrom[l], chunk.leafFrom[l + 1]);
					}
					for (int r = chunk.leafFrom[l]; r < chunk.leafFrom[l + 1]; r++) {
						reads += chunk.reads[r];
						writes += chunk.writes[r];
						if (shownOf[leaf] >= 0) {
							row(chunk, r);
						}
					}
				}
			}

			/** The thread of the first row, -1 where a row without a thread may have been before. */
			private static int toucher(AccessChunk chunk, int from, int to) {
				for (int r = from; r < to && chunk.time[r] == chunk.time[from]; r++) {
					if (chunk.thread[r] < 0 && chunk.firstNs[r] < 0) {
						return -1;
					}
				}
				return chunk.thread[from];
			}

			private void row(AccessChunk chunk, int r) {
				int s = shownOf[leaf];
				if (found[s] == null) {
					found[s] = new Cells(places[s]);
				}
				Cells c = found[s];
				boolean first = toucher >= 0 && toucher < run.facts().threads().size();
				long role = first ? (long) run.roleNumber(toucher) << 32 : 0;
				toucher = -1;
				double leaves = leavesOfBlock[blockOf[leaf]];
				double placeFrom = rank[leaf] * (double) c.places / leaves;
				double placeTo = (rank[leaf] + 1) * (double) c.places / leaves;
				double from = slice(chunk.startNs(r));
				double to = slice(chunk.endNs(r));
				int lastPlace = last(placeFrom, placeTo, c.places);
				int lastSlice = last(from, to, SLICES);
				for (int p = first(placeFrom, c.places); p <= lastPlace; p++) {
					double ofPage = overlap(p, placeFrom, placeTo);
					for (int t = first(from, SLICES); t <= lastSlice; t++) {
						double share = ofPage * overlap(t, from, to);
						int cell = p * SLICES + t;
						c.reads[cell] += share * chunk.reads[r];
						c.writes[cell] += share * chunk.writes[r];
						if (first) {
							c.firstTouches.merge(role | cell, share, Double::sum);
						}
					}
				}
			}

			/** Where a time is in the run, in slices. */
			private double slice(long ns) {
				double at = info.durationNs() <= 0 ? 0 : (double) (ns - info.startNs()) / info.durationNs();
				return SLICES * Math.clamp(at, 0.0, 1.0);
			}
		}
	}

	static int first(double from, int n) {
		return Math.min(n - 1, (int) from);
	}

	/** The last of n equal parts that [from, to) overlaps; the first one when it has no length. */
	static int last(double from, double to, int n) {
		return Math.max(first(from, n), Math.min(n - 1, (int) Math.ceil(to) - 1));
	}

	/** Which share of [from, to) is in [i, i + 1); 1 when it has no length. */
	static double overlap(int i, double from, double to) {
		return to <= from ? 1 : Math.max(0, Math.min(i + 1.0, to) - Math.max(i, from)) / (to - from);
	}

	/** What has a place in the map. */
	static List<StructureDiff> shown(TraceDiff diff) {
		List<StructureDiff> all = diff.relevant();
		return all.subList(0, Math.min(MOST, all.size()));
	}

	/** Places of each: as many as the pages of its largest block in any run, up to {@link #PLACES}. */
	static int[] places(TraceDiff diff) {
		return shown(diff).stream().mapToInt(s -> {
			long most = 1;
			for (Run run : Stream.concat(diff.before().stream(), diff.after().stream()).toList()) {
				GroupFacts g = diff.group(s, run);
				long page = Math.max(1, run.facts().info().pageSizeBytes());
				for (int id : g == null ? List.<Integer>of() : g.structures) {
					Structure block = run.facts().structures().get(id);
					most = Math.max(most, Math.floorDiv(block.endAddress() - 1, page) - Math.floorDiv(block.startAddress(), page) + 1);
				}
			}
			return (int) Math.min(PLACES, most);
		}).toArray();
	}
}
