// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import java.util.Arrays;

import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.analysis.text.NodeNames;

/** How high the rows of a picture are. */
public enum RowHeights {
	/** All rows in the height that there is: structures as high as they have pages, small ones with accesses higher. */
	READABLE("readable"),
	/** All rows in the height that there is, all pages equally high. */
	PROPORTIONAL("proportional"),
	/** All pages equally high, but each structure at least as high as a line; the picture is as high as that needs. */
	LINES("lines");

	private final String id;

	RowHeights(String id) {
		this.id = id;
	}

	/** Name in options and files. */
	public String id() {
		return id;
	}

	/** By id; null if there is none. */
	public static RowHeights byId(String id) {
		return Arrays.stream(values()).filter(h -> h.id.equals(id)).findFirst().orElse(null);
	}

	/**
	 * The heights of a hierarchy.
	 *
	 * @param scale of {@link #LINES}: how much higher the pages are than at first; more than 0
	 */
	public RowLayout layout(Hierarchy hierarchy, NodeNames names, double scale) {
		return switch (this) {
		case READABLE -> RowLayout.of(hierarchy, names);
		case PROPORTIONAL -> RowLayout.proportional(hierarchy, names);
		case LINES -> RowLayout.lines(hierarchy, names, scale);
		};
	}
}
