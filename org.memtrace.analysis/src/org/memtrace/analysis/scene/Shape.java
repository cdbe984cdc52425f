// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.scene;

import java.util.List;

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
		IN_TIME_TOO,
		/** Of what is read it is not known whether it is shared: lines like a slash. */
		NOT_KNOWN_READ,
		/** The same of what is written: lines like a slash and lines like a backslash. */
		NOT_KNOWN_WRITE
	}

	/**
	 * Hatching inside of a rectangle, clipped to it. The lines are aligned to the origin of the picture: {@code IN_SPACE} has
	 * y - x = 8 k, {@code IN_TIME_TOO} has x + y = {@link #GROUP_PERIOD} k + each of {@link #GROUP_OFFSETS}. What is not known has
	 * x + y = 6 k, and y - x = 6 k.
	 */
	record Hatch(double x, double y, double width, double height, HatchStyle style, int color) implements Shape {
		public static final int LINE_PERIOD = 8;
		public static final int GROUP_PERIOD = 14;
		/** Groups of three lines. */
		static final int[] GROUP_OFFSETS = {0, 3, 6};
		public static final double LINE_WIDTH = 1;

		private static final int NOT_KNOWN_PERIOD = 6;

		/** Distance of lines like a backslash; 0: there are none. */
		public int backslashPeriod() {
			return switch (style) {
			case IN_SPACE -> LINE_PERIOD;
			case NOT_KNOWN_WRITE -> NOT_KNOWN_PERIOD;
			case IN_TIME_TOO, NOT_KNOWN_READ -> 0;
			};
		}

		/** Distance of groups of lines like a slash; 0: there are none. */
		public int slashPeriod() {
			return switch (style) {
			case IN_SPACE -> 0;
			case IN_TIME_TOO -> GROUP_PERIOD;
			case NOT_KNOWN_READ, NOT_KNOWN_WRITE -> NOT_KNOWN_PERIOD;
			};
		}

		/** Offsets of the lines of a group of those like a slash. */
		public int[] slashOffsets() {
			return style == HatchStyle.IN_TIME_TOO ? GROUP_OFFSETS.clone() : new int[] {0};
		}
	}

	/**
	 * A rectangle in several colours, each with its share of the area in eighths: small squares in an order in which no row, column or
	 * diagonal belongs to one colour, so that it cannot be taken for parts of their own. Squares begin at whole pixels and are cut at the
	 * edges.
	 *
	 * @param colors of eighths, equal ones next to each other, the largest part first: {@link #EIGHTHS} opaque numbers
	 */
	record Mosaic(double x, double y, double width, double height, List<Integer> colors) implements Shape {
		public static final int EIGHTHS = 8;
		/** Which eighth has each place of a row: parts are spread as evenly as possible. */
		private static final int[] PLACE = {0, 4, 2, 6, 1, 5, 3, 7};
		/**
		 * By how much each row of squares is moved: each column has every eighth once, too. The first rows differ by odd numbers, so that two
		 * halves are a chequerboard where a rectangle has room for two or three rows only, and no parts of time; the later ones do not, so that
		 * no diagonal is longer than three squares.
		 */
		private static final int[] SHIFT = {0, 7, 4, 2, 1, 3, 5, 6};

		public Mosaic {
			colors = List.copyOf(colors);
			if (colors.size() != EIGHTHS) {
				throw new IllegalArgumentException(colors.size() + " colours");
			}
		}

		/** Side of a square: less where the rectangle is low or narrow, so that it has two of them side by side as long as it can. */
		public int cell() {
			double least = Math.min(width, height);
			return least >= 4 ? 2 : 1;
		}

		/** Colour of a square, by its column and row. */
		public int color(int column, int row) {
			return colors.get(PLACE[column + SHIFT[row & 7] & 7]);
		}

		/** The colour with the largest part. */
		public int ground() {
			return colors.get(0);
		}

		/** What is done with a part of it. */
		@FunctionalInterface
		public interface Part {
			void paint(double x0, double y0, double x1, double y1, int color);
		}

		/** Squares that do not have the colour of the ground, those side by side at once. */
		public void squares(Part part) {
			int size = cell();
			double left = Math.floor(x);
			double top = Math.floor(y);
			for (int row = 0; top + row * size < y + height; row++) {
				for (int column = 0; left + column * size < x + width;) {
					int color = color(column, row);
					int end = column + 1;
					while (left + end * size < x + width && color(end, row) == color) {
						end++;
					}
					if (color != ground()) {
						part.paint(Math.max(x, left + column * size), Math.max(y, top + row * size), Math.min(x + width, left + end * size),
								Math.min(y + height, top + (row + 1) * size), color);
					}
					column = end;
				}
			}
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
