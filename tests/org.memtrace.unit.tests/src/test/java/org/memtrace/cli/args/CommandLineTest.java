// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.args;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;

/** Uses the table entry of record, which has an option of each type. collector/tests/unit/test_args.c has the same cases. */
class CommandLineTest {
	private static CommandLine record(String... args) throws UsageException {
		return CommandLine.parse("record", args);
	}

	private static String error(String... args) {
		return assertThrows(UsageException.class, () -> record(args)).getMessage();
	}

	@Test
	void defaultsOfTheTable() throws UsageException {
		CommandLine a = record("app");
		assertEquals(50_000_000, a.getDurationNs("interval"));
		assertEquals(4096, a.getSizeBytes("min-alloc"));
		assertEquals("auto", a.get("backend"));
		assertNull(a.getPath("output"));
		assertFalse(a.has("interval"));
		assertFalse(a.has("compress"));
	}

	@Test
	void allWaysToGiveAValue() throws UsageException {
		assertEquals(20_000_000, record("--interval", "20ms", "app").getDurationNs("interval"));
		assertEquals(20_000_000, record("--interval=20ms", "app").getDurationNs("interval"));
		assertEquals(20_000_000, record("-i", "20ms", "app").getDurationNs("interval"));
		assertEquals(20_000_000, record("-i20ms", "app").getDurationNs("interval"));
		assertEquals(20_000_000, record("-qi20ms", "app").getDurationNs("interval"));
		assertEquals(1_500_000_000, record("-i", "50ms", "-i", "1.5s", "app").getDurationNs("interval"));
		assertEquals(Path.of("dir"), record("-o", "dir", "app").getPath("output"));
	}

	@Test
	void aValueThatMayBeLeftOutIsNoWordOfItsOwn() throws UsageException {
		CommandLine a = record("--exact", "hooks");
		assertEquals("auto", a.get("exact"));
		assertEquals(List.of("hooks"), a.arguments());
		assertEquals("hooks", record("--exact=hooks", "app").get("exact"));
		assertFalse(record("app").has("exact"));
	}

	@Test
	void firstArgumentEndsOptionsOfRecord() throws UsageException {
		assertEquals(List.of("app", "-i", "x", "--", "--bogus"),
				record("--compress", "app", "-i", "x", "--", "--bogus").arguments());
		assertEquals(List.of("-app"), record("--", "-app").arguments());
		assertTrue(record("--compress", "app").has("compress"));
	}

	@Test
	void optionsMayFollowArgumentsElsewhere() throws UsageException {
		CommandLine a = CommandLine.parse("info", "dir", "--json");
		assertEquals(List.of("dir"), a.arguments());
		assertTrue(a.has("json"));
		assertEquals(List.of("--json"), CommandLine.parse("info", "--", "--json").arguments());
		assertEquals(List.of("-"), CommandLine.parse("info", "-").arguments());
	}

	@Test
	void helpStopsChecking() throws UsageException {
		assertTrue(record("--help", "--bogus").isHelp());
		assertTrue(record("-h").isHelp());
	}

	@Test
	void errorsAreOneSentence() {
		assertEquals("--interval needs a time with a unit, such as 50ms, not '3'", error("--interval", "3", "app"));
		assertEquals("--interval must be at least 1ms, not 10us", error("-i", "10us", "app"));
		assertEquals("--subphases must be at most 64, not 65", error("--subphases=65", "app"));
		assertEquals("--subphases needs a whole number, not '1.5'", error("--subphases", "1.5", "app"));
		assertEquals("--min-alloc needs a size, such as 4096 or 64k, not '4q'", error("--min-alloc", "4q", "app"));
		assertEquals("--max-overhead needs a number, not 'much'", error("--max-overhead", "much", "app"));
		assertTrue(error("--backend", "zip", "app").startsWith("--backend must be one of auto|"));
		assertEquals("unknown option --intervall; did you mean --interval?", error("--intervall", "3", "app"));
		assertEquals("unknown option --bogus; see 'memtrace record --help'", error("--bogus", "app"));
		assertEquals("unknown option -x; see 'memtrace record --help'", error("-x", "app"));
		assertEquals("--compress takes no value", error("--compress=yes", "app"));
		assertEquals("--interval needs a value (TIME)", error("--interval"));
		assertEquals("-i needs a value (TIME)", error("-i"));
		assertTrue(assertThrows(UsageException.class, () -> CommandLine.parse("info")).getMessage()
				.startsWith("TRACE is missing; usage: memtrace info "));
		assertTrue(assertThrows(UsageException.class, () -> CommandLine.parse("info", "a", "b")).getMessage()
				.startsWith("unexpected argument 'b'; usage: memtrace info "));
	}

	@Test
	void namesThatAreNotInTheTableAreBugs() throws UsageException {
		CommandLine a = record("app");
		assertThrows(IllegalArgumentException.class, () -> a.get("bogus"));
		assertThrows(IllegalArgumentException.class, () -> a.getInt("interval"));
		assertThrows(IllegalArgumentException.class, () -> CommandLine.parse("bogus"));
	}

	@Test
	void valuesAreExact() {
		assertEquals(100_000_000L, Values.parseDurationNs("0.1s"));
		assertEquals(1L, Values.parseDurationNs("1ns"));
		assertEquals(0L, Values.parseDurationNs("0"));
		assertEquals(90_000_000_000L, Values.parseDurationNs("1.5min"));
		assertEquals(1536L, Values.parseSizeBytes("1.5k"));
		assertEquals(1L << 30, Values.parseSizeBytes("1GiB"));
		assertEquals(12L, Values.parseSizeBytes("12B"));
		for (String bad : new String[] { "", "s", "1", "-1s", "1e3s", "1..5s", "1 s", "99999999999h", "1S" }) {
			assertNull(Values.parseDurationNs(bad), bad);
		}
		for (String bad : new String[] { "", "k", "-1", "0x10", "1kb", "1KB", "99999999999T" }) {
			assertNull(Values.parseSizeBytes(bad), bad);
		}
	}
}
