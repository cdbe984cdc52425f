// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.ref.Cleaner;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.StoreException;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.DamagedChunkException;

/**
 * Keeps rows of chunks in the order of time once somebody has read them so, some 25 bytes each: on the heap as far as there is room, the
 * rest in a file without a name. What was made stays until this is closed. Safe for all threads.
 */
final class TimeRuns implements AutoCloseable {
	/** Share of the heap that the rows of all traces may take. */
	private static final int HEAP_SHARE = 8;
	private static final AtomicLong USED = new AtomicLong();
	private static final Cleaner CLEANER = Cleaner.create();

	private final StoredChunks chunks;
	private final Path directory;
	private final long heapBytes;
	private final AtomicReferenceArray<Run> runs;
	private final Object[] making = new Object[64];
	private final Bytes bytes = new Bytes();
	private final Cleaner.Cleanable cleanable;
	private final ConcurrentLinkedDeque<Worker> workers = new ConcurrentLinkedDeque<>();
	private volatile boolean full;

	/** What has to be given back. */
	private static final class Bytes implements Runnable {
		private long heap;
		private long fileSize;
		/** Not a channel: that is closed for everybody when one thread that reads is interrupted. */
		private RandomAccessFile file;

		synchronized boolean take(long n, long limit) {
			if (USED.addAndGet(n) > limit) {
				USED.addAndGet(-n);
				return false;
			}
			heap += n;
			return true;
		}

		/** Appends all; returns where it begins. */
		synchronized long write(Path directory, byte[][] all, byte[] last) throws IOException {
			if (file == null) {
				Path path = Files.createTempFile(directory, ".memtrace-time-", ".tmp");
				file = new RandomAccessFile(path.toFile(), "rw");
				Files.delete(path);
			}
			long offset = fileSize;
			file.seek(offset);
			for (byte[] b : all) {
				file.write(b);
			}
			file.write(last);
			fileSize = file.getFilePointer();
			return offset;
		}

		synchronized void read(long offset, byte[] into) throws IOException {
			file.seek(offset);
			file.readFully(into);
		}

		@Override
		public synchronized void run() {
			USED.addAndGet(-heap);
			heap = 0;
			if (file != null) {
				try {
					file.close();
				} catch (IOException e) {
					// it has no name any more
				}
			}
		}
	}

	private static final class Worker {
		final AccessChunk chunk = new AccessChunk();
		final ChunkCells cells = new ChunkCells();
		final TimeRun.Maker maker = new TimeRun.Maker();
	}

	/** The rows of a chunk. */
	final class Run {
		final int rows;
		/** First and last start of each block. */
		final long[] firstNs;
		final long[] lastNs;
		/** On the heap, else null. */
		private final byte[][] blocks;
		private final byte[] positions;
		/** In the file: where each block begins, and the positions after the last. */
		private final long offset;
		private final int[] from;

		private Run(TimeRun.Maker made, int rows, boolean onHeap) throws IOException {
			this.rows = rows;
			firstNs = made.firstNs;
			lastNs = made.lastNs;
			blocks = onHeap ? made.blocks : null;
			positions = onHeap ? made.positions : null;
			from = onHeap ? null : new int[made.blocks.length + 1];
			if (!onHeap) {
				for (int b = 0; b < made.blocks.length; b++) {
					from[b + 1] = from[b] + made.blocks[b].length;
				}
			}
			offset = onHeap ? 0 : bytes.write(directory, made.blocks, made.positions);
		}

		/** A chunk that is damaged has no rows. */
		private Run() {
			rows = 0;
			firstNs = new long[0];
			lastNs = new long[0];
			blocks = new byte[0][];
			positions = new byte[0];
			offset = 0;
			from = null;
		}

		TimeRun.Block block(int b) throws StoreException {
			byte[] found = blocks != null ? blocks[b] : read(offset + from[b], from[b + 1] - from[b]);
			return new TimeRun.Block(found, Math.min(TimeRun.BLOCK_ROWS, rows - b * TimeRun.BLOCK_ROWS));
		}

		/** Where a row of the chunk is among these. */
		int position(int row) throws StoreException {
			byte[] found = positions;
			int at = row * TimeRun.POSITION_BYTES;
			if (found == null) {
				found = read(offset + from[from.length - 1] + at, TimeRun.POSITION_BYTES);
				at = 0;
			}
			return found[at] & 0xff | (found[at + 1] & 0xff) << 8 | (found[at + 2] & 0xff) << 16;
		}
	}

	/** @param directory where the file is made if one is needed; null to keep everything on the heap */
	TimeRuns(StoredChunks chunks, Path directory) {
		this(chunks, directory, Runtime.getRuntime().maxMemory() / HEAP_SHARE);
	}

	TimeRuns(StoredChunks chunks, Path directory, long heapBytes) {
		this.chunks = chunks;
		this.directory = directory;
		this.heapBytes = heapBytes;
		runs = new AtomicReferenceArray<>(chunks.size());
		for (int i = 0; i < making.length; i++) {
			making[i] = new Object();
		}
		cleanable = CLEANER.register(this, bytes);
	}

	/** The rows of a chunk if they are there, else null. */
	Run get(int chunk) {
		return runs.get(chunk);
	}

	/**
	 * Makes the rows of a chunk unless they are there.
	 *
	 * @param cells number of cells that are known
	 * @param damage gets what is thrown when the chunk cannot be read; it has no rows then
	 * @return null when there is no room for them, on the heap and in the directory
	 */
	Run make(int chunk, int cells, Consumer<DamagedChunkException> damage)
			throws MemtraceException {
		Run run = runs.get(chunk);
		if (run != null || full) {
			return run;
		}
		synchronized (making[chunk % making.length]) {
			run = runs.get(chunk);
			if (run == null) {
				run = read(chunk, cells, damage);
				runs.set(chunk, run);
			}
			return run;
		}
	}

	private Run read(int chunk, int cells, Consumer<DamagedChunkException> damage)
			throws MemtraceException {
		Worker worker = workers.poll();
		Worker w = worker == null ? new Worker() : worker;
		try {
			chunks.read(chunk, EnumSet.allOf(AccessColumn.class), w.chunk, w.cells);
			if (chunks.entry(chunk).cellTo() > cells) {
				throw chunks.damaged(chunk, "it has a page that is not known");
			}
			w.maker.make(w.chunk, w.cells.cell);
		} catch (DamagedChunkException e) {
			damage.accept(e);
			return new Run();
		}
		long size = w.maker.positions.length;
		for (byte[] b : w.maker.blocks) {
			size += b.length + 16;
		}
		try {
			return new Run(w.maker, w.chunk.rows, directory == null || bytes.take(size, heapBytes));
		} catch (IOException e) {
			full = true; // whoever asks goes another way
			return null;
		} finally {
			workers.push(w);
		}
	}

	private byte[] read(long offset, int length) throws StoreException {
		byte[] into = new byte[length];
		try {
			bytes.read(offset, into);
		} catch (IOException e) {
			throw new StoreException("temporary data cannot be read: " + e.getMessage(), e);
		}
		return into;
	}

	/** Gives up what is only needed while rows are made. */
	void rest() {
		workers.clear();
	}

	@Override
	public void close() {
		cleanable.clean();
	}
}
