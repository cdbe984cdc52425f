// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.scene;

/**
 * Pixels of a picture beside its plot: what names and numbers need there, or what they get at least, so that plots that lie above each
 * other begin and end at the same x.
 *
 * @param left from the left edge of the picture to the plot
 * @param right from the plot to the right edge of the picture
 */
public record PlotMargins(int left, int right) {
	public static final PlotMargins NONE = new PlotMargins(0, 0);

	/** The larger one of each side: what is given, but never less than what is needed. */
	public PlotMargins atLeast(PlotMargins o) {
		return new PlotMargins(Math.max(left, o.left), Math.max(right, o.right));
	}
}
