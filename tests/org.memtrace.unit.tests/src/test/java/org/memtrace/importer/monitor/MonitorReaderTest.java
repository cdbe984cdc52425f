// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.monitor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.importer.EventLines;
import org.memtrace.importer.ImportTest;
import org.memtrace.importer.InputReaders;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;

/** The three formats of monitors; their texts are those that the collector's test_mon_run.c wants of its writer. */
class MonitorReaderTest extends ImportTest {
	private static final String Y2017 = """
			# at PU:0 Machine:0/Package:0/Core:0
			# at PU:1 Machine:0/Package:0/Core:1
			Obj Nanoseconds a b
			PU:0 1000000 1.000000e+00 -1.000000e-01
			PU:1 1000000 1.100000e+01 nan
			PU:0 2000000 2.000000e+00 -1.111111e-01
			PU:1 2000000 1.200000e+01 1.000000e+00
			""";
	private static final String Y2016 = """
			# at PU:0 Machine:0/Package:0/Core:0
			# pu PU a b
			# at Machine:0
			# sum Machine sum
			PU:0 3000000 3 -0.125
			Machine:0 3000000 16
			""";
	private static final String Y2015 = """
			%EventDef MonitorValue 0
			%  id int
			%EndEventDef
			%EventDef MonitorNode 1
			%  logscale int
			%EndEventDef
			1 0 PU 0 pu 0
			1 7 L3Cache 1 misses 1
			0 0 0 4000 4
			0 7 2 4000 18.5
			0 7 0 6000 19
			""";

	/** Each event in a line: type, path of the producer, times, value, parameters. */
	private List<String> events(ImportReport report) throws MemtraceException {
		return EventLines.of(catalogue, report, (store, type, b, i) -> {
			String path = "";
			for (int p = b.producer[i]; p >= 0; p = store.producers().parent(p)) {
				path = "/" + store.producers().name(p) + path;
			}
			return type.name() + " " + path + " " + b.startNs[i] + ".." + b.endNs[i] + " " + b.value[i];
		}).stream().sorted().toList();
	}

	/** What says where the places are may be longer than what is looked at to know the format. */
	@Test
	void aMachineOfManyCpusIsKnownByItsPlaces() throws Exception {
		StringBuilder text = new StringBuilder();
		int cpus = 2048;
		for (int i = 0; i < cpus; i++) {
			text.append("# at PU:" + i + " Machine:0/Package:" + i / 128 + "/Core:" + i / 2 + "\n");
		}
		text.append("Obj Nanoseconds load\n");
		for (int i = 0; i < cpus; i++) {
			text.append("PU:" + i + " 1000000 " + i + "\n");
		}
		assertTrue(text.indexOf("Obj") > 1 << 16, "longer than what is looked at");
		assertEquals(cpus, events(read(file("big.txt", text.toString()))).size());
	}

	@Test
	void theMachineAndTheScalesAreKept() throws Exception {
		String topology = "# topology <topology version=\"2.0\">\n# topology   <object type=\"Machine\"/>\n# topology </topology>\n";
		String scales = "# scale pu 0 1e6 0\n# scale sum - - 1\n# scale sum x\n";
		// more comments than are looked at to tell what a file is
		String first = "# at PU:0 Machine:0\n" + "# topology <!-- so much that it is not looked at -->\n".repeat(3000);
		ImportReport report = read(file("a.txt", first + "# pu PU pu\n" + scales + topology + "PU:0 1000 3\n"),
				file("b.txt", "# at Machine:0\n# sum Machine sum\n" + topology.replace("Machine", "Other") + "Machine:0 1000 16\n"));
		try (TraceStore store = catalogue.open(report.trace().id())) {
			String xml = new String(store.readNote(TraceStore.NOTE_TOPOLOGY).orElseThrow(), StandardCharsets.UTF_8);
			assertTrue(xml.endsWith("<topology version=\"2.0\">\n  <object type=\"Machine\"/>\n</topology>\n"), xml.substring(xml.length() - 90));
			assertEquals("0 1e6 0", store.info().properties().get("monitor_scale pu"));
			assertEquals("- - 1", store.info().properties().get("monitor_scale sum"));
		}
		try (TraceStore store = catalogue.open(read(file("c.txt", Y2015)).trace().id())) {
			assertEquals("- - 1", store.info().properties().get("monitor_scale misses"));
			assertEquals(null, store.info().properties().get("monitor_scale pu"));
			assertTrue(store.readNote(TraceStore.NOTE_TOPOLOGY).isEmpty());
		}
		try (TraceStore store = catalogue.open(read(file("d.txt", "# topology <topology>\n" + Y2017)).trace().id())) {
			assertTrue(store.readNote(TraceStore.NOTE_TOPOLOGY).isEmpty(), "a topology that does not end is none");
		}
	}

	@Test
	void headerAndPlaces() throws Exception {
		ImportReport report = read(file("t.txt", Y2017));
		assertEquals(List.of( //
				"a /Machine:0/Package:0/Core:0/PU:0 0..1000000 1.0", //
				"a /Machine:0/Package:0/Core:0/PU:0 1000000..2000000 2.0", //
				"a /Machine:0/Package:0/Core:1/PU:1 0..1000000 11.0", //
				"a /Machine:0/Package:0/Core:1/PU:1 1000000..2000000 12.0", //
				"b /Machine:0/Package:0/Core:0/PU:0 0..1000000 -0.1", //
				"b /Machine:0/Package:0/Core:0/PU:0 1000000..2000000 -0.1111111", //
				"b /Machine:0/Package:0/Core:1/PU:1 1000000..2000000 1.0"), events(report));
		assertEquals("monitors", report.trace().type());
		assertEquals("monitors", report.trace().properties().get("reader"));
		assertEquals(List.of(), report.warnings());
	}

	@Test
	void namesInComments() throws Exception {
		assertEquals(List.of("a /Machine:0/Package:0/Core:0/PU:0 0..3000000 3.0", "b /Machine:0/Package:0/Core:0/PU:0 0..3000000 -0.125",
				"sum /Machine:0 0..3000000 16.0"), events(read(file("t.txt", Y2016))));
	}

	@Test
	void withoutNamesAndWithTheNameOfTheMonitorInFront() throws Exception {
		assertEquals(List.of("value /L3/L3:0 0..5 7.0", "value /L3/L3:0 5..9 8.0"), events(read(file("t.txt", "L3:0 5 7\nL3:0 9 8\n"))));
		assertEquals(List.of("miss 1 /PU/PU:2 0..5 7.0", "miss 2 /PU/PU:2 0..5 9.0"), events(read(file("u.txt", "miss PU:2 5 7 9\n"))));
	}

	@Test
	void nodesAndPhases() throws Exception {
		assertEquals(List.of("misses /L3Cache/L3Cache:1 0..4000000 18.5 phase=2", "misses /L3Cache/L3Cache:1 4000000..6000000 19.0",
				"pu /PU/PU:0 0..4000000 4.0"), events(read(file("t.trace", Y2015))));
	}

	@Test
	void severalFilesAreOneTrace() throws Exception {
		ImportReport report = read(file("t.pu.txt", Y2017),
				file("t.sum.txt", "# at Machine:0\nObj Nanoseconds sum\nMachine:0 1000000 1.2e+01\n"));
		assertEquals(8, report.trace().events());
		assertTrue(events(report).contains("sum /Machine:0 0..1000000 12.0"));
	}

	@Test
	void whatCannotBeUsedIsCounted() throws Exception {
		ImportReport report = read(file("t.txt", "PU:0 10 1\nPU:0 5 2\nPU:0 x 3\nPU:0 20 z\nPU:0 30 inf\nPU:0 40 4\n"));
		assertEquals(2, report.trace().events());
		String text = report.toText();
		assertTrue(text.contains("time before that of the sample before"), text);
		assertTrue(text.contains("not a place, nanoseconds and values"), text);
		assertTrue(text.contains("value that is no number"), text);
		assertTrue(text.contains("value that is not finite"), text);
	}

	@Test
	void whatIsNoTraceOfMonitors() throws Exception {
		for (String text : List.of("host:80 200 5\n", "PU:0 x 1\n", "# at PU:0\n", "Obj Seconds a\n")) {
			Path file = file("n.txt", text);
			assertThrows(MemtraceException.class, () -> InputReaders.detect(List.of(file)), text);
		}
		// Pajé stays Pajé
		Path paje = file("p.trace", "%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n");
		assertEquals("paje", InputReaders.detect(List.of(paje)).reader());
	}

	/** Any bytes give a trace, or one sentence that names the file. */
	@Test
	void anyBytes() throws Exception {
		long seed = Long.getLong("memtrace.seed", 18);
		Random random = new Random(seed);
		String[] texts = { Y2015, Y2016, Y2017 };
		for (int i = 0; i < 150; i++) {
			byte[] bytes = texts[i % 3].getBytes(StandardCharsets.US_ASCII);
			for (int k = random.nextInt(6); k > 0; k--) {
				bytes[random.nextInt(bytes.length)] = random.nextBoolean() ? (byte) random.nextInt(256) : (byte) " :#%0e\n".charAt(random.nextInt(7));
			}
			Path file = Files.write(directory.resolve("f.txt"), Arrays.copyOf(bytes, random.nextInt(bytes.length) + 1));
			try {
				assertTrue(read(file).trace().events() >= 0);
			} catch (MemtraceException e) {
				assertTrue(e.getMessage().contains("f.txt") && !e.getMessage().contains("\n"), "seed " + seed + ": " + e.getMessage());
			}
		}
	}
}
