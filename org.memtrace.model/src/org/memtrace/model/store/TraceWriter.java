// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

import java.util.BitSet;
import java.util.List;

import org.memtrace.model.CallFrame;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.tree.MemoryTrees;
import org.memtrace.model.tree.ProducerTree;

/**
 * Writes one new trace. Order of calls: threads, structures, stacks, CPU sets (may grow until commit), producers, then
 * accesses in any number of batches, intervals, report, then {@link #commit}. Nothing is visible in the catalogue before
 * commit; {@link #close} without commit leaves no trace of the attempt. Used by one thread.
 */
public interface TraceWriter extends AutoCloseable {
	void threads(List<ThreadInfo> threads) throws MemtraceException;

	void structures(List<Structure> structures) throws MemtraceException;

	void stack(int stackId, List<CallFrame> frames) throws MemtraceException;

	/** The only tree, whose producers the accesses refer to. Nothing is known that it could be made from again. */
	void producers(ProducerTree tree) throws MemtraceException;

	/** Instead of {@link #producers}: the trees and what they were made from; accesses refer to the cells of the layout. */
	void trees(MemoryLayout layout, MemoryTrees trees) throws MemtraceException;

	/** Appends accesses. Any order is right; that of their start is the fastest, and then of their end and producer. */
	void accesses(AccessBatch batch) throws MemtraceException;

	void cpuSets(List<BitSet> sets) throws MemtraceException;

	void intervals(List<Interval> intervals) throws MemtraceException;

	/** Event types tell the thread ({@code Private_Read_T4711}): before the first access. */
	void eventTypesByThread() throws MemtraceException;

	/** Something that {@link TraceStore#readNote} finds under this key, such as {@link TraceStore#NOTE_TOPOLOGY}; at any time. */
	void note(String key, byte[] value) throws MemtraceException;

	/**
	 * Makes the trace complete and visible.
	 *
	 * @param info id, databaseName, events and producers are filled in by the store
	 * @param reportJson import report
	 * @return the trace as the catalogue now knows it
	 */
	TraceInfo commit(TraceInfo info, String reportJson, Progress progress) throws MemtraceException;

	@Override
	void close() throws MemtraceException;
}
