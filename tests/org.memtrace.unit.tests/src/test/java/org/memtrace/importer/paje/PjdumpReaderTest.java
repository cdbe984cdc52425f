// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.paje;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.SyntheticEvents;
import org.memtrace.analysis.export.PajeTrace;
import org.memtrace.analysis.export.TraceExport;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.importer.EventLines;
import org.memtrace.importer.ImportTest;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** What pj_dump, FrameSoc and our own export write; what we export comes back. */
class PjdumpReaderTest extends ImportTest {
	/** As pj_dump 1.3.6 printed it: a link before its containers, names with commas, a last value that ends before it starts. */
	private static final String PJ_DUMP = """
			Container, 0, 0, 0, 2, 2, 0
			Container, 0, Machine, 0, 2, 2, the machine
			Link, the machine, Message, 1.000000000, 2.000000000, 1.000000000, hello, t, one, t2, k
			Container, the machine, Thread, 0, 2, 2, t2
			Event, t2, An event, 2.250000000, ping
			Variable, t2, power, 1.000000000, 3.000000000, 2.000000000, 5.000000000
			Variable, t2, power, 3.000000000, 2.000000000, -1.000000000, 7.500000000
			Container, the machine, Thread, 0, 2, 2, t, one
			State, t, one, State type, 1.000000001, 4.500000000, 3.499999999, 0.000000000, busy
			State, t, one, State type, 2.000000000, 3.000000000, 1.000000000, 1.000000000, in, ner
			""";

	private List<String> events(ImportReport report) throws MemtraceException {
		return EventLines.of(catalogue, report);
	}

	@Test
	void whatPjDumpPrints() throws Exception {
		ImportReport report = read(file("a.pjdump", PJ_DUMP));
		assertEquals(List.of("busy STATE t, one 1000000001 4500000000 0.0", "hello LINK t, one 1000000000 2000000000 to t2 key=k",
				"in, ner STATE t, one 2000000000 3000000000 1.0", "ping PUNCTUAL t2 2250000000 2250000000 0.0",
				"power VARIABLE t2 1000000000 3000000000 5.0", "power VARIABLE t2 3000000000 3000000000 7.5"), events(report));
		assertTrue(report.warnings().toString().contains("1 events end before they start; they take no time"), report.warnings().toString());
		assertEquals("pjdump", report.trace().properties().get("reader"));
		try (TraceStore store = catalogue.open(report.trace().id())) {
			assertEquals(3, store.producers().size());
		}
	}

	/** FrameSoc writes whole nanoseconds, comments, blanks after commas or none, and a container again with each file. */
	@Test
	void wholeNanosecondsOfFrameSoc() throws Exception {
		ImportReport report = read(file("a.pjdump", """
				# made by FrameSoc

				Container,0,machine,0,5000,5000,m
				Container,m,cpu,0,5000,5000,c0
				Container,m,cpu,0,5000,5000,c0
				State,c0,run,1000,2500,1500,0.0,working
				Event,c0,tick,2000,beat
				"""));
		assertEquals(List.of("beat PUNCTUAL c0 2000 2000 0.0", "working STATE c0 1000 2500 0.0"), events(report));
		assertEquals(List.of(), report.warnings());
	}

	@Test
	void whatCannotBeUsedIsCountedWithItsReason() throws Exception {
		ImportReport report = read(file("a.pjdump", PJ_DUMP + "State, nobody, x, 1.0, 2.0, 1.0, 0.0, y\n"
				+ "State, t2, x, one, 2.0, 1.0, 0.0, y\n"
				+ "Link, 0, l, 1.0, 2.0, 1.0, v, t2, nobody\n" + "Power, t2\n" + "Event, t2, x, 1e400, y\n"
				+ "Container, nobody, c, 0.0, 1.0, 1.0, d\n" + "Container, 0, Machine, 0, 2, 2, t2\n" + "Variable, t2, v, 1.0, 2.0, 1.0, 1e999\n"
				+ "Link, 0, l, 1.0, 2.0, 1.0" + ", a".repeat(1000) + "\n"));
		String text = report.toText();
		for (String line : List.of("2: container that is not there", "1: fields that are not those of its kind of line",
				"1: neither a container, state, variable, event nor link", "1: time that is out of range", "1: container below one that is not there",
				"1: value that is not finite", "1: more than 32 commas in its names", "1 containers have the name of another one")) {
			assertTrue(text.contains(line), line + " is not in " + text);
		}
		assertEquals(6, report.trace().events());
	}

	private static ProducerTree tree() {
		ProducerTreeBuilder builder = new ProducerTreeBuilder(0, 4);
		builder.begin(ProducerKind.OTHER, "machine", 0, 0, -1);
		for (int i = 1; i < 4; i++) {
			builder.begin(ProducerKind.OTHER, "thread " + i, 0, 0, -1);
			builder.end();
		}
		builder.end();
		return builder.build();
	}

	private static SyntheticEvents made(long seed) {
		Random random = new Random(seed);
		SyntheticEvents made = new SyntheticEvents();
		for (int i = 0; i < 60; i++) {
			long start = random.nextLong(1L << 40);
			long end = start + random.nextInt(1 << random.nextInt(30));
			int type = random.nextInt(5);
			int producer = random.nextInt(4);
			double value = type == SyntheticEvents.MESSAGE ? random.nextInt(4) : type == SyntheticEvents.POWER ? random.nextInt(1000) / 64.0 : 0;
			made.add(type, producer, start, type == SyntheticEvents.TICK ? start : end, value, 0);
		}
		return made;
	}

	private static List<String> lines(TraceStore store) throws MemtraceException {
		StringBuilder text = new StringBuilder();
		TraceExport.pjdump(store, AccessFilter.of(AccessQuery.ALL), text, Progress.NONE);
		return text.toString().lines().filter(line -> !line.startsWith("Container")).sorted().toList();
	}

	@Test
	void whatWeExportComesBackByteByByte() throws Exception {
		for (long seed = 1; seed <= 20; seed++) {
			TraceStore store = made(seed).store(tree(), 0, 1L << 42);
			StringBuilder text = new StringBuilder();
			TraceExport.pjdump(store, AccessFilter.of(AccessQuery.ALL), text, Progress.NONE);
			ImportReport report = read(file("a.pjdump", text.toString()));
			try (TraceStore again = catalogue.open(report.trace().id())) {
				assertEquals(lines(store), lines(again), "seed " + seed);
				assertEquals(0, report.warnings().size(), report.warnings().toString());
			}
		}
	}

	/** A trace in the Pajé format by its own reader, and by pj_dump and this one, has the same states, links and instants. */
	@Test
	void pjDumpsOutputIsWhatPajeHas() throws Exception {
		assumeTrue(Files.isExecutable(Path.of("/usr/bin/pj_dump")), "no pj_dump (Debian: pajeng)");
		StringBuilder text = new StringBuilder();
		PajeTrace.write(made(7).store(tree(), 0, 1L << 42), AccessFilter.of(AccessQuery.ALL), text, Progress.NONE);
		Path paje = file("a.paje", text.toString());
		Path dumped = directory.resolve("a.pjdump");
		Process process = new ProcessBuilder("/usr/bin/pj_dump", "-l", "9", paje.toString()).redirectOutput(dumped.toFile())
				.redirectError(directory.resolve("said").toFile()).start();
		assertEquals(0, process.waitFor(), Files.readString(directory.resolve("said"), StandardCharsets.ISO_8859_1));
		List<String> own = events(read(paje)).stream().filter(line -> line.contains(" LINK ") || line.contains(" PUNCTUAL ")).toList();
		List<String> theirs = events(read(dumped)).stream().map(line -> line.replaceFirst(" key=k\\d+$", ""))
				.filter(line -> line.contains(" LINK ") || line.contains(" PUNCTUAL ")).toList();
		assertTrue(own.size() > 10);
		assertEquals(own, theirs);
	}

	@Test
	void anyBytesAreATraceOrOneSentence() throws Exception {
		Random random = new Random(3);
		for (int i = 0; i < 300; i++) {
			byte[] bytes = PJ_DUMP.getBytes(StandardCharsets.UTF_8);
			for (int k = random.nextInt(12); k >= 0; k--) {
				bytes[60 + random.nextInt(bytes.length - 60)] = (byte) "\n, 0-e9\u00ff".charAt(random.nextInt(8));
			}
			try {
				assertTrue(read(Files.write(directory.resolve("a.pjdump"), bytes)).trace().events() > 0);
			} catch (MemtraceException e) {
				assertTrue(e.getMessage().contains("a.pjdump"), e.getMessage());
			}
		}
		String message = assertThrows(MemtraceException.class, () -> read(file("b.pjdump", "Container, 0, 0, 0, 2, 2, 0\n"))).getMessage();
		assertTrue(message.contains("has no events to import"), message);
	}
}
