// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * How a user wants a Gantt chart to look. Immutable.
 *
 * @param rowHeight pixels
 * @param labelWidth pixels of the labels that the user has chosen, -1 none
 * @param hiddenTypes names of types that are not drawn
 * @param links whether links are drawn
 * @param sameScale whether bars of all rows have the same scale
 * @param values whether bars show their values
 */
public record GanttStyle(double rowHeight, double labelWidth, Set<String> hiddenTypes, boolean links, boolean sameScale,
		boolean values) {
	public static final GanttStyle DEFAULT = new GanttStyle(18, -1, Set.of(), true, false, true);
	private static final double[] ROW_HEIGHTS = { 4, 6, 9, 13, 18, 24, 32, 44 };

	public GanttStyle {
		hiddenTypes = Set.copyOf(hiddenTypes);
	}

	/** Rows some steps higher, or lower when it is negative. */
	public GanttStyle higher(int steps) {
		int i = 0;
		while (i < ROW_HEIGHTS.length - 1 && ROW_HEIGHTS[i] < rowHeight) {
			i++;
		}
		double height = ROW_HEIGHTS[Math.clamp((long) i + steps, 0, ROW_HEIGHTS.length - 1)];
		return new GanttStyle(height, labelWidth, hiddenTypes, links, sameScale, values);
	}

	public GanttStyle withLabelWidth(double width) {
		return new GanttStyle(rowHeight, width, hiddenTypes, links, sameScale, values);
	}

	public GanttStyle withHiddenTypes(Set<String> names) {
		return new GanttStyle(rowHeight, labelWidth, names, links, sameScale, values);
	}

	/** Hides a type that is shown, shows one that is hidden. */
	public GanttStyle toggleType(String name) {
		Set<String> hidden = new TreeSet<>(hiddenTypes);
		if (!hidden.remove(name)) {
			hidden.add(name);
		}
		return withHiddenTypes(hidden);
	}

	public GanttStyle withLinks(boolean on) {
		return new GanttStyle(rowHeight, labelWidth, hiddenTypes, on, sameScale, values);
	}

	public GanttStyle withSameScale(boolean on) {
		return new GanttStyle(rowHeight, labelWidth, hiddenTypes, links, on, values);
	}

	public GanttStyle withValues(boolean on) {
		return new GanttStyle(rowHeight, labelWidth, hiddenTypes, links, sameScale, on);
	}

	/** Indices of the types that are not drawn. */
	public BitSet hidden(List<GanttType> types) {
		BitSet hidden = new BitSet();
		for (int i = 0; i < types.size(); i++) {
			hidden.set(i, hiddenTypes.contains(types.get(i).name()));
		}
		return hidden;
	}
}
