// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.scene;

/** Width of texts, so that they can be placed without overlap. */
@FunctionalInterface
public interface TextMeter {
	/** Widths of DejaVu Sans, one of the widest fonts in use: texts that fit with it fit with others. */
	TextMeter DEFAULT = DejaVuWidths::width;

	/**
	 * Width in pixels.
	 *
	 * @param size height of the font in pixels
	 */
	double width(String text, double size, boolean bold);

	/** The text, or its beginning and an ellipsis, at most {@code width} wide; empty when nothing fits. */
	default String fit(String text, double size, boolean bold, double width) {
		if (width(text, size, bold) <= width) {
			return text;
		}
		for (int n = text.length() - 1; n >= 2; n--) {
			String cut = text.substring(0, n).stripTrailing() + "…";
			if (width(cut, size, bold) <= width) {
				return cut;
			}
		}
		return "";
	}

	/** The text with its middle left out where needed: names often differ at their ends. */
	default String fitMiddle(String text, double size, boolean bold, double width) {
		if (width(text, size, bold) <= width) {
			return text;
		}
		for (int n = text.length() - 1; n >= 4; n--) {
			String cut = text.substring(0, (n + 1) / 2) + "…" + text.substring(text.length() - n / 2);
			if (width(cut, size, bold) <= width) {
				return cut;
			}
		}
		return "";
	}
}
