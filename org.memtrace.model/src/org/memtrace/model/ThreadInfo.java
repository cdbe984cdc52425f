// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

/**
 * A thread of the traced program.
 *
 * @param index index in the trace, from 0; batches refer to threads by it
 * @param image process image
 * @param taskId kernel thread id
 * @param name name of the thread, or of the program for the main thread
 * @param birthNs start, or start of the trace
 * @param deathNs end, {@link Long#MAX_VALUE} when alive at the end of the trace
 * @param startRoutine name of the start routine, empty when not known
 * @param main whether it is the main thread of its image
 */
public record ThreadInfo(int index, int image, long taskId, String name, long birthNs, long deathNs,
		String startRoutine, boolean main) {
}
