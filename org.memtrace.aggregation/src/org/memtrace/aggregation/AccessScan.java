// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.IntConsumer;

import org.memtrace.aggregation.base.Parallel;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.columns.ChunkInfo;
import org.memtrace.model.columns.DamagedChunkException;
import org.memtrace.model.columns.Losses;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * The one way to look at many accesses: all chunks that may have rows of a query, in parallel, a chunk in memory for each thread.
 * Chunks are divided into runs, and each run has a part of the result of its own. How they are divided depends on the query and on
 * the chunks only, and parts come back in order: a sum of parts is the same on every machine. A damaged chunk is skipped; its
 * source counts it, for {@link #lost}. Safe for all threads.
 */
public final class AccessScan {
	/** Runs at most: enough for every machine to have work until the end, few enough to keep their parts. */
	static final int MOST_RUNS = 64;

	private final Opener opener;
	/** What is wanted of each row; null: everything. */
	private final AccessMask mask;
	/** Chunks to be filled again. */
	private final ConcurrentLinkedDeque<AccessChunk> spare;

	/** What a run makes. Methods are called by one thread at a time, for chunks in ascending order. */
	public interface Part {
		/**
		 * Looks at the rows of {@code chunk.leaf[i]} for {@code leafFrom <= i < leafTo}, which are all leaves of the query in it. Only some of
		 * the rows may overlap the window of the query. A leaf may go on in the next chunk, but not in another part.
		 */
		void chunk(AccessChunk chunk, int leafFrom, int leafTo) throws MemtraceException;

		/** No more chunks come. */
		default void end() throws MemtraceException {
		}
	}

	/** Makes the part of a run. */
	@FunctionalInterface
	public interface PartMaker<P extends Part> {
		/**
		 * Makes a part for the producers of {@code [producerFrom, producerTo)}; these ranges follow each other and together are that of the
		 * query.
		 */
		P make(int producerFrom, int producerTo) throws MemtraceException;
	}

	/** What one question wants of a scan. Several questions can share one scan. */
	public interface Pass<P extends Part> {
		/** What its parts look at. */
		Set<AccessColumn> columns();

		/** Makes the part of a run. Called by several threads at a time. */
		P part();

		/** Gets all parts in the order of their producers, after the scan. */
		void end(List<P> parts) throws MemtraceException;
	}

	/** The parts of several passes. */
	private record Together(List<Part> parts) implements Part {
		@Override
		public void chunk(AccessChunk chunk, int leafFrom, int leafTo) throws MemtraceException {
			for (Part part : parts) {
				part.chunk(chunk, leafFrom, leafTo);
			}
		}

		@Override
		public void end() throws MemtraceException {
			for (Part part : parts) {
				part.end();
			}
		}
	}

	/** Gives the chunks, the same ones each time. */
	interface Opener {
		AccessSource source() throws MemtraceException;

		/** What could not be read so far. */
		Losses lost();

		/** Whether {@link #source} takes no time. */
		default boolean isOpen() {
			return true;
		}
	}

	private AccessScan(Opener opener, AccessMask mask, ConcurrentLinkedDeque<AccessChunk> spare) {
		this.opener = opener;
		this.mask = mask;
		this.spare = spare;
	}

	/** Scans the chunks of a source. */
	public static AccessScan of(AccessSource source) {
		return of(new Opener() {
			@Override
			public AccessSource source() {
				return source;
			}

			@Override
			public Losses lost() {
				return source.losses();
			}
		});
	}

	/** Scans chunks that are opened when they are looked at first. */
	static AccessScan of(Opener opener) {
		return new AccessScan(opener, null, new ConcurrentLinkedDeque<>());
	}

	/** Scans all accesses of a trace. */
	public static AccessScan of(TraceStore store, Progress progress) throws MemtraceException {
		return of(store.accessSource(progress));
	}

	/** A scan of these chunks without what a mask does not want. */
	public AccessScan with(AccessMask wanted) {
		if (wanted == null || wanted.selectsAll()) {
			return this;
		}
		return new AccessScan(opener, mask == null ? wanted : AccessMask.both(mask, wanted), spare);
	}

	/** A scan of these chunks with all rows. Losses of both are counted together. */
	AccessScan withoutMask() {
		return new AccessScan(opener, null, spare);
	}

	/** Columns and those that the mask looks at. */
	Set<AccessColumn> with(Set<AccessColumn> columns) {
		EnumSet<AccessColumn> all = EnumSet.noneOf(AccessColumn.class);
		all.addAll(columns);
		if (mask != null) {
			all.addAll(mask.columns());
		}
		return all;
	}

	/** The chunks, without the mask. */
	AccessSource source() throws MemtraceException {
		return opener.source();
	}

	/** Number of rows without the mask; chunks are not opened for it. */
	long rows(TraceStore store) throws MemtraceException {
		return opener.isOpen() ? opener.source().rows() : store.accessCount();
	}

	/** Whether there is a mask. */
	public boolean isMasked() {
		return mask != null;
	}

	/** What could not be read so far, by any scan of these chunks. */
	public Losses lost() {
		return opener.lost();
	}

	/** A number of chunks that one thread reads one after the other. */
	private record Run(int[] chunks, int count, int producerFrom, int producerTo, long rows) {
	}

	/**
	 * Reads all chunks that may have rows of a query.
	 *
	 * @param columns what the parts look at
	 * @param step what is done, for a person
	 * @param maker makes a part for each run, on the thread that reads it
	 * @return the parts, in the order of their producers; at least one
	 */
	public <P extends Part> List<P> run(AccessQuery query, Set<AccessColumn> columns, String step, Progress progress,
			PartMaker<P> maker) throws MemtraceException {
		return run(runs(opener.source(), query), query, columns, step, progress, maker, c -> {
		});
	}

	/** Number of runs into which the chunks of a query are divided, at least 1: the same for the same chunks, on every machine. */
	public int runs(AccessQuery query) throws MemtraceException {
		return runs(opener.source(), query).size();
	}

	/**
	 * Reads the chunks of some of the runs of a query, as {@link #run(AccessQuery, Set, String, Progress, PartMaker)} reads those of all.
	 *
	 * @param runFrom first run
	 * @param runTo run after the last
	 * @param skipped gets the numbers of damaged chunks, from any thread
	 * @return the parts of these runs; none for no run
	 */
	public <P extends Part> List<P> run(AccessQuery query, int runFrom, int runTo, Set<AccessColumn> columns, String step, Progress progress,
			PartMaker<P> maker, IntConsumer skipped) throws MemtraceException {
		return run(runs(opener.source(), query).subList(runFrom, runTo), query, columns, step, progress, maker, skipped);
	}

	private <P extends Part> List<P> run(List<Run> runs, AccessQuery query, Set<AccessColumn> columns, String step, Progress progress,
			PartMaker<P> maker, IntConsumer skipped) throws MemtraceException {
		AccessSource source = opener.source();
		Set<AccessColumn> read = with(columns);
		List<P> parts = new ArrayList<>();
		for (int i = 0; i < runs.size(); i++) {
			parts.add(null);
		}
		progress.begin(step, runs.stream().mapToLong(Run::rows).sum());
		Parallel.read(runs.size(), progress, i -> {
			Run run = runs.get(i);
			P part = maker.make(run.producerFrom, run.producerTo);
			AccessChunk chunk = spare.poll();
			if (chunk == null) {
				chunk = new AccessChunk();
			}
			for (int c = 0; c < run.count; c++) {
				progress.check();
				if (readOrSkip(run.chunks[c], read, chunk, skipped)) {
					int from = firstLeaf(chunk, query.producerFrom());
					int to = firstLeaf(chunk, query.producerTo());
					if (from < to) {
						part.chunk(chunk, from, to);
					}
				}
				progress.worked(source.info(run.chunks[c]).rows());
			}
			spare.push(chunk);
			part.end();
			parts.set(i, part);
		});
		while (spare.size() > Parallel.threads()) {
			spare.poll();
		}
		return parts;
	}

	/** Reads a chunk; false when it has no rows that are wanted, or is damaged. */
	boolean read(int number, Set<AccessColumn> columns, AccessChunk into) throws MemtraceException {
		return readOrSkip(number, columns, into, c -> {
		});
	}

	/** The only place where a damaged chunk is skipped. */
	private boolean readOrSkip(int number, Set<AccessColumn> columns, AccessChunk into, IntConsumer skipped) throws MemtraceException {
		try {
			opener.source().read(number, columns, into);
		} catch (DamagedChunkException e) {
			skipped.accept(number);
			return false; // the source has counted it
		}
		if (mask != null) {
			mask.apply(into, columns);
		}
		return into.rows > 0;
	}

	/**
	 * Reads all chunks that may have rows of a query, once for several questions.
	 *
	 * @param step what is done, for a person
	 * @param passes their parts must not change a chunk
	 */
	public void run(AccessQuery query, String step, Progress progress, List<? extends Pass<?>> passes) throws MemtraceException {
		Set<AccessColumn> columns = EnumSet.noneOf(AccessColumn.class);
		passes.forEach(p -> columns.addAll(p.columns()));
		List<Together> runs = run(query, columns, step, progress, (from, to) -> {
			List<Part> parts = new ArrayList<>();
			passes.forEach(p -> parts.add(p.part()));
			return new Together(parts);
		});
		for (int i = 0; i < passes.size(); i++) {
			end(passes.get(i), runs, i);
		}
	}

	@SuppressWarnings("unchecked")
	private static <P extends Part> void end(Pass<P> pass, List<Together> runs, int number) throws MemtraceException {
		List<P> parts = new ArrayList<>();
		runs.forEach(run -> parts.add((P) run.parts.get(number)));
		pass.end(parts);
	}

	/** First leaf of a chunk that is not before a producer. */
	static int firstLeaf(AccessChunk chunk, int producer) {
		if (chunk.leaves == 0 || producer <= chunk.leaf[0]) {
			return 0;
		}
		if (producer > chunk.leaf[chunk.leaves - 1]) {
			return chunk.leaves;
		}
		int at = chunk.indexOf(producer);
		return at < 0 ? -at - 1 : at;
	}

	/** Cut only where no leaf goes on, into runs of nearly equal numbers of rows. */
	private static List<Run> runs(AccessSource source, AccessQuery query) {
		int[] chunks = new int[source.chunks()];
		int n = 0;
		long rows = 0;
		for (int c = 0; c < chunks.length; c++) {
			ChunkInfo info = source.info(c);
			if (info.mayHave(query.fromNs(), query.toNs(), query.producerFrom(), query.producerTo())) {
				chunks[n++] = c;
				rows += info.rows();
			}
		}
		long least = Math.max(1, Math.ceilDiv(rows, MOST_RUNS));
		List<Run> runs = new ArrayList<>();
		int from = 0;
		int producerFrom = query.producerFrom();
		long inRun = 0;
		for (int i = 0; i < n; i++) {
			inRun += source.info(chunks[i]).rows();
			boolean last = i + 1 == n;
			int next = last ? query.producerTo() : source.info(chunks[i + 1]).producerFrom();
			if (last || inRun >= least && source.info(chunks[i]).producerTo() <= next) {
				runs.add(new Run(Arrays.copyOfRange(chunks, from, i + 1), i + 1 - from, producerFrom, next, inRun));
				from = i + 1;
				producerFrom = next;
				inRun = 0;
			}
		}
		if (runs.isEmpty()) {
			runs.add(new Run(new int[0], 0, query.producerFrom(), query.producerTo(), 0));
		}
		return runs;
	}

	/** The range of a subtree, negative for everything, in a window. */
	public static AccessQuery query(ProducerTree tree, int producer, long fromNs, long toNs) {
		return producer < 0 ? new AccessQuery(fromNs, toNs, 0, tree.size())
				: new AccessQuery(fromNs, toNs, producer, tree.subtreeEnd(producer));
	}

	/**
	 * Share of each time of a chunk that is in a window, 0..1.
	 *
	 * @param share gets the shares; a longer array is made when it is too short
	 * @return {@code share}, or the longer array
	 */
	public static double[] shares(AccessChunk chunk, long fromNs, long toNs, double[] share) {
		double[] out = share.length < chunk.times ? new double[Math.max(chunk.times, 2 * share.length)] : share;
		for (int i = 0; i < chunk.times; i++) {
			long start = chunk.timeStartNs[i];
			long end = chunk.timeEndNs[i];
			out[i] = start >= toNs || end <= fromNs ? 0
					: start >= fromNs && end <= toNs ? 1 : (double) (Math.min(end, toNs) - Math.max(start, fromNs)) / (end - start);
		}
		return out;
	}
}
