// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import org.memtrace.aggregation.model.MicroscopicModel;

/** What the blocks of a partition are of: a model, a tree, and what each candidate gains and loses. */
public interface BlockSource {
	MicroscopicModel model();

	/** Whether each type is divided by its total, as {@link AggregationOptions#equalTypes} says. */
	default boolean equalTypes() {
		return false;
	}

	/** The tree whose nodes can be blocks. */
	BlockTree tree();

	/** Node of the second hierarchy that an interval of slices is, of two hierarchies; of several the uppermost. Else -1. */
	default int columnNode(int firstSlice, int endSlice) {
		return -1;
	}

	/** Gain of the single block that is everything, in value units x bits. */
	double rootGain();

	/** Loss of the single block that is everything. */
	double rootLoss();

	/** Gain of one candidate: tree node {@code i}, slices {@code [firstSlice, endSlice)}. */
	double gain(int i, int firstSlice, int endSlice);

	/** Loss of one candidate. */
	double loss(int i, int firstSlice, int endSlice);
}
