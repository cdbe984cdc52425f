// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.DamagedChunkException;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.AccessVisitor;

/**
 * Gives accesses in the order of start and id, which is the number of a row among all rows. Of a short window, the rows are taken from
 * the chunks that may have some and sorted. Otherwise each chunk is decoded once, by several threads, and its rows are kept in the
 * order of time ({@link TimeRuns}); these runs are merged, now and at the next question. Where there is no room for the runs, the
 * rows of a span of time are taken from all chunks, span by span.
 */
public final class AccessesByTime implements AutoCloseable {
	private static final int BATCH = 8192;
	private static final int BINS = 4096;
	private static final int FEW_ROWS = 1 << 17;
	/** A window is short when it has fewer of the rows of its chunks than one in so many. */
	private static final int SHORT = 4;
	/** Rows that are merged together at least. */
	private static final int MERGED_ROWS = 1 << 16;
	/** Rows that are given ahead to who wants the first ones early. */
	private static final int[] EARLY = {1 << 10, 1 << 14};
	/** About what a row takes while it is sorted. */
	private static final int ROW_BYTES = 100;
	private static final Set<AccessColumn> TIME = EnumSet.of(AccessColumn.TIME);
	private static final Set<AccessColumn> OTHERS = EnumSet.complementOf(EnumSet.of(AccessColumn.TIME));
	private static final Set<AccessColumn> ALL = EnumSet.allOf(AccessColumn.class);

	private final StoredChunks chunks;
	private final int[] producerOfCell;
	private final Consumer<DamagedChunkException> damaged;
	private final long mostRows;
	/** Rows of chunks that are fewer are not worth to be kept. */
	private final long fewRows;
	private final TimeRuns runs;

	/**
	 * @param directory for temporary files; null to keep everything on the heap
	 * @param producerOfCell what becomes {@link AccessBatch#producer}
	 * @param damaged gets each chunk that cannot be read; its rows are left out
	 */
	public AccessesByTime(StoredChunks chunks, int[] producerOfCell, Path directory, Consumer<DamagedChunkException> damaged) {
		this(chunks, producerOfCell, damaged,
				Math.clamp(Runtime.getRuntime().maxMemory() / 8 / ROW_BYTES, 1L << 17, 1L << 23), FEW_ROWS, new TimeRuns(chunks, directory));
	}

	/** For tests: sorts so many rows at once, and keeps the rows of more than {@code fewRows} in {@code runs}. */
	AccessesByTime(StoredChunks chunks, int[] producerOfCell, Consumer<DamagedChunkException> damaged, long mostRows, long fewRows,
			TimeRuns runs) {
		this.chunks = chunks;
		this.producerOfCell = producerOfCell;
		this.damaged = damaged;
		this.mostRows = mostRows;
		this.fewRows = fewRows;
		this.runs = runs;
	}

	@Override
	public void close() {
		runs.close();
	}

	/** Accesses by id, in the order of the ids. */
	public void read(int[] ids, AccessVisitor visitor) throws MemtraceException {
		Integer[] order = new Integer[ids.length];
		Arrays.setAll(order, i -> i);
		Arrays.sort(order, (a, b) -> Integer.compare(ids[a], ids[b]));
		int[] chunkOf = new int[ids.length];
		List<Integer> distinct = new ArrayList<>();
		for (int i : order) {
			chunkOf[i] = ids[i] < 0 || ids[i] >= chunks.firstRow(chunks.size()) ? -1 : chunks.chunkOf(ids[i]);
			if (chunkOf[i] >= 0 && (distinct.isEmpty() || distinct.getLast() != chunkOf[i])) {
				distinct.add(chunkOf[i]);
			}
		}
		AccessBatch found = new AccessBatch(Math.max(1, ids.length));
		int[] at = new int[ids.length];
		Arrays.fill(at, -1);
		ReadAhead.run(distinct, Progress.NONE, chunk -> rows(chunk, ids, Arrays.stream(order).filter(i -> chunkOf[i] == chunk).toList()),
				(chunk, rows) -> {
					int k = 0;
					for (int i : order) {
						if (chunkOf[i] == chunk && k < rows.count) {
							at[i] = found.count;
							found.addFrom(rows, k++);
						}
					}
				});
		AccessBatch out = new AccessBatch(Math.max(1, ids.length));
		for (int i = 0; i < ids.length; i++) {
			if (at[i] >= 0) {
				out.addFrom(found, at[i]);
			}
		}
		if (out.count > 0) {
			visitor.visit(out);
		}
	}

	/** The rows of a chunk that have the ids {@code ids[i]}; none when it is damaged. */
	private AccessBatch rows(int chunk, int[] ids, List<Integer> which) throws MemtraceException {
		AccessBatch rows = new AccessBatch(which.size());
		TimeRuns.Run run = runs.get(chunk);
		Decoded d = run == null ? decode(chunk, ALL) : null;
		for (int i : which) {
			int row = (int) (ids[i] - chunks.firstRow(chunk));
			if (d != null) {
				d.copy(row, rows);
			} else if (run != null && row < run.rows) {
				int position = run.position(row);
				TimeRun.Block block = run.block(position / TimeRun.BLOCK_ROWS);
				int at = position % TimeRun.BLOCK_ROWS;
				block.addTo(rows, at, ids[i], producerOfCell[block.cell(at)]);
			}
		}
		return rows;
	}

	/** Rows that a query looks at: those of the chunks that it cannot skip. */
	public long rowsToRead(AccessQuery query, int cellFrom, int cellTo) {
		long rows = 0;
		for (int c : candidates(new Wanted(query, cellFrom, cellTo, Long.MIN_VALUE, 0, Long.MAX_VALUE, Integer.MAX_VALUE))) {
			rows += chunks.entry(c).rows();
		}
		return rows;
	}

	/**
	 * Gives the rows from {@code (fromNs, fromId)} on until before {@code (toNs, toId)}.
	 *
	 * @param cellFrom no wanted producer has a smaller cell
	 * @param cellTo no wanted producer has this cell or a larger one
	 */
	public void visit(AccessQuery query, int cellFrom, int cellTo, long fromNs, int fromId, long toNs, int toId, AccessVisitor visitor,
			Progress progress) throws MemtraceException {
		if (query.fromNs() >= query.toNs() || cellFrom >= cellTo) {
			return;
		}
		Wanted wanted = new Wanted(query, cellFrom, cellTo, fromNs, fromId, toNs, toId);
		List<Integer> candidates = candidates(wanted);
		Out out = new Out(visitor, progress, candidates.stream().mapToLong(c -> chunks.entry(c).rows()).sum());
		for (int most : visitor.early() && !candidates.stream().allMatch(c -> runs.get(c) != null) ? EARLY : new int[0]) {
			AccessBatch rows = first(wanted, candidates, most, progress);
			for (int i = 0; i < rows.count; i++) {
				out.row(rows, i);
			}
			out.flush();
			if (rows.count < most) {
				out.end();
				return;
			}
			wanted = wanted.following(rows.startNs[most - 1], rows.id[most - 1]);
			candidates = candidates(wanted);
		}
		visit(wanted, candidates, Long.MIN_VALUE, Long.MAX_VALUE, out);
		out.end();
	}

	/** The first rows, at most so many, from the chunks that may have some; fewer only when there are no more. */
	private AccessBatch first(Wanted w, List<Integer> candidates, int most, Progress progress) throws MemtraceException {
		List<Integer> byStart = new ArrayList<>(candidates);
		byStart.sort(Comparator.comparingLong((Integer c) -> chunks.entry(c).startNs())); // stable: then by the numbers of their rows
		AccessBatch best = new AccessBatch(0);
		for (int c : byStart) {
			progress.check();
			long lastNs = best.count < most ? Long.MAX_VALUE : best.startNs[most - 1];
			long startNs = chunks.entry(c).startNs();
			if (startNs > lastNs) {
				break;
			}
			if (startNs < lastNs || chunks.firstRow(c) < best.id[most - 1]) {
				best = first(best, rows(w, c, Long.MIN_VALUE, lastNs), most);
			}
		}
		return best;
	}

	/** The first rows of two batches, in the order of time. */
	private static AccessBatch first(AccessBatch a, AccessBatch b, int most) {
		int[] order = new int[a.count + b.count];
		Arrays.setAll(order, i -> i);
		IntSort.sort(order, 0, order.length, (x, y) -> {
			AccessBatch ofX = x < a.count ? a : b;
			AccessBatch ofY = y < a.count ? a : b;
			int atX = x < a.count ? x : x - a.count;
			int atY = y < a.count ? y : y - a.count;
			int byStart = Long.compare(ofX.startNs[atX], ofY.startNs[atY]);
			return byStart != 0 ? byStart : Integer.compare(ofX.id[atX], ofY.id[atY]);
		});
		AccessBatch first = new AccessBatch(Math.min(most, order.length));
		for (int i = 0; i < Math.min(most, order.length); i++) {
			first.addFrom(order[i] < a.count ? a : b, order[i] < a.count ? order[i] : order[i] - a.count);
		}
		return first;
	}

	private List<Integer> candidates(Wanted w) {
		List<Integer> found = new ArrayList<>();
		for (int c = 0; c < chunks.size(); c++) {
			ChunkEntry e = chunks.entry(c);
			long first = chunks.firstRow(c);
			if (e.rows() > 0 && e.startNs() < w.query().toNs() && e.endNs() > w.query().fromNs() && e.cellFrom() < w.cellTo()
					&& e.cellTo() > w.cellFrom() && w.before(e.startNs(), first) && w.after(e.lastStartNs(), first + e.rows() - 1)
					&& (w.fromNs() != w.toNs() || first < w.toId() && first + e.rows() > w.fromId())) {
				found.add(c);
			}
		}
		return found;
	}

	/** Rows that start within {@code [lowNs, highNs]}. */
	private void visit(Wanted w, List<Integer> all, long lowNs, long highNs, Out out) throws MemtraceException {
		List<Integer> candidates = new ArrayList<>();
		long rows = 0;
		long first = Long.MAX_VALUE;
		long last = Long.MIN_VALUE;
		for (int c : all) {
			ChunkEntry e = chunks.entry(c);
			if (e.startNs() <= highNs && e.lastStartNs() >= lowNs) {
				candidates.add(c);
				rows += e.rows();
				first = Math.min(first, Math.max(e.startNs(), lowNs));
				last = Math.max(last, Math.min(e.lastStartNs(), highNs));
			}
		}
		first = Math.max(first, w.fromNs());
		last = Math.min(last, Math.min(w.toNs(), w.query().toNs() - 1));
		if (candidates.isEmpty() || first > last) {
			return;
		}
		if (candidates.stream().allMatch(c -> runs.get(c) != null)) {
			merged(w, candidates, first, last, out);
			return;
		}
		if (first == last) {
			inPlace(w, candidates, first, out);
			return;
		}
		double expected = fraction(candidates, first, last);
		boolean fit = rows <= mostRows || expected <= mostRows / 4;
		if (fit && (rows <= fewRows || expected * SHORT <= rows) && sorted(w, candidates, first, last, out)) {
			return;
		}
		if (keep(candidates, out)) {
			merged(w, candidates, first, last, out);
		} else if (!fit || !sorted(w, candidates, first, last, out)) {
			bins(w, candidates, first, last, out);
		}
	}

	/** Keeps the rows of chunks in the order of time; false when there is no room. */
	private boolean keep(List<Integer> candidates, Out out) throws MemtraceException {
		AtomicBoolean room = new AtomicBoolean(true);
		ReadAhead.run(candidates, out.progress, chunk -> {
			if (room.get() && runs.make(chunk, producerOfCell.length, damaged) == null) {
				room.set(false);
			}
			return null;
		}, (chunk, nothing) -> out.worked(chunks.entry(chunk).rows() / 2));
		runs.rest();
		return room.get();
	}

	/** A block of a run, as far as its rows are still to be given. */
	private static final class Pending {
		final int chunk;
		final int number;
		final TimeRun.Block block;
		int next;

		Pending(int chunk, int number, TimeRun.Block block) {
			this.chunk = chunk;
			this.number = number;
			this.block = block;
		}
	}

	/** Merges the kept rows that start within {@code [first, last]}. */
	private void merged(Wanted w, List<Integer> candidates, long first, long last, Out out) throws MemtraceException {
		int n = 0;
		for (int c : candidates) {
			n += runs.get(c).firstNs.length;
		}
		int[] chunkOf = new int[n];
		int[] blockOf = new int[n];
		long[] firstNs = new long[n];
		n = 0;
		for (int c : candidates) {
			TimeRuns.Run run = runs.get(c);
			for (int b = 0; b < run.firstNs.length; b++) {
				if (run.firstNs[b] <= last && run.lastNs[b] >= first) {
					chunkOf[n] = c;
					blockOf[n] = b;
					firstNs[n++] = run.firstNs[b];
				}
			}
		}
		int[] order = new int[n];
		Arrays.setAll(order, i -> i);
		IntSort.sort(order, 0, n, (a, b) -> Long.compare(firstNs[a], firstNs[b])); // stable: then by chunk and block
		List<Pending> pending = new ArrayList<>();
		StartKeys keys = new StartKeys();
		int loaded = 0;
		long waiting = 0;
		while (loaded < n || !pending.isEmpty()) {
			out.progress.check();
			for (long more = Math.max(Math.min(MERGED_ROWS, mostRows), 2 * waiting); loaded < n && more > 0; loaded++) {
				int i = order[loaded];
				Pending p = new Pending(chunkOf[i], blockOf[i], runs.get(chunkOf[i]).block(blockOf[i]));
				pending.add(p);
				more -= p.block.rows;
				out.worked(p.block.rows / 2);
			}
			pending.sort(Comparator.comparingInt((Pending p) -> p.chunk).thenComparingInt(p -> p.number));
			// what is not loaded begins here
			long limitNs = loaded < n ? firstNs[order[loaded]] : Long.MAX_VALUE;
			int limitChunk = loaded < n ? chunkOf[order[loaded]] : Integer.MAX_VALUE;
			keys.clear(pending.size() * TimeRun.BLOCK_ROWS);
			waiting = 0;
			for (int slot = 0; slot < pending.size(); slot++) {
				Pending p = pending.get(slot);
				p.next = take(w, p, slot, first, last, limitNs, limitChunk, keys);
				waiting += p.block.rows - p.next;
			}
			keys.sort();
			for (int k = 0; k < keys.count; k++) {
				int at = keys.place(k);
				Pending p = pending.get(at / TimeRun.BLOCK_ROWS);
				int i = at % TimeRun.BLOCK_ROWS;
				p.block.addTo(out.room(), i, (int) (chunks.firstRow(p.chunk) + p.block.row(i)), producerOfCell[p.block.cell(i)]);
			}
			pending.removeIf(p -> p.next == p.block.rows);
		}
	}

	/** Takes the wanted rows of a block that are before the limit; returns the first one that is not. */
	private int take(Wanted w, Pending p, int slot, long first, long last, long limitNs, int limitChunk, StartKeys keys) {
		TimeRun.Block block = p.block;
		ChunkEntry e = chunks.entry(p.chunk);
		long firstRow = chunks.firstRow(p.chunk);
		boolean bounded = e.startNs() <= w.fromNs() || e.lastStartNs() >= w.toNs();
		boolean windowed = e.startNs() <= w.query().fromNs();
		boolean part = w.query().producerFrom() > 0 || w.query().producerTo() < Integer.MAX_VALUE;
		boolean ordered = p.chunk < limitChunk;
		for (int i = p.next; i < block.rows; i++) {
			long start = block.startNs(i);
			if (start > last) {
				return block.rows;
			}
			if (start > limitNs || start == limitNs && !ordered) {
				return i;
			}
			if (start < first || bounded && !(w.after(start, firstRow + block.row(i)) && w.before(start, firstRow + block.row(i)))
					|| windowed && start + block.durationNs(i) <= w.query().fromNs()) {
				continue;
			}
			if (part) {
				int producer = producerOfCell[block.cell(i)];
				if (producer < w.query().producerFrom() || producer >= w.query().producerTo()) {
					continue;
				}
			}
			keys.add(start, slot * TimeRun.BLOCK_ROWS + i);
		}
		return block.rows;
	}

	/** About how many rows start within {@code [first, last]}: as if each chunk had them evenly. */
	private double fraction(List<Integer> candidates, long first, long last) {
		double sum = 0;
		for (int c : candidates) {
			ChunkEntry e = chunks.entry(c);
			double overlap = (double) Math.min(last, e.lastStartNs()) - Math.max(first, e.startNs()) + 1;
			sum += e.rows() * overlap / ((double) e.lastStartNs() - e.startNs() + 1);
		}
		return sum;
	}

	/** Rows with one start: in the order of their ids, as they are. */
	private void inPlace(Wanted w, List<Integer> candidates, long startNs, Out out) throws MemtraceException {
		ReadAhead.run(candidates, out.progress, chunk -> rows(w, chunk, startNs, startNs), (chunk, rows) -> {
			for (int i = 0; i < rows.count; i++) {
				out.row(rows, i);
			}
			out.worked(rows.count);
		});
	}

	/** Sorts rows; false, and nothing done, when they are too many. */
	private boolean sorted(Wanted w, List<Integer> candidates, long first, long last, Out out) throws MemtraceException {
		List<AccessBatch> pieces = new ArrayList<>();
		AtomicLong count = new AtomicLong();
		ReadAhead.run(candidates, out.progress, chunk -> count.get() > mostRows ? new AccessBatch(0) : rows(w, chunk, first, last),
				(chunk, rows) -> {
					pieces.add(rows);
					count.addAndGet(rows.count);
				});
		if (count.get() > mostRows) {
			return false;
		}
		out.worked(count.get());
		int[] pieceFrom = new int[pieces.size() + 1];
		for (int p = 0; p < pieces.size(); p++) {
			pieceFrom[p + 1] = pieceFrom[p] + pieces.get(p).count;
		}
		int n = pieceFrom[pieces.size()];
		int bits = 32 - Integer.numberOfLeadingZeros(Math.max(1, n));
		long[] keys = new long[n];
		if (last - first >= 0 && last - first < 1L << 62 - bits) {
			for (int p = 0; p < pieces.size(); p++) {
				AccessBatch b = pieces.get(p);
				for (int i = 0; i < b.count; i++) {
					keys[pieceFrom[p] + i] = b.startNs[i] - first << bits | pieceFrom[p] + i;
				}
			}
			Arrays.sort(keys);
		} else {
			int[] order = new int[n];
			Arrays.setAll(order, i -> i);
			long[] starts = new long[n];
			for (int p = 0; p < pieces.size(); p++) {
				System.arraycopy(pieces.get(p).startNs, 0, starts, pieceFrom[p], pieces.get(p).count);
			}
			IntSort.sort(order, 0, n, (a, b) -> Long.compare(starts[a], starts[b]));
			Arrays.setAll(keys, i -> order[i]);
		}
		long mask = (1L << bits) - 1;
		for (long key : keys) {
			int at = (int) (key & mask);
			int p = Arrays.binarySearch(pieceFrom, at);
			if (p < 0) {
				p = -p - 2;
			} else {
				while (pieceFrom[p + 1] == at) { // pieces without rows
					p++;
				}
			}
			out.row(pieces.get(p), at - pieceFrom[p]);
		}
		return true;
	}

	/** Counts rows by their start, and goes on with spans of as many rows as fit. */
	private void bins(Wanted w, List<Integer> candidates, long first, long last, Out out) throws MemtraceException {
		long width = Long.divideUnsigned(last - first, BINS) + 1;
		long[] counts = new long[BINS];
		ReadAhead.run(candidates, out.progress, chunk -> {
			long[] own = new long[BINS];
			Decoded d = decode(chunk, TIME);
			if (d != null) {
				int[] bin = new int[d.chunk.times];
				for (int t = 0; t < bin.length; t++) {
					long start = d.chunk.timeStartNs[t];
					bin[t] = start < first || start > last ? -1 : (int) Long.divideUnsigned(start - first, width);
				}
				for (int r = 0; r < d.chunk.rows; r++) {
					int b = bin[d.chunk.time[r]];
					if (b >= 0) {
						own[b]++;
					}
				}
			}
			return own;
		}, (chunk, own) -> {
			for (int b = 0; b < BINS; b++) {
				counts[b] += own[b];
			}
		});
		int from = 0;
		while (from < BINS) {
			long rows = counts[from];
			int to = from + 1;
			while (to < BINS && rows + counts[to] <= mostRows) {
				rows += counts[to++];
			}
			long low = first + from * width;
			long high = to == BINS || Long.compareUnsigned(to * width - 1, last - first) >= 0 ? last : first + to * width - 1;
			if (rows > 0) {
				span(w, candidates, low, high, rows, out);
			}
			from = to;
		}
	}

	private void span(Wanted w, List<Integer> all, long low, long high, long rows, Out out) throws MemtraceException {
		List<Integer> candidates = new ArrayList<>();
		for (int c : all) {
			if (chunks.entry(c).startNs() <= high && chunks.entry(c).lastStartNs() >= low) {
				candidates.add(c);
			}
		}
		if (low == high) {
			inPlace(w, candidates, low, out);
		} else if (rows > mostRows || !sorted(w, candidates, low, high, out)) {
			bins(w, candidates, low, high, out);
		}
	}

	/** A chunk of which columns were read. */
	private final class Decoded {
		final int number;
		final AccessChunk chunk = new AccessChunk();
		final ChunkCells cells = new ChunkCells();

		Decoded(int number) {
			this.number = number;
		}

		void copy(int r, AccessBatch to) {
			to.add(chunk.startNs(r), chunk.endNs(r), producerOfCell[cells.cell[r]], chunk.thread[r], chunk.cpuSet[r], chunk.reads[r],
					chunk.writes[r], chunk.sharing[r], chunk.node[r], chunk.flags[r], chunk.ip[r], chunk.readOffset[r],
					chunk.writeOffset[r], chunk.firstNs[r]);
			to.id[to.count - 1] = (int) (chunks.firstRow(number) + r);
		}
	}

	/** Null when it is damaged. */
	private Decoded decode(int number, Set<AccessColumn> wanted) throws MemtraceException {
		Decoded d = new Decoded(number);
		return decode(d, wanted) ? d : null;
	}

	private boolean decode(Decoded d, Set<AccessColumn> wanted) throws MemtraceException {
		try {
			chunks.read(d.number, wanted, d.chunk, wanted == TIME ? null : d.cells);
			if (wanted != TIME && chunks.entry(d.number).cellTo() > producerOfCell.length) {
				throw chunks.damaged(d.number, "it has a page that is not known");
			}
			return true;
		} catch (DamagedChunkException e) {
			damaged.accept(e);
			return false;
		}
	}

	/** The wanted rows of a chunk that start within {@code [first, last]}, by id. */
	private AccessBatch rows(Wanted w, int number, long first, long last) throws MemtraceException {
		ChunkEntry e = chunks.entry(number);
		Decoded d = new Decoded(number);
		if (!decode(d, TIME)) {
			return new AccessBatch(0);
		}
		AccessChunk c = d.chunk;
		int low = 0;
		while (low < c.times && c.timeStartNs[low] < first) {
			low++;
		}
		int high = low;
		while (high < c.times && c.timeStartNs[high] <= last) {
			high++;
		}
		boolean[] good = new boolean[c.times];
		for (int t = low; t < high; t++) {
			good[t] = c.timeStartNs[t] < w.query().toNs() && c.timeEndNs[t] > w.query().fromNs();
		}
		int[] found = new int[c.rows];
		int n = 0;
		long firstRow = chunks.firstRow(number);
		boolean bounded = e.startNs() <= w.fromNs() || e.lastStartNs() >= w.toNs();
		for (int r = 0; r < c.rows; r++) {
			int t = c.time[r];
			if (good[t] && (!bounded || w.after(c.timeStartNs[t], firstRow + r) && w.before(c.timeStartNs[t], firstRow + r))) {
				found[n++] = r;
			}
		}
		if (n == 0 || !decode(d, OTHERS)) {
			return new AccessBatch(0);
		}
		int kept = 0;
		for (int k = 0; k < n; k++) {
			int producer = producerOfCell[d.cells.cell[found[k]]];
			if (producer >= w.query().producerFrom() && producer < w.query().producerTo()) {
				found[kept++] = found[k];
			}
		}
		AccessBatch rows = new AccessBatch(kept);
		for (int k = 0; k < kept; k++) {
			d.copy(found[k], rows);
		}
		return rows;
	}

	/** Collects rows into batches, and tells a progress as many as were announced. */
	private static final class Out {
		private final AccessBatch batch = new AccessBatch(BATCH);
		private final AccessVisitor visitor;
		private final Progress progress;
		private long left;

		Out(AccessVisitor visitor, Progress progress, long announced) {
			this.visitor = visitor;
			this.progress = progress;
			left = announced;
		}

		void row(AccessBatch from, int i) throws MemtraceException {
			room().addFrom(from, i);
		}

		/** Where a row can be added. */
		AccessBatch room() throws MemtraceException {
			if (batch.isFull()) {
				visitor.visit(batch);
				batch.count = 0;
				progress.check();
			}
			return batch;
		}

		void worked(long rows) {
			long now = Math.min(left, rows);
			left -= now;
			progress.worked(now);
		}

		/** Gives what is there. */
		void flush() throws MemtraceException {
			if (batch.count > 0) {
				visitor.visit(batch);
				batch.count = 0;
			}
		}

		void end() throws MemtraceException {
			flush();
			progress.worked(left);
		}
	}
}
