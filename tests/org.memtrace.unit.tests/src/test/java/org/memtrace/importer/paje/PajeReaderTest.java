// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.paje;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.SyntheticEvents;
import org.memtrace.analysis.export.PajeTrace;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.importer.EventLines;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.ImportTest;
import org.memtrace.importer.InputReaders;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** Traces in the Pajé format, in its dialects; what we export comes back. */
class PajeReaderTest extends ImportTest {
	/** As PajeNG, SimGrid and StarPU define it. */
	private static final String HEAD = """
			# a comment
			%EventDef PajeDefineContainerType 0
			%       Alias string
			%       Type string
			%       Name string
			%EndEventDef
			%EventDef PajeDefineStateType 1
			% Alias string
			% Type string
			% Name string
			%EndEventDef
			%EventDef PajeDefineEventType 2
			% Alias string
			% Type string
			% Name string
			%EndEventDef
			%EventDef PajeDefineVariableType 3
			% Alias string
			% Type string
			% Name string
			% Color color
			%EndEventDef
			%EventDef PajeDefineLinkType 4
			% Alias string
			% Type string
			% StartContainerType string
			% EndContainerType string
			% Name string
			%EndEventDef
			%EventDef PajeDefineEntityValue 5
			% Alias string
			% Type string
			% Name string
			% Color color
			%EndEventDef
			%EventDef PajeCreateContainer 6
			% Time date
			% Alias string
			% Type string
			% Container string
			% Name string
			%EndEventDef
			%EventDef PajeDestroyContainer 7
			% Time date
			% Type string
			% Name string
			%EndEventDef
			%EventDef PajeSetState 8
			% Time date
			% Type string
			% Container string
			% Value string
			%EndEventDef
			%EventDef PajePushState 9
			% Time date
			% Type string
			% Container string
			% Value string
			% Size int
			%EndEventDef
			%EventDef PajePopState 10
			% Time date
			% Type string
			% Container string
			%EndEventDef
			%EventDef PajeResetState 11
			% Time date
			% Type string
			% Container string
			%EndEventDef
			%EventDef PajeNewEvent 12
			% Time date
			% Type string
			% Container string
			% Value string
			%EndEventDef
			%EventDef PajeSetVariable 13
			% Time date
			% Type string
			% Container string
			% Value double
			%EndEventDef
			%EventDef PajeAddVariable 14
			% Time date
			% Type string
			% Container string
			% Value double
			%EndEventDef
			%EventDef PajeSubVariable 15
			% Time date
			% Type string
			% Container string
			% Value double
			%EndEventDef
			%EventDef PajeStartLink 16
			% Time date
			% Type string
			% Container string
			% StartContainer string
			% Value string
			% Key string
			%EndEventDef
			%EventDef PajeEndLink 17
			% Time date
			% Type string
			% Container string
			% EndContainer string
			% Value string
			% Key string
			%EndEventDef
			0 M 0 Machine
			0 T M "Thread of it"
			1 S T State
			2 E T Mark
			3 V T Load "0 1 0"
			4 L M T T Message
			5 w S Waiting "1 0 0"
			6 0.0 m M 0 node
			6 0 a T m 'thread 1'
			6 0 b T m "thread 2"
			""";
	private static final String EXAMPLE = HEAD + """
			9 0.000001 S a main 4096
			9 1e-6 State b w ""
			16 0.0000015 L m a data k1
			9 0.000002 S a w 0
			10 0.000003 S a
			17 0.0000035 L m b data k1
			12 0.000004 E a here
			13 0.000004 V a 2.5
			14 0.000005 V a 1
			8 0.000006 S a next
			11 0.000007 S a
			15 0.000008 V a 3.5
			7 0.00001 T b
			7 0.00001 T a
			""";

	private ImportReport read(String text) throws Exception {
		return read(file("a.trace", text));
	}

	private List<String> events(ImportReport report) throws MemtraceException {
		return EventLines.of(catalogue, report);
	}

	@Test
	void everyKindOfEvent() throws Exception {
		ImportReport report = read(EXAMPLE);
		assertEquals(List.of("Load VARIABLE thread 1 4000 5000 2.5", "Load VARIABLE thread 1 5000 8000 3.5",
				"Load VARIABLE thread 1 8000 10000 0.0", "Waiting STATE thread 1 2000 3000 1.0 Size=0", "Waiting STATE thread 2 1000 10000 0.0",
				"data LINK thread 1 1500 3500 to thread 2", "here PUNCTUAL thread 1 4000 4000 0.0", "main STATE thread 1 1000 6000 0.0 Size=4096",
				"next STATE thread 1 6000 7000 0.0"), events(report));
		assertEquals(List.of(), report.warnings());
		assertEquals("paje", report.trace().properties().get("reader"));
		try (TraceStore store = catalogue.open(report.trace().id())) {
			assertEquals(3, store.producers().size());
		}
	}

	@Test
	void thePlainDialectOfPajeItself() throws Exception {
		ImportReport report = read("""
				%EventDef\tDefineContainerType\t1
				%\tNewType\tstring
				%\tContainerType\tstring
				%\tNewName\tstring
				%EndEventDef
				%EventDef PajeDefineStateType ab
				%\tNewName\tstring
				%\tContainerType\tstring
				%EndEventDef
				%EventDef PajeCreateContainer 7
				%\tTime\tdate
				%\tNewContainer\tstring
				%\tNewContainerType\tstring
				%\tContainer\tstring
				%\tNewName\tstring
				%EndEventDef
				%EventDef PajeSetState 10
				%\tTime\tdate
				%\tContainer\tstring
				%\tEntityType\tstring
				%\tValue\tstring
				%EndEventDef
				1 P 0 Program
				ab Activity P
				7 5 p P 0 run
				10 5.5 run Activity busy
				10 6 p Activity "idle"
				10 7 p Activity busy
				""");
		assertEquals(List.of("busy STATE run 5500000000 6000000000 0.0", "busy STATE run 7000000000 7000000000 0.0",
				"idle STATE run 6000000000 7000000000 0.0"), events(report));
	}

	@Test
	void secondTypesOfStatesAreBelowTheirContainer() throws Exception {
		ImportReport report = read(HEAD + """
				1 Z T Power
				9 1 S a run 0
				9 1 Z a w 0
				9 2 Z a run 0
				""");
		assertEquals(List.of("run (Power) STATE Power 2000000000 2000000000 1.0 Size=0", "run STATE thread 1 1000000000 2000000000 0.0 Size=0",
				"w STATE Power 1000000000 2000000000 0.0 Size=0"), events(report));
	}

	@Test
	void whatCannotBeUsedIsCountedWithItsReason() throws Exception {
		String bad = EXAMPLE + """
				99 1 2 3
				9 0.1 S a
				9 x S a v 0
				9 1e300 S a v 0
				9 0.1 Q a v 0
				9 0.1 V a v 0
				9 0.1 S c v 0
				10 0.1 S b
				13 0.1 V b red
				13 0.1 V b 1e999
				12 0.1 E a "cut
				16 0.1 L m a data k7
				17 0.1 L m a data k8
				13 0.2 V b 1
				13 0.1 V b 2
				12 0.2 E a cu""";
		String text = read(bad).toText();
		for (String reason : List.of("1: event that is not defined", "1: fewer fields", "1: time that is not a number",
				"1: time that is out of range",
				"1: type that is not defined", "1: type of another kind", "1: container that was not created", "1: end of a state that did not begin",
				"1: value that is not a number", "1: value that is not finite", "1: quotation mark without", "1: link without an end",
				"1: link without a start", "1 events end before they start", "1 values of variables were replaced", "1: incomplete last line")) {
			assertTrue(text.contains(reason), reason + " is not in\n" + text);
		}
		assertTrue(text.contains("a.trace, line 135)"), text);
		MemtraceException strict = assertThrows(MemtraceException.class,
				() -> new ImportOperation(directory.resolve("a.trace"), catalogue::create).setStrict(true).call(Progress.NONE));
		assertTrue(strict.getMessage().contains("event that is not defined"), strict.getMessage());
		assertThrows(CancelledException.class, () -> new ImportOperation(directory.resolve("a.trace"), catalogue::create)
				.call(Progress.cancelledWhen(() -> true)));
		assertEquals(1, catalogue.list().size());
	}

	@Test
	void foundByContent() throws Exception {
		assertEquals("paje", InputReaders.detect(List.of(Files.writeString(directory.resolve("x.csv"), EXAMPLE))).reader());
		ImportReport report = new ImportOperation(List.of(Path.of("-")), new ByteArrayInputStream(EXAMPLE.getBytes(StandardCharsets.UTF_8)),
				catalogue::create).call(Progress.NONE);
		assertEquals(9, report.trace().events());
		assertThrows(MemtraceException.class, () -> InputReaders.detect(List.of(Files.writeString(directory.resolve("y"), "% Event\n1 2\n"))));
	}

	@Test
	void timesAreExact() throws Exception {
		Random random = new Random(7);
		for (int n = 0; n < 2000; n++) {
			long ns = random.nextLong() >> random.nextInt(64);
			String text = BigDecimal.valueOf(ns, 9).toPlainString();
			assertEquals(ns, PajeEvents.nanoseconds(text), text);
			assertEquals(ns, PajeEvents.nanoseconds(text + "0"), text);
		}
		assertEquals(1_000_000_000L, PajeEvents.nanoseconds("1"));
		assertEquals(-500_000_000L, PajeEvents.nanoseconds("-.5"));
		assertEquals(2, PajeEvents.nanoseconds("0.0000000015"));
	}

	@Test
	void whatIsExportedComesBack() throws Exception {
		ProducerTreeBuilder builder = new ProducerTreeBuilder(0);
		builder.begin(ProducerKind.OTHER, "node", 0, 0, -1);
		for (int i = 0; i < 3; i++) {
			builder.leaf(ProducerKind.OTHER, "thread " + i, 0, 0, -1);
		}
		builder.end();
		ProducerTree tree = builder.build();
		for (int seed = 0; seed < 40; seed++) {
			Random random = new Random(seed);
			SyntheticEvents made = new SyntheticEvents();
			List<String> wanted = new ArrayList<>();
			nest(random, made, wanted, tree, 1 + random.nextInt(3), 0, 1L << random.nextInt(30), 0);
			for (int i = random.nextInt(20); i >= 0; i--) {
				long start = random.nextInt(1000);
				long end = start + (random.nextBoolean() ? 0 : random.nextInt(100));
				int from = random.nextInt(4);
				int to = random.nextInt(4);
				made.add(SyntheticEvents.MESSAGE, from, start, end, to, 0).add(SyntheticEvents.TICK, from, start, start, 0, 0);
				wanted.add("Message LINK " + tree.name(from) + " " + start + " " + end + " to " + tree.name(to));
				wanted.add("Tick PUNCTUAL " + tree.name(from) + " " + start + " " + start + " 0.0");
			}
			StringBuilder text = new StringBuilder();
			PajeTrace.write(made.store(tree, 0, 1L << 31), AccessFilter.of(AccessQuery.ALL), text, Progress.NONE);
			wanted.sort(null);
			ImportReport report = read(text.toString());
			assertEquals(wanted, events(report), "seed " + seed);
			try (TraceStore store = catalogue.open(report.trace().id())) {
				assertEquals(4, store.producers().size());
			}
		}
	}

	/** States in each other; none begins where the one around it or before it does, whose order Pajé could not tell. */
	private static void nest(Random random, SyntheticEvents made, List<String> wanted, ProducerTree tree, int producer, long from, long to,
			int level) {
		long at = from + 1;
		while (at < to && level < 4) {
			long end = at + 1 + (long) (random.nextDouble() * (to - at));
			if (end >= to) {
				return;
			}
			int type = random.nextBoolean() ? SyntheticEvents.RUN : SyntheticEvents.WAIT;
			made.add(type, producer, at, end, level, 0);
			wanted.add((type == SyntheticEvents.RUN ? "Run" : "Wait") + " STATE " + tree.name(producer) + " " + at + " " + end + " "
					+ (double) level);
			nest(random, made, wanted, tree, producer, at, end, level + 1);
			at = end + random.nextInt(3);
		}
	}

	@Test
	void anyTextEndsWell() throws Exception {
		String[] tokens = { "\n", " ", "\"", "'", "%", "%EventDef x 1\n", "0", "-1", "1e9", "nan", "S", "a", "9 ", "10 ", "\0", "\t",
				"9223372036854775807" };
		int imported = 0;
		for (int n = 0; n < 600; n++) {
			Random random = new Random(n);
			String text = EXAMPLE;
			for (int m = random.nextInt(5); m >= 0; m--) {
				int from = (random.nextBoolean() ? HEAD.length() + random.nextInt(EXAMPLE.length() - HEAD.length()) : random.nextInt(text.length()));
				from = Math.min(from, text.length());
				int to = Math.min(text.length(), from + random.nextInt(8));
				text = text.substring(0, from) + tokens[random.nextInt(tokens.length)] + text.substring(to);
			}
			try {
				catalogue.delete(read(text).trace().id());
				imported++;
			} catch (MemtraceException e) {
				assertTrue(e.getMessage().contains("a.trace"), n + ": " + e);
			} catch (RuntimeException e) {
				throw new AssertionError("mutation " + n + ": " + text, e);
			}
		}
		assertTrue(imported > 300, imported + " imported");
	}
}
