// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.placement;

/**
 * What is summed up of a part of memory for one policy. Accesses are <em>certain</em> when they are local or remote whoever of the
 * users that were seen made them; others have an estimate, in proportion to what was seen of each user. Changed by one thread at a time.
 */
final class PlacementSums {
	/** Equal parts of the time of a trace. */
	static final int BLOCKS = 60;

	/** By block. */
	final double[] certainLocal = new double[BLOCKS];
	final double[] certainRemote = new double[BLOCKS];
	/** Estimates; what has none is in neither of them. */
	final double[] local = new double[BLOCKS];
	final double[] remote = new double[BLOCKS];
	/** Estimate of the cost, in accesses to near memory; what has no estimate counts with the middle of its bounds. */
	final double[] cost = new double[BLOCKS];
	/** Bounds of the whole cost. */
	double costLeast;
	double costMost;
	/** Variance of the remote accesses, when homes of pages are random. */
	double variance;
	/** Accesses to each node: [block * nodes + node]. */
	final double[] load;

	PlacementSums(int nodes) {
		load = new double[BLOCKS * nodes];
	}

	void add(PlacementSums o) {
		add(certainLocal, o.certainLocal);
		add(certainRemote, o.certainRemote);
		add(local, o.local);
		add(remote, o.remote);
		add(cost, o.cost);
		add(load, o.load);
		costLeast += o.costLeast;
		costMost += o.costMost;
		variance += o.variance;
	}

	static void add(double[] a, double[] b) {
		for (int i = 0; i < a.length; i++) {
			a[i] += b[i];
		}
	}

	static double sum(double[] a, int from, int to) {
		double sum = 0;
		for (int i = from; i < to; i++) {
			sum += a[i];
		}
		return sum;
	}

	/** The whole cost. */
	double cost() {
		return sum(cost, 0, BLOCKS);
	}

	/** Accesses to each node in blocks {@code [from, to)}. */
	double[] load(int from, int to) {
		double[] sum = new double[load.length / BLOCKS];
		for (int i = from * sum.length; i < to * sum.length; i++) {
			sum[i % sum.length] += load[i];
		}
		return sum;
	}

	/** The busiest node divided by the mean of all; 1 when all have the same, or nothing. */
	static double imbalance(double[] load) {
		double sum = 0;
		double most = 0;
		for (double l : load) {
			sum += l;
			most = Math.max(most, l);
		}
		return sum == 0 ? 1 : most * load.length / sum;
	}
}
