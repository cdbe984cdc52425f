// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.Arrays;

import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.store.AccessBatch;

/**
 * The rows of a batch, which come in the order of time, seen as a chunk in which each row has a leaf and a time of its own: what reads a
 * chunk reads rows of a table, too. Leaves are in no order. The columns are those of the batch, nothing is copied.
 */
public final class BatchChunk {
	private BatchChunk() {
	}

	/** A chunk with the rows that a batch has now; valid as long as the batch is not changed. */
	public static AccessChunk of(AccessBatch b) {
		AccessChunk c = new AccessChunk();
		int[] numbers = new int[b.count + 1];
		Arrays.setAll(numbers, i -> i);
		c.rows = b.count;
		c.leaves = b.count;
		c.leaf = b.producer;
		c.leafFrom = numbers;
		c.times = b.count;
		c.time = numbers;
		c.timeStartNs = b.startNs;
		c.timeEndNs = b.endNs;
		c.thread = b.thread;
		c.cpuSet = b.cpuSet;
		c.reads = b.reads;
		c.writes = b.writes;
		c.sharing = b.sharing;
		c.node = b.node;
		c.flags = b.flags;
		c.ip = b.ip;
		c.readOffset = b.readOffset;
		c.writeOffset = b.writeOffset;
		c.firstNs = b.firstNs;
		return c;
	}
}
