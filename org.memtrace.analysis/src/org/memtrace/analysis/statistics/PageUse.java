// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.statistics;

import java.util.Arrays;

import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * Who touched each page first, who wrote it first, by how many threads and how much it was used. One pass over the accesses in the
 * order of their start; memory for the pages of the selected part only. Within a monitoring interval the recorder does not tell who
 * was first: then it is the first record of the trace.
 */
public final class PageUse {
	/**
	 * A page, or the part of a page that belongs to one structure.
	 *
	 * @param producer its event producer
	 * @param firstNs start of its first access
	 * @param firstThread index of the first thread that is known, -1 none
	 * @param firstWriteNs start of the first access that writes, {@link Long#MAX_VALUE} if none
	 * @param firstWriter index of the first known thread that writes, -1 none
	 * @param threads number of threads that used it, at whatever times
	 * @param sharing largest number of threads that used it at the same time
	 */
	public record Page(int producer, long firstNs, int firstThread, long firstWriteNs, int firstWriter, int threads, long records,
			long reads, long writes, int sharing) {
	}

	/** Gets the pages. */
	@FunctionalInterface
	public interface Visitor {
		void visit(Page page) throws MemtraceException;
	}

	private final int from;
	private final int words;
	private final long[] firstNs;
	private final int[] firstThread;
	private final long[] firstWriteNs;
	private final int[] firstWriter;
	private final long[] threads;
	private final long[] records;
	private final long[] reads;
	private final long[] writes;
	private final int[] sharing;

	private PageUse(int from, int to, int threadCount) {
		int n = to - from;
		this.from = from;
		words = (threadCount + Long.SIZE - 1) / Long.SIZE;
		firstNs = new long[n];
		firstThread = new int[n];
		firstWriteNs = new long[n];
		firstWriter = new int[n];
		threads = new long[Math.multiplyExact(n, words)];
		records = new long[n];
		reads = new long[n];
		writes = new long[n];
		sharing = new int[n];
		Arrays.fill(firstThread, -1);
		Arrays.fill(firstWriter, -1);
		Arrays.fill(firstWriteNs, Long.MAX_VALUE);
	}

	/** Gives the pages with accesses that the filter lets pass, in the order of the tree. */
	public static void visit(TraceStore store, AccessFilter filter, Progress progress, Visitor visitor) throws MemtraceException {
		ProducerTree tree = store.producers();
		int from = filter.query().producerFrom();
		int to = Math.min(filter.query().producerTo(), tree.size());
		PageUse use = new PageUse(from, to, store.threads().size());
		filter.visit(store, b -> {
			for (int i = 0; i < b.count; i++) {
				use.add(b.producer[i] - from, b.startNs[i], b.thread[i], b.reads[i], b.writes[i], b.sharing[i]);
			}
		}, progress);
		for (int page = 0; page < to - from; page++) {
			if (use.records[page] > 0) {
				visitor.visit(use.page(page));
			}
		}
	}

	private void add(int page, long startNs, int thread, long readCount, long writeCount, int shared) {
		if (records[page]++ == 0) {
			firstNs[page] = startNs;
		}
		reads[page] += readCount;
		writes[page] += writeCount;
		sharing[page] = Math.max(sharing[page], shared);
		if (writeCount > 0) {
			firstWriteNs[page] = Math.min(firstWriteNs[page], startNs);
		}
		if (thread < 0) {
			return;
		}
		threads[page * words + thread / Long.SIZE] |= 1L << thread;
		if (firstThread[page] < 0) {
			firstThread[page] = thread;
		}
		if (writeCount > 0 && firstWriter[page] < 0) {
			firstWriter[page] = thread;
		}
	}

	private Page page(int page) {
		int count = 0;
		for (int w = 0; w < words; w++) {
			count += Long.bitCount(threads[page * words + w]);
		}
		return new Page(from + page, firstNs[page], firstThread[page], firstWriteNs[page], firstWriter[page], count, records[page],
				reads[page], writes[page], sharing[page]);
	}
}
