// Copyright memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

/**
 * How a model is aggregated.
 *
 * @param minRows resolution limit: subtrees with fewer rows are kept whole (see {@link BlockTree}); 0 or 1 for none
 * @param equalTypes whether each type is divided by its total, so that frequent types do not dictate the partition; the
 *            reference behaviour is false
 */
public record AggregationOptions(int minRows, boolean equalTypes) {
	/** No limit, types as they are. */
	public static final AggregationOptions EXACT = new AggregationOptions(0, false);

	public AggregationOptions withMinRows(int rows) {
		return new AggregationOptions(rows, equalTypes);
	}

	/**
	 * The limit for a picture: no row of blocks is thinner than what can be shown, and the tables fit into memory.
	 *
	 * @param hierarchy what is shown
	 * @param slices number of slices
	 * @param rows number of rows that can be told apart, for example the height in pixels
	 * @param budgetBytes memory for the tables
	 */
	public static AggregationOptions forPicture(Hierarchy hierarchy, int slices, int rows, long budgetBytes) {
		long total = hierarchy.weight(0);
		long min = Math.max(1, (total + rows - 1) / Math.max(1, rows));
		// about two nodes per row, one triangle of doubles each
		long perRow = 2 * (4L * slices * (slices + 1) + 8L * slices + 128);
		while (total / min * perRow > budgetBytes && min < total) {
			min *= 2;
		}
		return new AggregationOptions((int) Math.min(Integer.MAX_VALUE, min), false);
	}
}
