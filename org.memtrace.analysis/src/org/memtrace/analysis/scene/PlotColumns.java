// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.scene;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Which plots lie above each other, and the edges that they then have in common: the rightmost of their left edges and the leftmost of
 * their right ones, so that names and numbers have room in all of them.
 */
public final class PlotColumns {
	/** Views whose edges differ by less lie in one column: frames of windows differ by some pixels. */
	private static final int SAME = 6;
	/** Part of its own width that a plot keeps at least; where it would be less, each has its own edges. */
	private static final double LEAST_SHARE = 0.5;

	/**
	 * A plot with the view that it is in; all in pixels of the screen.
	 *
	 * @param viewLeft left edge of the view
	 * @param viewRight right edge of the view
	 * @param left left edge that the plot has alone
	 * @param right right edge that the plot has alone
	 */
	public record Plot(int viewLeft, int viewRight, int left, int right) {
	}

	/** Edges of a plot in pixels of the screen. */
	public record Edges(int left, int right) {
	}

	private PlotColumns() {
	}

	/** The edges of each plot, in the order of the plots. */
	public static List<Edges> edges(List<Plot> plots) {
		List<Edges> result = new ArrayList<>();
		plots.forEach(p -> result.add(new Edges(p.left, p.right)));
		List<Integer> rest = new ArrayList<>();
		for (int i = 0; i < plots.size(); i++) {
			rest.add(i);
		}
		rest.sort(Comparator.comparingInt((Integer i) -> plots.get(i).viewLeft).thenComparingInt(i -> plots.get(i).viewRight));
		while (!rest.isEmpty()) {
			Plot first = plots.get(rest.getFirst());
			List<Integer> column = rest.stream().filter(i -> Math.abs(plots.get(i).viewLeft - first.viewLeft) < SAME
					&& Math.abs(plots.get(i).viewRight - first.viewRight) < SAME).toList();
			rest.removeAll(column);
			int left = column.stream().mapToInt(i -> plots.get(i).left).max().orElseThrow();
			int right = column.stream().mapToInt(i -> plots.get(i).right).min().orElseThrow();
			int widest = column.stream().mapToInt(i -> plots.get(i).right - plots.get(i).left).max().orElseThrow();
			if (right - left >= LEAST_SHARE * widest) {
				column.forEach(i -> result.set(i, new Edges(left, right)));
			}
		}
		return result;
	}
}
