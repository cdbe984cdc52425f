// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.words;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.MadeTrace;
import org.memtrace.analysis.words.WordsAnswer.Row;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;

/** Answers against what is counted one by one in the rows of random traces; a failure prints the seed. */
class WordsAnswerTest {
	private static final String[] STRUCTURES = {"grid", "halo", "table"};
	private static final int PAGES = 6;
	private static final int INTERVALS = 20;
	private static final int THREADS = 5;
	private static final long INTERVAL_NS = 10_000_000;

	/** A record. */
	private record R(int interval, int structure, int page, int thread, int reads, int writes, boolean notKnown, boolean shared) {
		int leaf() {
			return structure * PAGES + page;
		}

		boolean first(List<R> all) {
			return all.stream().filter(r -> r.leaf() == leaf()).findFirst().orElseThrow() == this;
		}
	}

	/** A term, and what it means. Reads and writes that it takes away are 0 in what it gives, null for nothing left. */
	private record Law(String words, Function<R, R> means) {
		static Law of(String words, Predicate<R> wanted) {
			return new Law(words, r -> wanted.test(r) ? r : null);
		}
	}

	private static R only(R r, boolean reads, boolean writes) {
		R left = new R(r.interval, r.structure, r.page, r.thread, reads ? r.reads : 0, writes ? r.writes : 0, r.notKnown, r.shared);
		return left.reads + left.writes == 0 ? null : left;
	}

	private static List<R> rows(Random random) {
		List<R> rows = new ArrayList<>();
		for (int i = 0; i < INTERVALS; i++) {
			for (int s = 0; s < STRUCTURES.length; s++) {
				for (int p = 0; p < PAGES; p++) {
					List<int[]> users = new ArrayList<>();
					for (int t = random.nextInt(8) == 0 ? -1 : 0; t < THREADS; t++) {
						if (random.nextInt(8) < (t == p ? 3 : 1) && (s != 2 || t == p % 2)) {
							users.add(new int[] {t, random.nextInt(4), random.nextInt(3)});
						}
					}
					users.removeIf(u -> u[1] + u[2] == 0);
					long known = users.stream().filter(u -> u[0] >= 0).count();
					boolean notKnown = known == 0 || users.size() == 1 && random.nextInt(3) == 0;
					for (int[] u : users) {
						rows.add(new R(i, s, p, u[0], u[1], u[2], notKnown, known > 1));
					}
				}
			}
		}
		return rows;
	}

	private static TraceStore store(List<R> rows) throws Exception {
		MadeTrace made = new MadeTrace(THREADS, INTERVALS, INTERVAL_NS);
		for (String s : STRUCTURES) {
			made.structure(s, PAGES);
		}
		for (R r : rows) {
			made.access(r.interval, r.structure, r.page, r.thread, r.reads, r.writes);
			if (r.notKnown) {
				made.flags(MadeTrace.SHARING_NOT_KNOWN);
			}
		}
		return made.open();
	}

	private static long threads(List<R> of) {
		return of.stream().filter(r -> r.thread >= 0).mapToInt(R::thread).distinct().count();
	}

	private static List<Law> laws(List<R> all) {
		Map<Integer, List<R>> ofPage = all.stream().collect(Collectors.groupingBy(R::leaf));
		Predicate<R> someUnknown = r -> ofPage.get(r.leaf()).stream().anyMatch(o -> o.thread < 0);
		Predicate<R> alone = r -> threads(ofPage.get(r.leaf())) == 1 && !someUnknown.test(r);
		return List.of(new Law("read", r -> only(r, true, false)), new Law("written", r -> only(r, false, true)),
				new Law("-written", r -> only(r, true, false)), Law.of("shared", R::shared), Law.of("unknown", R::notKnown),
				Law.of("private", r -> !r.shared && !r.notKnown), Law.of("private,unknown", r -> !r.shared), Law.of("-shared,unknown",
						r -> !r.shared && !r.notKnown),
				Law.of("structure:grid", r -> r.structure == 0), Law.of("structure:*l*", r -> r.structure > 0),
				Law.of("-structure:grid,halo", r -> r.structure == 2), Law.of("thread:2", r -> r.thread == 2),
				Law.of("thread:1..3", r -> r.thread >= 1 && r.thread <= 3), Law.of("thread>2", r -> r.thread > 2),
						Law.of("thread:unknown", r -> r.thread < 0),
				Law.of("-thread:unknown", r -> r.thread >= 0), Law.of("time:50ms..100ms", r -> r.interval >= 5 && r.interval < 10),
				Law.of("-time:50ms..100ms", r -> r.interval < 5 || r.interval >= 10), Law.of("time:15ms", r -> r.interval == 1),
				Law.of("time:..20ms,180ms..", r -> r.interval < 2 || r.interval >= 18), Law.of("kind:heap", r -> true),
						Law.of("-kind:heap", r -> false),
				Law.of("image:0", r -> true), Law.of("cpu:0", r -> true), Law.of("page.records:1..20",
						r -> ofPage.get(r.leaf()).size() <= 20),
				Law.of("page.writes>30", r -> ofPage.get(r.leaf()).stream().mapToInt(R::writes).sum() > 30), Law.of("page.threads:1",
						alone),
				Law.of("-page.threads:1", alone.negate()), Law.of("page.threads>3", r -> threads(ofPage.get(r.leaf())) > 3),
				Law.of("page.threads<4", r -> threads(ofPage.get(r.leaf())) < 4 && !someUnknown.test(r)),
				Law.of("page.writers:0", r -> ofPage.get(r.leaf()).stream().noneMatch(o -> o.writes > 0)));
	}

	private static String key(R r, String by) {
		return by.equals("structure") ? STRUCTURES[r.structure] : by.equals("thread") ? r.thread < 0 ? "null" : "t" + r.thread
				: by.equals("every 40ms") ? "" + r.interval / 4 * 40_000_000L : "";
	}

	private static List<Long> counts(List<R> of) {
		return List.of(of.stream().mapToLong(r -> r.reads + r.writes).sum(), of.stream().mapToLong(R::reads).sum(),
				of.stream().mapToLong(R::writes).sum(),
				(long) of.size(), of.stream().mapToInt(R::leaf).distinct().count(),
						4096 * of.stream().mapToInt(R::leaf).distinct().count(), threads(of),
				threads(of.stream().filter(r -> r.reads > 0).toList()), threads(of.stream().filter(r -> r.writes > 0).toList()),
				(of.stream().mapToLong(R::interval).max().orElse(0) + 1) * INTERVAL_NS);
	}

	/** Random terms, groups and limits. */
	@Test
	void asCountedOneByOne() throws Exception {
		for (int n = 0; n < 40; n++) {
			long seed = 20261128L + n;
			Random random = new Random(seed);
			List<R> all = rows(random);
			List<Law> laws = laws(all);
			try (TraceStore store = store(all)) {
				AccessTable table = AccessTable.load(store, Progress.NONE);
				for (int q = 0; q < 12; q++) {
					List<Law> chosen = new ArrayList<>();
					for (int k = random.nextInt(4); k > 0; k--) {
						Law law = laws.get(random.nextInt(laws.size()));
						if (chosen.stream().noneMatch(c -> isOne(c) && isOne(law))) {
							chosen.add(law);
						}
					}
					String by = List.of("", "structure", "thread", "every 40ms").get(random.nextInt(4));
					int more = random.nextInt(4);
					check(seed, table, all, chosen, by, more);
				}
			}
		}
	}

	/** Of such words two are a contradiction. */
	private static boolean isOne(Law law) {
		return law.words.matches("read|written|shared|private|unknown");
	}

	private static void check(long seed, AccessTable table, List<R> all, List<Law> chosen, String by, int more) throws Exception {
		String words = chosen.stream().map(Law::words).collect(Collectors.joining(" ")) + (more > 0 ? " threads>" + more : "") + " "
				+ (by.isEmpty() || by.startsWith("every") ? by : "by " + by)
				+ " show accesses,reads,writes,records,pages,bytes,threads,readers,writers,last";
		Map<String, List<R>> groups = new TreeMap<>();
		for (R r : all) {
			R left = r;
			for (Law law : chosen) {
				left = left == null ? null : law.means.apply(left);
			}
			if (left != null) {
				groups.computeIfAbsent(key(left, by), k -> new ArrayList<>()).add(left);
			}
		}
		groups.values().removeIf(of -> threads(of) <= more && more > 0);
		Map<String, List<Long>> right = new TreeMap<>();
		groups.forEach((k, of) -> right.put(k, counts(of)));
		WordsAnswer answer = WordsAnswer.of(WordsParser.parse(words), table, null, Progress.NONE);
		Map<String, List<Object>> got = new TreeMap<>();
		for (Row r : answer.rows()) {
			String key = r.keys().isEmpty() ? "" : String.valueOf(r.keys().getFirst());
			got.put(by.equals("thread") && !key.equals("null") ? "t" + key.replaceAll(".*#", "") : key, r.values());
		}
		assertEquals(right.toString(), got.toString(), "seed " + seed + ": " + words);
		List<Double> order = answer.rows().stream().map(r -> ((Number) r.values().getFirst()).doubleValue()).toList();
		if (!by.startsWith("every")) {
			assertEquals(order.stream().sorted(Comparator.reverseOrder()).toList(), order, words);
		}
	}

	@Test
	void first() throws Exception {
		for (long seed = 1; seed < 10; seed++) {
			List<R> all = rows(new Random(seed));
			all.removeIf(r -> r.thread < 0);
			try (TraceStore store = store(all)) {
				Map<String, Long> right = all.stream().filter(r -> r.first(all))
						.collect(Collectors.groupingBy(r -> STRUCTURES[r.structure], TreeMap::new, Collectors.counting()));
				Map<String, Object> got = new TreeMap<>();
				WordsAnswer.of(WordsParser.parse("first by structure show records"), AccessTable.load(store, Progress.NONE), null,
						Progress.NONE).rows()
						.forEach(r -> got.put((String) r.keys().getFirst(), r.values().getFirst()));
				assertEquals(right.toString(), got.toString(), "seed " + seed);
			}
		}
	}

	@Test
	void twoTraces() throws Exception {
		List<R> a = rows(new Random(1));
		List<R> b = rows(new Random(2)).stream().filter(r -> r.structure != 1).toList();
		try (TraceStore here = store(a); TraceStore there = store(b)) {
			WordsAnswer answer = WordsAnswer.of(WordsParser.parse("by structure show writes vs b"), AccessTable.load(here, Progress.NONE),
					AccessTable.load(there, Progress.NONE), Progress.NONE);
			Map<String, String> right = new LinkedHashMap<>();
			Map<String, String> got = new TreeMap<>();
			for (int s = 0; s < STRUCTURES.length; s++) {
				int of = s;
				right.put(STRUCTURES[s], a.stream().filter(r -> r.structure == of).mapToLong(R::writes).sum() + " "
						+ (s == 1 ? "null" : b.stream().filter(r -> r.structure == of).mapToLong(R::writes).sum()));
			}
			answer.rows().forEach(r -> got.put((String) r.keys().getFirst(), r.values().getFirst() + " " + r.other().getFirst()));
			assertEquals(right.toString(), got.toString());
			assertEquals("halo", answer.rows().getFirst().keys().getFirst());
		}
	}

	@Test
	void whatIsNotKnownIsTold() throws Exception {
		List<R> all = rows(new Random(3));
		try (TraceStore store = store(all)) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			List<String> notes = WordsAnswer.of(WordsParser.parse("by structure show threads"), table, null, Progress.NONE).notes();
			assertTrue(notes.getFirst().startsWith(all.stream().filter(r -> r.thread < 0).count() + " of "), notes::toString);
			assertTrue(notes.get(1).startsWith("for " + all.stream().filter(R::notKnown).count() + " of "), notes::toString);
			assertEquals(List.of(), WordsAnswer.of(WordsParser.parse("by structure show pages"), table, null, Progress.NONE).notes());
			assertEquals(1, WordsAnswer.of(WordsParser.parse("-unknown by structure show threads"), table, null, Progress.NONE).notes().size());
		}
	}

	@Test
	void contradictionsAreMistakes() throws Exception {
		try (TraceStore store = store(rows(new Random(1)))) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			for (String words : List.of("read written", "private shared", "shared unknown")) {
				assertTrue(assertThrows(WordsException.class, () -> WordsAnswer.of(WordsParser.parse(words), table, null,
						Progress.NONE)).getMessage()
						.startsWith("no access is " + words.replace(" ", " and ") + " at once; 'or' is a comma"));
			}
			assertTrue(assertThrows(WordsException.class, () -> WordsAnswer.of(WordsParser.parse("remote"), table, null,
					Progress.NONE)).getMessage()
					.contains("no NUMA nodes"));
		}
	}

	@Test
	void canBeCancelled() throws Exception {
		try (TraceStore store = store(rows(new Random(1)))) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			Progress cancelled = new Progress() {
				@Override
				public void begin(String step, long total) {
					// nobody looks
				}

				@Override
				public void worked(long units) {
					// nobody looks
				}

				@Override
				public boolean isCancelled() {
					return true;
				}
			};
			assertThrows(CancelledException.class, () -> WordsAnswer.of(WordsParser.parse("page.threads:1 by structure"), table, null,
					cancelled));
		}
	}
}
