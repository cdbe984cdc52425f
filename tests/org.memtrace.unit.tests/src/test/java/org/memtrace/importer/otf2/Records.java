// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.otf2;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Writes records as {@code memtrace otf2-stream} does. */
final class Records {
	private static final int NONE = -1;
	private final ByteArrayOutputStream out = new ByteArrayOutputStream();

	Records() {
		out.writeBytes(Otf2Stream.MAGIC.getBytes(StandardCharsets.US_ASCII));
	}

	Records put(int kind, long a, int ref, long b, long c) {
		out.writeBytes(ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN).putLong(a).putInt(kind).putInt(ref).putLong(b).putLong(c)
				.array());
		return this;
	}

	Records payload(int kind, long a, int ref, long b, byte[] bytes) {
		put(kind, a, ref, b, bytes.length);
		out.writeBytes(bytes);
		out.writeBytes(new byte[(8 - bytes.length % 8) % 8]);
		return this;
	}

	Records longs(int kind, long a, int ref, long b, long... values) {
		ByteBuffer bytes = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
		for (long value : values) {
			bytes.putLong(value);
		}
		return payload(kind, a, ref, b, bytes.array());
	}

	Records ints(int kind, long a, int ref, int... values) {
		ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
		for (int value : values) {
			bytes.putInt(value);
		}
		return payload(kind, a, ref, 0, bytes.array());
	}

	Records string(int ref, String text) {
		return payload(Otf2Stream.STRING, 0, ref, 0, text.getBytes(StandardCharsets.UTF_8));
	}

	/** Strings 0 to 9, a node, two processes with a location each (100 and 200), regions 0 main and 1 work, communicator 0 of both. */
	Records program() {
		String[] names = { "node", "rank 0", "rank 1", "thread", "main", "work", "world", "data.bin", "flops", "note" };
		for (int i = 0; i < names.length; i++) {
			string(i, names[i]);
		}
		put(Otf2Stream.CLOCK, 1_000_000, 0, 50, 0);
		put(Otf2Stream.REALTIME, 1_700_000_000_000_000_000L, 0, 0, 0);
		put(Otf2Stream.TREE_NODE, 0, 0, 0, Otf2Definitions.UNDEFINED);
		put(Otf2Stream.LOCATION_GROUP, 1, 0, 0, 1);
		put(Otf2Stream.LOCATION_GROUP, 2, 1, 0, 1);
		put(Otf2Stream.LOCATION, 100, 0, 3, 1);
		put(Otf2Stream.LOCATION, 200, 1, 3, 1);
		put(Otf2Stream.REGION, 4, 0, 0, 0);
		put(Otf2Stream.REGION, 5, 1, 0, 0);
		longs(Otf2Stream.GROUP, 4 | 4 << 8, 0, 6, 100, 200);
		longs(Otf2Stream.GROUP, 5 | 4 << 8, 0, 6, 0, 1); // the same number, as EZTrace does
		put(Otf2Stream.COMM, 6, 0, 0, 0);
		put(Otf2Stream.IO_FILE, 7, 3, 0, 0);
		put(Otf2Stream.IO_HANDLE, NONE & Otf2Definitions.UNDEFINED, 2, 3, 0);
		put(Otf2Stream.ATTRIBUTE, 9, 5, 8, 0);
		put(Otf2Stream.PARAMETER, 9, 7, 8, 0);
		put(Otf2Stream.METRIC_MEMBER, 8 | Otf2Definitions.UNDEFINED << 32, 0, 0, 0);
		return this;
	}

	Records defined() {
		return payload(Otf2Stream.DEFINITIONS_END, 0, 0, 0, new byte[0]);
	}

	Records begin(long location) {
		return put(Otf2Stream.LOCATION_BEGIN, location, 0, 0, 0);
	}

	Records enter(long time, int region) {
		return put(Otf2Stream.ENTER, time, region, 0, 0);
	}

	Records leave(long time, int region) {
		return put(Otf2Stream.LEAVE, time, region, 0, 0);
	}

	Records send(long time, int receiver, int tag, long bytes) {
		return put(Otf2Stream.SEND, time, receiver, (long) tag << 32, bytes);
	}

	Records receive(long time, int sender, int tag, long bytes) {
		return put(Otf2Stream.RECEIVE, time, sender, (long) tag << 32, bytes);
	}

	Records end() {
		return payload(Otf2Stream.LOCATION_END, 0, 0, 0, new byte[0]);
	}

	Records damaged(String problem) {
		return payload(Otf2Stream.LOCATION_END, 0, 0, 0, problem.getBytes(StandardCharsets.UTF_8));
	}

	byte[] complete() {
		put(Otf2Stream.STREAM_END, 2, 0, 0, 0);
		return out.toByteArray();
	}

	byte[] bytes() {
		return out.toByteArray();
	}
}
