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
 * @param lost accesses known to be lost
 * @param unattributed pages without a thread
 * @param event what happened (governor change, fork, stop), empty if nothing
 */
public record Interval(int image, long startNs, long endNs, long targetNs, long faults, long lost, long unattributed,
		String event) {
}
