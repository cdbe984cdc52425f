// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.place;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.time.TimeBins;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.memory.Lives;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.tree.ProducerTree;

/**
 * How much memory was on each NUMA node when, and how many accesses were to near and far memory when. A page counts from the interval
 * in which it is accessed first until its structure is freed, or to the end of the trace; it is on the node on which it was
 * seen last, and on an unknown one before that. Of a page with several structures each has its part. Immutable.
 */
public final class NodeTimes {
	/** Tells whether accesses are to near memory. */
	@FunctionalInterface
	public interface Locality {
		/** Nothing is known of any place. */
		Locality NONE = (cpus, node) -> Place.UNKNOWN;

		/**
		 * Judges.
		 *
		 * @param cpus CPUs on which the accesses happened; empty when not known. Not to be changed
		 * @param node NUMA node of the page, -1 when not known
		 */
		Place of(int[] cpus, int node);
	}

	/** Where memory is, seen from the CPUs that access it. */
	public enum Place {
		LOCAL, REMOTE, UNKNOWN
	}

	private static final Set<AccessColumn> COLUMNS = EnumSet.of(AccessColumn.TIME, AccessColumn.CPU_SET, AccessColumn.NODE,
			AccessColumn.READS, AccessColumn.WRITES, AccessColumn.FLAGS);
	private static final int[] NO_CPUS = {};

	private final TraceInfo info;
	private final TimeBins bins;
	private final int nodes;
	/** By node plus 1, then bin. */
	private final double[][] bytes;
	/** By place, then bin. */
	private final double[][] accesses;

	private NodeTimes(TraceInfo info, TimeBins bins, int nodes, double[][] bytes, double[][] accesses) {
		this.info = info;
		this.bins = bins;
		this.nodes = nodes;
		this.bytes = bytes;
		this.accesses = accesses;
	}

	/**
	 * Sums up. Reads all records until the end of the window: pages that were accessed before it are still there.
	 *
	 * @param producer event producer whose subtree is meant, or {@link ModelRequest#WHOLE_TREE}
	 * @param wanted number of equal parts of the window
	 */
	public static NodeTimes of(AccessTable table, Locality locality, int producer, long fromNs, long toNs, int wanted, Progress progress)
			throws MemtraceException {
		TimeBins bins = new TimeBins(fromNs, toNs, wanted);
		int nodes = table.maxNode(progress) + 1;
		int[][] sets = table.cpuNumbers();
		byte[] places = new byte[(sets.length + 1) * (nodes + 1)];
		for (int set = -1; set < sets.length; set++) {
			for (int node = -1; node < nodes; node++) {
				places[(set + 1) * (nodes + 1) + node + 1] = (byte) locality.of(set < 0 ? NO_CPUS : sets[set], node).ordinal();
			}
		}
		Question q = new Question(bins, fromNs, toNs, table.info().endNs(), nodes, sets.length, places, table.producers(),
				deaths(table.structures()));
		double[][] level = new double[nodes + 1][bins.count()];
		double[][] from = new double[nodes + 1][bins.count() + 1];
		double[][] accesses = new double[Place.values().length][bins.count()];
		for (Part part : table.scan().run(table.query(producer, table.info().startNs(), toNs), COLUMNS, "Memory on nodes", progress,
				(a, b) -> new Part(q))) {
			add(level, part.level);
			add(from, part.from);
			add(accesses, part.accesses);
		}
		for (int n = 0; n <= nodes; n++) {
			double sum = 0;
			for (int bin = 0; bin < bins.count(); bin++) {
				sum += from[n][bin];
				double mean = sum + level[n][bin];
				level[n][bin] = mean < 1e-3 ? 0 : mean; // what rounding leaves of less than a byte
			}
		}
		return new NodeTimes(table.info(), bins, nodes, level, accesses);
	}

	/** Of each structure when its memory is given back for the last time: others of its name may have lived there after it. */
	private static long[] deaths(List<Structure> structures) {
		Lives lives = Lives.of(structures);
		return IntStream.range(0, structures.size()).mapToLong(lives::lastDeathNs).toArray();
	}

	private static void add(double[][] to, double[][] more) {
		for (int i = 0; i < to.length; i++) {
			for (int k = 0; k < to[i].length; k++) {
				to[i][k] += more[i][k];
			}
		}
	}

	/** What all parts need. */
	private record Question(TimeBins bins, long fromNs, long toNs, long endNs, int nodes, int sets, byte[] places, ProducerTree tree,
			long[] deathNs) {
	}

	/** The sums of some pages. */
	private static final class Part implements AccessScan.Part {
		private final Question q;
		private final double[][] level;
		private final double[][] from;
		private final double[][] accesses;
		private double[] share = new double[0];
		// of the page that rows come of
		private int page = -1;
		private boolean there;
		private int node;
		private long lastEndNs;

		Part(Question q) {
			this.q = q;
			level = new double[q.nodes + 1][q.bins.count()];
			from = new double[q.nodes + 1][q.bins.count() + 1];
			accesses = new double[Place.values().length][q.bins.count()];
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			share = AccessScan.shares(c, q.fromNs, q.toNs, share);
			double[][] byTime = new double[accesses.length][c.times];
			for (int l = leafFrom; l < leafTo; l++) {
				if (c.leaf[l] != page) {
					end();
					page = c.leaf[l];
				}
				for (int row = c.leafFrom[l]; row < c.leafFrom[l + 1]; row++) {
					row(c, row, byTime);
				}
			}
			for (int place = 0; place < byTime.length; place++) {
				for (int t = 0; t < c.times; t++) {
					if (byTime[place][t] != 0) {
						q.bins.add(accesses[place], c.timeStartNs[t], c.timeEndNs[t], byTime[place][t], false);
					}
				}
			}
		}

		private void row(AccessChunk c, int row, double[][] byTime) {
			int time = c.time[row];
			int at = c.node[row];
			if (share[time] > 0) {
				int set = c.cpuSet[row] < q.sets ? c.cpuSet[row] : -1;
				byTime[q.places[(set + 1) * (q.nodes + 1) + at + 1]][time] += (double) c.reads[row] + c.writes[row];
			}
			if (at < 0 && (c.flags[row] & AccessBatch.FLAG_MAYBE_UNTOUCHED) != 0) {
				return; // it may not be there
			}
			lastEndNs = there ? Math.max(lastEndNs, c.timeEndNs[time]) : c.timeEndNs[time];
			if (!there) {
				there = true;
				node = at;
				move(node, c.timeStartNs[time], 1);
			} else if (at >= 0 && at != node) {
				move(node, c.timeStartNs[time], -1);
				node = at;
				move(node, c.timeStartNs[time], 1);
			}
		}

		private void move(int to, long ns, int sign) {
			double bytes = q.tree.endAddress(page) - q.tree.startAddress(page);
			q.bins.raise(level[to + 1], from[to + 1], ns, sign * bytes);
		}

		/** The page is done. */
		@Override
		public void end() {
			if (there) {
				int structure = q.tree.structure(page);
				long death = structure >= 0 && structure < q.deathNs.length ? q.deathNs[structure] : Long.MAX_VALUE;
				if (death < q.endNs) {
					move(node, Math.max(death, lastEndNs), -1);
				}
			}
			there = false;
		}
	}

	/** Number of parts of the window. */
	public int bins() {
		return bins.count();
	}

	/** Start of a part of the window, end of the one before. */
	public long boundNs(int bin) {
		return bins.bound(bin);
	}

	/** The trace. */
	public TraceInfo info() {
		return info;
	}

	/** Largest number of a node on which a page was seen, plus 1. */
	public int nodeCount() {
		return nodes;
	}

	/** Mean number of bytes on a node in a part of the window; -1 is the unknown node. */
	public double bytes(int node, int bin) {
		return node < nodes ? bytes[node + 1][bin] : 0;
	}

	/** Accesses to memory of such a place in a part of the window; those of a record are spread over its time. */
	public double accesses(Place place, int bin) {
		return accesses[place.ordinal()][bin];
	}

	/** All accesses in a part of the window. */
	public double accesses(int bin) {
		double sum = 0;
		for (double[] a : accesses) {
			sum += a[bin];
		}
		return sum;
	}
}
