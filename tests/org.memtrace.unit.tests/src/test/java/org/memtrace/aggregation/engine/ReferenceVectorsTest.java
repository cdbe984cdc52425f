// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.memtrace.cli.options.AggregationCase;
import org.memtrace.model.Progress;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

/** The reference's results on the cases of testdata/vectors/aggregation, by the rules of the README there. */
class ReferenceVectorsTest {
	private static final double TOLERANCE = 1e-9;

	@TestFactory
	List<DynamicTest> cases() throws IOException {
		Path folder = Path.of(System.getProperty("memtrace.root", "../..")).resolve("testdata/vectors/aggregation");
		List<DynamicTest> tests = new ArrayList<>();
		try (Stream<Path> files = Files.list(folder)) {
			files.filter(f -> f.toString().endsWith(".json")).sorted().forEach(f -> tests.add(
					DynamicTest.dynamicTest(f.getFileName().toString(), () -> check(f))));
		}
		assertTrue(tests.size() >= 13, "cases found: " + tests.size());
		return tests;
	}

	private static void check(Path file) throws Exception {
		JsonObject expected;
		try (Reader reader = Files.newBufferedReader(file)) {
			expected = JsonParser.parseReader(reader).getAsJsonObject();
		}
		AggregationCase problem = new AggregationCase(expected);
		JsonObject found = problem.recompute(Progress.NONE);
		if (expected.getAsJsonArray("tags").toString().contains("quirk")) {
			return;
		}
		for (String section : List.of("spatiotemporal", "temporal", "temporal_normalized")) {
			compare(section, problem, expected.getAsJsonObject(section), found.getAsJsonObject(section),
					section.equals("spatiotemporal"));
		}
	}

	private static void compare(String section, AggregationCase problem, JsonObject expected, JsonObject found,
			boolean tree) {
		if (expected.has("degenerate")) {
			assertTrue(found.has("degenerate"), section);
			return;
		}
		JsonObject root = expected.getAsJsonObject("root_quality");
		double scale = Math.max(number(root, "gain") + number(root, "loss"), Double.MIN_NORMAL);
		assertEquals(number(root, "gain"), number(found.getAsJsonObject("root_quality"), "gain"), TOLERANCE * scale);
		assertEquals(number(root, "loss"), number(found.getAsJsonObject("root_quality"), "loss"), TOLERANCE * scale);
		assertEquals(expected.has("qualities"), found.has("qualities"), section + ": the same object");
		if (expected.has("qualities")) {
			qualities(section, expected.getAsJsonArray("qualities"), found.getAsJsonArray("qualities"), scale);
		}
		JsonArray probes = expected.getAsJsonArray("probes");
		for (int i = 0; i < probes.size(); i++) {
			entry(section + " probe", probes.get(i).getAsJsonObject(),
					found.getAsJsonArray("probes").get(i).getAsJsonObject(), scale, tree, problem);
		}
		levels(section, problem, expected, found, scale, tree);
	}

	private static void qualities(String section, JsonArray expected, JsonArray found, double scale) {
		assertEquals(expected.size(), found.size(), section + " qualities");
		for (int i = 0; i < expected.size(); i++) {
			JsonArray a = expected.get(i).getAsJsonArray();
			JsonArray b = found.get(i).getAsJsonArray();
			for (int x = 0; x < a.size(); x++) {
				assertEquals(a.get(x).getAsDouble(), b.get(x).getAsDouble(), TOLERANCE * scale,
						section + " quality " + a + " found " + b);
			}
		}
	}

	/** The list: all p equal where the reference does not depend on rounding, else the tolerant list. */
	private static void levels(String section, AggregationCase problem, JsonObject expected, JsonObject found,
			double scale, boolean tree) {
		JsonArray significant = expected.getAsJsonArray("significant");
		List<Double> wanted = new ArrayList<>();
		for (JsonElement e : significant) {
			wanted.add(number(e.getAsJsonObject(), "p"));
		}
		if (tree && !expected.get("p_list_robust").getAsBoolean()) {
			wanted.clear();
			for (JsonElement e : expected.getAsJsonArray("significant_tolerant")) {
				wanted.add(e.getAsJsonArray().get(0).getAsDouble());
			}
		}
		List<Double> list = new ArrayList<>();
		for (JsonElement e : found.getAsJsonArray("significant")) {
			list.add(number(e.getAsJsonObject(), "p"));
		}
		assertEquals(wanted, list, section + ": significant p");
		for (JsonElement e : significant) {
			JsonObject entry = e.getAsJsonObject();
			for (JsonElement f : found.getAsJsonArray("significant")) {
				if (number(f.getAsJsonObject(), "p") == number(entry, "p")) {
					entry(section + " level", entry, f.getAsJsonObject(), scale, tree, problem);
				}
			}
		}
	}

	private static void entry(String what, JsonObject expected, JsonObject found, double scale, boolean tree,
			AggregationCase problem) {
		double p = number(expected, "p");
		String name = what + " p = " + p;
		assertEquals(p, number(found, "p"), name);
		double value = p * number(expected, "gain") - (1 - p) * number(expected, "loss");
		double ours = p * number(found, "gain") - (1 - p) * number(found, "loss");
		assertEquals(value, ours, TOLERANCE * scale, name + " value");
		String key = tree ? "aggregates" : "intervals";
		Set<String> blocks = strings(found.getAsJsonArray(key));
		assertEquals(blocks.size(), found.getAsJsonArray(key).size(), name + " repeated block");
		if (expected.get("robust").getAsBoolean()) {
			assertEquals(strings(expected.getAsJsonArray(key)), blocks, name);
			assertEquals(number(expected, "gain"), number(found, "gain"), TOLERANCE * scale, name + " gain");
			assertEquals(number(expected, "loss"), number(found, "loss"), TOLERANCE * scale, name + " loss");
		}
	}

	private static Set<String> strings(JsonArray rows) {
		Set<String> set = new TreeSet<>();
		rows.forEach(r -> set.add(r.toString()));
		return set;
	}

	private static double number(JsonObject o, String key) {
		return o.get(key).getAsDouble();
	}
}
