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

/**
 * Keeps the rows of an image between the two passes of an import, in some 8 to 16 bytes each: on the heap as long as they are
 * few, else in a temporary file that has no name, so that nothing stays when the process is killed. Rows are referred to in
 * order.
 */
public final class RowSpill implements AutoCloseable {
	/** Rows of a block. */
	private static final int BLOCK_ROWS = 8192;
	/** Bytes on the heap that all spills of an import may use together. */
	public static final class Budget {
		private long left;

		public Budget(long bytes) {
			left = bytes;
		}
	}

	private record Block(byte[] bytes, long offset, int length, int rows) {
	}

	private final Path directory;
	private final Budget budget;
	private final List<Block> blocks = new ArrayList<>();
	private FileChannel file;
	private long fileSize;
	private RowCode.Writer code = new RowCode.Writer(BLOCK_ROWS * RowCode.LONGEST_ROW);
	private int blockRows;
	private long rows;

	public RowSpill(Path directory, Budget budget) {
		this.directory = directory;
		this.budget = budget;
	}

	public long rows() {
		return rows;
	}

	public void add(SpilledRow r) throws MemtraceException {
		code.add(r);
		rows++;
		if (++blockRows == BLOCK_ROWS) {
			endBlock();
		}
	}

	private void endBlock() throws MemtraceException {
		if (blockRows == 0) {
			return;
		}
		if (budget.left >= code.length) {
			budget.left -= code.length;
			blocks.add(new Block(Arrays.copyOf(code.bytes, code.length), 0, code.length, blockRows));
		} else {
			try {
				if (file == null) {
					Path path = Files.createTempFile(directory, ".memtrace-spill-", ".tmp");
					file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
					Files.delete(path);
				}
				ByteBuffer bytes = ByteBuffer.wrap(code.bytes, 0, code.length);
				long offset = fileSize;
				while (bytes.hasRemaining()) {
					fileSize += file.write(bytes, fileSize);
				}
				blocks.add(new Block(null, offset, code.length, blockRows));
			} catch (IOException e) {
				throw new StoreException("temporary data of the import cannot be written to " + directory + ": "
						+ e.getMessage(), e);
			}
		}
		code.length = 0;
		blockRows = 0;
	}

	/** No more rows come. */
	public void finish() throws MemtraceException {
		endBlock();
		code = null;
	}

	/** Reads the rows in their order. */
	public Cursor read() {
		return new Cursor();
	}

	/** Reads rows. */
	public final class Cursor {
		private int block = -1;
		private int left;
		private final RowCode.Reader in = new RowCode.Reader();
		public final SpilledRow row = in.row;

		/** Goes to the next row; false at the end. */
		public boolean next() throws MemtraceException {
			if (left == 0 && !nextBlock()) {
				return false;
			}
			left--;
			in.next();
			return true;
		}

		private boolean nextBlock() throws MemtraceException {
			if (++block >= blocks.size()) {
				return false;
			}
			Block b = blocks.get(block);
			left = b.rows;
			if (b.bytes != null) {
				in.continueIn(b.bytes);
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
			in.continueIn(into.array());
			return true;
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
