// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.lang.ref.Cleaner;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.memtrace.aggregation.base.PackedColumn;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.columns.ChunkInfo;
import org.memtrace.model.columns.Losses;

/**
 * Chunks that stay in memory, in as few bytes as their values need, once they have been read: for the workbench, which looks at the
 * same columns again at each click. All sources together take a share of the heap at most; what does not fit is read again each
 * time. When there is no room, the column that nobody looked at for the longest time makes room for one that is wanted. Safe for all
 * threads.
 */
final class PackedSource implements AccessSource {
	/** Share of the heap that packed columns may take. */
	private static final int HEAP_SHARE = 3;
	private static final AtomicLong USED = new AtomicLong();
	private static final Cleaner CLEANER = Cleaner.create();
	private static final AccessColumn[] COLUMNS = AccessColumn.values();

	private final AccessSource source;
	private final long limitBytes;
	private final AtomicReferenceArray<Leaves> leaves;
	/** Columns by chunk and kind. */
	private final AtomicReferenceArray<PackedColumn> packed;
	private final AtomicReferenceArray<Times> times;
	private final Bytes bytes = new Bytes();
	private final AtomicLong clock = new AtomicLong();
	private final AtomicLongArray lastUse = new AtomicLongArray(COLUMNS.length);

	/** What this source takes of what all take. */
	private static final class Bytes implements Runnable {
		private final AtomicLong own = new AtomicLong();

		boolean take(long n, long limit) {
			if (USED.addAndGet(n) > limit) {
				USED.addAndGet(-n);
				return false;
			}
			own.addAndGet(n);
			return true;
		}

		void give(long n) {
			USED.addAndGet(-n);
			own.addAndGet(-n);
		}

		@Override
		public void run() {
			USED.addAndGet(-own.get());
		}
	}

	private record Leaves(PackedColumn leaf, PackedColumn rows) {
		long memoryBytes() {
			return leaf.memoryBytes() + rows.memoryBytes();
		}
	}

	private record Times(PackedColumn start, PackedColumn length) {
		long memoryBytes() {
			return start.memoryBytes() + length.memoryBytes();
		}
	}

	PackedSource(AccessSource source) {
		this(source, limit(System.getProperty("memtrace.cache.limit", System.getenv("MEMTRACE_CACHE_LIMIT"))));
	}

	/** A number of bytes, with K, M or G if wanted; a share of the heap when it is neither. */
	static long limit(String text) {
		long share = Runtime.getRuntime().maxMemory() / HEAP_SHARE;
		if (text == null || !text.strip().matches("[0-9]{1,15}[KMGkmg]?")) {
			return share;
		}
		String t = text.strip().toUpperCase(Locale.ROOT);
		int shift = t.endsWith("K") ? 10 : t.endsWith("M") ? 20 : t.endsWith("G") ? 30 : 0;
		long n = Long.parseLong(shift == 0 ? t : t.substring(0, t.length() - 1));
		return n > share >> shift ? share : n << shift; // never more, whatever was asked for
	}

	/** @param limitBytes what all sources together may take */
	PackedSource(AccessSource source, long limitBytes) {
		this.source = source;
		this.limitBytes = limitBytes;
		leaves = new AtomicReferenceArray<>(source.chunks());
		times = new AtomicReferenceArray<>(source.chunks());
		packed = new AtomicReferenceArray<>(source.chunks() * COLUMNS.length);
		CLEANER.register(this, bytes);
	}

	/** Bytes that this source takes. */
	long memoryBytes() {
		return bytes.own.get();
	}

	@Override
	public int chunks() {
		return source.chunks();
	}

	@Override
	public ChunkInfo info(int chunk) {
		return source.info(chunk);
	}

	@Override
	public long rows() {
		return source.rows();
	}

	@Override
	public Losses losses() {
		return source.losses();
	}

	@Override
	public void read(int chunk, Set<AccessColumn> wanted, AccessChunk into) throws MemtraceException {
		EnumSet<AccessColumn> missing = EnumSet.noneOf(AccessColumn.class);
		PackedColumn[] known = new PackedColumn[COLUMNS.length];
		long now = clock.incrementAndGet();
		for (AccessColumn c : wanted) {
			lastUse.set(c.ordinal(), now);
			known[c.ordinal()] = packed.get(place(chunk, c));
			if (known[c.ordinal()] == null) {
				missing.add(c);
			}
		}
		Times knownTimes = times.get(chunk);
		if (knownTimes == null && wanted.contains(AccessColumn.TIME)) {
			missing.add(AccessColumn.TIME);
		}
		Leaves knownLeaves = leaves.get(chunk);
		if (!missing.isEmpty() || knownLeaves == null) {
			source.read(chunk, missing, into);
			keep(chunk, knownLeaves == null, missing, wanted, into);
		} else {
			into.reserve(source.info(chunk).rows(), knownLeaves.leaf.size(), knownTimes == null ? 0 : knownTimes.start.size());
			into.rows = source.info(chunk).rows();
			into.leaves = knownLeaves.leaf.size();
			int row = 0;
			for (int l = 0; l < into.leaves; l++) {
				into.leaf[l] = knownLeaves.leaf.get(l);
				into.leafFrom[l] = row;
				row += knownLeaves.rows.get(l);
			}
			into.leafFrom[into.leaves] = row;
		}
		for (AccessColumn c : wanted) {
			if (!missing.contains(c)) {
				unpack(c, known[c.ordinal()], into);
				if (c == AccessColumn.TIME) {
					unpack(knownTimes, into);
				}
			}
		}
	}

	private static int place(int chunk, AccessColumn column) {
		return chunk * COLUMNS.length + column.ordinal();
	}

	private void keep(int chunk, boolean leavesToo, Set<AccessColumn> read, Set<AccessColumn> wanted, AccessChunk from) {
		if (leavesToo) {
			int[] rows = new int[from.leaves];
			for (int l = 0; l < rows.length; l++) {
				rows[l] = from.leafFrom[l + 1] - from.leafFrom[l];
			}
			Leaves l = new Leaves(PackedColumn.of(from.leaf, from.leaves), PackedColumn.of(rows));
			if (room(l.memoryBytes(), wanted) && leaves.getAndSet(chunk, l) != null) {
				bytes.give(l.memoryBytes()); // another thread was faster
			}
		}
		for (AccessColumn c : read) {
			PackedColumn p = pack(c, from);
			if (c == AccessColumn.TIME) {
				Times t = times(from);
				if (room(t.memoryBytes(), wanted) && times.getAndSet(chunk, t) != null) {
					bytes.give(t.memoryBytes());
				}
			}
			if (room(p.memoryBytes(), wanted) && packed.getAndSet(place(chunk, c), p) != null) {
				bytes.give(p.memoryBytes());
			}
		}
	}

	/** Takes bytes, if need be from the column that was not looked at for the longest time. */
	private boolean room(long n, Set<AccessColumn> wanted) {
		if (bytes.take(n, limitBytes)) {
			return true;
		}
		synchronized (this) {
			for (int tries = 0; tries < COLUMNS.length; tries++) {
				AccessColumn oldest = null;
				for (AccessColumn c : COLUMNS) {
					if (!wanted.contains(c) && lastUse.get(c.ordinal()) > 0
							&& (oldest == null || lastUse.get(c.ordinal()) < lastUse.get(oldest.ordinal()))) {
						oldest = c;
					}
				}
				if (oldest == null) {
					return false;
				}
				drop(oldest);
				if (bytes.take(n, limitBytes)) {
					return true;
				}
			}
		}
		return false;
	}

	private void drop(AccessColumn column) {
		lastUse.set(column.ordinal(), 0);
		for (int chunk = 0; chunk < source.chunks(); chunk++) {
			PackedColumn p = packed.getAndSet(place(chunk, column), null);
			if (p != null) {
				bytes.give(p.memoryBytes());
			}
		}
	}

	private static Times times(AccessChunk from) {
		long[] length = new long[from.times];
		Arrays.setAll(length, t -> from.timeEndNs[t] - from.timeStartNs[t]);
		return new Times(PackedColumn.of(from.timeStartNs, from.times), PackedColumn.of(length, from.times));
	}

	private static void unpack(Times t, AccessChunk into) {
		int n = t.start.size();
		into.times = n;
		if (into.timeStartNs.length < n) { // another chunk was read into it before
			into.timeStartNs = new long[n];
			into.timeEndNs = new long[n];
		}
		t.start.copyTo(into.timeStartNs);
		t.length.copyTo(into.timeEndNs);
		for (int i = 0; i < n; i++) {
			into.timeEndNs[i] += into.timeStartNs[i];
		}
	}

	private static PackedColumn pack(AccessColumn c, AccessChunk from) {
		return switch (c) {
		case TIME -> PackedColumn.of(from.time, from.rows);
		case THREAD -> PackedColumn.of(from.thread, from.rows);
		case CPU_SET -> PackedColumn.of(from.cpuSet, from.rows);
		case READS -> PackedColumn.of(from.reads, from.rows);
		case WRITES -> PackedColumn.of(from.writes, from.rows);
		case SHARING -> PackedColumn.of(from.sharing, from.rows);
		case NODE -> PackedColumn.of(from.node, from.rows);
		case FLAGS -> PackedColumn.of(from.flags, from.rows);
		case IP -> PackedColumn.of(from.ip, from.rows);
		case READ_OFFSET -> PackedColumn.of(from.readOffset, from.rows);
		case WRITE_OFFSET -> PackedColumn.of(from.writeOffset, from.rows);
		case FIRST -> PackedColumn.of(from.firstNs, from.rows);
		};
	}

	private static void unpack(AccessColumn c, PackedColumn p, AccessChunk into) {
		switch (c) {
		case TIME -> p.copyTo(into.time);
		case THREAD -> p.copyTo(into.thread);
		case CPU_SET -> p.copyTo(into.cpuSet);
		case READS -> p.copyTo(into.reads);
		case WRITES -> p.copyTo(into.writes);
		case SHARING -> p.copyTo(into.sharing);
		case NODE -> p.copyTo(into.node);
		case FLAGS -> p.copyTo(into.flags);
		case IP -> p.copyTo(into.ip);
		case READ_OFFSET -> p.copyTo(into.readOffset);
		case WRITE_OFFSET -> p.copyTo(into.writeOffset);
		case FIRST -> p.copyTo(into.firstNs);
		}
	}
}
