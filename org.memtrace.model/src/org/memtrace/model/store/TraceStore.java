// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

import org.memtrace.model.CallFrame;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.ThreadTimes;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.columns.Losses;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.tree.MemoryTrees;
import org.memtrace.model.tree.ProducerTree;

/**
 * One trace, open for reading. All methods may be called from any thread; long ones take a {@link Progress}. The small
 * tables (producers, types, threads, structures) are loaded once and shared.
 */
public interface TraceStore extends AutoCloseable {
	/** Note of the importer: the machine on which the trace was recorded, as XML of hwloc. */
	String NOTE_TOPOLOGY = "topology.xml";
	/** Note of the importer: library, function and line of each code address, see {@link org.memtrace.model.CodePlaces}. */
	String NOTE_CODE = "code";

	TraceInfo info();

	/** The tree of this address space; virtual, if the store was not made by {@link #in}. */
	ProducerTree producers() throws MemtraceException;

	/** For which address spaces there is a tree: always the virtual one. */
	Set<AddressSpace> addressSpaces() throws MemtraceException;

	/**
	 * The same trace with the tree of another address space: its {@link #producers}, and accesses, events and caches that are about
	 * them. It ends with this store; closing it does nothing.
	 */
	TraceStore in(AddressSpace space) throws MemtraceException;

	/** What the trees are made from; empty when nothing is known of it. */
	Optional<MemoryLayout> layout() throws MemtraceException;

	/**
	 * The producer of each cell of the {@link #layout} in {@link #producers}, so also what is in a producer that stands for many
	 * structures. The array must not be changed.
	 */
	int[] producersOfCells() throws MemtraceException;

	/**
	 * Replaces the trees in the database and drops what was derived from them. What this store has read is then out of date: it has to
	 * be closed, and the trace opened again. Another process that has it open notices nothing until then.
	 *
	 * @param rules merging rules that the new trees follow
	 */
	void replaceTrees(MemoryTrees trees, List<String> rules, Progress progress) throws MemtraceException;

	List<EventType> eventTypes() throws MemtraceException;

	/** Threads by index. */
	List<ThreadInfo> threads() throws MemtraceException;

	/** Structures by id. */
	List<Structure> structures() throws MemtraceException;

	/** Call stack, innermost frame first; empty for an unknown id. */
	List<CallFrame> stack(int stackId) throws MemtraceException;

	/** Sets of CPUs that {@link AccessBatch#cpuSet} refers to. */
	List<BitSet> cpuSets() throws MemtraceException;

	/** Monitoring intervals in order of image and time; empty when the collector has none. */
	List<Interval> intervals() throws MemtraceException;

	/** CPU time of the threads; {@link ThreadTimes#NONE} in traces without. */
	ThreadTimes threadTimes() throws MemtraceException;

	/** Import report as JSON, if the trace was imported by memtrace. */
	Optional<String> importReport() throws MemtraceException;

	/** Number of access records; 0 for a trace that is no memory trace. */
	long accessCount() throws MemtraceException;

	/** Streams accesses in order of start and {@link AccessBatch#id}. */
	void visitAccesses(AccessQuery query, AccessVisitor visitor, Progress progress) throws MemtraceException;

	/**
	 * Streams accesses as {@link #visitAccesses(AccessQuery, AccessVisitor, Progress)} does, of them those from
	 * {@code (fromNs, fromId)} on until before {@code (toNs, toId)} in the order of start and id: for pages of a table.
	 */
	void visitAccesses(AccessQuery query, long fromNs, int fromId, long toNs, int toId, AccessVisitor visitor, Progress progress)
			throws MemtraceException;

	/**
	 * All accesses as columns, in the order of {@link #producers}: what everything uses that looks at many of them. A store that keeps
	 * its accesses so gives them at once; for a tree in another order than that of the import it puts them in order beside the
	 * database, within bounded memory, the first time it is asked. One that keeps them by time (a database of FrameSoc) reads
	 * all of them and puts them in order on the heap, each time it is asked.
	 */
	AccessSource accessSource(Progress progress) throws MemtraceException;

	/**
	 * Reads everything and compares it with what was written: checksums, counts and sums of the accesses, the index, the trees, and
	 * FrameSoc's rows with the accesses.
	 *
	 * @param problems gets a sentence for each thing that is wrong
	 */
	default void verify(Consumer<String> problems, Progress progress) throws MemtraceException {
		// on the heap, nothing is damaged
	}

	/**
	 * Writes all of the trace but what a Parquet folder has of its accesses into a database, which is opened together with
	 * {@link org.memtrace.model.columns.AccessRows}. The accesses have to be all there are, in the order of their ids.
	 *
	 * @param database a file that does not exist
	 * @return false, and nothing is written, when the accesses have no such order: they are not in a database, were in another tree when they
	 *         were imported, or are damaged
	 */
	default boolean writeRest(Path database, Progress progress) throws MemtraceException {
		return false;
	}

	/** What of this trace was damaged and left out so far, by whatever method of this store or its sources. */
	default Losses losses() {
		return Losses.NONE;
	}

	/** Gives the accesses of some {@link AccessBatch#id}s, in this order. */
	void readAccesses(int[] ids, AccessVisitor visitor) throws MemtraceException;

	/**
	 * Streams events in order of start time; works for traces of any origin. Of a trace with events that were written as such they
	 * are those; of a trace that has accesses only, each access is one event for its reads and one for its writes.
	 */
	void visitEvents(AccessQuery query, EventVisitor visitor, Progress progress) throws MemtraceException;

	/**
	 * Streams events in order of start and id, of those that the query selects the ones from {@code (fromNs, fromId)} on until
	 * before {@code (toNs, toId)}. Takes time for that range only: for pages of a table.
	 */
	void visitEvents(AccessQuery query, long fromNs, long fromId, long toNs, long toId, EventVisitor visitor,
			Progress progress) throws MemtraceException;

	/** Gives the events of some {@link EventBatch#id}s, in this order. */
	void readEvents(long[] ids, EventVisitor visitor) throws MemtraceException;

	/** The parameters of some events as {@code name=value, ...}, empty for an event without. */
	List<String> eventParameters(long[] ids) throws MemtraceException;

	/**
	 * Is another one after any change of what accesses are read from, also after one that was made with another tool. What is derived
	 * from accesses may be saved with the stamp that was asked for before they were read, and used as long as the stamp is the same;
	 * where it is empty the store cannot tell, and nothing may be saved.
	 */
	String contentStamp() throws MemtraceException;

	/** Something derived that was saved with {@link #writeCache}, or empty. */
	Optional<byte[]> readCache(String key) throws MemtraceException;

	/** Saves something derived from the trace; silently not done when the database cannot be written. */
	void writeCache(String key, byte[] value) throws MemtraceException;

	/**
	 * Something that a person made for this trace, such as named filters or bookmarks, saved with {@link #writeNote}; empty when
	 * there is none.
	 */
	Optional<byte[]> readNote(String key) throws MemtraceException;

	/**
	 * Saves something that a person made; unlike a cache it is kept as long as the trace.
	 *
	 * @param value null deletes the note
	 * @throws StoreException when the database cannot be written, which the person must be told
	 */
	void writeNote(String key, byte[] value) throws MemtraceException;

	@Override
	void close();
}
