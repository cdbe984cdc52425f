// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.placement;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

import org.memtrace.analysis.machine.MachineTopology;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.model.MemtraceException;

/**
 * The machine that a question about placement is asked for: its NUMA nodes, numbered from 0 in the order of the operating system, which
 * of them are near to each CPU, what an access from each to each costs, and, where it is not the machine of the recording, on which CPUs
 * the threads are. Immutable.
 */
public final class PlacementMachine {
	/** Sets of nodes are the bits of a long. */
	static final int MOST_NODES = 64;

	/** How threads are put on the CPUs of a machine on which the program did not run; the words are those of OMP_PROC_BIND. */
	public enum Binding {
		/** The CPUs that were recorded. */
		RECORDED,
		/** Threads in equal parts over all CPUs: thread i of T is on CPU i * P / T of P. */
		SPREAD,
		/** A thread on each CPU, one after the other: thread i is on CPU i of P, and those after the last one begin again. */
		CLOSE
	}

	private final MachineTopology topology;
	private final int[] nodes;
	/** Nodes that are near to each CPU, a bit each. */
	private final long[] near;
	private final boolean[][] isNear;
	/** [node of the CPU][node of the page], 1 is the cheapest one. */
	private final double[][] cost;
	private final String costs;
	private final Binding binding;

	/**
	 * A machine.
	 *
	 * @param distances from node to node in the order of their numbers, in any unit; null: 10 on a node and 20 between nodes
	 * @param costs what the distances are, for a person
	 */
	public PlacementMachine(MachineTopology topology, double[][] distances, String costs, Binding binding) throws MemtraceException {
		this.topology = topology;
		this.binding = binding;
		nodes = topology.nodes().stream().mapToInt(n -> Math.max(0, n.osIndex())).sorted().distinct().toArray();
		if (nodes.length == 0 || nodes[nodes.length - 1] >= MOST_NODES) {
			throw new MemtraceException("the machine has " + (nodes.length == 0 ? "no NUMA node" : "a NUMA node " + nodes[nodes.length - 1])
					+ "; placement is predicted for nodes 0 to " + (MOST_NODES - 1));
		}
		near = new long[topology.root().cpus().length()];
		for (MachineObject node : topology.nodes()) {
			BitSet cpus = node.cpus();
			for (int cpu = cpus.nextSetBit(0); cpu >= 0 && cpu < near.length; cpu = cpus.nextSetBit(cpu + 1)) {
				near[cpu] |= 1L << index(node.osIndex());
			}
		}
		isNear = new boolean[nodes.length][nodes.length];
		cost = new double[nodes.length][nodes.length];
		double least = Double.MAX_VALUE;
		for (int a = 0; a < nodes.length; a++) {
			for (int b = 0; b < nodes.length; b++) {
				isNear[a][b] = shareCpus(a, b);
				cost[a][b] = distances == null ? isNear[a][b] ? 10 : 20 : distances[a][b];
				least = Math.min(least, cost[a][b]);
			}
		}
		for (double[] row : cost) {
			for (int b = 0; b < row.length; b++) {
				row[b] /= least;
			}
		}
		this.costs = costs;
	}

	/** Whether CPUs that are near to one node are near to another one: DRAM and HBM of a package. */
	private boolean shareCpus(int a, int b) {
		for (long set : near) {
			if ((set >> a & 1) != 0 && (set >> b & 1) != 0) {
				return true;
			}
		}
		return a == b;
	}

	public MachineTopology topology() {
		return topology;
	}

	/** Number of NUMA nodes. */
	public int nodes() {
		return nodes.length;
	}

	/** The number that the operating system gives a node. */
	public int osNode(int index) {
		return nodes[index];
	}

	/** The index of a node, -1 when the machine has none with this number. */
	public int index(int osNode) {
		return Math.max(-1, Arrays.binarySearch(nodes, Math.max(osNode, -1)));
	}

	/** Nodes near to a CPU, a bit each; 0: the machine has no such CPU. */
	long near(int cpu) {
		return cpu >= 0 && cpu < near.length ? near[cpu] : 0;
	}

	/** Whether memory of a node is near to the CPUs of another one. */
	boolean isLocal(int user, int home) {
		return isNear[user][home];
	}

	/** What an access costs; that to the nearest memory of the machine costs 1. */
	double cost(int user, int home) {
		return cost[user][home];
	}

	/** What the costs are, for a person. */
	public String costs() {
		return costs;
	}

	public Binding binding() {
		return binding;
	}

	/** Whether the CPUs of the threads are those that were recorded. */
	public boolean isRecorded() {
		return binding == Binding.RECORDED;
	}

	/**
	 * The node of each thread.
	 *
	 * @param active threads with accesses, ascending by index
	 * @param threads number of all threads
	 * @return by thread its node, -1 for those that are not active
	 */
	int[] place(List<Integer> active, int threads) {
		int[] at = new int[threads];
		Arrays.fill(at, -1);
		List<MachineObject> pus = topology.pus();
		for (int i = 0; i < active.size(); i++) {
			int number = binding == Binding.CLOSE ? i % pus.size() : (int) ((long) i * pus.size() / active.size());
			long set = near(pus.get(number).osIndex());
			at[active.get(i)] = set == 0 ? -1 : Long.numberOfTrailingZeros(set);
		}
		return at;
	}

	/** On which CPUs the threads are, for a person. */
	public String rule() {
		return switch (binding) {
		case RECORDED -> "Threads are on the CPUs on which they were recorded.";
		case SPREAD -> "Threads are put on the CPUs of this machine in equal parts (OMP_PROC_BIND=spread): thread i of T is on CPU i * P / T of P.";
		case CLOSE -> "Threads are put on the CPUs of this machine one after the other (OMP_PROC_BIND=close): thread i is on CPU i of P.";
		};
	}
}
