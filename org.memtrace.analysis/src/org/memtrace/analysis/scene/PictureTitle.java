// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.scene;

import java.util.List;

import org.memtrace.analysis.colour.Palette;

/** The two lines above a picture in a file. */
public final class PictureTitle {
	private PictureTitle() {
	}

	/**
	 * Draws title and warning, and below them what the picture shows.
	 *
	 * @param f height of the normal font in pixels
	 * @param pad distance from the edges
	 * @param pictureWidth in pixels
	 * @param warning right of the title; null or empty: none
	 */
	public static void draw(List<Shape> shapes, Palette palette, TextMeter meter, double f, double pad, double pictureWidth, String title,
			String warning, String below) {
		double width = pictureWidth - 2 * pad;
		String right = warning == null ? "" : meter.fit(warning, f, false, width * 0.45);
		double used = right.isEmpty() ? 0 : meter.width(right, f, false) + 2 * f;
		shapes.add(new Shape.Text(pad, pad + 1.05 * f, meter.fit(title, 1.3 * f, true, width - used), 1.3 * f, true, palette.text(),
				Shape.Anchor.START, false));
		if (!right.isEmpty()) {
			shapes.add(new Shape.Text(pictureWidth - pad, pad + 1.05 * f, right, f, false, palette.warning(), Shape.Anchor.END,
					false));
		}
		shapes.add(new Shape.Text(pad, pad + 2.7 * f, meter.fit(below, f, false, width), f, false, palette.mutedText(),
				Shape.Anchor.START, false));
	}
}
