// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.placement;

import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.tree.ProducerTree;

/**
 * Sums up what each policy makes of the accesses, in one pass over the chunks, page by page. Ranges of pages are read at the same time.
 *
 * <p>A <em>cell</em> is a page in a monitoring interval, or a single record where accesses were counted. All accesses of a cell
 * whose users are near to the home of the page are certainly local, all of one without such a user certainly remote; what lies between
 * is undecided, because a record of a page fault does not tell how often its thread used the page.
 */
final class PlacementScan {
	private static final Set<AccessColumn> COLUMNS = EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD, AccessColumn.CPU_SET,
			AccessColumn.READS, AccessColumn.WRITES, AccessColumn.NODE, AccessColumn.FLAGS, AccessColumn.FIRST);

	/** What was summed up of a group of structures. */
	static final class Group {
		final double[] weight = new double[PlacementSums.BLOCKS];
		/** By policy, and behind them what was recorded. */
		final PlacementSums[] policies;
		/** Parts of pages, and those whose first writer is not known. */
		long pages;
		long unknownFirst;
		/** Accesses of which the node of the CPU is not known, and of which several nodes may have it. */
		double unknownUser;
		double severalUsers;
		/** Accesses after the last write of the group. */
		double afterWrites;
		/** Accesses with a recorded node of the page. */
		double placed;

		Group(int policies, int nodes) {
			this.policies = new PlacementSums[policies + 1];
			for (int p = 0; p <= policies; p++) {
				this.policies[p] = new PlacementSums(nodes);
			}
		}

		private void add(Group o) {
			PlacementSums.add(weight, o.weight);
			for (int p = 0; p < policies.length; p++) {
				policies[p].add(o.policies[p]);
			}
			pages += o.pages;
			unknownFirst += o.unknownFirst;
			unknownUser += o.unknownUser;
			severalUsers += o.severalUsers;
			afterWrites += o.afterWrites;
			placed += o.placed;
		}
	}

	private final PlacementMachine machine;
	private final List<Policy> policies;
	private final ProducerTree tree;
	private final int nodes;
	private final int groups;
	/** Group of each structure. */
	private final int[] groupOf;
	/** Whether pages of a group can be placed one by one. */
	private final boolean[] movable;
	private final long[] lastWriteNs;
	private final boolean exact;
	private final long startNs;
	private final double blockNs;
	/** Nodes of a set of CPUs, a bit each, and the share of the CPUs on each node; null where one node has them all. */
	private final long[] setNodes;
	private final double[][] setShares;
	/** Where threads are, null: where they were recorded. */
	private final int[] threadNode;
	/** By node of the user: share of homes that are local, and mean cost, when all nodes are as likely; smallest and largest of them. */
	private final double[] evenLocal;
	private final double[] evenCost;
	/** Whether the memory of a node is near to all CPUs. */
	private final boolean[] nearAll;
	/** Smallest and largest cost by home. */
	private final double[] least;
	private final double[] most;

	/**
	 * Prepares a pass.
	 *
	 * @param groupOf group of each structure
	 * @param movable whether pages of a group can be placed one by one; the last group is of what has no structure
	 * @param lastWriteNs end of the interval of the last write to each group
	 * @param threadNode node of each thread, null: they are where they were recorded
	 */
	PlacementScan(AccessTable table, PlacementMachine machine, List<Policy> policies, int[] groupOf, boolean[] movable, long[] lastWriteNs,
			int[] threadNode) {
		this.machine = machine;
		this.policies = policies;
		this.groupOf = groupOf;
		this.movable = movable;
		this.lastWriteNs = lastWriteNs;
		this.threadNode = threadNode;
		tree = table.producers();
		nodes = machine.nodes();
		groups = movable.length;
		exact = table.info().counts().isExact();
		startNs = table.info().startNs();
		blockNs = Math.max(1, (double) table.info().durationNs() / PlacementSums.BLOCKS);
		List<BitSet> sets = table.cpuSets();
		setNodes = new long[sets.size()];
		setShares = new double[sets.size()][];
		for (int s = 0; s < setNodes.length; s++) {
			set(s, sets.get(s));
		}
		evenLocal = new double[nodes];
		evenCost = new double[nodes];
		least = new double[nodes];
		most = new double[nodes];
		nearAll = new boolean[nodes];
		Arrays.fill(least, Double.MAX_VALUE);
		Arrays.fill(nearAll, true);
		for (int u = 0; u < nodes; u++) {
			for (int h = 0; h < nodes; h++) {
				evenLocal[u] += machine.isLocal(u, h) ? 1.0 / nodes : 0;
				evenCost[u] += machine.cost(u, h) / nodes;
				nearAll[h] &= machine.isLocal(u, h);
				least[h] = Math.min(least[h], machine.cost(u, h));
				most[h] = Math.max(most[h], machine.cost(u, h));
			}
		}
	}

	/** A CPU that is near to several nodes counts for the first one; a CPU that the machine does not have makes all of it unknown. */
	private void set(int s, BitSet cpus) {
		double[] share = new double[nodes];
		for (int cpu = cpus.nextSetBit(0); cpu >= 0; cpu = cpus.nextSetBit(cpu + 1)) {
			long near = machine.near(cpu);
			if (near == 0) {
				setNodes[s] = 0;
				return;
			}
			int node = Long.numberOfTrailingZeros(near);
			setNodes[s] |= 1L << node;
			share[node] += 1.0 / cpus.cardinality();
		}
		setShares[s] = Long.bitCount(setNodes[s]) > 1 ? share : null;
	}

	/** Reads all accesses. */
	Group[] run(AccessTable table, Progress progress) throws MemtraceException {
		List<Part> parts = table.scan().run(AccessQuery.ALL, COLUMNS, "Placing pages", progress, (from, to) -> new Part());
		Group[] sums = new Group[groups];
		for (Part part : parts) {
			for (int g = 0; g < groups; g++) {
				if (part.found[g] == null) {
					continue;
				}
				if (sums[g] == null) {
					sums[g] = part.found[g];
				} else {
					sums[g].add(part.found[g]);
				}
			}
		}
		return sums;
	}

	/** Looks at a range of pages, one after the other. */
	private final class Part implements AccessScan.Part {
		final Group[] found = new Group[groups];
		// the rows of a page, -1 before the first
		private int open = -1;
		private int n;
		private long[] start = new long[64];
		/** First access of a row, its start where that is not known. */
		private long[] begin = new long[64];
		private long[] users = new long[64];
		private int[] cpuSet = new int[64];
		private double[] amount = new double[64];
		private boolean[] written = new boolean[64];
		private boolean[] vague = new boolean[64];
		private int[] node = new int[64];
		// of a cell
		private final double[] by = new double[nodes];
		private final double[] moved = new double[nodes];
		private final double[] late = new double[nodes];

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			for (int l = leafFrom; l < leafTo; l++) {
				if (open != c.leaf[l]) {
					end();
				}
				open = c.leaf[l];
				take(c, c.leafFrom[l], c.leafFrom[l + 1]);
			}
		}

		@Override
		public void end() {
			if (n > 0) {
				page();
			}
			n = 0;
		}

		private void take(AccessChunk c, int from, int to) {
			if (n + to - from > start.length) {
				int room = Math.max(2 * start.length, n + to - from);
				start = Arrays.copyOf(start, room);
				begin = Arrays.copyOf(begin, room);
				users = Arrays.copyOf(users, room);
				cpuSet = Arrays.copyOf(cpuSet, room);
				amount = Arrays.copyOf(amount, room);
				written = Arrays.copyOf(written, room);
				vague = Arrays.copyOf(vague, room);
				node = Arrays.copyOf(node, room);
			}
			for (int r = from; r < to; r++) {
				if ((c.flags[r] & AccessBatch.FLAG_MAYBE_UNTOUCHED) != 0) {
					continue; // it may not have been used
				}
				start[n] = c.startNs(r);
				begin[n] = c.beginNs(r);
				int set = c.cpuSet[r];
				int thread = c.thread[r];
				if (threadNode != null) {
					cpuSet[n] = -1;
					users[n] = thread >= 0 && thread < threadNode.length && threadNode[thread] >= 0 ? 1L << threadNode[thread] : 0;
				} else {
					cpuSet[n] = set;
					users[n] = set >= 0 && set < setNodes.length ? setNodes[set] : 0;
				}
				amount[n] = (double) c.reads[r] + c.writes[r];
				written[n] = c.writes[r] > 0;
				vague[n] = (c.flags[r] & AccessBatch.FLAG_DIRECTION_UNKNOWN) != 0;
				node[n] = c.node[r] < 0 ? -1 : machine.index(c.node[r]);
				n++;
			}
		}

		/** Adds the accesses of a row to the nodes of its users; those of nobody are returned. */
		private double spread(int row, double[] to) {
			if (users[row] == 0) {
				return amount[row];
			}
			double[] share = cpuSet[row] < 0 ? null : setShares[cpuSet[row]];
			if (share == null) {
				to[Long.numberOfTrailingZeros(users[row])] += amount[row];
			} else {
				for (int i = 0; i < nodes; i++) {
					to[i] += amount[row] * share[i];
				}
			}
			return 0;
		}

		/** The node of the thread that wrote the page first, of the first to touch it where nobody wrote it; -1 not known. */
		private int firstTouch() {
			if (nodes == 1) {
				return 0;
			}
			int first = -1;
			for (int r = 0; r < n; r++) {
				boolean earlier = first < 0 || written[r] == written[first] ? first < 0 || begin[r] < begin[first] : written[r];
				first = earlier ? r : first;
			}
			return Long.bitCount(users[first]) == 1 ? Long.numberOfTrailingZeros(users[first]) : -1;
		}

		/** All rows of a page are there. */
		private void page() {
			int s = tree.structure(open);
			int number = s < 0 ? groups - 1 : groupOf[s];
			if (found[number] == null) {
				found[number] = new Group(policies.size(), nodes);
			}
			Group g = found[number];
			int first = firstTouch();
			Arrays.fill(late, 0);
			for (int r = 0; r < n; r++) {
				if (start[r] != start[0]) {
					spread(r, late);
				}
			}
			int main = movable[number] ? main(first) : first;
			g.pages++;
			g.unknownFirst += first < 0 ? 1 : 0;
			double whole = 0;
			for (int from = 0; from < n;) {
				int to = from + 1;
				while (!exact && to < n && start[to] == start[from]) {
					to++;
				}
				whole += cell(g, number, from, to, first, main);
				from = to;
			}
			double even = 1.0 / nodes;
			for (int p = 0; p < policies.size(); p++) {
				if (policies.get(p).kind() == Policy.Kind.INTERLEAVE) {
					g.policies[p].variance += whole * whole * even * (1 - even);
				}
			}
		}

		/** The node that uses the page most after its first interval. */
		private int main(int first) {
			int main = -1;
			for (int i = 0; i < nodes; i++) {
				if (late[i] > 0 && (main < 0 || late[i] > late[main] || late[i] == late[main] && i == first)) {
					main = i;
				}
			}
			return main < 0 ? first : main;
		}

		/** A page in an interval, or one record of it. Returns its accesses. */
		private double cell(Group g, int number, int from, int to, int first, int main) {
			Arrays.fill(by, 0);
			double unknown = 0;
			double vagueReads = 0;
			double all = 0;
			long set = 0;
			int at = -1;
			for (int r = from; r < to; r++) {
				all += amount[r];
				unknown += spread(r, by);
				set |= users[r];
				vagueReads += vague[r] ? amount[r] : 0;
				at = node[r] >= 0 ? node[r] : at;
			}
			int block = (int) Math.max(0, Math.min(PlacementSums.BLOCKS - 1, (start[from] - startNs) / blockNs));
			g.weight[block] += all;
			g.unknownUser += unknown;
			g.severalUsers += Long.bitCount(set) > 1 ? all - unknown : 0;
			boolean copied = movable[number] && start[from] >= lastWriteNs[number];
			g.afterWrites += copied ? all : 0;
			for (int p = 0; p < policies.size(); p++) {
				PlacementSums sums = g.policies[p];
				Policy policy = policies.get(p);
				switch (policy.kind()) {
				case FIRST_TOUCH -> home(sums, block, by, set, unknown, first);
				case BIND -> home(sums, block, by, set, unknown, policy.node());
				case REPAIRED -> repaired(sums, block, from, set, unknown, first, main);
				case INTERLEAVE -> even(sums, block, set, all, unknown);
				default -> {
					if (copied) {
						copies(sums, block, all, unknown, vagueReads);
					} else {
						home(sums, block, by, set, unknown, first);
					}
				}
				}
			}
			g.placed += at >= 0 ? all : 0;
			home(g.policies[policies.size()], block, by, set, unknown, at);
			return all;
		}

		/** The first interval of a page is its initialisation, which its main user does then. */
		private void repaired(PlacementSums sums, int block, int from, long set, double unknown, int first, int main) {
			if (start[from] != start[0] || first < 0 || first == main || (set >> first & 1) == 0) {
				home(sums, block, by, set, unknown, main);
				return;
			}
			System.arraycopy(by, 0, moved, 0, nodes);
			moved[main] += moved[first];
			moved[first] = 0;
			home(sums, block, moved, set & ~(1L << first) | 1L << main, unknown, main);
		}

		/** All of it is on one node, -1 unknown. */
		private void home(PlacementSums sums, int block, double[] amounts, long set, double unknown, int home) {
			double known = 0;
			double local = 0;
			boolean anyLocal = false;
			boolean anyRemote = false;
			double cheap = Double.MAX_VALUE;
			double dear = 0;
			double cost = 0;
			for (int u = 0; u < nodes; u++) {
				if ((set >> u & 1) == 0) {
					continue;
				}
				known += amounts[u];
				if (home < 0) {
					for (int h = 0; h < nodes; h++) {
						cheap = Math.min(cheap, machine.cost(u, h));
						dear = Math.max(dear, machine.cost(u, h));
					}
					continue;
				}
				boolean near = machine.isLocal(u, home);
				anyLocal |= near;
				anyRemote |= !near;
				local += near ? amounts[u] : 0;
				cost += amounts[u] * machine.cost(u, home);
				cheap = Math.min(cheap, machine.cost(u, home));
				dear = Math.max(dear, machine.cost(u, home));
			}
			double low = home >= 0 ? least[home] : 1;
			double high = home >= 0 ? most[home] : Arrays.stream(most).max().orElse(1);
			sums.costLeast += (set == 0 ? 0 : known * cheap) + unknown * low;
			sums.costMost += known * dear + unknown * high;
			sums.cost[block] += (home < 0 && set != 0 ? known * (cheap + dear) / 2 : cost) + unknown * (low + high) / 2;
			if (home < 0) {
				return;
			}
			double anywhere = nearAll[home] ? unknown : 0;
			sums.local[block] += local + anywhere;
			sums.remote[block] += known - local;
			sums.certainLocal[block] += anywhere;
			if (!anyRemote) {
				sums.certainLocal[block] += known;
			}
			if (!anyLocal) {
				sums.certainRemote[block] += known;
			}
			sums.load[block * nodes + home] += known + unknown;
		}

		/** Each node is as likely as the others, whoever uses the page: the expectation does not depend on what is undecided. */
		private void even(PlacementSums sums, int block, long set, double all, double unknown) {
			double low = Double.MAX_VALUE;
			double high = 0;
			double lowCost = Double.MAX_VALUE;
			double highCost = 0;
			double local = 0;
			double cost = 0;
			for (int u = 0; u < nodes; u++) {
				if (unknown > 0 || (set >> u & 1) != 0) {
					low = Math.min(low, evenLocal[u]);
					high = Math.max(high, evenLocal[u]);
					lowCost = Math.min(lowCost, evenCost[u]);
					highCost = Math.max(highCost, evenCost[u]);
				}
				local += by[u] * evenLocal[u];
				cost += by[u] * evenCost[u];
			}
			local += unknown * (low + high) / 2;
			sums.local[block] += local;
			sums.remote[block] += all - local;
			sums.certainLocal[block] += all * low;
			sums.certainRemote[block] += all * (1 - high);
			sums.cost[block] += cost + unknown * (lowCost + highCost) / 2;
			sums.costLeast += all * lowCost;
			sums.costMost += all * highCost;
			for (int h = 0; h < nodes; h++) {
				sums.load[block * nodes + h] += all / nodes;
			}
		}

		/** Each node has a copy. Accesses of unknown direction may be writes, which copies do not allow: they are undecided. */
		private void copies(PlacementSums sums, int block, double all, double unknown, double vagueReads) {
			double sure = all - vagueReads;
			double highest = Arrays.stream(most).max().orElse(1);
			double cost = 0;
			double known = 0;
			for (int u = 0; u < nodes; u++) {
				cost += by[u] * machine.cost(u, u);
				known += by[u];
				sums.load[block * nodes + u] += by[u] + unknown / nodes;
			}
			double each = known > 0 ? cost / known : 1;
			sums.local[block] += sure;
			sums.certainLocal[block] += sure;
			sums.cost[block] += sure * each + vagueReads * (1 + highest) / 2;
			sums.costLeast += sure * each + vagueReads;
			sums.costMost += sure * each + vagueReads * highest;
		}
	}
}
