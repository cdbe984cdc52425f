// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.scene;

/**
 * Something to paint. Coordinates are pixels of a picture at scale 1, x to the right, y down. Colours are opaque or transparent
 * ARGB numbers; 0 means not painted.
 */
public sealed interface Shape {
	/**
	 * A rectangle.
	 *
	 * @param fill colour of the inside, 0 for none
	 * @param stroke colour of the border, drawn 1 px wide inside of the rectangle, 0 for none
	 */
	record Rect(double x, double y, double width, double height, int fill, int stroke) implements Shape {
	}

	/** How hatched blocks are marked. */
	enum HatchStyle {
		/** Small parts that differ in memory only: lines like a backslash. */
		IN_SPACE,
		/** Small parts that differ in time too: groups of lines like a slash. */
		IN_TIME_TOO
	}

	/**
	 * Hatching inside of a rectangle, clipped to it. The lines are aligned to the origin of the picture: {@code IN_SPACE} has
	 * y - x = 8 k, {@code IN_TIME_TOO} has x + y = {@link #GROUP_PERIOD} k + each of {@link #GROUP_OFFSETS}.
	 */
	record Hatch(double x, double y, double width, double height, HatchStyle style, int color) implements Shape {
		public static final int LINE_PERIOD = 8;
		public static final int GROUP_PERIOD = 14;
		/** Groups of three lines. */
		static final int[] GROUP_OFFSETS = {0, 3, 6};
		public static final double LINE_WIDTH = 1;

		/** Offsets of the lines of a group. */
		public static int[] groupOffsets() {
			return GROUP_OFFSETS.clone();
		}
	}

	record Line(double x1, double y1, double x2, double y2, int color, double width, boolean dashed) implements Shape {
	}

	/**
	 * A closed polygon: sectors of a pie, areas, arrow heads.
	 *
	 * @param points x and y of the corners in turn, at least three corners
	 * @param fill colour of the inside, 0 for none
	 * @param stroke colour of the border, 1 px wide and centred on the edges, 0 for none
	 */
	record Polygon(double[] points, int fill, int stroke) implements Shape {
		public Polygon {
			if (points.length < 6 || points.length % 2 != 0) {
				throw new IllegalArgumentException(points.length + " coordinates are no polygon");
			}
		}

		/** Whether a point is inside (even-odd rule). */
		public boolean contains(double x, double y) {
			boolean inside = false;
			for (int i = 0, j = points.length - 2; i < points.length; j = i, i += 2) {
				if (points[i + 1] > y != points[j + 1] > y && x < (points[j] - points[i]) * (y - points[i + 1])
						/ (points[j + 1] - points[i + 1]) + points[i]) {
					inside = !inside;
				}
			}
			return inside;
		}
	}

	/** Which point of a text its x is. */
	enum Anchor {
		START, MIDDLE, END
	}

	/**
	 * One line of text.
	 *
	 * @param x see {@code anchor}
	 * @param y baseline
	 * @param size height of the font in pixels
	 * @param vertical whether it is turned to read upwards, about (x, y)
	 */
	record Text(double x, double y, String text, double size, boolean bold, int color, Anchor anchor, boolean vertical)
			implements Shape {
	}
}
