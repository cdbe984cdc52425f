// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

/** How sure a finding is: by how far its thresholds are passed, by the number of intervals, and by what the recorder guarantees. */
public enum Confidence {
	LOW, MEDIUM, HIGH;

	/** Name for a person and for JSON. */
	public String id() {
		return name().toLowerCase(java.util.Locale.ROOT);
	}
}
