// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

/**
 * Turns the wheel into a zoom in space. A picture always shows a whole subtree, a wheel turns in small steps: this keeps
 * the span of rows that the turns so far ask for, so that the picture changes to a smaller producer as soon as one
 * holds the whole span, and to a larger one as soon as the span is larger than the one shown. Rows are leaves of the
 * shown producer, as fractions of the picture from the top.
 */
public final class SpaceZoom {
	private double top;
	private double bottom = 1;

	/** Forgets the turns: the picture shows another producer. */
	public void reset() {
		top = 0;
		bottom = 1;
	}

	/** Top of the span in fractions of the picture; negative when it begins above. */
	public double top() {
		return top;
	}

	/** Bottom of the span; above 1 when it ends below the picture. */
	public double bottom() {
		return bottom;
	}

	/**
	 * A turn of the wheel.
	 *
	 * @param at pointer, as a fraction of the picture from the top; it keeps its place in the span
	 * @param factor new height of the span over the old, below 1 zooms in
	 */
	public void turn(double at, double factor) {
		top = at + (top - at) * factor;
		bottom = at + (bottom - at) * factor;
	}

	/** Whether the turns ask for more than the shown producer. */
	public boolean wantsParent() {
		return bottom - top > 1.0001;
	}
}
