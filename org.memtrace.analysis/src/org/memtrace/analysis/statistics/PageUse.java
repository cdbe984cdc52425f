// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.statistics;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;

/**
 * Who touched each page first, who wrote it first, by how many threads and how much it was used. One pass over the chunks, in
 * parallel; memory for the pages of the selected part only. Where the trace does not tell when in its monitoring interval an access was,
 * the time is the begin of the interval, and who was first is the first record.
 */
public final class PageUse {
	/**
	 * A page, or the part of a page that belongs to one structure.
	 *
	 * @param producer its event producer
	 * @param firstNs its first access; where that is not known the start of the interval
	 * @param firstKnown whether it is known
	 * @param firstThread index of the thread of the first record, -1 where it is not known: a record without a thread may have been before
	 * @param firstWriteNs the first access that writes, {@link Long#MAX_VALUE} if none; where that is not known what it is not before: the
	 *        first access of a record that reads and writes, or the start of the interval
	 * @param firstWriteKnown whether it is known
	 * @param firstWriter the same of the records with writes
	 * @param threads number of threads that used it, at whatever times
	 * @param sharing largest number of threads that were seen to use it at the same time; 1 where it is known that there were never more, else
	 *        {@link AccessBatch#SHARING_NOT_KNOWN}
	 */
	public record Page(int producer, long firstNs, boolean firstKnown, int firstThread, long firstWriteNs, boolean firstWriteKnown,
			int firstWriter, int threads, long records, long reads, long writes, int sharing) {
	}

	/** Gets the pages. */
	@FunctionalInterface
	public interface Visitor {
		void visit(Page page) throws MemtraceException;
	}

	private static final Set<AccessColumn> COLUMNS = EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD, AccessColumn.READS,
			AccessColumn.WRITES, AccessColumn.SHARING, AccessColumn.FIRST);

	private static final long NONE_NS = Long.MIN_VALUE;

	private PageUse() {
	}

	/** Gives the pages with accesses that the filter lets pass, in the order of the tree. */
	public static void visit(AccessTable table, AccessFilter filter, Progress progress, Visitor visitor) throws MemtraceException {
		AccessQuery query = filter.query();
		for (Pages part : filter.select(table).scan().run(query, COLUMNS, "Pages", progress,
				(from, to) -> new Pages(query.fromNs(), query.toNs()))) {
			for (Page page : part.pages) {
				visitor.visit(page);
			}
		}
	}

	/** Pages of a run. */
	private static final class Pages implements AccessScan.Part {
		private final long fromNs;
		private final long toNs;
		private final List<Page> pages = new ArrayList<>();
		private final BitSet threads = new BitSet();
		private int producer = -1;
		private long firstNs;
		private boolean firstKnown;
		private int firstThread;
		private long firstWriteNs;
		private boolean firstWriteKnown;
		private int firstWriter;
		private long firstStartNs;
		private long writeStartNs;
		private long records;
		private long reads;
		private long writes;
		private int sharing;
		private boolean notKnown;

		Pages(long fromNs, long toNs) {
			this.fromNs = fromNs;
			this.toNs = toNs;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			for (int l = leafFrom; l < leafTo; l++) {
				if (c.leaf[l] != producer) {
					end();
					begin(c.leaf[l]);
				}
				for (int row = c.leafFrom[l]; row < c.leafFrom[l + 1]; row++) {
					long start = c.startNs(row);
					if (start >= toNs) {
						break; // rows of a page are ordered by their start
					}
					if (c.endNs(row) > fromNs) {
						add(start, c.beginNs(row), c.firstNs[row] >= 0, c.thread[row], c.reads[row], c.writes[row], c.sharing[row]);
					}
				}
			}
		}

		private void begin(int page) {
			producer = page;
			threads.clear();
			firstThread = -1;
			firstWriteNs = Long.MAX_VALUE;
			firstWriteKnown = false;
			firstWriter = -1;
			writeStartNs = NONE_NS;
			records = 0;
			reads = 0;
			writes = 0;
			sharing = 0;
			notKnown = false;
		}

		private void add(long startNs, long beginNs, boolean known, int thread, long readCount, long writeCount, int shared) {
			if (records++ == 0 || beginNs < firstNs) {
				firstNs = beginNs;
				firstKnown = known;
			}
			reads += readCount;
			writes += writeCount;
			sharing = Math.max(sharing, shared);
			notKnown |= shared == AccessBatch.SHARING_NOT_KNOWN;
			if (writeCount > 0 && beginNs < firstWriteNs) {
				firstWriteNs = beginNs;
				firstWriteKnown = known && readCount == 0;
			}
			boolean doubt = thread < 0 && !known;
			firstThread = records == 1 || doubt && startNs == firstStartNs ? thread : firstThread;
			if (writeCount > 0) {
				firstWriter = writeStartNs == NONE_NS || doubt && startNs == writeStartNs ? thread : firstWriter;
				writeStartNs = writeStartNs == NONE_NS ? startNs : writeStartNs;
			}
			firstStartNs = records == 1 ? startNs : firstStartNs;
			if (thread >= 0) {
				threads.set(thread);
			}
		}

		/** The page is done. */
		@Override
		public void end() {
			if (producer >= 0 && records > 0) {
				pages.add(new Page(producer, firstNs, firstKnown, firstThread, firstWriteNs, firstWriteKnown, firstWriter,
						threads.cardinality(), records, reads, writes, sharing <= 1 && notKnown ? AccessBatch.SHARING_NOT_KNOWN : sharing));
			}
		}
	}
}
