// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.ctf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lines as babeltrace 2.0.4 printed them, and the metadata of traces. */
class CtfLineTest {
	private final CtfLine line = new CtfLine();
	@TempDir
	Path directory;

	@Test
	void eachKindOfValue() {
		assertTrue(line.parse("timestamp = 1700000000.000000021, trace:hostname = host, name = sched_switch, "
				+ "stream.packet.context = { cpu_id = 1 }, stream.event.context = { pid = 1, tid = 2, procname = \"a \\\"b\\\" },\\n= \\t\\\\x\\x1b\" }, "
				+ "event.fields = { prev = \"p\", arr = [ [0] = 7, [1] = 8 ], seq = [ ], e = ( \"B\" : container = 3 ), "
				+ "none = ( <unknown> : container = -9 ), two = ( { \"A\", \"B\" } : container = 3 ), v = { { y = 77 } }, "
				+ "st = { x = 0xFFFFFFFFFFFFFFFF, s = \"}\" }, f = 1.5e-3, n = -1 }"));
		assertEquals(1_700_000_000_000_000_021L, line.timeNs);
		assertEquals("sched_switch", line.name);
		assertEquals(Map.of("hostname", "host"), line.trace);
		assertEquals(Map.of("cpu_id", "1", "pid", "1", "tid", "2", "procname", "a \"b\" },\n= \t\\x\033"), line.context);
		assertEquals("{prev=p, arr=[ [0] = 7, [1] = 8 ], seq=[ ], e=B, none=-9, two={ \"A\", \"B\" }, v={ { y = 77 } }, "
				+ "st={ x = 0xFFFFFFFFFFFFFFFF, s = \"}\" }, f=1.5e-3, n=-1}", line.fields.toString());
		assertEquals(-1, CtfLine.number("0xFFFFFFFFFFFFFFFF"));
		assertEquals(-5, CtfLine.number("-5"));
		assertNull(CtfLine.number("0xFFFFFFFFFFFFFFFFF"));
		assertNull(CtfLine.number(null));
	}

	@Test
	void cyclesEmptyEventsAndTimesBefore1970() {
		assertTrue(line.parse("timestamp = 00000000000000001234, name = app:it, really, event.fields = { }"));
		assertEquals(1234, line.timeNs);
		assertEquals("app:it, really", line.name);
		assertTrue(line.fields.isEmpty());
		assertTrue(line.parse("timestamp = 5.000000001, name = x"));
		assertEquals(5_000_000_001L, line.timeNs);
		assertTrue(line.parse("timestamp = -5.000000001, name = x"));
		assertEquals(-5_000_000_001L, line.timeNs);
		assertTrue(line.parse("timestamp = 1, name = x, event.fields = { s = \"" + "y".repeat(1000) + "\" }"));
		assertEquals(256, line.fields.get("s").length());
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "name = x", "timestamp = 1, nam = x", "timestamp = 1.5, name = x", "timestamp = x, name = y",
		"timestamp = 99999999999.000000000, name = x", "timestamp = 1, name = x, event.fields = { a = 1",
		"timestamp = 1, name = x, event.fields = { a }",
		"timestamp = 1, name = x, event.fields = { a = \"b }", "timestamp = 1, name = x, event.fields = { a = [ 1 }",
		"timestamp = 1, name = x, event.fields = { a = 1 } more", "timestamp = 1, name = , event.fields = { }" })
	void whatIsNoLine(String text) {
		assertFalse(line.parse(text), text);
	}

	private static byte[] packet(ByteOrder order, String text) {
		byte[] content = text.getBytes(StandardCharsets.UTF_8);
		ByteBuffer packet = ByteBuffer.allocate(37 + content.length + 5).order(order);
		packet.putInt(0x75D11D57).position(24).putInt(8 * (37 + content.length)).putInt(8 * packet.capacity()).position(37).put(content);
		return packet.array();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void metadataInPackets(boolean big) throws Exception {
		ByteOrder order = big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
		Path folder = Files.createDirectories(directory.resolve("session/ust/uid/0/64-bit"));
		byte[] first = packet(order, "/* CTF 1.8 */ env { hostname = \"h\"; }; clock { name = \"monotonic\"; freq = 1000000000; }; event {\n\tname = \"a");
		byte[] second = packet(order, ":b\";\n};event { id = 3; name = c; };");
		byte[] both = ByteBuffer.allocate(first.length + second.length).put(first).put(second).array();
		Files.write(folder.resolve("metadata"), both);
		Files.writeString(folder.resolve("channel0_0"), "12345");
		Files.writeString(folder.resolve(".hidden"), "1");
		Files.writeString(Files.createDirectories(folder.resolve("index")).resolve("channel0_0.idx"), "1");
		CtfFolder found = CtfFolder.of(directory);
		assertEquals(Set.of("a:b", "c"), found.events());
		assertEquals(List.of(folder.resolve("channel0_0")), found.traces().get(0).streams());
		assertEquals(5, found.bytes());
		assertTrue(found.traces().get(0).monotonic());
		assertFalse(found.hasSeveralHosts());
		Files.writeString(Files.createDirectories(directory.resolve("other")).resolve("metadata"),
				"/* CTF 1.8 */ env { hostname = \"g\"; }; clock { name = \"monotonic\"; freq = 1000; };");
		assertTrue(CtfFolder.of(directory).hasSeveralHosts());
		assertFalse(CtfFolder.of(directory.resolve("other")).traces().get(0).monotonic());
		Files.write(folder.resolve("metadata"), java.util.Arrays.copyOf(both, first.length + 50));
		assertEquals(Set.of(), CtfFolder.of(folder).events()); // the second packet is cut
		Files.writeString(folder.resolve("metadata"), "something else");
		assertTrue(CtfFolder.of(folder).traces().isEmpty());
	}
}
