// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perfetto;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.zip.InflaterInputStream;

import org.memtrace.importer.input.CountedInput;
import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

/**
 * Traces in Perfetto's own form: a sequence of packets, which are protobuf. A file is read twice: first for the names of tracks and the
 * order of their events, then for the events, of which none is held but those of tracks that are not in order.
 * docs/reference/input-events.md, "Perfetto".
 */
public final class PerfettoReader implements InputReader {
	private static final String KIND = "Perfetto trace";
	/** Key of a packet: field 1 of the trace, bytes. */
	private static final int PACKET = 1 << 3 | ProtoFields.BYTES;
	private static final int LONGEST_PACKET = 1 << 28;
	/** Packets that are looked at to recognise a file. */
	private static final int LOOKED_AT = 8;

	@Override
	public String id() {
		return "perfetto";
	}

	@Override
	public String description() {
		return "Perfetto's own traces (protobuf): Perfetto SDK, Android, Chrome";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("trace.pftrace, trace.perfetto-trace", "Perfetto"));
	}

	@Override
	public Optional<ImportSource> look(Input input) throws MemtraceException, IOException {
		if (input.isFolder()) {
			return Optional.empty();
		}
		InputFile file = input.files().get(0);
		if (!isTrace(file.head().getBytes(StandardCharsets.ISO_8859_1))) {
			return Optional.empty();
		}
		if (input.files().size() > 1) {
			throw new TraceFormatException(file.name(), 0, "is a Perfetto trace; import it alone");
		}
		return Optional.of(ImportSource.ofEvents(id(), KIND, input));
	}

	/** Whether these are packets, the last of which may be cut: each is a message, and its fields that every trace has are as they must be. */
	static boolean isTrace(byte[] head) {
		int at = 0;
		boolean known = false;
		for (int n = 0; n < LOOKED_AT && at < head.length; n++) {
			if (head[at++] != PACKET) {
				return false;
			}
			int length = 0;
			int shift = 0;
			do {
				if (at == head.length || shift > 28) {
					return known && shift <= 28;
				}
				length |= (head[at] & 0x7f) << shift;
				shift += 7;
			} while (head[at++] < 0);
			if (length < 0 || length > LONGEST_PACKET) {
				return false;
			}
			boolean cut = length > head.length - at;
			ProtoFields packet = new ProtoFields(head, at, cut ? head.length - at : length);
			try {
				while (packet.next()) {
					int wire = PerfettoEvents.wireOf(packet.number());
					if (wire >= 0 && wire != packet.wire()) {
						return false;
					}
					known |= wire >= 0;
				}
			} catch (ProtoFields.Damaged e) {
				return cut && known;
			}
			at += length;
		}
		return known;
	}

	@Override
	public ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException, IOException {
		InputFile file = input.files().get(0);
		progress.beginBytes("Reading events", file.path() == null ? file.size() : 2 * file.size());
		try (EventSink sink = new EventSink(input, request, progress)) {
			PerfettoTracks tracks = new PerfettoTracks(sink);
			if (file.path() != null) {
				try (CountedInput in = file.open()) {
					packets(in, new PerfettoEvents(sink, tracks, file.name(), true), sink, progress);
				}
			}
			tracks.name();
			PerfettoEvents events = new PerfettoEvents(sink, tracks, file.name(), false);
			try (CountedInput in = file.open()) {
				packets(in, events, sink, progress);
			}
			events.finish();
			return sink.commit("Perfetto", id());
		}
	}

	private static void packets(CountedInput in, PerfettoEvents events, EventSink sink, Progress progress) throws MemtraceException {
		String problem;
		try {
			problem = all(in.stream(), events, progress, in, 0);
		} catch (IOException e) {
			problem = String.valueOf(e.getMessage()).lines().findFirst().orElse("it cannot be read"); // of a compressed file
		}
		if (problem != null && !events.isFirst()) { // what came before it counts
			sink.skips().problem(events.file(), "is damaged after packet " + events.packets() + ": " + problem);
		}
	}

	/** @return why it did not come to the end, or null */
	private static String all(InputStream in, PerfettoEvents events, Progress progress, CountedInput counted, int depth)
			throws MemtraceException, IOException {
		long told = 0;
		for (int key = in.read(); key >= 0; key = in.read()) {
			if (key != PACKET) {
				return "no packet begins there";
			}
			long length = 0;
			int b = 0x80;
			for (int shift = 0; (b & 0x80) != 0; shift += 7) {
				b = in.read();
				if (b < 0) {
					return "a packet is cut";
				}
				if (shift > 28) {
					return "a packet has no length";
				}
				length |= (b & 0x7fL) << shift;
			}
			if (length > LONGEST_PACKET) {
				return "a packet of " + length + " bytes";
			}
			byte[] packet = in.readNBytes((int) length);
			if (packet.length < length) {
				return "a packet is cut";
			}
			byte[] compressed = events.packet(packet);
			if (compressed != null && depth == 0) {
				String problem;
				try (InputStream inflated = new InflaterInputStream(new ByteArrayInputStream(compressed))) {
					problem = all(inflated, events, progress, null, 1);
				} catch (IOException e) {
					problem = "compressed packets are damaged";
				}
				if (problem != null) {
					return problem;
				}
			}
			if (counted != null) {
				progress.worked(counted.bytes() - told);
				told = counted.bytes();
			}
			progress.check();
		}
		return null;
	}
}
