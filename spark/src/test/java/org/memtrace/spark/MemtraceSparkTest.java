// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.apache.spark.SparkConf;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.cli.Main;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.output.Console;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.Stores;

/** What Spark answers is what the commands on one machine answer, byte by byte, on a bundled trace and on one with many pages. */
class MemtraceSparkTest {
	@TempDir
	static Path temporary;
	private static JavaSparkContext spark;
	private static String bundled;
	private static String large;

	@BeforeAll
	static void start() throws Exception {
		bundled = temporary.resolve("bundled.db").toString();
		one("import", "-o", bundled, Path.of(System.getProperty("memtrace.root")).resolve("testdata/traces/stencil-serial").toString());
		Path file = temporary.resolve("large.db");
		try (TraceWriter writer = Stores.createFile(file, System.err::println)) {
			SyntheticTrace.matrixMultiplication(writer, 6000, 16);
		}
		large = file.toString();
		spark = new JavaSparkContext(new SparkConf().setMaster("local[2]").setAppName("memtrace test").set("spark.ui.enabled", "false")
				.set("spark.driver.host", "localhost").set("spark.driver.bindAddress", "127.0.0.1"));
		spark.setLogLevel("ERROR");
	}

	@AfterAll
	static void stop() {
		spark.close();
	}

	private final ByteArrayOutputStream err = new ByteArrayOutputStream();

	private static String one(String... args) {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		ByteArrayOutputStream err = new ByteArrayOutputStream();
		int code = Main.run(args, new Console(new PrintStream(out, false, StandardCharsets.UTF_8),
				new PrintStream(err, true, StandardCharsets.UTF_8), false, false, false));
		assertEquals(0, code, err.toString(StandardCharsets.UTF_8));
		return out.toString(StandardCharsets.UTF_8);
	}

	private String many(String... args) throws Exception {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		err.reset();
		int code = MemtraceSpark.run(spark, args, new Console(new PrintStream(out, false, StandardCharsets.UTF_8),
				new PrintStream(err, true, StandardCharsets.UTF_8), false, false, false));
		assertEquals(0, code, err.toString(StandardCharsets.UTF_8));
		return out.toString(StandardCharsets.UTF_8);
	}

	private void assertSame(int parts, String... args) throws Exception {
		assertEquals(one(args), many(Stream.concat(Stream.of("--parts", Integer.toString(parts)), Arrays.stream(args)).toArray(String[]::new)));
		Matcher m = Pattern.compile("(\\d+) tasks, [\\d.]+ s of CPU, 0 bytes shuffled, ([\\d,]+) bytes to the driver")
				.matcher(err.toString(StandardCharsets.UTF_8));
		assertTrue(m.find(), err.toString(StandardCharsets.UTF_8));
		assertEquals(parts, Integer.parseInt(m.group(1)));
	}

	@Test
	void numbersAreThoseOfOneMachine() throws Exception {
		assertSame(3, "aggregate", "--format", "json", bundled);
		assertSame(5, "aggregate", "--format", "json", large);
		assertSame(2, "aggregate", "--format", "csv", "--view", "thread", "--slices", "20", "-p", "0.4", "--from", "20ms", large);
		assertSame(2, "aggregate", "--filter", "{\"by\":\"thread\",\"numbers\":[1]}", "--metric", "writes", bundled);
	}

	@Test
	void picturesAreThoseOfOneMachine() throws Exception {
		Path one = temporary.resolve("one.svg");
		Path many = temporary.resolve("many.svg");
		one("render", "-o", one.toString(), large);
		many("--parts", "4", "render", "-o", many.toString(), large);
		assertEquals(-1, Files.mismatch(one, many));
		one("render", "--kind", "profile", "-o", one.toString(), large);
		many("--parts", "2", "--pages", "render", "--kind", "profile", "-o", many.toString(), large);
		assertEquals(-1, Files.mismatch(one, many));
	}

	@Test
	void whatIsWrongIsTold() {
		Exception missing = assertThrows(Exception.class, () -> many("--parts", "2", "aggregate", temporary.resolve("none.db").toString()));
		assertTrue(missing instanceof SparkException || missing.getCause() instanceof SparkException, missing.toString());
		assertTrue(missing.toString().contains("none.db is neither a file nor a trace"), missing.toString());
		for (List<String> args : List.of(List.<String>of(), List.of("advise", bundled), List.of("--parts", "0", "aggregate", bundled),
				List.of("--parts"), List.of("--what", "aggregate", bundled), List.of("aggregate"))) {
			assertThrows(UsageException.class, () -> many(args.toArray(String[]::new)), args.toString());
		}
	}
}
