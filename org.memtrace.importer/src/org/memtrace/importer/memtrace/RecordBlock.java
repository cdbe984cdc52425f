// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.memtrace;

/**
 * The records of a plain block (docs/reference/trace-records.md), as columns. It believes nothing: what it is given may be made by anybody.
 * The columns hold what was read until the next {@link #read}.
 */
final class RecordBlock {
	static final int MOST_RECORDS = 4096;
	/** Words of all masks of a block together. */
	private static final int MOST_WORDS = 4096;

	private static final int PAGE = 1;
	private static final int COUNTS = 2;
	private static final int READS = 3;
	private static final int WRITES = 4;
	private static final int SHAPE = 5;
	private static final int READ_AT = 6;
	private static final int WRITE_AT = 7;
	private static final int LOW = 8;
	private static final int FIRST = 9;
	private static final int TASKS = 10;
	private static final int TASK = 11;
	private static final int IPS = 12;
	private static final int IP = 13;
	private static final int MASKS = 14;
	private static final int MASK = 15;
	private static final int PHYSICAL = 16;
	private static final int NODE = 17;
	private static final int FLAGS = 18;
	private static final int COLUMNS = 19;

	private static final int COLUMN_HEAD = 4;
	private static final int LOW_BITS = 12;
	private static final int LOW_MASK = (1 << LOW_BITS) - 1;
	/** Counts from here on have their rest in a column of its own. */
	private static final int MOST_COUNT = 10;
	private static final int LOW_OF_READ = 0;
	private static final int LOW_OF_WRITE = 1;
	private static final int LOW_OF_COLUMN = 2;
	private static final int LOW_ZERO = 3;
	private static final int HAS_READ_AT = 4;
	private static final int HAS_WRITE_AT = 8;
	private static final int HAS_FIRST = 16;
	private static final int SHAPES = 32;
	private static final long LARGEST_OFFSET = 1 << 30;

	/** What is not as the norm says. */
	static final class Damage extends Exception {
		private static final long serialVersionUID = 1;

		Damage() {
			super("is not what a block can hold", null, false, false);
		}
	}

	/** The symbols of a column, one after the other; a column that is not there has zeroes without end. */
	private static final class Column {
		private byte[] bytes;
		private int p;
		private int end;
		private boolean there;
		private boolean runs;
		private long symbol;
		private long left;

		void none() {
			there = false;
			p = 0;
			end = 0;
			left = 0;
		}

		void set(byte[] in, int from, int to, boolean inRuns) throws Damage {
			if (there) {
				throw new Damage();
			}
			bytes = in;
			p = from;
			end = to;
			runs = inRuns;
			there = true;
		}

		boolean more() {
			return p < end || left != 0;
		}

		long next() throws Damage {
			if (!there) {
				return 0;
			}
			if (!runs) {
				return p < end && bytes[p] >= 0 ? bytes[p++] : varint();
			}
			if (left != 0) {
				left--;
			} else {
				symbol = varint();
				left = varint();
			}
			return symbol;
		}

		private long varint() throws Damage {
			long v = 0;
			for (int shift = 0; p < end && shift < Long.SIZE; shift += 7) {
				byte b = bytes[p++];
				if (shift == 63 && (b & 0xfe) != 0) {
					break;
				}
				v |= (long) (b & 127) << shift;
				if (b >= 0) {
					return v;
				}
			}
			throw new Damage();
		}
	}

	int count;
	final long[] address = new long[MOST_RECORDS];
	final long[] reads = new long[MOST_RECORDS];
	final long[] writes = new long[MOST_RECORDS];
	final long[] taskId = new long[MOST_RECORDS];
	final long[] ip = new long[MOST_RECORDS];
	final long[] physical = new long[MOST_RECORDS];
	/** Since the start of the interval, -1 not known. */
	final long[] firstNs = new long[MOST_RECORDS];
	/** Offsets in the page, -1 none or not known. */
	final int[] readOffset = new int[MOST_RECORDS];
	final int[] writeOffset = new int[MOST_RECORDS];
	final int[] node = new int[MOST_RECORDS];
	final int[] flags = new int[MOST_RECORDS];
	/** Number of its mask. */
	final int[] mask = new int[MOST_RECORDS];
	/** The masks by their numbers, as {@link java.util.BitSet#toLongArray} has them. */
	final long[][] masks = new long[MOST_RECORDS][];
	int maskCount;

	private final Column[] column = new Column[COLUMNS];
	private final long[] values = new long[MOST_RECORDS];

	RecordBlock() {
		for (int c = 0; c < COLUMNS; c++) {
			column[c] = new Column();
		}
	}

	private static long unzigzag(long v) {
		return v >>> 1 ^ -(v & 1);
	}

	/**
	 * Reads the bytes behind a head, whose checksum is right.
	 *
	 * @param records as many as the head says
	 */
	void read(byte[] in, int from, int to, int records) throws Damage {
		if (records < 1 || records > MOST_RECORDS) {
			throw new Damage();
		}
		count = records;
		find(in, from, to);
		readCounts();
		readPlaces();
		readNumbered(TASKS, TASK, taskId);
		readNumbered(IPS, IP, ip);
		readMasks();
		readRest();
		for (Column c : column) {
			if (c.more()) {
				throw new Damage();
			}
		}
	}

	private void find(byte[] in, int from, int to) throws Damage {
		for (Column c : column) {
			c.none();
		}
		for (int p = from; p < to;) {
			if (to - p < COLUMN_HEAD) {
				throw new Damage();
			}
			int id = in[p] & 0xff;
			int coding = in[p + 1];
			int bytes = in[p + 2] & 0xff | (in[p + 3] & 0xff) << 8;
			p += COLUMN_HEAD;
			if (coding < 0 || coding > 1 || bytes > to - p) {
				throw new Damage();
			}
			if (id < COLUMNS) { // others are of later versions, which this one does without
				column[id].set(in, p, p + bytes, coding == 1);
			}
			p += bytes;
		}
	}

	private void readCounts() throws Damage {
		for (int i = 0; i < count; i++) {
			long both = column[COUNTS].next();
			if (both < 0 || both >= (MOST_COUNT + 1) * (MOST_COUNT + 1)) {
				throw new Damage();
			}
			reads[i] = both / (MOST_COUNT + 1);
			writes[i] = both % (MOST_COUNT + 1);
		}
		for (int i = 0; i < count; i++) {
			reads[i] += reads[i] == MOST_COUNT ? column[READS].next() : 0;
		}
		for (int i = 0; i < count; i++) {
			writes[i] += writes[i] == MOST_COUNT ? column[WRITES].next() : 0;
		}
	}

	private static int offset(long v) throws Damage {
		if (v < 0 || v >= LARGEST_OFFSET) {
			throw new Damage();
		}
		return (int) v;
	}

	private void readPlaces() throws Damage {
		long page = 0;
		long first = 0;
		for (int i = 0; i < count; i++) {
			boolean r = reads[i] != 0;
			boolean w = writes[i] != 0;
			long shape = column[SHAPE].next() ^ (HAS_FIRST | (r ? HAS_READ_AT | LOW_OF_READ : 0) | (w ? HAS_WRITE_AT : 0)
					| (r ? 0 : w ? LOW_OF_WRITE : LOW_ZERO));
			if (shape < 0 || shape >= SHAPES) {
				throw new Damage();
			}
			int readAt = (shape & HAS_READ_AT) != 0 ? offset(column[READ_AT].next()) : -1;
			int writeAt = (shape & HAS_WRITE_AT) != 0 ? offset(unzigzag(column[WRITE_AT].next()) + Math.max(0, readAt)) : -1;
			long low = switch ((int) shape & 3) {
			case LOW_OF_READ -> Math.max(0, readAt);
			case LOW_OF_WRITE -> Math.max(0, writeAt);
			case LOW_OF_COLUMN -> column[LOW].next();
			default -> 0;
			};
			page += unzigzag(column[PAGE].next());
			address[i] = page << LOW_BITS | low & LOW_MASK;
			readOffset[i] = readAt;
			writeOffset[i] = writeAt;
			firstNs[i] = -1;
			if ((shape & HAS_FIRST) != 0) {
				first += unzigzag(column[FIRST].next());
				firstNs[i] = first;
				if (first < 0) {
					throw new Damage();
				}
			}
		}
	}

	private void readNumbered(int valueColumn, int numberColumn, long[] to) throws Damage {
		int n = 0;
		values[0] = 0;
		for (long v = 0; n < MOST_RECORDS && column[valueColumn].more(); n++) {
			v += unzigzag(column[valueColumn].next());
			values[n] = v;
		}
		n = Math.max(1, n);
		for (int i = 0; i < count; i++) {
			to[i] = values[number(numberColumn, n)];
		}
	}

	private int number(int numberColumn, int n) throws Damage {
		long v = column[numberColumn].next();
		if (v < 0 || v >= n) {
			throw new Damage();
		}
		return (int) v;
	}

	private void readMasks() throws Damage {
		int words = 0;
		maskCount = 0;
		while (maskCount < MOST_RECORDS && column[MASKS].more()) {
			long n = column[MASKS].next();
			if (n < 1 || n > MOST_WORDS - 1 - words) {
				throw new Damage();
			}
			long[] all = new long[(int) n];
			for (int w = 0; w < n; w++) {
				all[w] = column[MASKS].next();
			}
			words += 1 + (int) n;
			masks[maskCount++] = all;
		}
		if (maskCount == 0) {
			masks[maskCount++] = new long[1];
		}
		for (int i = 0; i < count; i++) {
			mask[i] = number(MASK, maskCount);
		}
	}

	private void readRest() throws Damage {
		long frame = 0;
		for (int i = 0; i < count; i++) {
			frame += unzigzag(column[PHYSICAL].next());
			physical[i] = Long.rotateLeft(frame, LOW_BITS);
			long n = unzigzag(column[NODE].next());
			long f = column[FLAGS].next();
			if ((short) n != n || f < 0 || f > Integer.MAX_VALUE) {
				throw new Damage();
			}
			node[i] = (int) n;
			flags[i] = (int) f;
		}
	}
}
