// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;

/**
 * How much a page, or the part of one that belongs to a structure, is used in the whole trace, whatever filters hide: an id such as
 * {@code page_threads}. Where accesses of a page belong to no known thread, the threads that are known are a lower bound: it is in a range
 * without an upper end only.
 */
final class PageCounts extends OfMemory {
	/** What is counted. */
	private enum What {
		THREADS("threads that were seen on the page"), READERS("threads that were seen to read the page"),
		WRITERS("threads that were seen to write the page"), RECORDS("records of the page"), READS("reads of the page"),
		WRITES("writes of the page"), ACCESSES("reads and writes of the page");

		private final String meaning;

		What(String meaning) {
			this.meaning = meaning;
		}

		boolean isOfThreads() {
			return this == THREADS || this == READERS || this == WRITERS;
		}
	}

	static final List<PageCounts> ALL = Arrays.stream(What.values()).map(PageCounts::new).toList();

	private final What what;

	private PageCounts(What what) {
		super("page_" + what.name().toLowerCase(Locale.ROOT), "Page's " + what.name().toLowerCase(Locale.ROOT),
				"Page's " + what.name().toLowerCase(Locale.ROOT), Type.NUMBER, "Number of " + what.meaning + " in the whole trace",
				Set.of(Use.FILTER, Use.GROUP));
		this.what = what;
	}

	@Override
	public boolean looksAtAll() {
		return true;
	}

	@Override
	public ProducerValues values(AccessTable table, Progress progress) throws MemtraceException {
		long[] count = new long[table.producers().size()];
		AccessTable all = table.unfiltered();
		all.scan().run(all.query(-1, Long.MIN_VALUE, Long.MAX_VALUE), EnumSet.of(AccessColumn.READS, AccessColumn.WRITES, AccessColumn.THREAD),
				"Use of pages", progress, (from, to) -> new Part(what, table.threads().size(), count));
		return new ProducerValues(-1, producer -> count[producer], value -> Long.toString(value >> 1)) {
			@Override
			public Object cell(long value) {
				return isKnown(value) ? (Object) (value >> 1) : null;
			}

			@Override
			public long number(long value) {
				return value >> 1;
			}

			@Override
			public boolean isKnown(long value) {
				return value != UNKNOWN && (value & 1) == 0;
			}

			@Override
			public boolean isNumbered(long value, Set<Long> numbers) {
				return numbers.contains(isKnown(value) ? value >> 1 : UNKNOWN);
			}

			@Override
			public boolean isBetween(long value, long min, long max) {
				long n = value >> 1;
				return n >= min && (isKnown(value) ? n <= max : max == Long.MAX_VALUE);
			}
		};
	}

	/** Counts the pages of a range: twice the count, and 1 more where it is a lower bound. Pages of parts differ, so all fill one array. */
	private static final class Part implements AccessScan.Part {
		private final What what;
		private final long[] count;
		/** Leaf + 1 with which each thread was seen last. */
		private final int[] seen;
		private int leaf = -1;
		private long n;
		private boolean others;

		Part(What what, int threads, long[] count) {
			this.what = what;
			this.count = count;
			this.seen = new int[threads];
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			for (int l = leafFrom; l < leafTo; l++) {
				if (c.leaf[l] != leaf) {
					end();
					leaf = c.leaf[l];
					n = 0;
					others = false;
				}
				for (int row = c.leafFrom[l]; row < c.leafFrom[l + 1]; row++) {
					add(c, row);
				}
			}
		}

		private void add(AccessChunk c, int row) {
			switch (what) {
			case RECORDS -> n++;
			case READS -> n += c.reads[row];
			case WRITES -> n += c.writes[row];
			case ACCESSES -> n += c.reads[row] + c.writes[row];
			case READERS -> thread(c.thread[row], c.reads[row] > 0);
			case WRITERS -> thread(c.thread[row], c.writes[row] > 0);
			case THREADS -> thread(c.thread[row], true);
			}
		}

		private void thread(int thread, boolean counts) {
			if (counts && (thread < 0 || thread >= seen.length)) {
				others = true;
			} else if (counts && seen[thread] != leaf + 1) {
				seen[thread] = leaf + 1;
				n++;
			}
		}

		@Override
		public void end() {
			if (leaf >= 0) {
				boolean least = what.isOfThreads() && others;
				count[leaf] = 2 * (least && n == 0 ? 1 : n) + (least ? 1 : 0);
			}
		}
	}
}
