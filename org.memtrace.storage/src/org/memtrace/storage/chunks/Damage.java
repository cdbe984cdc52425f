// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

import org.memtrace.model.columns.DamagedChunkException;
import org.memtrace.model.columns.Losses;

/** Which chunks of a trace were found damaged. Safe for all threads. */
public final class Damage implements Consumer<DamagedChunkException> {
	private final StoredChunks chunks;
	private final Map<Integer, String> found = new TreeMap<>();

	/** Nothing is damaged so far. */
	public Damage(StoredChunks chunks) {
		this.chunks = chunks;
	}

	@Override
	public synchronized void accept(DamagedChunkException e) {
		found.putIfAbsent(e.chunk(), e.getMessage());
	}

	/** All of them together, each once. */
	public synchronized Losses losses() {
		Losses sum = Losses.NONE;
		for (Map.Entry<Integer, String> chunk : found.entrySet()) {
			ChunkEntry e = chunks.entry(chunk.getKey());
			sum = sum.plus(new Losses(1, e.rows(), e.reads(), e.writes(), chunk.getValue()));
		}
		return sum;
	}
}
