// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.time;

import java.util.Locale;

/** How a window of time is cut into slices. */
public enum Slicing {
	/**
	 * Where much happens slices are short: by quantiles of time, accesses and first touches together ({@link TimeDensity}). For metrics
	 * that are no amounts slices are uniform.
	 */
	ADAPTIVE,
	/** All slices have the same length. */
	UNIFORM;

	/** Name on the command line. */
	public String id() {
		return name().toLowerCase(Locale.ROOT);
	}

	/** Slicing by name, or null. */
	public static Slicing byId(String id) {
		for (Slicing s : values()) {
			if (s.id().equals(id)) {
				return s;
			}
		}
		return null;
	}
}
