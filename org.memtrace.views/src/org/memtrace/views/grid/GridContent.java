// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.grid;

/** What a {@link Grid} shows; asked on the display thread whenever something is painted, so answers must be at hand. */
public interface GridContent {
	/** Number of rows. */
	int rowCount();

	/** Text of a cell; empty while it is not known. */
	String text(int column, int row);

	/** Colour of a mark at the left of the first column, opaque ARGB; 0 for none. */
	default int color(int row) {
		return 0;
	}

	/** How far the first column is moved to the right. */
	default int indent(int row) {
		return 0;
	}
}
