// Copyright memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

/** What a value of the microscopic model counts. */
public enum Metric {
	/** Recorded reads and writes; those of an interval are spread over the slices it overlaps, in proportion. */
	ACCESSES("accesses"),
	/** Recorded reads, spread likewise. */
	READS("reads"),
	/** Recorded writes, spread likewise. */
	WRITES("writes"),
	/** Access records (page, thread, interval), each counted once in the slice in which it starts. */
	EVENTS("records"),
	/** Number of distinct threads that use the page in the slice. Sums over pages or slices are thread uses. */
	THREADS("thread uses");

	private final String unit;

	Metric(String unit) {
		this.unit = unit;
	}

	/** Plural noun for axes and legends. */
	public String unit() {
		return unit;
	}
}
