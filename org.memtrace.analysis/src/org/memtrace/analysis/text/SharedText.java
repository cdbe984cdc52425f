// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import java.util.Locale;

/** Shares of shared accesses in words, where a part is not known: never as if that part were private. */
public final class SharedText {
	private SharedText() {
	}

	/**
	 * One share, or the limits between which it is: {@code 12.0 %}, {@code 12 to 60 %}, {@code not known}.
	 *
	 * @param sharedPercent accesses that met another thread
	 * @param notKnownPercent accesses of which it is not known
	 */
	public static String of(double sharedPercent, double notKnownPercent) {
		if (notKnownPercent < 0.05) {
			return Units.percent(sharedPercent);
		}
		if (notKnownPercent > 99.95) {
			return "not known";
		}
		String low = whole(sharedPercent);
		String high = whole(sharedPercent + notKnownPercent);
		return low.equals(high) ? Units.percent(sharedPercent) : low + " to " + high + " %";
	}

	private static String whole(double percent) {
		return String.format(Locale.ROOT, "%.0f", percent);
	}
}
