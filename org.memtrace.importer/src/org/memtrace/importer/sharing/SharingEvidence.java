// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.sharing;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import org.memtrace.model.CountUnit;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.store.AccessBatch;

/**
 * What speaks for a page being used by one thread alone, where only one was seen. A recorder that looks at pages sees the first thread
 * after each look; others are there or not. So a page is private only where the recorder counts everything, where no other thread of the
 * process lived at that time, or where {@link #LOOKS} looks one after the other found the same thread. All else is not known. Immutable.
 */
public final class SharingEvidence {
	/** So many looks with the same thread: others have at most 20 % of the uses, with 95 % confidence (0.8^14 = 0.044). */
	public static final int LOOKS = 14;
	/** All that was there was seen. */
	public static final SharingEvidence COMPLETE = new SharingEvidence(Kind.COMPLETE, true, new long[0], new long[0], 0, Integer.MAX_VALUE);

	/** What the numbers of reads and writes of a record say of looks. */
	private enum Kind {
		/** No record can be missing. */
		COMPLETE,
		/** Each look adds at most one read and one write. */
		LOOKS,
		/** Each of them is a look of its own, of a few pages of many: that no other thread was seen at all means nothing. */
		SAMPLES,
		/** Nothing: all accesses of a part of the time. */
		NONE
	}

	private final Kind kind;
	/** Whether all processes that may use the memory are in the records. */
	private final boolean everyProcess;
	/** Times in which one thread lived: half-open, ascending, and apart. */
	private final long[] aloneFromNs;
	private final long[] aloneToNs;
	/** Threads whose lives are known. */
	private final int firstListed;
	private final int listedTo;

	private SharingEvidence(Kind kind, boolean everyProcess, long[] aloneFromNs, long[] aloneToNs, int firstListed, int listedTo) {
		this.kind = kind;
		this.everyProcess = everyProcess;
		this.aloneFromNs = aloneFromNs;
		this.aloneToNs = aloneToNs;
		this.firstListed = firstListed;
		this.listedTo = listedTo;
	}

	/**
	 * Of the memory of one process.
	 *
	 * @param unit what the trace counts
	 * @param allThreads whether the recorder promises all threads of all pages
	 * @param listed all threads of the process with their lives, with indexes that follow each other; empty when they are not known
	 */
	public static SharingEvidence of(CountUnit unit, boolean allThreads, List<ThreadInfo> listed) {
		if (unit == CountUnit.ACCESSES || allThreads && unit != CountUnit.SAMPLES && unit != CountUnit.ACCESSES_IN_WINDOWS) {
			return COMPLETE;
		}
		List<long[]> spans = alone(listed);
		int first = listed.isEmpty() ? 0 : listed.getFirst().index();
		return new SharingEvidence(kind(unit), false, spans.stream().mapToLong(s -> s[0]).toArray(),
				spans.stream().mapToLong(s -> s[1]).toArray(), first, first + listed.size());
	}

	/** Of memory that several processes have in common, all of whose records are together. */
	public static SharingEvidence ofAllProcesses(CountUnit unit, boolean allThreads) {
		SharingEvidence one = of(unit, allThreads, List.of());
		return one == COMPLETE ? one : new SharingEvidence(one.kind, true, one.aloneFromNs, one.aloneToNs, 0, 0);
	}

	private static Kind kind(CountUnit unit) {
		return switch (unit) {
		case SAMPLES -> Kind.SAMPLES;
		case ACCESSES_IN_WINDOWS -> Kind.NONE;
		default -> Kind.LOOKS;
		};
	}

	/** When exactly one of some threads lived. */
	private static List<long[]> alone(List<ThreadInfo> threads) {
		List<long[]> changes = new ArrayList<>();
		for (ThreadInfo t : threads) {
			changes.add(new long[] {t.main() ? Long.MIN_VALUE : t.birthNs(), 1});
			if (t.deathNs() != Long.MAX_VALUE) {
				changes.add(new long[] {t.deathNs(), -1});
			}
		}
		changes.sort(Comparator.comparingLong((long[] c) -> c[0]).thenComparingLong(c -> -c[1]));
		List<long[]> spans = new ArrayList<>();
		int alive = 0;
		for (int i = 0; i < changes.size(); i++) {
			alive += (int) changes.get(i)[1];
			long from = changes.get(i)[0];
			long to = i + 1 < changes.size() ? changes.get(i + 1)[0] : Long.MAX_VALUE;
			if (alive == 1 && from < to) {
				spans.add(new long[] {from, to});
			}
		}
		return spans;
	}

	boolean isComplete() {
		return kind == Kind.COMPLETE;
	}

	/** Whether a process that has one thread in all its records, and no list of threads, had no other. */
	boolean allThreadsAppear() {
		return kind != Kind.SAMPLES && kind != Kind.NONE;
	}

	/** Whether a record is of memory whose users are all among the records. */
	public boolean ofOwnMemory(int flags) {
		return everyProcess || (flags & AccessBatch.FLAG_NOT_PRIVATE) == 0;
	}

	/** Whether the lives of all threads are known, this one among them. */
	boolean isListed(int thread) {
		return thread < 0 || thread >= firstListed && thread < listedTo;
	}

	/** How many looks at a page a record stands for, at least; {@link #LOOKS} at most. */
	int looks(long reads, long writes, int flags) {
		return kind == Kind.NONE || (flags & AccessBatch.FLAG_FROM_SCAN) != 0 ? 0
				: (int) Math.min(LOOKS, kind == Kind.SAMPLES ? reads + writes : Math.max(reads, writes));
	}

	/** Whether only one thread lived in {@code [startNs, endNs)}. */
	boolean alone(long startNs, long endNs) {
		int low = 0;
		int high = aloneFromNs.length;
		while (low < high) {
			int middle = low + high >>> 1;
			if (aloneFromNs[middle] <= startNs) {
				low = middle + 1;
			} else {
				high = middle;
			}
		}
		return low > 0 && endNs <= aloneToNs[low - 1];
	}
}
