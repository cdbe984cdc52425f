// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.view;

import java.util.Map;
import java.util.function.Supplier;

/**
 * What a view shows, to be written to files. Made on the display thread, written on another one: it refers only to what does
 * not change.
 *
 * @param name what it is, for a file name and a title
 * @param picture the picture; null when there are only numbers
 * @param csv the numbers; null when there are none
 * @param parameters everything that one must know to make it again, by name; sorted when written
 */
public record Snapshot(String name, SceneSource picture, Supplier<String> csv, Map<String, String> parameters) {
	public Snapshot {
		parameters = Map.copyOf(parameters);
	}

	/** A name without anything that a file system or shell could stumble over. */
	public static String fileName(String name) {
		return name.replaceAll("[^A-Za-z0-9._-]+", "-");
	}
}
