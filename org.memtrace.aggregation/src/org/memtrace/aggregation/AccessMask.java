// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongPredicate;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessBatch;

/**
 * Which records of an {@link AccessTable} are wanted: those that have a wanted producer and wanted values of dimensions, and of these the
 * reads and writes that have wanted values where these differ. Everything is wanted until something is taken away. Not safe for several
 * threads while it is being changed.
 */
public final class AccessMask {
	/** Bits of {@link #kept}. */
	public static final int READS = 1;
	public static final int WRITES = 2;

	/** More values than these are looked at again and again. */
	private static final int MOST_KNOWN = 1 << 24;

	/** Which values of a dimension are wanted. */
	private static final class Term {
		final Set<AccessColumn> columns;
		final DimensionValues values;
		private final LongPredicate wanted;
		/** By value + 1: 0 not asked yet, 1 wanted, 2 not wanted; null when there are too many values. A race makes an answer twice. */
		private final byte[] known;

		Term(Set<AccessColumn> columns, DimensionValues values, LongPredicate wanted) throws MemtraceException {
			this.columns = columns;
			this.values = values;
			this.wanted = wanted;
			long size = values.sets() >= 0 ? values.sets() : values.size();
			known = size < 0 || size > MOST_KNOWN ? null : new byte[(int) size + 1];
		}

		boolean wants(long value) {
			if (known == null || value + 1 >= known.length) {
				return wanted.test(value);
			}
			int at = (int) value + 1;
			byte answer = known[at];
			if (answer == 0) {
				answer = (byte) (wanted.test(value) ? 1 : 2);
				known[at] = answer;
			}
			return answer == 1;
		}

		/** Takes away what is not wanted. */
		void apply(AccessChunk chunk, long[] value, byte[] kept) {
			values.read(chunk, 0, chunk.leaves, value);
			boolean byDirection = values.kind() == DimensionValues.Kind.BY_DIRECTION;
			for (int r = 0; r < chunk.rows; r++) {
				if (kept[r] == 0) {
					continue;
				}
				if (byDirection) {
					kept[r] &= (byte) ((wants(value[r]) ? READS : 0) | (wants(value[r] + 1) ? WRITES : 0));
				} else if (!wants(value[r])) {
					kept[r] = 0;
				}
			}
		}
	}

	/** What one of several masks wants, or what none of them wants. */
	private record Either(List<AccessMask> masks, boolean not) {
	}

	/** An answer for each row of the chunk that a thread reads. */
	private static final ThreadLocal<byte[]> KEPT = ThreadLocal.withInitial(() -> new byte[0]);
	/** A value for each row of the chunk that a thread reads. */
	private static final ThreadLocal<long[]> VALUES = ThreadLocal.withInitial(() -> new long[0]);

	/** Producers that are not wanted; null: none. */
	private BitSet producers;
	private final List<Term> terms = new ArrayList<>();
	private final List<Either> either = new ArrayList<>();

	/** Whether nothing has been taken away. */
	public boolean selectsAll() {
		return producers == null && terms.isEmpty() && either.isEmpty();
	}

	/** Takes producers away; what is below them stays. */
	public void removeProducers(BitSet unwanted) {
		if (unwanted.isEmpty()) {
			return;
		}
		if (producers == null) {
			producers = (BitSet) unwanted.clone();
		} else {
			producers.or(unwanted);
		}
	}

	/**
	 * Takes away what has other values of a dimension.
	 *
	 * @param values its values in this trace
	 * @param wanted whether a value is wanted, {@link DimensionValues#UNKNOWN} among them; for all threads. Each value is asked once, if
	 *     there are not too many
	 */
	public void keep(Dimension dimension, DimensionValues values, LongPredicate wanted) throws MemtraceException {
		terms.add(new Term(dimension.columns(), values, wanted));
	}

	/**
	 * Takes away what none of these masks wants.
	 *
	 * @param not instead what at least one of them wants
	 */
	public void keepAny(List<AccessMask> masks, boolean not) {
		either.add(new Either(List.copyOf(masks), not));
	}

	/** What both of two masks want. */
	static AccessMask both(AccessMask a, AccessMask b) {
		AccessMask both = new AccessMask();
		both.keepAny(List.of(a), false);
		both.keepAny(List.of(b), false);
		return both;
	}

	/** Whether records of a producer can be wanted at all. */
	public boolean producer(int id) {
		return producers == null || !producers.get(id);
	}

	/**
	 * What is wanted of each record of a chunk: {@link #READS}, {@link #WRITES}, both, or 0.
	 *
	 * @param chunk has the {@link #columns}
	 * @param out gets an answer for each row; a longer array is made when it is too short
	 * @return {@code out}, or the longer array
	 */
	byte[] kept(AccessChunk chunk, byte[] out) {
		byte[] kept = out.length < chunk.rows ? new byte[chunk.rows] : out;
		for (int l = 0; l < chunk.leaves; l++) {
			Arrays.fill(kept, chunk.leafFrom[l], chunk.leafFrom[l + 1], producer(chunk.leaf[l]) ? (byte) (READS | WRITES) : 0);
		}
		for (Term term : terms) {
			long[] value = VALUES.get();
			if (value.length < chunk.rows) {
				value = new long[chunk.rows];
				VALUES.set(value);
			}
			term.apply(chunk, value, kept);
		}
		for (Either e : either) {
			byte[] some = new byte[chunk.rows];
			byte[] one = new byte[chunk.rows];
			for (AccessMask mask : e.masks) {
				one = mask.kept(chunk, one);
				for (int r = 0; r < chunk.rows; r++) {
					some[r] |= one[r];
				}
			}
			for (int r = 0; r < chunk.rows; r++) {
				kept[r] &= e.not ? (byte) ~some[r] : some[r];
			}
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
		return kept(BatchChunk.of(batch), out);
	}

	/** Columns that {@link #apply} looks at. */
	Set<AccessColumn> columns() {
		EnumSet<AccessColumn> columns = EnumSet.of(AccessColumn.READS, AccessColumn.WRITES);
		add(columns);
		return columns;
	}

	private void add(Set<AccessColumn> columns) {
		terms.forEach(t -> columns.addAll(t.columns));
		either.forEach(e -> e.masks.forEach(m -> m.add(columns)));
	}

	/** Which columns a chunk has, beside counts. */
	private record Present(boolean time, boolean thread, boolean cpuSet, boolean sharing, boolean node, boolean rest, boolean first) {
		static Present of(Set<AccessColumn> columns) {
			return new Present(columns.contains(AccessColumn.TIME), columns.contains(AccessColumn.THREAD), columns.contains(AccessColumn.CPU_SET),
					columns.contains(AccessColumn.SHARING), columns.contains(AccessColumn.NODE),
					columns.contains(AccessColumn.FLAGS) || columns.contains(AccessColumn.IP) || columns.contains(AccessColumn.READ_OFFSET)
							|| columns.contains(AccessColumn.WRITE_OFFSET),
					columns.contains(AccessColumn.FIRST));
		}

		/** Row r takes the place of row n; its counts are moved elsewhere. */
		void move(AccessChunk chunk, int r, int n) {
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
			if (first) {
				chunk.firstNs[n] = chunk.firstNs[r];
			}
		}
	}

	/**
	 * Takes the rows out of a chunk that are not wanted, and the reads or writes that are not; rows without any count are not wanted
	 * either. Times that no row has any more stay in the table of times.
	 *
	 * @param columns those that the chunk has, among them {@link #columns}
	 */
	void apply(AccessChunk chunk, Set<AccessColumn> columns) {
		Present present = Present.of(columns);
		byte[] wanted = kept(chunk, KEPT.get());
		KEPT.set(wanted);
		int n = 0;
		int leaves = 0;
		for (int l = 0; l < chunk.leaves; l++) {
			int producer = chunk.leaf[l];
			int from = chunk.leafFrom[l];
			int to = chunk.leafFrom[l + 1];
			int begin = n;
			for (int r = from; r < to; r++) {
				int kept = wanted[r];
				long reads = (kept & READS) != 0 ? chunk.reads[r] : 0;
				long writes = (kept & WRITES) != 0 ? chunk.writes[r] : 0;
				if ((reads | writes) == 0) {
					continue;
				}
				chunk.reads[n] = reads;
				chunk.writes[n] = writes;
				present.move(chunk, r, n++);
			}
			if (n > begin) {
				chunk.leaf[leaves] = producer;
				chunk.leafFrom[leaves++] = begin; // not after the place of the leaf that was read
			}
		}
		chunk.leafFrom[leaves] = n;
		chunk.leaves = leaves;
		chunk.rows = n;
	}
}
