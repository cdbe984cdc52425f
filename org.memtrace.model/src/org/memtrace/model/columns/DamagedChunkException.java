// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.columns;

import org.memtrace.model.StoreException;

/**
 * A chunk is not what was written: its checksum, or the sums in its {@link ChunkInfo}, do not fit. Its rows are lost; the other chunks
 * can be read. Whoever skips it counts it and says so.
 */
public final class DamagedChunkException extends StoreException {
	private static final long serialVersionUID = 1;
	private final int chunk;

	/** @param message one sentence that names the file, the chunk and the reason */
	public DamagedChunkException(int chunk, String message) {
		super(message);
		this.chunk = chunk;
	}

	/** Number of the chunk. */
	public int chunk() {
		return chunk;
	}
}
