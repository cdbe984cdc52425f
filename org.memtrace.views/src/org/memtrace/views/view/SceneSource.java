// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.view;

import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Scene;

/** Draws what a view shows, in any size and palette. Called on any thread, so it may only use what does not change. */
@FunctionalInterface
public interface SceneSource {
	/**
	 * The picture.
	 *
	 * @param width pixels at scale 1
	 * @param height pixels at scale 1
	 */
	Scene scene(Palette palette, int width, int height);
}
