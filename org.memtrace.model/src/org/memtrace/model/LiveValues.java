// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import java.util.List;
import java.util.Map;

/**
 * The last values of monitors, while they are written. Immutable.
 *
 * @param topology the machine as hwloc writes it, null when the trace does not tell it until now
 * @param properties how variables are scaled: {@link TraceInfo#PROPERTY_SCALE}
 * @param series the values, by place and variable, in the order in which they appeared
 * @param endNs time of the newest sample since the begin of the monitors, 0 before the first one
 * @param samples samples since the reading began, of the place and variable that has most of them
 * @param skipped lines that were not used
 * @param problem what was wrong with the first of them, empty when there are none
 */
public record LiveValues(byte[] topology, Map<String, String> properties, List<Series> series, long endNs, long samples, long skipped,
		String problem) {
	/**
	 * The values of a variable at a place, in the order of time. The arrays are not changed by anybody.
	 *
	 * @param place type and logical index in hwloc, such as {@code PU:3}
	 * @param startNs of each value the time of the sample before
	 * @param endNs of each value the time of its sample
	 */
	public record Series(String place, String variable, long[] startNs, long[] endNs, double[] values) {
	}

	/** Before the first one. */
	public static LiveValues none() {
		return new LiveValues(null, Map.of(), List.of(), 0, 0, 0, "");
	}
}
