// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.LongPredicate;

import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessBatch;

/**
 * Which records of an {@link AccessTable} are wanted: those that have a wanted producer, thread, set of CPUs, NUMA node and
 * values of other dimensions, and of these the reads and writes that are of a wanted type. Everything is wanted until something is taken away. Not safe for
 * several threads while it is being changed.
 */
public final class AccessMask {
	/** Bits of {@link #kept}. */
	public static final int READS = 1;
	public static final int WRITES = 2;

	/** Which values of a dimension are wanted. */
	private record Term(Set<AccessColumn> columns, DimensionValues values, LongPredicate wanted) {
	}

	/** What one of several masks wants, or what none of them wants. */
	private record Either(List<AccessMask> masks, boolean not, boolean terms) {
	}

	/** An answer for each row of the chunk that a thread reads. */
	private static final ThreadLocal<byte[]> KEPT = ThreadLocal.withInitial(() -> new byte[0]);

	/** Producers that are not wanted; null: none. */
	private BitSet producers;
	/** What is not wanted, by number + 1, so that the first is what is not known; null: nothing. */
	private BitSet threads;
	private BitSet cpuSets;
	private BitSet nodes;
	/** Types that are not wanted: bit 0 write, bit 1 shared. */
	private final BitSet types = new BitSet();
	private final List<Either> either = new ArrayList<>();
	private final List<Term> terms = new ArrayList<>();

	/** Whether nothing has been taken away. */
	public boolean selectsAll() {
		return !hasProducers() && threads == null && cpuSets == null && nodes == null && types.isEmpty() && either.isEmpty() && terms.isEmpty();
	}

	private boolean hasProducers() {
		return producers != null;
	}

	/** Takes producers away; what is below them stays. */
	public void removeProducers(BitSet unwanted) {
		if (!unwanted.isEmpty()) {
			producers = union(producers, unwanted);
		}
	}

	/** Takes the threads of {@code [-1, count)} away that are not wanted; -1 is what belongs to no thread. */
	public void keepThreads(int count, IntPredicate wanted) {
		threads = union(threads, unwanted(count, wanted));
	}

	/** The same for the sets of CPUs. */
	public void keepCpuSets(int count, IntPredicate wanted) {
		cpuSets = union(cpuSets, unwanted(count, wanted));
	}

	/** The same for NUMA nodes. */
	public void keepNodes(int count, IntPredicate wanted) {
		nodes = union(nodes, unwanted(count, wanted));
	}

	/** Takes the accesses of one type away. */
	public void removeType(boolean shared, boolean write) {
		types.set(index(shared, write));
	}

	/**
	 * Takes away what has other values of a dimension.
	 *
	 * @param values its values in this trace
	 * @param wanted whether a value is wanted, {@link DimensionValues#UNKNOWN} among them; for all threads
	 */
	public void keep(Dimension dimension, DimensionValues values, LongPredicate wanted) {
		terms.add(new Term(dimension.columns(), values, wanted));
	}

	/**
	 * Takes away what none of these masks wants.
	 *
	 * @param not instead what at least one of them wants
	 */
	public void keepAny(List<AccessMask> masks, boolean not) {
		either.add(new Either(List.copyOf(masks), not, masks.stream().anyMatch(AccessMask::hasTerms)));
	}

	/** What both of two masks want. */
	static AccessMask both(AccessMask a, AccessMask b) {
		AccessMask both = new AccessMask();
		both.keepAny(List.of(a), false);
		both.keepAny(List.of(b), false);
		return both;
	}

	private static BitSet unwanted(int count, IntPredicate wanted) {
		BitSet set = new BitSet(count + 1);
		for (int i = -1; i < count; i++) {
			set.set(i + 1, !wanted.test(i));
		}
		return set;
	}

	private static BitSet union(BitSet a, BitSet b) {
		if (a == null) {
			return (BitSet) b.clone();
		}
		a.or(b);
		return a;
	}

	private static int index(boolean shared, boolean write) {
		return (shared ? 2 : 0) + (write ? 1 : 0);
	}

	/** Whether records of a producer can be wanted at all. */
	public boolean producer(int id) {
		return producers == null || !producers.get(id);
	}

	/**
	 * What is wanted of each record of a chunk: {@link #READS}, {@link #WRITES}, both, or 0.
	 *
	 * @param columns those that the chunk has; what the mask looks at and the chunk has not is not known
	 * @param out gets an answer for each row; a longer array is made when it is too short
	 * @return {@code out}, or the longer array
	 */
	byte[] kept(AccessChunk chunk, Set<AccessColumn> columns, byte[] out) {
		byte[] kept = out.length < chunk.rows ? new byte[chunk.rows] : out;
		boolean thread = columns.contains(AccessColumn.THREAD);
		boolean cpuSet = columns.contains(AccessColumn.CPU_SET);
		boolean sharing = columns.contains(AccessColumn.SHARING);
		boolean node = columns.contains(AccessColumn.NODE);
		for (int l = 0; l < chunk.leaves; l++) {
			int producer = chunk.leaf[l];
			boolean some = producer(producer);
			for (int r = chunk.leafFrom[l]; r < chunk.leafFrom[l + 1]; r++) {
				kept[r] = some ? (byte) kept(producer, thread ? chunk.thread[r] : -1, cpuSet ? chunk.cpuSet[r] : -1,
						node ? chunk.node[r] : -1, sharing && chunk.sharing[r] > 1) : 0;
			}
		}
		if (hasTerms()) {
			terms(chunk, columns, kept);
		}
		return kept;
	}

	/**
	 * What is wanted of each row of a batch.
	 *
	 * @param out gets an answer for each row; a longer array is made when it is too short
	 * @return {@code out}, or the longer array
	 */
	public byte[] kept(AccessBatch batch, byte[] out) {
		return kept(BatchChunk.of(batch), EnumSet.allOf(AccessColumn.class), out);
	}

	/** Whether this or one of the others that decide looks at values of a dimension. */
	private boolean hasTerms() {
		return !terms.isEmpty() || either.stream().anyMatch(Either::terms);
	}

	/** Takes away what terms do not want; others have been asked before, but for those that are a choice with terms. */
	private void terms(AccessChunk chunk, Set<AccessColumn> columns, byte[] kept) {
		long[] value = terms.isEmpty() ? null : new long[chunk.rows];
		for (Term term : terms) {
			term.values.read(chunk, 0, chunk.leaves, value);
			boolean byDirection = term.values.kind() == DimensionValues.Kind.BY_DIRECTION;
			for (int r = 0; r < chunk.rows; r++) {
				if (kept[r] == 0) {
					continue;
				}
				if (byDirection) {
					kept[r] &= (byte) ((term.wanted.test(value[r]) ? READS : 0) | (term.wanted.test(value[r] + 1) ? WRITES : 0));
				} else if (!term.wanted.test(value[r])) {
					kept[r] = 0;
				}
			}
		}
		for (Either e : either) {
			if (!e.terms) {
				continue;
			}
			byte[] some = new byte[chunk.rows];
			byte[] one = new byte[chunk.rows];
			for (AccessMask mask : e.masks) {
				one = mask.kept(chunk, columns, one);
				for (int r = 0; r < chunk.rows; r++) {
					some[r] |= one[r];
				}
			}
			for (int r = 0; r < chunk.rows; r++) {
				kept[r] &= e.not ? (byte) ~some[r] : some[r];
			}
		}
	}

	/** What is wanted of a record, without {@link #terms}. -1 is what is not known. */
	private int kept(int producer, int thread, int cpuSet, int node, boolean shared) {
		if (producers != null && producers.get(producer) || threads != null && threads.get(thread + 1)
				|| cpuSets != null && cpuSets.get(cpuSet + 1) || nodes != null && nodes.get(node + 1)) {
			return 0;
		}
		int kept = (types.get(index(shared, false)) ? 0 : READS) | (types.get(index(shared, true)) ? 0 : WRITES);
		for (int i = 0; i < either.size() && kept != 0; i++) {
			Either e = either.get(i);
			if (e.terms) {
				continue; // of whole chunks
			}
			int some = 0;
			for (int k = 0; k < e.masks.size() && some != kept; k++) {
				some |= e.masks.get(k).kept(producer, thread, cpuSet, node, shared) & kept;
			}
			kept = e.not ? kept & ~some : some;
		}
		return kept;
	}

	/** Columns that {@link #apply} looks at. */
	Set<AccessColumn> columns() {
		EnumSet<AccessColumn> columns = EnumSet.of(AccessColumn.READS, AccessColumn.WRITES);
		add(columns);
		return columns;
	}

	private void add(Set<AccessColumn> columns) {
		if (threads != null) {
			columns.add(AccessColumn.THREAD);
		}
		if (cpuSets != null) {
			columns.add(AccessColumn.CPU_SET);
		}
		if (nodes != null) {
			columns.add(AccessColumn.NODE);
		}
		if (!types.isEmpty()) {
			columns.add(AccessColumn.SHARING);
		}
		terms.forEach(t -> columns.addAll(t.columns));
		either.forEach(e -> e.masks.forEach(m -> m.add(columns)));
	}

	/**
	 * Takes the rows out of a chunk that are not wanted, and the reads or writes that are not; rows without any count are not wanted
	 * either. Times that no row has any more stay in the table of times.
	 *
	 * @param columns those that the chunk has, among them {@link #columns}
	 */
	void apply(AccessChunk chunk, Set<AccessColumn> columns) {
		boolean thread = columns.contains(AccessColumn.THREAD);
		boolean cpuSet = columns.contains(AccessColumn.CPU_SET);
		boolean sharing = columns.contains(AccessColumn.SHARING);
		boolean node = columns.contains(AccessColumn.NODE);
		boolean time = columns.contains(AccessColumn.TIME);
		boolean rest = columns.contains(AccessColumn.FLAGS) || columns.contains(AccessColumn.IP)
				|| columns.contains(AccessColumn.READ_OFFSET) || columns.contains(AccessColumn.WRITE_OFFSET);
		byte[] wanted = kept(chunk, columns, KEPT.get());
		KEPT.set(wanted);
		int n = 0;
		int leaves = 0;
		for (int l = 0; l < chunk.leaves; l++) {
			int producer = chunk.leaf[l];
			int from = chunk.leafFrom[l];
			int to = chunk.leafFrom[l + 1];
			int first = n;
			for (int r = from; r < to; r++) {
				int kept = wanted[r];
				long reads = (kept & READS) != 0 ? chunk.reads[r] : 0;
				long writes = (kept & WRITES) != 0 ? chunk.writes[r] : 0;
				if ((reads | writes) == 0) {
					continue;
				}
				chunk.reads[n] = reads;
				chunk.writes[n] = writes;
				if (time) {
					chunk.time[n] = chunk.time[r];
				}
				if (thread) {
					chunk.thread[n] = chunk.thread[r];
				}
				if (cpuSet) {
					chunk.cpuSet[n] = chunk.cpuSet[r];
				}
				if (sharing) {
					chunk.sharing[n] = chunk.sharing[r];
				}
				if (node) {
					chunk.node[n] = chunk.node[r];
				}
				if (rest) {
					chunk.flags[n] = chunk.flags[r];
					chunk.ip[n] = chunk.ip[r];
					chunk.readOffset[n] = chunk.readOffset[r];
					chunk.writeOffset[n] = chunk.writeOffset[r];
				}
				n++;
			}
			if (n > first) {
				chunk.leaf[leaves] = producer;
				chunk.leafFrom[leaves++] = first; // not after the place of the leaf that was read
			}
		}
		chunk.leafFrom[leaves] = n;
		chunk.leaves = leaves;
		chunk.rows = n;
	}
}
