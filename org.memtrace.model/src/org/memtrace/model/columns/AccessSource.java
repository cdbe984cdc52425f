// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.columns;

import java.util.Set;

import org.memtrace.model.MemtraceException;

/**
 * All accesses of a trace, in chunks: chunk {@code c} holds the rows of a range of leaves, these ranges do not overlap but for a leaf
 * whose rows fill more than one chunk (its rows then go on in the next one, in order), and they ascend. So a subtree is a range of
 * chunks, and sums over leaves add up chunk by chunk. All methods may be called from any thread.
 */
public interface AccessSource {
	/** Number of chunks. */
	int chunks();

	/** What is known of a chunk. */
	ChunkInfo info(int chunk);

	/** Number of rows of all chunks. */
	long rows();

	/**
	 * Reads columns of a chunk.
	 *
	 * @param wanted columns to be filled in; others may be, too
	 * @param into gets the rows; what it had is lost
	 * @throws DamagedChunkException when the chunk cannot be trusted; {@code into} then has no rows
	 */
	void read(int chunk, Set<AccessColumn> wanted, AccessChunk into) throws MemtraceException;

	/**
	 * What {@link #read} refused so far, each chunk once. Whoever skips damaged chunks asks in the end, and tells it with the answer.
	 */
	default Losses losses() {
		return Losses.NONE;
	}
}
