// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.rows;

import java.util.Arrays;

import org.memtrace.model.store.AccessBatch;

/** Codes rows of an import in some 8 to 16 bytes each, as differences to the row before. */
final class RowCode {
	/** Longest encoding of a row: control byte, then thirteen numbers. */
	static final int LONGEST_ROW = 1 + 13 * 10;

	private static final int SAME_INTERVAL = 1;
	private static final int ONE_READ = 2;
	private static final int ONE_WRITE = 4;
	private static final int SAME_THREAD = 8;
	private static final int SAME_CPUS = 16;
	private static final int SAME_IP = 32;
	private static final int SAME_NODE = 64;
	private static final int NO_OFFSETS = 128;

	/** Writes rows one after the other into memory. */
	static final class Writer {
		byte[] bytes;
		int length;
		private SpilledRow last = new SpilledRow();

		/** @param capacity bytes that the rows take at most; {@link #room} makes more */
		Writer(int capacity) {
			bytes = new byte[capacity];
		}

		/** Makes room for one more row. */
		void room() {
			if (bytes.length - length < LONGEST_ROW) {
				bytes = Arrays.copyOf(bytes, bytes.length * 2 + LONGEST_ROW);
			}
		}

		/** The next row can be read without those before. */
		void restart() {
			length = 0;
			last = new SpilledRow();
		}

		void add(SpilledRow r) {
			int control = (r.startNs == last.startNs && r.endNs == last.endNs ? SAME_INTERVAL : 0)
					| (r.reads == 1 && r.writes == 0 ? ONE_READ : 0) | (r.reads == 0 && r.writes == 1 ? ONE_WRITE : 0)
					| (r.thread == last.thread ? SAME_THREAD : 0) | (r.cpuSet == last.cpuSet ? SAME_CPUS : 0)
					| (r.ip == last.ip ? SAME_IP : 0) | (r.node == last.node && r.flags == last.flags ? SAME_NODE : 0)
					| (r.readOffset < 0 && r.writeOffset < 0 ? NO_OFFSETS : 0);
			bytes[length++] = (byte) control;
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
			unsigned(r.firstNs + 1);
			copy(r, last);
		}

		private static void copy(SpilledRow from, SpilledRow to) {
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
				bytes[length++] = (byte) (v | 0x80);
				v >>>= 7;
			}
			bytes[length++] = (byte) v;
		}

		private void signed(long value) {
			unsigned(value << 1 ^ value >> 63);
		}
	}

	/** Reads rows. */
	static final class Reader {
		private byte[] bytes;
		private int at;
		final SpilledRow row = new SpilledRow();

		/** The next rows are here. */
		void continueIn(byte[] block) {
			bytes = block;
			at = 0;
		}

		/** Goes to the next row, of which the caller knows that it is there. */
		void next() {
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
			row.firstNs = unsigned() - 1;
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

	private RowCode() {
	}
}
