// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.rows;

import org.memtrace.model.store.AccessBatch;

/** A row, for writing and reading. */
public final class SpilledRow {
	public long startNs;
	public long endNs;
	public int leaf;
	public int thread;
	public int cpuSet;
	public long reads;
	public long writes;
	public int ip;
	public int node;
	public int flags;
	/** As in {@link AccessBatch}; kept of rows with reads, and with writes. */
	public int readOffset = AccessBatch.NO_OFFSET;
	public int writeOffset = AccessBatch.NO_OFFSET;
	/** As in {@link AccessBatch}. */
	public long firstNs = AccessBatch.NO_FIRST;
}
