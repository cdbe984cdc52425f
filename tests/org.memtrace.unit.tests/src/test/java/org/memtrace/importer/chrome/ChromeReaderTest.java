// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.chrome;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.importer.EventLines;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.ImportTest;
import org.memtrace.importer.InputReaders;
import org.memtrace.importer.input.DecimalNumber;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/** JSON of Chrome's trace viewer: each phase, what is wrong, both forms of the file. */
class ChromeReaderTest extends ImportTest {
	private static final List<String> EVENTS = List.of( //
			"{\"ph\":\"X\",\"name\":\"inner\",\"cat\":\"c\",\"pid\":1,\"tid\":2,\"ts\":2,\"dur\":1.5,\"args\":{\"size\":4096,\"deep\":{\"a\":[1]}}}",
			"{\"ph\":\"X\",\"name\":\"outer\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":10}",
			"{\"ph\":\"B\",\"name\":\"begun\",\"pid\":1,\"tid\":\"3\",\"ts\":\"1.001\"}",
			"{\"ph\":\"E\",\"pid\":1,\"tid\":\"3\",\"ts\":4,\"args\":{\"result\":7}}",
			"{\"ph\":\"i\",\"name\":\"mark\",\"pid\":1,\"tid\":2,\"ts\":5,\"s\":\"t\"}",
			"{\"ph\":\"C\",\"name\":\"load\",\"pid\":1,\"ts\":1,\"args\":{\"value\":2}}",
			"{\"ph\":\"C\",\"name\":\"load\",\"pid\":1,\"ts\":6,\"args\":{\"value\":3.5}}",
			"{\"ph\":\"s\",\"name\":\"flow\",\"cat\":\"f\",\"id\":9,\"pid\":1,\"tid\":2,\"ts\":3}",
			"{\"ph\":\"f\",\"name\":\"flow\",\"cat\":\"f\",\"id\":9,\"pid\":1,\"tid\":3,\"ts\":4,\"bp\":\"e\"}",
			"{\"ph\":\"b\",\"name\":\"request\",\"cat\":\"a\",\"id\":\"0x1\",\"pid\":1,\"tid\":2,\"ts\":2}",
			"{\"ph\":\"e\",\"name\":\"request\",\"cat\":\"a\",\"id\":\"0x1\",\"pid\":1,\"tid\":3,\"ts\":8}",
			"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"app\"}}",
			"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"worker\"}}",
			"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":3,\"args\":{\"name\":\"worker\"}}");
	private static final List<String> WANTED = List.of("begun STATE worker (3) 1001 4000 0.0 result=7",
			"flow LINK worker 3000 4000 to worker (3)",
			"inner STATE worker 2000 3500 1.0 size=4096, deep={\"a\":[1]}", "load VARIABLE app 1000 6000 2.0",
			"load VARIABLE app 6000 11000 3.5", "mark PUNCTUAL worker 5000 5000 0.0", "outer STATE worker 1000 11000 0.0",
			"request LINK worker 2000 8000 to worker (3)");

	private static String array(List<String> events) {
		return "[\n" + String.join(",\n", events) + "\n]\n";
	}

	private ImportReport read(String text) throws Exception {
		return read(file("a.json", text));
	}

	private List<String> events(ImportReport report) throws MemtraceException {
		return EventLines.of(catalogue, report);
	}

	@Test
	void everyPhaseInBothForms() throws Exception {
		ImportReport report = read(array(EVENTS));
		assertEquals(WANTED, events(report));
		assertEquals(List.of(), report.warnings());
		assertEquals("chrome-json", report.trace().properties().get("reader"));
		assertEquals(WANTED, events(read("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"x\":[1,{}]},\"traceEvents\":" + array(EVENTS) + "}")));
	}

	@Test
	void theEndOfTheArrayMayBeMissing() throws Exception {
		String text = array(EVENTS).strip();
		for (String cut : List.of(text.substring(0, text.length() - 1), text.substring(0, text.length() - 2)
				+ ",", text.replaceFirst("\\n\\]$", ",\n]"))) {
			ImportReport report = read(cut);
			assertEquals(WANTED, events(report));
			assertEquals(List.of(), report.warnings(), cut.substring(cut.length() - 10));
		}
		ImportReport report = read(array(EVENTS.subList(0, 3)).substring(0, 200));
		assertEquals(2, report.trace().events());
		assertTrue(report.warnings().get(0).contains("is damaged after event 2"), report.toText());
	}

	@Test
	void theOrderOfWholeStatesDoesNotMatter() throws Exception {
		List<String> all = new ArrayList<>();
		List<String> wanted = new ArrayList<>();
		nest(new Random(3), all, wanted, 0, 1_000_000, 0);
		assertTrue(wanted.size() > 50, wanted.size() + " states");
		wanted.sort(null);
		for (int seed = 0; seed < 5; seed++) {
			Collections.shuffle(all, new Random(seed));
			assertEquals(wanted, events(read(array(all))), "seed " + seed);
		}
	}

	private static void nest(Random random, List<String> all, List<String> wanted, long from, long to, int level) {
		long at = from + 1;
		while (at < to - 1 && level < 5) {
			long end = Math.min(to - 1, at + 1 + random.nextInt((int) (to - from)));
			all.add("{\"ph\":\"X\",\"name\":\"s" + level + "\",\"pid\":1,\"tid\":1,\"ts\":" + at + ",\"dur\":" + (end - at) + "}");
			wanted.add("s" + level + " STATE thread 1 " + at * 1000 + " " + end * 1000 + " " + (double) level);
			nest(random, all, wanted, at, end, level + 1);
			at = end + random.nextInt(2);
		}
	}

	@Test
	void whatCannotBeUsedIsCountedWithItsReason() throws Exception {
		List<String> bad = new ArrayList<>(EVENTS);
		bad.add("{\"ph\":\"E\",\"pid\":1,\"tid\":8,\"ts\":1}");
		bad.add("{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"dur\":1}");
		bad.add("{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1e90,\"dur\":1}");
		bad.add("{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":-1}");
		bad.add("{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":1,\"args\":{\"value\":\"red\"}}");
		bad.add("{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":1,\"args\":{\"value\":NaN}}");
		bad.add("{\"ph\":\"f\",\"name\":\"g\",\"id\":1,\"pid\":1,\"tid\":2,\"ts\":1}");
		bad.add("{\"ph\":\"s\",\"name\":\"h\",\"id\":1,\"pid\":1,\"tid\":2,\"ts\":1}");
		bad.add("{\"ph\":\"e\",\"name\":\"g\",\"id\":1,\"pid\":1,\"tid\":2,\"ts\":1}");
		bad.add("{\"ph\":\"b\",\"name\":\"h\",\"id\":1,\"pid\":1,\"tid\":2,\"ts\":1}");
		bad.add("{\"ph\":\"O\",\"name\":\"h\",\"id\":1,\"pid\":1,\"tid\":2,\"ts\":1}");
		bad.add("{\"ph\":\"B\",\"name\":\"open\",\"pid\":1,\"tid\":9,\"ts\":4}");
		bad.add("{\"ph\":\"X\",\"name\":\"over\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":5}");
		ImportReport report = read("{\"traceEvents\":" + array(bad) + ",\"samples\":[]}");
		String text = report.toText();
		for (String told : List.of("1: end of a state that did not begin (first: ", "1: time that is not a number",
				"1: time that is out of range",
				"1: negative duration", "1: counter whose value is not a number", "1: counter whose value is not finite", "1: step of a flow",
				"1: flow without a further step", "1: end of an asynchronous span", "1: asynchronous span without", "1: event of the phase \"O\"",
				"1 states do not end", "1 states overlap others", "what is in \"samples\" is not read", "event 15)")) {
			assertTrue(text.contains(told), told + " is not in\n" + text);
		}
		MemtraceException strict = assertThrows(MemtraceException.class,
				() -> new ImportOperation(directory.resolve("a.json"), catalogue::create).setStrict(true).call(Progress.NONE));
		assertTrue(strict.getMessage().contains("a.json, event 15: end of a state that did not begin"), strict.getMessage());
		assertThrows(CancelledException.class,
				() -> new ImportOperation(directory.resolve("a.json"), catalogue::create).call(Progress.cancelledWhen(() -> true)));
		assertEquals(1, catalogue.list().size());
	}

	@Test
	void foundByContent() throws Exception {
		assertEquals("chrome-json", InputReaders.detect(List.of(Files.writeString(directory.resolve("x.csv"), array(EVENTS)))).reader());
		for (String other : List.of("[1, 2]", "{\"schema\": 1}", "{\"ph\": \"X\"}", "[]")) {
			assertThrows(MemtraceException.class, () -> InputReaders.detect(List.of(Files.writeString(directory.resolve("y"), other))), other);
		}
	}

	@Test
	void numbersAreRoundedOnce() {
		assertEquals(1_001, DecimalNumber.scaled("1.001", 3));
		assertEquals(1_002, DecimalNumber.scaled("1.0015", 3));
		assertEquals(-2_500, DecimalNumber.scaled("-2.5", 3));
		assertEquals(1_700_000_000_123_456_789L, DecimalNumber.scaled("1700000000123456.789", 3));
		assertEquals(1_500_000, DecimalNumber.scaled("1.5e3", 3));
		for (String bad : List.of("", "-", ".", "1.2.3", "0x1", "abc")) {
			assertThrows(NumberFormatException.class, () -> DecimalNumber.scaled(bad, 3), bad);
		}
		assertThrows(ArithmeticException.class, () -> DecimalNumber.scaled("9300000000000000000", 3));
		assertThrows(ArithmeticException.class, () -> DecimalNumber.scaled("1e999999999", 3));
	}

	@Test
	void anyTextEndsWell() throws Exception {
		String[] tokens = { "\n", "{", "}", "[", "]", "\"", ",", ":", "0", "-1", "1e9", "NaN", "null", "true", "\"ph\":\"B\",", "\0",
				"\"tid\":{}," };
		String whole = array(EVENTS);
		int imported = 0;
		for (int n = 0; n < 500; n++) {
			Random random = new Random(n);
			String text = whole;
			for (int m = random.nextInt(3); m >= 0; m--) {
				int from = random.nextInt(text.length());
				int to = Math.min(text.length(), from + random.nextInt(6));
				text = text.substring(0, from) + tokens[random.nextInt(tokens.length)] + text.substring(to);
			}
			try {
				catalogue.delete(read(text).trace().id());
				imported++;
			} catch (MemtraceException e) {
				assertTrue(e.getMessage().contains("a.json"), n + ": " + e);
			} catch (RuntimeException e) {
				throw new AssertionError("mutation " + n + ": " + text, e);
			}
		}
		assertTrue(imported > 250, imported + " imported");
	}
}
