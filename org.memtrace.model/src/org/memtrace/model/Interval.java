// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

/**
 * One monitoring interval of the collector.
 *
 * @param image process image
 * @param startNs start
 * @param endNs end
 * @param targetNs interval length that was in force
 * @param faults accesses seen
 * @param lost accesses known to be lost, for whatever reason
 * @param unattributed pages without a thread
 * @param event what happened (governor change, fork, stop), empty if nothing
 * @param measured what the recorder measured beside
 */
public record Interval(int image, long startNs, long endNs, long targetNs, long faults, long lost, long unattributed,
		String event, Measured measured) {
	/**
	 * What the recorder measured in an interval; -1 is not known.
	 *
	 * @param closedNs when all pages were closed: accesses of the interval happened in [start, closed)
	 * @param subphases how many there were
	 * @param records records of accesses that were written
	 * @param accesses accesses that the process made, where they were counted
	 * @param residentBytes memory of the process that was resident at the end, as far as the recorder sees it
	 * @param unseenSharedBytes shared memory that the recorder could not see
	 * @param unseenFileBytes written pages of private file mappings that it could not see
	 * @param programCpuNs CPU time of the program, user and system
	 * @param monitorCpuNs CPU time of the recorder's thread
	 * @param scanNs time in which it looked for used pages
	 * @param zapNs time in which it closed pages
	 */
	public record Measured(long closedNs, long subphases, long records, long accesses, long residentBytes, long unseenSharedBytes,
			long unseenFileBytes, long programCpuNs, long monitorCpuNs, long scanNs, long zapNs) {
		/** Nothing is known. */
		public static final Measured NOTHING = new Measured(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
	}

	/** An interval of which nothing else is known. */
	public Interval(int image, long startNs, long endNs, long targetNs, long faults, long lost, long unattributed, String event) {
		this(image, startNs, endNs, targetNs, faults, lost, unattributed, event, Measured.NOTHING);
	}
}
