// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.columns;

/**
 * What is known of a chunk without reading it.
 *
 * @param rows number of rows, at least 1
 * @param producerFrom id of the first leaf that may have rows in it
 * @param producerTo id after the last leaf that may have rows in it
 * @param startNs earliest start of a row
 * @param endNs latest end of a row
 * @param reads sum of the reads of all rows, {@link #NOT_KNOWN} if the source does not tell
 * @param writes sum of the writes of all rows, likewise
 * @param firstRow number of rows in the chunks before
 */
public record ChunkInfo(int rows, int producerFrom, int producerTo, long startNs, long endNs, long reads, long writes,
		long firstRow) {
	/** Of sums. */
	public static final long NOT_KNOWN = -1;

	/** Whether a row may begin before {@code toNs} and end after {@code fromNs}, on a producer of a range. */
	public boolean mayHave(long fromNs, long toNs, int fromProducer, int toProducer) {
		return startNs < toNs && endNs > fromNs && producerFrom < toProducer && producerTo > fromProducer;
	}
}
