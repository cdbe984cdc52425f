// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Ran;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

/**
 * Recorded programs whose answers were published: the matrix product of Beniamine's thesis (B replicated, A and C placed), the bucket sort
 * of NAS IS (the dynamic schedule makes both buffers all-to-all), and a stencil that one thread initialises.
 */
class KnownAnswersTest {
	private static final Path TRACES = Path.of(System.getProperty("memtrace.root"), "testdata", "traces");
	@TempDir
	Path temporary;

	/** Findings of a recorded trace by structure. */
	private Map<String, JsonObject> findings(String trace) throws Exception {
		String db = temporary.resolve(trace + ".db").toString();
		Ran.ok("import", "-o", db, TRACES.resolve(trace).toString());
		Map<String, JsonObject> found = new TreeMap<>();
		for (JsonElement e : JsonParser.parseString(Ran.ok("advise", "--format", "json", db)).getAsJsonObject().getAsJsonArray("findings")) {
			for (JsonElement name : e.getAsJsonObject().getAsJsonArray("structures")) {
				assertEquals(null, found.put(name.getAsString(), e.getAsJsonObject()), "one finding for a structure");
			}
		}
		return found;
	}

	private static void says(JsonObject finding, String rule, String advice, String fix) {
		assertEquals(rule, finding.get("rule").getAsString());
		assertTrue(finding.get("advice").getAsString().contains(advice), finding.toString());
		assertTrue(finding.get("fix").getAsString().contains(fix), finding.toString());
	}

	@Test
	void matrixProduct() throws Exception {
		Map<String, JsonObject> found = findings("matmul-naive");
		assertEquals("[A, B, C]", found.keySet().toString());
		says(found.get("A"), "first-touch", "initialise it in parallel", "that first writes A in one thread");
		says(found.get("B"), "replicate", "a copy of it on each NUMA node", "make a copy of B (");
		// in 160 rows a page of C has rows of two threads
		says(found.get("C"), "first-touch", "interleave it", "MPOL_INTERLEAVE");
	}

	@Test
	void bucketSort() throws Exception {
		Map<String, JsonObject> found = findings("bucketsort-dynamic");
		assertEquals("[key_buff1, key_buff2]", found.keySet().toString());
		for (JsonObject f : found.values()) {
			says(f, "all-to-all", "a dynamic schedule hands every part to every thread", "MPOL_INTERLEAVE");
		}
		// with fixed buckets only the exchange of the keys is left
		found = findings("bucketsort-fair");
		assertEquals("[key_buff2]", found.keySet().toString());
		assertEquals("all-to-all", found.get("key_buff2").get("rule").getAsString());
	}

	@Test
	void serialStencil() throws Exception {
		Map<String, JsonObject> found = findings("stencil-serial");
		assertEquals("[new_grid, old_grid]", found.keySet().toString());
		says(found.get("old_grid"), "first-touch", "initialise it in parallel, with the schedule", "that first writes old_grid");
		says(found.get("new_grid"), "first-touch", "initialise it in parallel, with the schedule", "that first writes new_grid");
		assertEquals(Map.of(), findings("stencil-parallel"));
	}
}
