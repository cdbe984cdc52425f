// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.rows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.StoreException;
import org.memtrace.model.store.AccessBatch;

/**
 * Keeps the rows of an image between the two passes of an import, in some 8 to 12 bytes each: on the heap as long as they are
 * few, else in a temporary file that has no name, so that nothing stays when the process is killed. Rows are referred to in
 * order.
 */
public final class RowSpill implements AutoCloseable {
	/** Rows of a block. */
	private static final int BLOCK_ROWS = 8192;
	/** Longest encoding of a row: control byte, then twelve numbers. */
	private static final int LONGEST_ROW = 1 + 12 * 10;

	private static final int SAME_INTERVAL = 1;
	private static final int ONE_READ = 2;
	private static final int ONE_WRITE = 4;
	private static final int SAME_THREAD = 8;
	private static final int SAME_CPUS = 16;
	private static final int SAME_IP = 32;
	private static final int SAME_NODE = 64;
	private static final int NO_OFFSETS = 128;

	/** Bytes on the heap that all spills of an import may use together. */
	public static final class Budget {
		private long left;

		public Budget(long bytes) {
			left = bytes;
		}
	}

	private record Block(byte[] bytes, long offset, int length, int rows) {
	}

	/** A row, for writing and reading. */
	public static final class Row {
		public long startNs;
		public long endNs;
		public int leaf;
		public int thread;
		public int cpuSet;
		public long reads;
		public long writes;
		public int ip;
		public int node;
		public int flags;
		/** As in {@link AccessBatch}; kept of rows with reads, and with writes. */
		public int readOffset = AccessBatch.NO_OFFSET;
		public int writeOffset = AccessBatch.NO_OFFSET;
	}

	private final Path directory;
	private final Budget budget;
	private final List<Block> blocks = new ArrayList<>();
	private FileChannel file;
	private long fileSize;
	private byte[] buffer = new byte[BLOCK_ROWS * LONGEST_ROW];
	private int position;
	private int blockRows;
	private final Row last = new Row();
	private long rows;

	public RowSpill(Path directory, Budget budget) {
		this.directory = directory;
		this.budget = budget;
	}

	public long rows() {
		return rows;
	}

	public void add(Row r) throws MemtraceException {
		int control = (r.startNs == last.startNs && r.endNs == last.endNs ? SAME_INTERVAL : 0)
				| (r.reads == 1 && r.writes == 0 ? ONE_READ : 0) | (r.reads == 0 && r.writes == 1 ? ONE_WRITE : 0)
				| (r.thread == last.thread ? SAME_THREAD : 0) | (r.cpuSet == last.cpuSet ? SAME_CPUS : 0)
				| (r.ip == last.ip ? SAME_IP : 0) | (r.node == last.node && r.flags == last.flags ? SAME_NODE : 0)
				| (r.readOffset < 0 && r.writeOffset < 0 ? NO_OFFSETS : 0);
		buffer[position++] = (byte) control;
		signed(r.leaf - last.leaf);
		if ((control & SAME_INTERVAL) == 0) {
			signed(r.startNs - last.startNs);
			unsigned(r.endNs - r.startNs);
		}
		if ((control & (ONE_READ | ONE_WRITE)) == 0) {
			unsigned(r.reads);
			unsigned(r.writes);
		}
		if ((control & SAME_THREAD) == 0) {
			unsigned(r.thread + 1);
		}
		if ((control & SAME_CPUS) == 0) {
			unsigned(r.cpuSet + 1);
		}
		if ((control & SAME_IP) == 0) {
			unsigned(r.ip);
		}
		if ((control & SAME_NODE) == 0) {
			unsigned(r.node + 1);
			unsigned(r.flags);
		}
		if ((control & NO_OFFSETS) == 0) {
			if (r.reads > 0) {
				unsigned(r.readOffset + 1);
			}
			if (r.writes > 0) {
				unsigned(r.writeOffset + 1);
			}
		}
		copy(r, last);
		rows++;
		if (++blockRows == BLOCK_ROWS) {
			endBlock();
		}
	}

	private static void copy(Row from, Row to) {
		to.startNs = from.startNs;
		to.endNs = from.endNs;
		to.leaf = from.leaf;
		to.thread = from.thread;
		to.cpuSet = from.cpuSet;
		to.ip = from.ip;
		to.node = from.node;
		to.flags = from.flags;
	}

	private void unsigned(long value) {
		long v = value;
		while ((v & ~0x7fL) != 0) {
			buffer[position++] = (byte) (v | 0x80);
			v >>>= 7;
		}
		buffer[position++] = (byte) v;
	}

	private void signed(long value) {
		unsigned(value << 1 ^ value >> 63);
	}

	private void endBlock() throws MemtraceException {
		if (blockRows == 0) {
			return;
		}
		if (budget.left >= position) {
			budget.left -= position;
			blocks.add(new Block(Arrays.copyOf(buffer, position), 0, position, blockRows));
		} else {
			try {
				if (file == null) {
					Path path = Files.createTempFile(directory, ".memtrace-spill-", ".tmp");
					file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
					Files.delete(path);
				}
				ByteBuffer bytes = ByteBuffer.wrap(buffer, 0, position);
				long offset = fileSize;
				while (bytes.hasRemaining()) {
					fileSize += file.write(bytes, fileSize);
				}
				blocks.add(new Block(null, offset, position, blockRows));
			} catch (IOException e) {
				throw new StoreException("temporary data of the import cannot be written to " + directory + ": "
						+ e.getMessage(), e);
			}
		}
		position = 0;
		blockRows = 0;
	}

	/** No more rows come. */
	public void finish() throws MemtraceException {
		endBlock();
		buffer = new byte[0];
	}

	/** Reads the rows in their order. */
	public Cursor read() {
		return new Cursor();
	}

	/** Reads rows. */
	public final class Cursor {
		private int block = -1;
		private int left;
		private byte[] bytes;
		private int at;
		public final Row row = new Row();

		/** Goes to the next row; false at the end. */
		public boolean next() throws MemtraceException {
			if (left == 0 && !nextBlock()) {
				return false;
			}
			left--;
			int control = bytes[at++];
			row.leaf += (int) signed();
			if ((control & SAME_INTERVAL) == 0) {
				row.startNs += signed();
				row.endNs = row.startNs + unsigned();
			}
			row.reads = (control & ONE_READ) != 0 ? 1 : 0;
			row.writes = (control & ONE_WRITE) != 0 ? 1 : 0;
			if ((control & (ONE_READ | ONE_WRITE)) == 0) {
				row.reads = unsigned();
				row.writes = unsigned();
			}
			if ((control & SAME_THREAD) == 0) {
				row.thread = (int) unsigned() - 1;
			}
			if ((control & SAME_CPUS) == 0) {
				row.cpuSet = (int) unsigned() - 1;
			}
			if ((control & SAME_IP) == 0) {
				row.ip = (int) unsigned();
			}
			if ((control & SAME_NODE) == 0) {
				row.node = (int) unsigned() - 1;
				row.flags = (int) unsigned();
			}
			row.readOffset = (control & NO_OFFSETS) == 0 && row.reads > 0 ? (int) unsigned() - 1 : AccessBatch.NO_OFFSET;
			row.writeOffset = (control & NO_OFFSETS) == 0 && row.writes > 0 ? (int) unsigned() - 1 : AccessBatch.NO_OFFSET;
			return true;
		}

		private boolean nextBlock() throws MemtraceException {
			if (++block >= blocks.size()) {
				return false;
			}
			Block b = blocks.get(block);
			left = b.rows;
			at = 0;
			if (b.bytes != null) {
				bytes = b.bytes;
				return true;
			}
			ByteBuffer into = ByteBuffer.allocate(b.length);
			try {
				while (into.hasRemaining()) {
					if (file.read(into, b.offset + into.position()) < 0) {
						throw new IOException("it became shorter");
					}
				}
			} catch (IOException e) {
				throw new StoreException("temporary data of the import cannot be read: " + e.getMessage(), e);
			}
			bytes = into.array();
			return true;
		}

		private long unsigned() {
			long v = 0;
			for (int shift = 0;; shift += 7) {
				byte b = bytes[at++];
				v |= (b & 0x7fL) << shift;
				if (b >= 0) {
					return v;
				}
			}
		}

		private long signed() {
			long v = unsigned();
			return v >>> 1 ^ -(v & 1);
		}
	}

	@Override
	public void close() {
		blocks.clear();
		if (file != null) {
			try {
				file.close();
			} catch (IOException e) {
				// it has no name any more
			}
		}
	}
}
