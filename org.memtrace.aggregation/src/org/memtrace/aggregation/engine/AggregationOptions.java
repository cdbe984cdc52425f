// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.Arrays;

import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.MicroscopicModel;

/**
 * How a model is aggregated.
 *
 * @param height what the limit is compared with, null for the number of rows
 * @param minHeight resolution limit: subtrees with less are kept whole (see {@link BlockTree}); 0 for none
 * @param equalTypes whether each type is divided by its total, so that frequent types do not dictate the partition; the
 *            reference behaviour is false
 */
public record AggregationOptions(BlockTree.Measure height, double minHeight, boolean equalTypes) {
	/** No limit, types as they are. */
	public static final AggregationOptions EXACT = new AggregationOptions(null, 0, false);
	/** Memory for tables that a picture may take by default. */
	public static final long DEFAULT_BUDGET_BYTES = 400_000_000;
	/** Memory for tables of an answer to which detail matters more; not a share of the heap, on which no answer may depend. */
	public static final long DETAIL_BUDGET_BYTES = 2_000_000_000;

	/** Steps of the programme for one p that a picture may take: about a second. */
	private static final double DEFAULT_STEPS = 4e9;

	public AggregationOptions withMinRows(int rows) {
		return new AggregationOptions(null, rows > 1 ? rows : 0, equalTypes);
	}

	public AggregationOptions withEqualTypes(boolean equal) {
		return new AggregationOptions(height, minHeight, equal);
	}

	/**
	 * What values are multiplied by, for each type: 1, or one divided by the sum of the type's absolute values; 0 for a type without values.
	 */
	static double[] typeScales(MicroscopicModel model, boolean equalTypes) {
		double[] scale = new double[model.typeCount()];
		if (!equalTypes) {
			Arrays.fill(scale, 1);
			return scale;
		}
		for (int c = 0; c < model.valueCount(); c++) {
			scale[model.type(c)] += Math.abs(model.value(c));
		}
		for (int k = 0; k < scale.length; k++) {
			scale[k] = scale[k] > 0 ? 1 / scale[k] : 0;
		}
		return scale;
	}

	/** The tree of blocks for these options. */
	BlockTree tree(Hierarchy hierarchy) {
		return BlockTree.of(hierarchy, height == null ? hierarchy::weight : height, minHeight);
	}

	/**
	 * The limit for a picture: no row of blocks is thinner than what can be shown, the tables fit into memory, and one p takes
	 * about a second at most.
	 *
	 * @param hierarchy what is shown
	 * @param height height of a range of leaves in the picture, any unit; null for equally high leaves
	 * @param minHeight smallest height that can be told apart, in that unit; 0 when only memory is the limit
	 * @param slices number of slices
	 * @param budgetBytes memory for the tables
	 */
	public static AggregationOptions forPicture(Hierarchy hierarchy, BlockTree.Measure height, double minHeight, int slices,
			long budgetBytes) {
		double stepsPerNode = Math.pow(slices, 3) / 6;
		return limited(hierarchy, height, minHeight, Math.min(budgetBytes / bytesPerNode(slices), DEFAULT_STEPS / stepsPerNode));
	}

	/**
	 * The limit for a picture of two hierarchies: as {@link #forPicture}, where each node has a value for each node of the second one.
	 *
	 * @param columns nodes of the second hierarchy
	 */
	public static AggregationOptions forPairs(Hierarchy hierarchy, BlockTree.Measure height, double minHeight, int columns, long budgetBytes) {
		return limited(hierarchy, height, minHeight, (double) budgetBytes / bytesPerRow(columns));
	}

	/** The least limit from {@code minHeight} on with which a tree has at most so many nodes. */
	private static AggregationOptions limited(Hierarchy hierarchy, BlockTree.Measure height, double minHeight, double most) {
		BlockTree.Measure measure = height == null ? hierarchy::weight : height;
		double min = minHeight;
		while (min < measure.of(0, hierarchy.leafCount()) && BlockTree.of(hierarchy, measure, min).size() > most) {
			min = min > 0 ? 1.5 * min : measure.of(0, hierarchy.leafCount()) / 1e6;
		}
		return new AggregationOptions(measure, min, false);
	}

	private static double bytesPerNode(int slices) {
		return 5.5 * slices * (slices + 1) + 8.0 * slices + 128;
	}

	/** Upper bound of the bytes of the tables with these options. */
	public long tableBytes(Hierarchy hierarchy, int slices) {
		return (long) (tree(hierarchy).size() * bytesPerNode(slices));
	}

	/** Bytes of a node of the rows where there are two hierarchies: gain, sum and decision for each column, and what the programme sums up. */
	static long bytesPerRow(int columns) {
		return 64 + 29L * columns;
	}
}
