// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.analysis.SyntheticEvents;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.importer.EventLines;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.storage.Stores;

class ChromeTraceTest {
	@TempDir
	Path directory;

	private static String text(TraceStore store) throws MemtraceException {
		StringBuilder text = new StringBuilder();
		ChromeTrace.write(store, AccessFilter.of(AccessQuery.ALL), text, Progress.NONE);
		return text.toString();
	}

	private static ProducerTree tree() {
		ProducerTreeBuilder builder = new ProducerTreeBuilder(0);
		builder.begin(ProducerKind.OTHER, "node \"0\"", 0, 0, -1);
		for (int i = 0; i < 3; i++) {
			builder.leaf(ProducerKind.OTHER, "thread " + i, 0, 0, -1);
		}
		builder.end();
		return builder.build();
	}

	/** What our own reader of the format makes of it is what was there. */
	@Test
	void eventsComeBack() throws Exception {
		ProducerTree tree = tree();
		for (int seed = 0; seed < 40; seed++) {
			Random random = new Random(seed);
			SyntheticEvents made = new SyntheticEvents();
			List<String> wanted = new ArrayList<>();
			for (int thread = 1; thread <= 3; thread++) {
				long at = 1L << random.nextInt(40);
				for (int i = random.nextInt(10); i >= 0; i--) {
					long end = at + 2 + random.nextInt(1 << 20);
					made.add(SyntheticEvents.RUN, thread, at, end, 0, 0).add(SyntheticEvents.WAIT, thread, at, end - 1, 1, 0);
					wanted.add("Run STATE thread " + (thread - 1) + " " + at + " " + end + " 0.0");
					wanted.add("Wait STATE thread " + (thread - 1) + " " + at + " " + (end - 1) + " 1.0");
					int to = 1 + random.nextInt(3);
					made.add(SyntheticEvents.MESSAGE, thread, at, end, to, 0).add(SyntheticEvents.TICK, thread, at, at, 0, 0);
					wanted.add("Message LINK thread " + (thread - 1) + " " + at + " " + end + " to thread " + (to - 1));
					wanted.add("Tick PUNCTUAL thread " + (thread - 1) + " " + at + " " + at + " 0.0");
					at = end + random.nextInt(5);
				}
			}
			wanted.sort(null);
			Path file = Files.writeString(directory.resolve("a.json"), text(made.store(tree, 0, 1L << 50)));
			try (TraceCatalogue catalogue = Stores.inMemory()) {
				ImportReport report = new ImportOperation(file, catalogue::create).call(Progress.NONE);
				assertEquals(wanted, EventLines.of(catalogue, report), "seed " + seed);
				try (TraceStore store = catalogue.open(report.trace().id())) {
					assertEquals("node \"0\"", store.producers().name(store.producers().parent(store.producers().size() - 1)));
				}
			}
		}
	}

	@Test
	void variables() throws Exception {
		SyntheticEvents made = new SyntheticEvents().add(SyntheticEvents.POWER, 1, 1500, 2000, 2.5, 0)
				.add(SyntheticEvents.POWER, 1, 2000, 3000, -4, 0);
		Path file = Files.writeString(directory.resolve("v.json"), text(made.store(tree(), 500, 3000)));
		try (TraceCatalogue catalogue = Stores.inMemory()) {
			assertEquals(List.of("Power of thread 0 VARIABLE node \"0\" 1000 1500 2.5", "Power of thread 0 VARIABLE node \"0\" 1500 1500 -4.0"),
					EventLines.of(catalogue, new ImportOperation(file, catalogue::create).call(Progress.NONE)));
		}
		made.add(SyntheticEvents.POWER, 2, 0, 1, Double.NaN, 0);
		TraceStore bad = made.store(tree(), 0, 3000);
		assertTrue(assertThrows(MemtraceException.class, () -> text(bad)).getMessage().contains("NaN"));
	}

	/** Counters at each time are the sums of the records under way; each access is counted for its structure and for its thread. */
	@Test
	void accessesAreCounters() throws Exception {
		try (TraceStore store = SyntheticTrace.matrixMultiplication(12, 20)) {
			Map<String, Map<Long, long[]>> found = new TreeMap<>();
			long before = Long.MIN_VALUE;
			for (JsonElement e : JsonParser.parseString(text(store)).getAsJsonObject().getAsJsonArray("traceEvents")) {
				JsonObject event = e.getAsJsonObject();
				if (event.get("ph").getAsString().equals("C")) {
					long ns = event.get("ts").getAsBigDecimal().movePointRight(3).longValueExact();
					assertTrue(ns >= before);
					before = ns;
					long[] values = new long[4];
					for (int t = 0; t < 4; t++) {
						values[t] = event.getAsJsonObject("args").get(AccessFilter.TYPES[t]).getAsLong();
					}
					String counter = event.get("pid").getAsInt() + " " + event.get("name").getAsString();
					assertEquals(null, found.computeIfAbsent(counter, c -> new TreeMap<>()).put(ns, values), counter + " twice at " + ns);
				}
			}
			Map<Integer, Map<Long, long[]>> wanted = new HashMap<>();
			ProducerTree tree = store.producers();
			store.visitAccesses(AccessQuery.ALL, b -> {
				for (int i = 0; i < b.count; i++) {
					int id = b.producer[i];
					while (tree.level(id) > 1) {
						id = tree.parent(id);
					}
					for (int key : new int[] {id, -1 - b.thread[i]}) {
						for (int end = 0; end < 2; end++) {
							long[] change = wanted.computeIfAbsent(key, k -> new TreeMap<>())
									.computeIfAbsent((end == 0 ? b.startNs[i] : b.endNs[i]) - store.info().startNs(), t -> new long[4]);
							change[AccessFilter.type(b.sharing[i], false)] += end == 0 ? b.reads[i] : -b.reads[i];
							change[AccessFilter.type(b.sharing[i], true)] += end == 0 ? b.writes[i] : -b.writes[i];
						}
					}
				}
			}, Progress.NONE);
			assertEquals(wanted.size(), found.size());
			assertTrue(wanted.keySet().stream().anyMatch(k -> k < 0) && wanted.keySet().stream().anyMatch(k -> k >= 0));
			wanted.forEach((key, changes) -> {
				Map<Long, long[]> values = key >= 0 ? found.get("1 " + tree.name(key))
						: found.entrySet().stream().filter(e -> e.getKey().startsWith("2 ")).map(Map.Entry::getValue)
								.filter(v -> same(changes, v)).findFirst().orElseThrow(() -> new AssertionError("thread " + (-1 - key)));
				assertTrue(same(changes, values), () -> "counter " + key);
			});
		}
	}

	/** Whether values are the sums of changes at each time at which something changes. */
	private static boolean same(Map<Long, long[]> changes, Map<Long, long[]> values) {
		long[] now = new long[4];
		for (Map.Entry<Long, long[]> change : changes.entrySet()) {
			for (int t = 0; t < 4; t++) {
				now[t] += change.getValue()[t];
			}
			if (!java.util.Arrays.equals(now, values.get(change.getKey()))) {
				return false;
			}
		}
		return values.size() == changes.size();
	}
}
