// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.otf2;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The records of {@code memtrace otf2-stream}, one after the other: docs/reference/otf2-stream.md. Used by one thread. */
final class Otf2Stream {
	static final String MAGIC = "memtrace-otf2/1\n";

	static final int CLOCK = 1;
	static final int REALTIME = 2;
	static final int STRING = 3;
	static final int TREE_NODE = 4;
	static final int LOCATION_GROUP = 5;
	static final int LOCATION = 6;
	static final int REGION = 7;
	static final int ATTRIBUTE = 8;
	static final int GROUP = 9;
	static final int COMM = 10;
	static final int INTER_COMM = 11;
	static final int METRIC_MEMBER = 12;
	static final int METRIC_CLASS = 13;
	static final int METRIC_INSTANCE = 14;
	static final int IO_FILE = 15;
	static final int IO_HANDLE = 16;
	static final int PARAMETER = 17;
	static final int CALLING_CONTEXT = 18;
	static final int DEFINITIONS_END = 19;
	static final int LOCATION_BEGIN = 32;
	static final int LOCATION_END = 33;
	static final int EVENT_ATTRIBUTE = 34;
	static final int ENTER = 35;
	static final int LEAVE = 36;
	static final int CONTEXT_ENTER = 37;
	static final int CONTEXT_LEAVE = 38;
	static final int CONTEXT_SAMPLE = 39;
	static final int SEND = 40;
	static final int RECEIVE = 41;
	static final int REQUEST = 42;
	static final int COLLECTIVE_BEGIN = 43;
	static final int COLLECTIVE_END = 44;
	static final int METRIC = 45;
	static final int PARAMETER_STRING = 46;
	static final int PARAMETER_INT = 47;
	static final int PARAMETER_UNSIGNED = 48;
	static final int THREAD_FORK = 49;
	static final int THREAD_JOIN = 50;
	static final int TEAM_BEGIN = 51;
	static final int TEAM_END = 52;
	static final int LOCK_ACQUIRE = 53;
	static final int LOCK_RELEASE = 54;
	static final int TASK_CREATE = 55;
	static final int TASK_SWITCH = 56;
	static final int TASK_COMPLETE = 57;
	static final int THREAD_CREATE = 58;
	static final int THREAD_BEGIN = 59;
	static final int THREAD_WAIT = 60;
	static final int THREAD_END = 61;
	static final int IO_CREATE = 62;
	static final int IO_DESTROY = 63;
	static final int IO_SEEK = 64;
	static final int IO_BEGIN = 65;
	static final int IO_COMPLETE = 66;
	static final int PROGRAM_BEGIN = 67;
	static final int PROGRAM_END = 68;
	static final int FLUSH = 69;
	static final int MEASUREMENT = 70;
	static final int STREAM_END = 127;

	private static final int RECORD = 32;
	private static final int BUFFER = 1 << 20;
	/** More cannot be right: a group with 2^25 members. */
	private static final int LONGEST_PAYLOAD = 1 << 28;
	private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
	private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

	private final InputStream in;
	private byte[] buffer = new byte[BUFFER];
	private int position;
	private int limit;

	/** The current record. */
	int kind;
	int ref;
	long a;
	long b;
	long c;
	private int payload;

	Otf2Stream(InputStream in) {
		this.in = in;
	}

	/** Whether the stream begins as it should; reads what says so. */
	boolean begins() throws IOException {
		if (!fill(MAGIC.length())) {
			return false;
		}
		boolean good = new String(buffer, position, MAGIC.length(), StandardCharsets.ISO_8859_1).equals(MAGIC);
		position += MAGIC.length();
		return good;
	}

	/**
	 * Goes to the next record; false at the end, which is right only after {@link #STREAM_END}.
	 *
	 * @throws IOException when the stream is cut within a record, or is none
	 */
	boolean next() throws IOException {
		if (!fill(RECORD)) {
			if (limit > position) {
				throw new EOFException("cut within a record");
			}
			return false;
		}
		byte[] bytes = buffer;
		int at = position;
		a = (long) LONG.get(bytes, at);
		kind = (int) INT.get(bytes, at + 8);
		ref = (int) INT.get(bytes, at + 12);
		b = (long) LONG.get(bytes, at + 16);
		c = (long) LONG.get(bytes, at + 24);
		position = at + RECORD;
		payload = 0;
		if (hasPayload(kind)) {
			if (c < 0 || c > LONGEST_PAYLOAD) {
				throw new IOException("a record of kind " + kind + " with " + Long.toUnsignedString(c) + " bytes");
			}
			int padded = (int) (c + 7 & -8);
			if (!fill(padded)) {
				throw new EOFException("cut within a record");
			}
			payload = position;
			position += padded;
		}
		return true;
	}

	private static boolean hasPayload(int kind) {
		return switch (kind) {
		case STRING, GROUP, METRIC_CLASS, DEFINITIONS_END, LOCATION_END, METRIC -> true;
		default -> false;
		};
	}

	/** The payload of the current record as a text. */
	String text() {
		return new String(buffer, payload, (int) c, StandardCharsets.UTF_8);
	}

	/** The payload of the current record as whole numbers of 64 bits. */
	long[] longs() {
		long[] all = new long[(int) c / Long.BYTES];
		for (int i = 0; i < all.length; i++) {
			all[i] = (long) LONG.get(buffer, payload + i * Long.BYTES);
		}
		return all;
	}

	/** The payload of the current record as whole numbers of 32 bits. */
	int[] ints() {
		int[] all = new int[(int) c / Integer.BYTES];
		for (int i = 0; i < all.length; i++) {
			all[i] = (int) INT.get(buffer, payload + i * Integer.BYTES);
		}
		return all;
	}

	/** Makes so many bytes available behind the position; false when the stream ends before. */
	private boolean fill(int bytes) throws IOException {
		while (limit - position < bytes) {
			if (position > 0) {
				System.arraycopy(buffer, position, buffer, 0, limit - position);
				limit -= position;
				position = 0;
			}
			if (limit == buffer.length) {
				buffer = Arrays.copyOf(buffer, 2 * limit);
			}
			int n = in.read(buffer, limit, buffer.length - limit);
			if (n < 0) {
				return false;
			}
			limit += n;
		}
		return true;
	}
}
