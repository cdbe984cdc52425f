// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.samples;

import org.memtrace.model.memory.MemoryLevel;
import org.memtrace.model.store.AccessBatch;

/** An access, or a sum of accesses, as a tool tells it. One object is used for all of a file: {@link #clear} before each. */
public final class Sample {
	/** {@code 1} when the tool tells none. */
	public int process;
	/** {@link AccessBatch#NO_THREAD} when it is not known. */
	public int thread;
	/** Name of the program, or of the thread; may be empty. */
	public String command;
	public long address;
	/** Bytes from the address on, at least 1. */
	public long bytes;
	public long reads;
	public long writes;
	/** False: all are in {@link #reads}. */
	public boolean isDirectionKnown;
	/** -1 when it is not known, as the node. */
	public int cpu;
	public int node;
	/** Address of the code; 0 when it is not known. */
	public long ip;
	public String function;
	/** {@code file:line}, or empty. */
	public String source;
	/** Null when it is not known. */
	public MemoryLevel level;
	public long latencyCycles;
	/** When it was, in the unit of the trace. */
	public long timeNs;
	/** The interval {@code [startNs, endNs)} in which it is; all that is in the same one is at one time. */
	public long startNs;
	public long endNs;
	/** Name of the structure that it is in, or empty. */
	public String structure;

	/** As if nothing was told. */
	public void clear() {
		process = 1;
		thread = AccessBatch.NO_THREAD;
		command = "";
		address = 0;
		bytes = 1;
		reads = 0;
		writes = 0;
		isDirectionKnown = true;
		cpu = -1;
		node = -1;
		ip = 0;
		function = "";
		source = "";
		level = null;
		latencyCycles = 0;
		timeNs = 0;
		startNs = 0;
		endNs = 0;
		structure = "";
	}

	int flags() {
		return MemoryLevel.flags(level, latencyCycles) | (isDirectionKnown ? 0 : AccessBatch.FLAG_DIRECTION_UNKNOWN);
	}
}
