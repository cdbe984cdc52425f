// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.store.AccessBatch;

/**
 * Takes rows in any order and gives them as coded chunks in the order of the tree. Rows are collected, put in order some 100,000 at a
 * time, and written as runs; in the end all runs are read together, a range of leaves at a time, for which there are as many
 * rows as a chunk shall have. Rows that come in order of time need no comparing in the end. Used by one thread; coding is done by others.
 */
public final class RowSorter implements AutoCloseable {
	/** A chunk ends with a leaf when it has so many rows. */
	public static final int CHUNK_ROWS = 1 << 16;
	/** A leaf that has more rows than this is spread over several chunks of so many. */
	public static final int MOST_CHUNK_ROWS = 1 << 17;
	private static final int RUN_ROWS = 1 << 19;
	private static final long HEAP_BYTES = 48L << 20;
	private static final int CODERS = 2;

	/** Gets the chunks in order. */
	public interface Sink {
		/** @param data bytes of each column, null for one without */
		void chunk(int number, ChunkEntry entry, byte[][] data) throws MemtraceException;
	}

	private final int[] leafOfCell;
	private final int leafCount;
	private final Path directory;
	private final int runRows;
	private final int chunkRows;
	private final int mostChunkRows;
	private final int[] leafRows;
	private final List<RowRun> runs = new ArrayList<>();
	private AccessBatch buffer;
	private LeafOrder order;
	private long rows;
	private FileChannel file;
	private long fileSize;
	private long heapLeft;
	private ExecutorService coders;

	/**
	 * @param leafOfCell leaf of each cell
	 * @param leafCount number after the largest leaf
	 * @param directory of a nameless file for rows that do not fit on the heap; null to keep all of them there
	 */
	public RowSorter(int[] leafOfCell, int leafCount, Path directory) {
		this(leafOfCell, leafCount, directory, RUN_ROWS, CHUNK_ROWS, MOST_CHUNK_ROWS, HEAP_BYTES);
	}

	/** For tests: with other sizes. */
	public RowSorter(int[] leafOfCell, int leafCount, Path directory, int runRows, int chunkRows, int mostChunkRows, long heapBytes) {
		this.leafOfCell = leafOfCell;
		this.leafCount = leafCount;
		this.directory = directory;
		this.runRows = runRows;
		this.chunkRows = chunkRows;
		this.mostChunkRows = mostChunkRows;
		heapLeft = directory == null ? Long.MAX_VALUE : heapBytes;
		leafRows = new int[leafCount];
		order = new LeafOrder(leafOfCell, leafCount);
		buffer = new AccessBatch(Math.min(runRows, 1 << 12));
	}

	/** First leaves of chunks: of one leaf that is spread over several only that of the first. */
	public static int[] borders(int[] leafRows) {
		return borders(leafRows, CHUNK_ROWS, MOST_CHUNK_ROWS);
	}

	private static int[] borders(int[] leafRows, int chunkRows, int mostChunkRows) {
		int[] borders = new int[16];
		int n = 0;
		for (int leaf = 0; leaf < leafRows.length || n == 0; leaf = range(leafRows, leaf, chunkRows, mostChunkRows)) {
			if (n == borders.length) {
				borders = Arrays.copyOf(borders, n * 2);
			}
			borders[n++] = leaf;
			if (leafRows.length == 0) {
				break;
			}
		}
		return Arrays.copyOf(borders, n);
	}

	/** The leaves of the chunk that begins with a leaf end here; a leaf with many rows is alone. */
	private static int range(int[] leafRows, int leaf, int chunkRows, int mostChunkRows) {
		int to = leaf;
		int n = 0;
		while (to < leafRows.length && n < chunkRows && (n == 0 || n + (long) leafRows[to] <= mostChunkRows)) {
			n += leafRows[to++];
		}
		return to;
	}

	/** Number of rows that were added. */
	public long rows() {
		return rows;
	}

	/** Adds a row, of which {@link AccessBatch#producer} is the cell. */
	public void add(AccessBatch from, int row) throws MemtraceException {
		if (buffer.isFull()) {
			if (buffer.count < runRows) {
				AccessBatch bigger = new AccessBatch(Math.min(runRows, buffer.count * 8));
				for (int i = 0; i < buffer.count; i++) {
					bigger.addFrom(buffer, i);
				}
				buffer = bigger;
			} else {
				endRun();
			}
		}
		if (rows == Integer.MAX_VALUE) {
			throw new StoreException("a trace database holds at most " + Integer.MAX_VALUE + " accesses");
		}
		buffer.addFrom(from, row);
		leafRows[leafOfCell[from.producer[row]]]++;
		rows++;
	}

	private void endRun() throws StoreException {
		runs.add(new RowRun(buffer, order.of(buffer), buffer.count, scratch));
		buffer.count = 0;
	}

	private static int compare(RowRun.Cursor x, RowRun.Cursor y) {
		int c = Long.compare(x.startNs, y.startNs);
		c = c != 0 ? c : Long.compare(x.endNs, y.endNs);
		return c != 0 ? c : Long.compareUnsigned(x.firstNs, y.firstNs);
	}

	private final RowRun.Scratch scratch = new RowRun.Scratch() {
		@Override
		public boolean onHeap(int bytes) {
			if (heapLeft < bytes) {
				return false;
			}
			heapLeft -= bytes;
			return true;
		}

		@Override
		public long write(byte[] bytes, int length) throws StoreException {
			try {
				if (file == null) {
					Path path = Files.createTempFile(directory, ".memtrace-spill-", ".tmp");
					file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
					Files.delete(path);
				}
				long offset = fileSize;
				ByteBuffer from = ByteBuffer.wrap(bytes, 0, length);
				while (from.hasRemaining()) {
					fileSize += file.write(from, fileSize);
				}
				return offset;
			} catch (IOException e) {
				throw new StoreException("temporary data cannot be written to " + directory + ": " + e.getMessage(), e);
			}
		}

		@Override
		public FileChannel file() {
			return file;
		}
	};

	/** A chunk that is being coded, and the memory of its rows. */
	private record Task(Future<ChunkEncoder.Encoded> result, Piece piece) {
	}

	private static final class Piece {
		final AccessBatch rows;
		final int[] order;

		Piece(int capacity) {
			rows = new AccessBatch(capacity);
			order = new int[capacity];
		}
	}

	/** Codes all chunks; the sorter is empty afterwards. */
	public void finish(Progress progress, Sink sink) throws MemtraceException {
		progress.begin("Sorting and writing accesses", rows);
		coders = Executors.newFixedThreadPool(CODERS, task -> {
			Thread thread = new Thread(task, "memtrace-coder");
			thread.setDaemon(true);
			return thread;
		});
		List<ChunkEncoder> encoders = new ArrayList<>();
		try {
			Deque<ChunkEncoder> idle = new ArrayDeque<>();
			for (int i = 0; i < CODERS; i++) {
				encoders.add(new ChunkEncoder());
				idle.add(encoders.get(i));
			}
			new Output(progress, sink, idle).run();
		} finally {
			stopCoders();
			encoders.forEach(ChunkEncoder::close);
		}
	}

	/** The end of the work: chunk by chunk. */
	private final class Output {
		private final Progress progress;
		private final Sink sink;
		private final Deque<ChunkEncoder> idle;
		private final Deque<Piece> free = new ArrayDeque<>();
		private final Deque<Task> pending = new ArrayDeque<>();
		private List<RowRun.Cursor> cursors;
		private int chunks;

		Output(Progress progress, Sink sink, Deque<ChunkEncoder> idle) {
			this.progress = progress;
			this.sink = sink;
			this.idle = idle;
		}

		void run() throws MemtraceException {
			if (runs.isEmpty()) {
				int[] whole = order.of(buffer);
				order = null;
				cursors = List.of();
				int at = 0;
				int leaf = 0;
				while (at < buffer.count) {
					int leafTo = range(leaf);
					int n = rowsOf(leaf, leafTo);
					for (int from = at; from < at + n; from += mostChunkRows) {
						Piece piece = piece(Math.min(mostChunkRows, at + n - from));
						for (int k = from; k < Math.min(at + n, from + mostChunkRows); k++) {
							piece.order[piece.rows.count] = piece.rows.count;
							piece.rows.addFrom(buffer, whole[k]);
						}
						code(piece);
					}
					at += n;
					leaf = leafTo;
				}
			} else {
				if (buffer.count > 0) {
					endRun();
				}
				buffer = new AccessBatch(1);
				order = null;
				cursors = new ArrayList<>();
				for (RowRun run : runs) {
					cursors.add(run.read());
				}
				runs.clear();
				for (int leaf = 0; leaf < leafCount;) {
					int leafTo = range(leaf);
					int n = rowsOf(leaf, leafTo);
					if (n > mostChunkRows) {
						large(leafTo, n);
					} else if (n > 0) {
						leaves(leaf, leafTo, n);
					}
					leaf = leafTo;
				}
			}
			while (!pending.isEmpty()) {
				write();
			}
		}

		/** The leaves of the next chunk end here; a leaf with many rows is alone. */
		private int range(int leaf) {
			return RowSorter.range(leafRows, leaf, chunkRows, mostChunkRows);
		}

		private int rowsOf(int leaf, int leafTo) {
			int n = 0;
			for (int l = leaf; l < leafTo; l++) {
				n += leafRows[l];
			}
			return n;
		}

		/** Rows of some leaves: those of each run are in order, so counting gives their places. */
		private void leaves(int leaf, int leafTo, int n) throws MemtraceException {
			Piece piece = piece(n);
			int[] place = new int[leafTo - leaf + 1];
			for (int l = leaf; l < leafTo; l++) {
				place[l - leaf + 1] = place[l - leaf] + leafRows[l];
			}
			for (RowRun.Cursor cursor : cursors) {
				while (cursor.has && leafOfCell[cursor.cell] < leafTo) {
					piece.order[place[leafOfCell[cursor.cell] - leaf]++] = piece.rows.count;
					cursor.appendTo(piece.rows);
					cursor.next();
				}
			}
			code(piece);
		}

		/** The rows of one leaf, the next with any, that has too many for a chunk: all runs side by side. */
		private void large(int leafTo, int n) throws MemtraceException {
			record Source(RowRun.Cursor cursor, int run) {
			}
			PriorityQueue<Source> queue = new PriorityQueue<>(
					((Comparator<Source>) (a, b) -> compare(a.cursor, b.cursor)).thenComparingInt(Source::run));
			for (int r = 0; r < cursors.size(); r++) {
				if (cursors.get(r).has && leafOfCell[cursors.get(r).cell] < leafTo) {
					queue.add(new Source(cursors.get(r), r));
				}
			}
			Piece piece = piece(Math.min(n, mostChunkRows));
			while (!queue.isEmpty()) {
				Source source = queue.poll();
				Source next = queue.peek();
				int run = source.run;
				do {
					if (piece.rows.count == mostChunkRows) {
						code(piece);
						piece = piece(mostChunkRows);
					}
					piece.order[piece.rows.count] = piece.rows.count;
					source.cursor.appendTo(piece.rows);
					source.cursor.next();
				} while (source.cursor.has && leafOfCell[source.cursor.cell] < leafTo
						&& (next == null || compare(source.cursor, next.cursor) < (run < next.run ? 1 : 0)));
				if (source.cursor.has && leafOfCell[source.cursor.cell] < leafTo) {
					queue.add(source);
				}
			}
			code(piece);
		}

		private Piece piece(int n) {
			Piece piece = free.pollFirst();
			if (piece == null || piece.order.length < n) {
				piece = new Piece(n);
			}
			piece.rows.count = 0;
			return piece;
		}

		private void code(Piece piece) throws MemtraceException {
			progress.check();
			while (pending.size() > CODERS) {
				write();
			}
			pending.add(new Task(coders.submit(() -> {
				LeafOrder.sortLeaves(piece.rows, piece.order, piece.rows.count, leafOfCell);
				ChunkEncoder encoder;
				synchronized (idle) {
					encoder = idle.pop(); // there is one for each thread
				}
				try {
					return encoder.encode(piece.rows, piece.order, piece.rows.count, leafOfCell);
				} finally {
					synchronized (idle) {
						idle.push(encoder);
					}
				}
			}), piece));
		}

		/** Waits for the oldest chunk and gives it away. */
		private void write() throws MemtraceException {
			Task task = pending.remove();
			try {
				ChunkEncoder.Encoded coded = task.result.get();
				sink.chunk(chunks++, coded.entry(), coded.data());
				progress.worked(coded.entry().rows());
			} catch (InterruptedException e) {
				Thread.currentThread().interrupt();
				throw new CancelledException();
			} catch (ExecutionException e) {
				if (e.getCause() instanceof Error error) {
					throw error;
				}
				throw new IllegalStateException(e.getCause());
			}
			free.add(task.piece);
		}
	}

	private void stopCoders() {
		if (coders == null) {
			return;
		}
		coders.shutdownNow();
		boolean interrupted = false;
		while (true) {
			try {
				if (coders.awaitTermination(1, java.util.concurrent.TimeUnit.MINUTES)) {
					break;
				}
			} catch (InterruptedException e) {
				interrupted = true;
			}
		}
		coders = null;
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public void close() {
		stopCoders();
		runs.clear();
		if (file != null) {
			try {
				file.close();
			} catch (IOException e) {
				// it has no name any more
			}
			file = null;
		}
	}
}
