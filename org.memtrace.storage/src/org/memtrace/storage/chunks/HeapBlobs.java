// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.util.ArrayList;
import java.util.List;

/** Chunks on the heap. Written by one thread, then read by any. */
public final class HeapBlobs implements Blobs, RowSorter.Sink {
	private final List<byte[][]> data = new ArrayList<>();
	private final List<ChunkEntry> index = new ArrayList<>();

	@Override
	public void chunk(int number, ChunkEntry entry, byte[][] columns) {
		data.add(columns);
		index.add(entry);
	}

	@Override
	public byte[] read(int chunk, int column) {
		return data.get(chunk)[column];
	}

	/** The chunks that were added. */
	public List<ChunkEntry> index() {
		return index;
	}
}
