// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perfetto;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.importer.EventLines;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.ImportTest;
import org.memtrace.importer.InputReaders;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/** Perfetto's packets: an example that was written with Perfetto's own definitions, made traces, and any bytes. */
class PerfettoReaderTest extends ImportTest {
	private static final List<String> WANTED = List.of("a STATE late 1001000 1002000 0.0", "b STATE late 1003000 1003500 0.0",
			"cycles VARIABLE main (4711) 1000500 1000600 5000.0", "cycles VARIABLE main (4711) 1000600 1004500 12000.0",
			"flow LINK main (4711) 1000600 1002000 to worker (4712)", "mark PUNCTUAL main (4711) 1000900 1000900 0.0",
			"memory VARIABLE app (4711) 1000000 1002000 1.5", "memory VARIABLE app (4711) 1002000 1004500 2.5",
			"never ends STATE worker (4712) 1004500 1004500 0.0", "request STATE queue 1000100 1000900 0.0",
			"solve STATE main (4711) 1000500 1001000 0.0 size=4096",
			"sweep STATE main (4711) 1000600 1000850 1.0 where={file:a.c,lines:[-1,2]}", "wait STATE worker (4712) 1002000 1004000 0.0");

	/** Writes protobuf messages. */
	private static final class Message {
		final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

		private void varint(long v) {
			for (long rest = v;; rest >>>= 7) {
				bytes.write((int) (rest >>> 7 == 0 ? rest : rest & 0x7f | 0x80));
				if (rest >>> 7 == 0) {
					return;
				}
			}
		}

		Message number(int field, long v) {
			varint(field << 3);
			varint(v);
			return this;
		}

		Message fixed(int field, long v) {
			varint(field << 3 | 1);
			for (int i = 0; i < 8; i++) {
				bytes.write((int) (v >>> 8 * i));
			}
			return this;
		}

		Message bytes(int field, byte[] of) {
			varint(field << 3 | 2);
			varint(of.length);
			bytes.writeBytes(of);
			return this;
		}

		Message text(int field, String text) {
			return bytes(field, text.getBytes(StandardCharsets.UTF_8));
		}

		Message message(int field, Message m) {
			return bytes(field, m.bytes.toByteArray());
		}
	}

	private static byte[] example() throws Exception {
		Path file = Path.of(System.getProperty("memtrace.root"), "testdata/perfetto/example.base64");
		return Base64.getMimeDecoder().decode(Files.readString(file));
	}

	private ImportReport read(byte[] bytes) throws Exception {
		return read(Files.write(directory.resolve("a.pftrace"), bytes));
	}

	private List<String> events(ImportReport report) throws MemtraceException {
		return EventLines.of(catalogue, report);
	}

	@Test
	void exampleOfPerfetto() throws Exception {
		ImportReport report = read(example());
		assertEquals(WANTED, events(report));
		String text = report.toText();
		for (String told : List.of("1: end of a state that did not begin", "1: event in a clock that is not known yet",
				"1: event that refers to packets that were lost", "1: packet with ftrace events, which are not imported",
				"lost by the recorder  3 events", "1 gaps in which", "2 chunks of packets were overwritten", "1 states do not end",
				"4 events are of tracks that are not in the order")) {
			assertTrue(text.contains(told), told + " is not in\n" + text);
		}
		assertEquals("perfetto", report.trace().properties().get("reader"));
		assertThrows(CancelledException.class,
				() -> new ImportOperation(directory.resolve("a.pftrace"), catalogue::create).call(Progress.cancelledWhen(() -> true)));
		MemtraceException strict = assertThrows(MemtraceException.class,
				() -> new ImportOperation(directory.resolve("a.pftrace"), catalogue::create).setStrict(true).call(Progress.NONE));
		assertTrue(strict.getMessage().contains("a.pftrace, packet 10: event that refers to packets that were lost"), strict.getMessage());
		assertEquals(1, catalogue.list().size());
	}

	@Test
	void aStreamIsReadOnce() throws Exception {
		ImportReport report = new ImportOperation(List.of(Path.of("-")), new ByteArrayInputStream(example()), catalogue::create)
				.call(Progress.NONE);
		List<String> events = events(report);
		assertTrue(events.contains(WANTED.get(10)), events.toString());
		assertEquals(WANTED.size(), events.size());
	}

	/** As in the reference of Perfetto: a packet with time 5, an event of type 1 (begin) with the name "x". */
	@Test
	void bytesOfAPacket() throws Exception {
		byte[] both = { 0x0a, 0x0a, 0x40, 0x05, 0x5a, 0x06, 0x48, 0x01, (byte) 0xba, 0x01, 0x01, 'x', // begin of x at 5
				0x0a, 0x06, 0x40, 0x09, 0x5a, 0x02, 0x48, 0x02 }; // end at 9
		assertEquals(List.of("x STATE trace 5 9 0.0"), events(read(both)));
	}

	/** A random trace: what was written must come back, however times and names are told. */
	@Test
	void whatWasWrittenIsRead() throws Exception {
		for (int seed = 0; seed < 30; seed++) {
			Random random = new Random(seed);
			Message trace = new Message();
			List<String> wanted = new ArrayList<>();
			boolean incremental = random.nextBoolean();
			boolean interned = random.nextBoolean();
			long multiplier = incremental && random.nextBoolean() ? 1000 : 1;
			long now = 1L << random.nextInt(1, 40);
			Message clocks = new Message().message(1, new Message().number(1, 6).number(2, now * multiplier));
			clocks.message(1, new Message().number(1, 64).number(2, now).number(3, incremental ? 1 : 0).number(4, multiplier));
			Message first = new Message().number(10, 7).number(13, 1).message(6, clocks);
			trace.message(1, first.message(59, new Message().number(58, 64).message(11, new Message().number(11, 1))));
			int tracks = random.nextInt(1, 5);
			List<List<String>> open = new ArrayList<>();
			List<List<Long>> since = new ArrayList<>();
			for (int t = 0; t < tracks; t++) {
				open.add(new ArrayList<>());
				since.add(new ArrayList<>());
				Message thread = new Message().number(1, 9).number(2, 100 + t).text(5, "t");
				trace.message(1, new Message().message(60, new Message().number(1, 1 + t).message(4, thread)));
			}
			Map<String, Integer> names = new HashMap<>();
			long told = now;
			int events = 1 << random.nextInt(10);
			for (int n = 0; n < events || open.stream().anyMatch(o -> !o.isEmpty()); n++) {
				int t = random.nextInt(tracks);
				now += random.nextInt(3) == 0 ? 0 : random.nextLong(1, 1000);
				boolean begins = n < events && (open.get(t).isEmpty() || random.nextBoolean());
				if (!begins && open.get(t).isEmpty()) {
					continue;
				}
				Message event = new Message();
				Message texts = null;
				if (begins) {
					String name = "f" + random.nextInt(5);
					if (interned) {
						if (!names.containsKey(name)) {
							names.put(name, names.size() + 1);
							texts = new Message().message(2, new Message().number(1, names.get(name)).text(2, name));
						}
						event.number(10, names.get(name));
					} else {
						event.text(23, name);
					}
					open.get(t).add(name);
					since.get(t).add(now);
				} else {
					int level = open.get(t).size() - 1;
					wanted.add(open.get(t).remove(level) + " STATE t (" + (100 + t) + ") " + since.get(t).remove(level) * multiplier + " "
							+ now * multiplier + " " + (double) level);
				}
				event.number(9, begins ? 1 : 2);
				if (t > 0) {
					event.number(11, 1 + t);
				}
				Message packet = new Message().message(11, event).number(8, incremental ? now - told : now).number(10, 7);
				told = now;
				trace.message(1, texts == null ? packet : packet.message(12, texts));
			}
			wanted.sort(null);
			ImportReport report = read(trace.bytes.toByteArray());
			assertEquals(wanted, events(report), "seed " + seed);
			assertEquals(List.of(), report.warnings(), "seed " + seed);
			catalogue.delete(report.trace().id());
		}
	}

	@Test
	void tracksThatAreTheirOwnParentsEnd() throws Exception {
		Message trace = new Message();
		for (int t = 1; t <= 3; t++) {
			trace.message(1, new Message().message(60, new Message().number(1, t).number(5, t % 3 + 1).text(2, "ring")));
			trace.message(1, new Message().number(8, t).message(11, new Message().number(9, 3).number(11, t).text(23, "mark")));
		}
		assertEquals(3, read(trace.bytes.toByteArray()).trace().events());
	}

	@Test
	void foundByContent() throws Exception {
		assertEquals("perfetto", InputReaders.detect(List.of(Files.write(directory.resolve("x.json"), example()))).reader());
		byte[] profile = new Message().message(1, new Message().number(1, 1).number(2, 2)).message(2, new Message().number(1, 1)).bytes
				.toByteArray(); // pprof
		byte[] wrongKind = new Message().message(1, new Message().text(8, "time")).bytes.toByteArray();
		for (byte[] other : List.of("\n\n\n".getBytes(StandardCharsets.UTF_8), "\nabc".getBytes(StandardCharsets.UTF_8), new byte[0],
				new byte[] { 10 }, new byte[] { 10, 0 }, profile, wrongKind)) {
			assertFalse(PerfettoReader.isTrace(other), Arrays.toString(other));
		}
	}

	@Test
	void whatIsCutGivesWhatCameBefore() throws Exception {
		byte[] whole = example();
		int imported = 0;
		for (int length = 1; length < whole.length; length += 11) {
			try {
				ImportReport report = read(Arrays.copyOf(whole, length));
				imported++;
				assertTrue(report.trace().events() <= WANTED.size(), length + ": " + report.toText());
				catalogue.delete(report.trace().id());
			} catch (MemtraceException e) {
				assertTrue(e.getMessage().contains("a.pftrace"), length + ": " + e);
			}
		}
		assertTrue(imported > 30, imported + " imported");
		ImportReport report = read(Arrays.copyOf(whole, whole.length - 3));
		assertTrue(report.toText().contains("is damaged after packet 29: a packet is cut"), report.toText());
	}

	@Test
	void anyBytesEndWell() throws Exception {
		byte[] whole = example();
		int imported = 0;
		for (int n = 0; n < 250; n++) {
			Random random = new Random(n);
			byte[] bytes = whole.clone();
			for (int m = random.nextInt(4); m >= 0; m--) {
				bytes[random.nextInt(bytes.length)] = (byte) (random.nextBoolean() ? random.nextInt() : 1 << random.nextInt(8));
			}
			try {
				catalogue.delete(read(bytes).trace().id());
				imported++;
			} catch (MemtraceException e) {
				assertTrue(e.getMessage().contains("a.pftrace"), n + ": " + e);
			} catch (RuntimeException e) {
				throw new AssertionError("mutation " + n + ": " + Base64.getEncoder().encodeToString(bytes), e);
			}
		}
		assertTrue(imported > 60, imported + " imported");
	}
}
