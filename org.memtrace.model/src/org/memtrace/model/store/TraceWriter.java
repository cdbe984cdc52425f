// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

import java.util.BitSet;
import java.util.List;
import java.util.Map;

import org.memtrace.model.CallFrame;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.ThreadTimes;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.tree.MemoryTrees;
import org.memtrace.model.tree.ProducerTree;

/**
 * Writes one new trace of accesses, of events, or of both. Order of calls: threads, structures, stacks, CPU sets (may grow until
 * commit), producers, then accesses in any number of batches, intervals, report, then {@link #commit}. Events need their types
 * before them, and the producers at any time before commit. Nothing is visible in the catalogue before
 * commit; {@link #close} without commit leaves no trace of the attempt. Used by one thread.
 */
public interface TraceWriter extends AutoCloseable {
	void threads(List<ThreadInfo> threads) throws MemtraceException;

	void structures(List<Structure> structures) throws MemtraceException;

	void stack(int stackId, List<CallFrame> frames) throws MemtraceException;

	/** The only tree, whose producers the accesses refer to. Nothing is known that it could be made from again. */
	void producers(ProducerTree tree) throws MemtraceException;

	/**
	 * Instead of {@link #producers(ProducerTree)}, for a trace of events alone whose producers become known while its events are
	 * read: events refer to numbers in the order in which the producers were found.
	 *
	 * @param idOf producer in the tree by the number that events have for it
	 */
	void producers(ProducerTree tree, int[] idOf) throws MemtraceException;

	/** Instead of {@link #producers(ProducerTree)}: the trees and what they were made from; accesses refer to the cells of the layout. */
	void trees(MemoryLayout layout, MemoryTrees trees) throws MemtraceException;

	/**
	 * Announces, before the first access, how many will come, in the order of their start. A store that knows this need not look at
	 * them twice to write {@link #frameSocRows}. Without this call, or when it does not come true, the result is the same.
	 */
	default void expect(long accesses) {
		// a hint
	}

	/** Appends accesses. Any order is right; that of their start is the fastest. */
	void accesses(AccessBatch batch) throws MemtraceException;

	/**
	 * Appends accesses that {@link AccessCoding} coded for the trees of this trace, in the order of its borders. They are all accesses: none
	 * come by {@link #accesses}.
	 *
	 * @throws StoreException for bytes that are something else
	 */
	void coded(byte[] bytes) throws MemtraceException;

	/**
	 * Types of events other than accesses; the one at index {@code i} has the id {@code i}, and names differ. May be called again with
	 * a longer list that begins alike: a type must be known before its first event. In a trace that has accesses, too, the store
	 * numbers these types after those of the accesses.
	 */
	void eventTypes(List<EventType> types) throws MemtraceException;

	/**
	 * Makes a set of parameters that events of one type can have: {@link EventBatch#setParameters}. Equal sets may get one number.
	 *
	 * @param eventType id of the type
	 * @param values texts by name, in the order in which they are shown
	 * @return number of the set, above 0
	 */
	int parameters(int eventType, Map<String, String> values) throws MemtraceException;

	/**
	 * Appends events of any category. Any order is right; that of their start is the fastest. Events with the same start keep the
	 * order in which they were written. {@link EventBatch#id} is not read. The end producer of a link is a producer number as in
	 * {@link EventBatch#producer}.
	 *
	 * @throws StoreException for an unknown type, an end before the start, a value that is no number
	 */
	void events(EventBatch batch) throws MemtraceException;

	void cpuSets(List<BitSet> sets) throws MemtraceException;

	void intervals(List<Interval> intervals) throws MemtraceException;

	/** CPU time of the threads, by their index; at any time before commit. */
	void threadTimes(ThreadTimes times) throws MemtraceException;

	/** Event types tell the thread ({@code Private_Read_T4711}): before the first access. */
	void eventTypesByThread() throws MemtraceException;

	/** Whether FrameSoc gets rows of its own for each access; without this call {@link FrameSocRows#AUTO}. At any time. */
	void frameSocRows(FrameSocRows rows) throws MemtraceException;

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
