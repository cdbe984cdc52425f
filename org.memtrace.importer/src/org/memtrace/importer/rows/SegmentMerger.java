// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.rows;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import org.memtrace.model.MemtraceException;

/**
 * Puts the segments of {@code Moca-framesoc.csv} together again. That file cuts an access wherever another one of its page
 * begins or ends, and repeats the counts in each piece; as it is, an access would count several times.
 *
 * <p>Rows belong to one access when address, counts, CPUs and task are the same and each begins where the one before
 * ended. The file is ordered by page, and by time within a page: only the accesses of one page are kept.
 */
public final class SegmentMerger {
	/** Takes complete accesses. */
	public interface Out {
		void accept(long[] row, int maskDigits) throws MemtraceException, InterruptedException;
	}

	private static final int START = 4;
	private static final int END = 5;
	private static final int FLAGS = 9;

	/** Everything but the times and the sharing. */
	private record Key(long address, long physical, long reads, long writes, long cpus, long task, int maskDigits) {
		static Key of(long[] row, int maskDigits) {
			return new Key(row[0], row[10], row[1], row[2], row[3], row[6], maskDigits);
		}
	}

	private final Out out;
	private final int pageShift;
	private final Map<Key, long[]> open = new LinkedHashMap<>();
	private final Set<Long> seenPages = new HashSet<>();
	private long page;
	private long merged;
	private boolean pagesRepeated;

	public SegmentMerger(Out out, int pageShift) {
		this.out = out;
		this.pageShift = pageShift;
	}

	public long merged() {
		return merged;
	}

	public boolean pagesRepeated() {
		return pagesRepeated;
	}

	/** @param row as the parser has it, with half-open times: a segment ends one tick after the next one begins */
	public void add(long[] row, int maskDigits) throws MemtraceException, InterruptedException {
		long itsPage = row[0] >>> pageShift;
		if (open.isEmpty() || itsPage != page) {
			flush();
			page = itsPage;
			pagesRepeated |= !seenPages.add(page);
		}
		Key key = Key.of(row, maskDigits);
		long[] known = open.get(key);
		if (known != null && known[END] - 1 == row[START]) {
			known[END] = row[END];
			known[FLAGS] |= row[FLAGS];
			merged++;
			return;
		}
		if (known != null) {
			out.accept(known, maskDigits);
			open.remove(key);
		}
		open.put(key, Arrays.copyOf(row, row.length));
	}

	/** No more rows of this page come. */
	public void flush() throws MemtraceException, InterruptedException {
		for (Iterator<Map.Entry<Key, long[]>> all = open.entrySet().iterator(); all.hasNext();) {
			Map.Entry<Key, long[]> entry = all.next();
			out.accept(entry.getValue(), entry.getKey().maskDigits());
			all.remove();
		}
	}
}
