// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * Best partition of the hierarchy alone, of the values summed over the whole window: blocks are nodes. Its {@link #model} has one
 * slice. Ties go to the coarser partition, as everywhere.
 */
public final class SpatialAggregator implements Aggregator {
	private final SpatiotemporalAggregator aggregator;

	private SpatialAggregator(SpatiotemporalAggregator aggregator) {
		this.aggregator = aggregator;
	}

	public static SpatialAggregator prepare(MicroscopicModel model, AggregationOptions options, Progress progress)
			throws CancelledException {
		return new SpatialAggregator(SpatiotemporalAggregator.prepare(model.collapsed(), options, progress));
	}

	@Override
	public MicroscopicModel model() {
		return aggregator.model();
	}

	@Override
	public BlockTree tree() {
		return aggregator.tree();
	}

	@Override
	public double rootGain() {
		return aggregator.rootGain();
	}

	@Override
	public double rootLoss() {
		return aggregator.rootLoss();
	}

	@Override
	public double gain(int i, int firstSlice, int endSlice) {
		return aggregator.gain(i, firstSlice, endSlice);
	}

	@Override
	public double loss(int i, int firstSlice, int endSlice) {
		return aggregator.loss(i, firstSlice, endSlice);
	}

	@Override
	public Partition partition(double p, Progress progress) throws CancelledException {
		return aggregator.partition(p, progress);
	}
}
