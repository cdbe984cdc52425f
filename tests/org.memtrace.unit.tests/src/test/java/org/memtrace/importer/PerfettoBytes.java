// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Writes messages of protobuf, as a trace of Perfetto has them. */
final class PerfettoBytes {
	private final ByteArrayOutputStream out = new ByteArrayOutputStream();

	private void varint(long v) {
		for (long rest = v;; rest >>>= 7) {
			out.write((int) (rest >>> 7 == 0 ? rest : rest & 0x7f | 0x80));
			if (rest >>> 7 == 0) {
				return;
			}
		}
	}

	PerfettoBytes number(int field, long v) {
		varint(field << 3);
		varint(v);
		return this;
	}

	PerfettoBytes text(int field, String text) {
		return bytes(field, text.getBytes(StandardCharsets.UTF_8));
	}

	private PerfettoBytes bytes(int field, byte[] of) {
		varint(field << 3 | 2);
		varint(of.length);
		out.writeBytes(of);
		return this;
	}

	/** A packet with one message. */
	PerfettoBytes packet(int field, PerfettoBytes of) {
		return bytes(1, new PerfettoBytes().bytes(field, of.bytes()).bytes());
	}

	/** A packet with an instant on a track. */
	PerfettoBytes instant(long track, long ns) {
		return bytes(1, new PerfettoBytes().number(8, ns).bytes(11, new PerfettoBytes().number(9, 3).number(11, track).text(23, "mark").bytes())
				.bytes());
	}

	byte[] bytes() {
		return out.toByteArray();
	}
}
