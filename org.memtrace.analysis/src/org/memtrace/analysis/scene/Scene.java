// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.scene;

import java.util.List;

/**
 * A picture as shapes, to be painted in order on a background.
 *
 * @param width pixels
 * @param height pixels
 * @param background ARGB
 * @param shapes what to paint
 */
public record Scene(int width, int height, int background, List<Shape> shapes) {
	public Scene {
		shapes = List.copyOf(shapes);
	}
}
