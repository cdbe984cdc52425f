// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.ctf;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Writes CTF 1.8 as the tracer of the kernel does: a stream of packets for each CPU, and the context process, thread and command at each
 * event. Everything is aligned to bytes.
 */
final class CtfWriter {
	private static final int MAGIC = 0xC1FC1FC1;
	/** Seconds since 1970 at time 0 of the clock. */
	static final long OFFSET_S = 1_700_000_000;
	private static final int HEADER_BYTES = 4 + 4 + 5 * 8 + 4;

	private final Path folder;
	private final Map<String, String> events = new LinkedHashMap<>();
	private final Map<Integer, ByteArrayOutputStream> streams = new LinkedHashMap<>();
	private final Map<Integer, Long> discarded = new LinkedHashMap<>();
	private final ByteBuffer packet = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);
	private long first;
	private long last;

	CtfWriter(Path folder) {
		this.folder = folder;
	}

	/** Declares an event. @param fields as in TSDL, such as {@code i32 ret; string name;} */
	CtfWriter event(String name, String fields) {
		events.put(name, fields);
		return this;
	}

	/** Adds an event to the open packet. Fields are Integer (32 bits), Long (64 bits) or String. */
	CtfWriter put(long ns, String name, int process, int thread, String command, Object... fields) {
		first = packet.position() == 0 ? ns : first;
		last = ns;
		packet.putInt(new ArrayList<>(events.keySet()).indexOf(name)).putLong(ns);
		packet.putInt(process).putInt(thread);
		text(command);
		for (Object field : fields) {
			switch (field) {
			case Integer number -> packet.putInt(number);
			case Long number -> packet.putLong(number);
			default -> text((String) field);
			}
		}
		return this;
	}

	private void text(String text) {
		packet.put(text.getBytes(StandardCharsets.UTF_8)).put((byte) 0);
	}

	/** Closes the packet: it becomes the next of a CPU. @param lost events that the tracer lost before its end */
	CtfWriter packet(int cpu, long lost) {
		long bits = 8L * (HEADER_BYTES + packet.position());
		ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
		header.putInt(MAGIC).putInt(0).putLong(first).putLong(last).putLong(bits).putLong(bits).putLong(discarded.merge(cpu, lost, Long::sum))
				.putInt(cpu);
		ByteArrayOutputStream stream = streams.computeIfAbsent(cpu, c -> new ByteArrayOutputStream());
		stream.writeBytes(header.array());
		stream.write(packet.array(), 0, packet.position());
		packet.clear();
		return this;
	}

	/** Writes the folder. */
	Path write() throws IOException {
		Files.createDirectories(folder);
		StringBuilder text = new StringBuilder("""
				/* CTF 1.8 */
				typealias integer { size = 32; align = 8; signed = false; } := u32;
				typealias integer { size = 64; align = 8; signed = false; } := u64;
				typealias integer { size = 64; align = 8; signed = false; base = 16; } := hex;
				typealias integer { size = 32; align = 8; signed = true; } := i32;
				typealias integer { size = 64; align = 8; signed = true; } := i64;
				typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := real;
				trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
				env { hostname = "host"; domain = "kernel"; };
				clock { name = monotonic; freq = 1000000000; offset_s = %d; };
				typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time;
				stream { id = 0;
				  packet.context := struct { time timestamp_begin; time timestamp_end; u64 content_size; u64 packet_size; u64 events_discarded;
				    u32 cpu_id; };
				  event.header := struct { u32 id; time timestamp; };
				  event.context := struct { i32 pid; i32 tid; string procname; };
				};
				""".formatted(OFFSET_S));
		int id = 0;
		for (Map.Entry<String, String> event : events.entrySet()) {
			text.append("event { name = \"" + event.getKey() + "\"; id = " + id++ + "; stream_id = 0; fields := struct { " + event.getValue()
					+ " }; };\n");
		}
		Files.writeString(folder.resolve("metadata"), text);
		for (Map.Entry<Integer, ByteArrayOutputStream> stream : streams.entrySet()) {
			Files.write(folder.resolve("channel0_" + stream.getKey()), stream.getValue().toByteArray());
		}
		return folder;
	}
}
