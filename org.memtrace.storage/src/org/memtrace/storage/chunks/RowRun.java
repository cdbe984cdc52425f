// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;

import org.memtrace.model.StoreException;
import org.memtrace.model.store.AccessBatch;

/**
 * Rows in the order of the tree, written once and read once, in some 12 bytes each: on the heap or in a file. Blocks can be
 * read without each other.
 */
final class RowRun {
	private static final int BLOCK_ROWS = 4096;

	private static final int SAME_CELL = 1;
	private static final int SAME_DURATION = 2;
	private static final int ONE_READ = 4;
	private static final int ONE_WRITE = 8;
	private static final int SAME_THREAD = 16;
	private static final int SAME_CPUS = 32;
	private static final int SAME_IP = 64;
	private static final int SAME_REST = 128;

	/** Where runs go that do not fit on the heap. */
	interface Scratch {
		/** Whether so many bytes may be kept on the heap; then they are counted. */
		boolean onHeap(int bytes);

		/** Appends bytes to the file; returns where they begin. */
		long write(byte[] bytes, int length) throws StoreException;

		FileChannel file();
	}

	private record Block(byte[] bytes, long offset, int length, int rows) {
	}

	private final List<Block> blocks = new ArrayList<>();
	private final Scratch scratch;

	/** Writes rows in an order. */
	RowRun(AccessBatch rows, int[] order, int n, Scratch scratch) throws StoreException {
		this.scratch = scratch;
		Bytes out = new Bytes(BLOCK_ROWS * 16);
		for (int from = 0; from < n; from += BLOCK_ROWS) {
			int to = Math.min(n, from + BLOCK_ROWS);
			out.length = 0;
			write(rows, order, from, to, out);
			blocks.add(scratch.onHeap(out.length) ? new Block(out.toArray(), 0, out.length, to - from)
					: new Block(null, scratch.write(out.array, out.length), out.length, to - from));
		}
	}

	private static void write(AccessBatch b, int[] order, int from, int to, Bytes out) {
		int cell = 0;
		long start = 0;
		long duration = 0;
		int thread = -1;
		int cpuSet = -1;
		long ip = 0;
		int node = -1;
		int flags = 0;
		int sharing = 1;
		for (int k = from; k < to; k++) {
			int i = order[k];
			long length = b.endNs[i] - b.startNs[i];
			int control = (b.producer[i] == cell ? SAME_CELL : 0) | (length == duration ? SAME_DURATION : 0)
					| (b.reads[i] == 1 && b.writes[i] == 0 ? ONE_READ : 0) | (b.reads[i] == 0 && b.writes[i] == 1 ? ONE_WRITE : 0)
					| (b.thread[i] == thread ? SAME_THREAD : 0) | (b.cpuSet[i] == cpuSet ? SAME_CPUS : 0) | (b.ip[i] == ip ? SAME_IP : 0)
					| (b.node[i] == node && b.flags[i] == flags && b.sharing[i] == sharing ? SAME_REST : 0);
			out.add(control);
			if ((control & SAME_CELL) == 0) {
				out.signed(b.producer[i] - cell);
			}
			out.signed(b.startNs[i] - start);
			if ((control & SAME_DURATION) == 0) {
				out.signed(length);
			}
			if ((control & (ONE_READ | ONE_WRITE)) == 0) {
				out.unsigned(b.reads[i]);
				out.unsigned(b.writes[i]);
			}
			if ((control & SAME_THREAD) == 0) {
				out.signed(b.thread[i]);
			}
			if ((control & SAME_CPUS) == 0) {
				out.signed(b.cpuSet[i]);
			}
			if ((control & SAME_IP) == 0) {
				out.signed(b.ip[i] - ip);
			}
			if ((control & SAME_REST) == 0) {
				out.signed(b.node[i]);
				out.signed(b.flags[i]);
				out.signed(b.sharing[i]);
			}
			places(b, i, out);
			cell = b.producer[i];
			start = b.startNs[i];
			duration = length;
			thread = b.thread[i];
			cpuSet = b.cpuSet[i];
			ip = b.ip[i];
			node = b.node[i];
			flags = b.flags[i];
			sharing = b.sharing[i];
		}
	}

	/** What is hardly ever as in the row before. */
	private static void places(AccessBatch b, int i, Bytes out) {
		if (b.reads[i] > 0) {
			out.signed(b.readOffset[i]);
		}
		if (b.writes[i] > 0) {
			out.signed(b.writeOffset[i]);
		}
		out.unsigned(b.firstNs[i] + 1);
	}

	Cursor read() throws StoreException {
		return new Cursor();
	}

	/** Reads the rows, once: blocks that were read are given up. */
	final class Cursor {
		private int block = -1;
		private int left;
		private ByteReader in;
		private long duration;

		/** Whether there is a row: the one in the fields. */
		boolean has;
		int cell;
		long startNs;
		long endNs;
		int thread;
		int cpuSet;
		long reads;
		long writes;
		int sharing;
		int node;
		int flags;
		long ip;
		int readOffset;
		int writeOffset;
		long firstNs;

		private Cursor() throws StoreException {
			next();
		}

		void appendTo(AccessBatch rows) {
			rows.add(startNs, endNs, cell, thread, cpuSet, reads, writes, sharing, node, flags, ip, readOffset, writeOffset, firstNs);
		}

		/** Goes to the next row. */
		void next() throws StoreException {
			if (left == 0 && !nextBlock()) {
				has = false;
				return;
			}
			has = true;
			left--;
			int control = in.next();
			if ((control & SAME_CELL) == 0) {
				cell += (int) in.signed();
			}
			startNs += in.signed();
			if ((control & SAME_DURATION) == 0) {
				duration = in.signed();
			}
			endNs = startNs + duration;
			reads = (control & ONE_READ) != 0 ? 1 : 0;
			writes = (control & ONE_WRITE) != 0 ? 1 : 0;
			if ((control & (ONE_READ | ONE_WRITE)) == 0) {
				reads = in.unsigned();
				writes = in.unsigned();
			}
			if ((control & SAME_THREAD) == 0) {
				thread = (int) in.signed();
			}
			if ((control & SAME_CPUS) == 0) {
				cpuSet = (int) in.signed();
			}
			if ((control & SAME_IP) == 0) {
				ip += in.signed();
			}
			if ((control & SAME_REST) == 0) {
				node = (int) in.signed();
				flags = (int) in.signed();
				sharing = (int) in.signed();
			}
			readOffset = reads > 0 ? (int) in.signed() : AccessBatch.NO_OFFSET;
			writeOffset = writes > 0 ? (int) in.signed() : AccessBatch.NO_OFFSET;
			firstNs = in.unsigned() - 1;
		}

		private boolean nextBlock() throws StoreException {
			if (++block >= blocks.size()) {
				in = null;
				return false;
			}
			Block b = blocks.get(block);
			blocks.set(block, null);
			byte[] bytes = b.bytes != null ? b.bytes : read(b);
			in = new ByteReader(bytes, 0, b.length);
			left = b.rows;
			cell = 0;
			startNs = 0;
			duration = 0;
			thread = -1;
			cpuSet = -1;
			ip = 0;
			node = -1;
			flags = 0;
			sharing = 1;
			return true;
		}

		private byte[] read(Block b) throws StoreException {
			ByteBuffer into = ByteBuffer.allocate(b.length);
			try {
				while (into.hasRemaining()) {
					if (scratch.file().read(into, b.offset + into.position()) < 0) {
						throw new IOException("it became shorter");
					}
				}
			} catch (IOException e) {
				throw new StoreException("temporary data of the import cannot be read: " + e.getMessage(), e);
			}
			return into.array();
		}
	}
}
