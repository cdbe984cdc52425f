// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import java.util.List;

import org.memtrace.aggregation.ModelType;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Shape;

/** The pattern of memory of which it is not known whether it is shared: one of its own, as its colour alone may be that of a mixture. */
final class NotKnown {
	/** Smallest side of what is hatched, in pixels. */
	private static final double LEAST = 3;

	private NotKnown() {
	}

	/** The pattern of a type; null for what is known. */
	static Shape.HatchStyle style(ModelType.Role role) {
		return switch (role) {
		case NOT_KNOWN_READ -> Shape.HatchStyle.NOT_KNOWN_READ;
		case NOT_KNOWN_WRITE -> Shape.HatchStyle.NOT_KNOWN_WRITE;
		default -> null;
		};
	}

	/** Hatches a rectangle of which half or more is not known. */
	static void hatch(List<Shape> shapes, List<ModelType> types, int[] eighths, double x, double y, double width, double height,
			Palette palette) {
		int share = 0;
		Shape.HatchStyle style = null;
		for (int k = 0; k < eighths.length; k++) {
			Shape.HatchStyle own = style(types.get(k).role());
			if (own != null && eighths[k] > 0) {
				share += eighths[k];
				style = own; // the writes come last
			}
		}
		if (2 * share >= Shape.Mosaic.EIGHTHS && width >= LEAST && height >= LEAST) {
			shapes.add(new Shape.Hatch(x, y, width, height, style, palette.hatch()));
		}
	}
}
