// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Ran;
import org.memtrace.cli.commands.QuestionTrace.Row;
import org.memtrace.sql.DuckDbLibrary;
import org.memtrace.sql.SqlDatabase;

/** The questions of docs/howto/questions.md, asked of a made trace. The right answers are counted in the rows that it is made of. */
class SqlQuestionsTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root"));
	@TempDir
	static Path temporary;
	private static List<Row> rows;
	private static List<Row> other;

	@BeforeAll
	static void make() throws Exception {
		DuckDb.use(temporary);
		DuckDb.useExtension();
		rows = QuestionTrace.rows(1, true);
		other = QuestionTrace.rows(1, false);
		QuestionTrace.write(temporary, "a", rows);
		QuestionTrace.write(temporary, "b", other);
	}

	@AfterAll
	static void reset() {
		System.clearProperty(DuckDbLibrary.PROPERTY);
		System.clearProperty(SqlDatabase.PROPERTY);
		System.clearProperty("memtrace.cache");
	}

	private static List<String> ask(String title) throws IOException {
		Matcher m = Pattern.compile("## ([^\n]*)\n(?:(?!\n## ).)*?```sql\n(.*?)```", Pattern.DOTALL)
				.matcher(Files.readString(ROOT.resolve("docs/howto/questions.md")));
		while (m.find()) {
			if (m.group(1).contains(title)) {
				return sql(m.group(2).replace("before.db", temporary.resolve("b.db").toString()));
			}
		}
		throw new IllegalArgumentException(title);
	}

	private static List<String> sql(String sql) {
		return Ran.ok("sql", "--format", "csv", temporary.resolve("a.db").toString(), sql).lines().skip(1).toList();
	}

	private static <K extends Comparable<K>> TreeMap<K, List<Row>> by(Predicate<Row> which, Function<Row, K> key) {
		return rows.stream().filter(which).collect(Collectors.groupingBy(key, TreeMap::new, Collectors.toList()));
	}

	private static long threads(List<Row> of) {
		return of.stream().mapToInt(Row::thread).distinct().count();
	}

	/** {@code structure,count}, the largest count first. */
	private static List<String> counted(Stream<String> structures) {
		return structures.collect(Collectors.groupingBy(s -> s, TreeMap::new, Collectors.counting())).entrySet().stream()
				.sorted(Map.Entry.<String, Long>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey()))
				.map(e -> e.getKey() + "," + e.getValue()).toList();
	}

	@Test
	void theTraceIsWhatWasMade() {
		assertEquals(List.of(rows.size() + "," + rows.stream().mapToLong(Row::reads).sum() + "," + rows.stream().mapToLong(Row::writes).sum()),
				sql("select count(*), sum(reads), sum(writes) from access"));
	}

	@Test
	void writtenByMoreThanTwoInSolve() throws IOException {
		List<String> right = by(r -> r.writes() > 0 && !r.iteration().isEmpty(), Row::structure).entrySet().stream()
				.filter(e -> threads(e.getValue()) > 2)
				.sorted(Comparator.comparing((Map.Entry<String, List<Row>> e) -> -threads(e.getValue())).thenComparing(Map.Entry::getKey))
				.map(e -> e.getKey() + "," + threads(e.getValue())).toList();
		assertTrue(right.size() >= 2 && right.stream().noneMatch(r -> r.startsWith("table")), right::toString);
		assertEquals(right, ask("written by more than two"));
	}

	private static TreeMap<Long, Integer> mainUsers(String iteration) {
		TreeMap<Long, Integer> users = new TreeMap<>();
		by(r -> r.iteration().equals(iteration), Row::page).forEach((page, of) -> {
			long[] sums = new long[QuestionTrace.THREADS];
			of.forEach(r -> sums[r.thread()] += r.accesses());
			int best = 0;
			for (int t = 0; t < QuestionTrace.THREADS; t++) {
				best = sums[t] > sums[best] ? t : best;
			}
			users.put(page, best);
		});
		return users;
	}

	@Test
	void mainUsersThatMoved() throws IOException {
		Map<Long, Integer> first = mainUsers("iteration 1");
		Map<Long, Integer> last = mainUsers("iteration 10");
		TreeMap<Long, String> structure = new TreeMap<>();
		rows.forEach(r -> structure.put(r.page(), r.structure()));
		List<String> right = counted(first.keySet().stream().filter(p -> last.containsKey(p) && !last.get(p).equals(first.get(p)))
				.map(structure::get));
		assertTrue(right.getFirst().startsWith("grid,"), right::toString);
		assertEquals(right, ask("another main user"));
	}

	@Test
	void onlyThreadSeven() throws IOException {
		List<String> right = counted(by(r -> true, Row::page).values().stream()
				.filter(of -> of.stream().allMatch(r -> r.thread() == 7)).map(of -> of.getFirst().structure()));
		assertEquals(List.of("own_7,9"), right);
		assertEquals(right, ask("only thread 7"));
	}

	@Test
	void touchedOnce() throws IOException {
		List<String> right = counted(
				by(r -> true, Row::page).values().stream().filter(of -> of.size() == 1).map(of -> of.getFirst().structure()));
		assertEquals(List.of("once,40"), right);
		assertEquals(right, ask("touched once"));
	}

	@Test
	void whoIsFirstOnWhatThreadThreeUses() throws IOException {
		TreeMap<Long, List<Row>> of = by(r -> true, Row::page);
		List<String> right = counted(by(r -> r.thread() == 3, Row::page).entrySet().stream()
				.sorted(Comparator.comparing((Map.Entry<Long, List<Row>> e) -> -e.getValue().stream().mapToLong(Row::accesses).sum())
						.thenComparing(Map.Entry::getKey))
				.limit(100).map(e -> of.get(e.getKey()).stream().min(Comparator.comparingInt(Row::interval).thenComparingInt(Row::thread))
						.map(r -> "/home/user/app.c:" + r.line()).orElseThrow()));
		assertTrue(right.size() > 1, right::toString);
		assertEquals(right, ask("first touches what thread 3"));
	}

	@Test
	void pairs() throws IOException {
		TreeMap<String, long[]> pairs = new TreeMap<>();
		by(r -> true, Row::page).values().forEach(of -> {
			TreeSet<Integer> users = of.stream().map(Row::thread).collect(Collectors.toCollection(TreeSet::new));
			TreeSet<Integer> writers = of.stream().filter(r -> r.writes() > 0).map(Row::thread).collect(Collectors.toCollection(TreeSet::new));
			for (int a : users) {
				for (int b : users.tailSet(a, false)) {
					long[] n = pairs.computeIfAbsent(a + "," + b, k -> new long[2]);
					n[0]++;
					n[1] += writers.contains(a) || writers.contains(b) ? 1 : 0;
				}
			}
		});
		List<String> right = pairs.entrySet().stream()
				.sorted(Comparator.comparing((Map.Entry<String, long[]> e) -> -e.getValue()[0]).thenComparing(Map.Entry::getKey)).limit(3)
				.map(e -> e.getKey() + "," + e.getValue()[0] + "," + e.getValue()[0] * QuestionTrace.PAGE + "," + e.getValue()[1]).toList();
		assertEquals(right, ask("two threads share most"));
	}

	@Test
	void twoRuns() throws IOException {
		List<String> got = ask("changed between two runs");
		long reads = by(r -> true, Row::structure).get("halo").stream().mapToLong(Row::reads).sum();
		long writes = by(r -> true, Row::structure).get("halo").stream().mapToLong(Row::writes).sum();
		List<Row> there = other.stream().filter(r -> r.structure().equals("halo")).toList();
		long left = there.stream().mapToLong(Row::reads).sum();
		assertTrue(got.getFirst().startsWith("halo," + reads + "," + left + "," + writes + ",0,"), got::toString);
		assertEquals(QuestionTrace.STRUCTURES.size(), got.size());
		for (String same : got.subList(1, got.size())) {
			String[] f = same.split(",");
			assertEquals(List.of(f[1], f[3], f[5], f[7], f[9]), List.of(f[2], f[4], f[6], f[8], f[10]), same);
		}
	}

	@Test
	void workingSet() throws IOException {
		List<String> right = by(r -> true, r -> (r.startNs() - QuestionTrace.START) / 50_000_000).entrySet().stream()
				.map(e -> e.getKey() * 50_000_000 + "," + e.getValue().stream().mapToLong(Row::page).distinct().count() * QuestionTrace.PAGE + ","
						+ threads(e.getValue())).toList();
		assertEquals(right, ask("working set"));
	}

	@Test
	void lastUse() throws IOException {
		List<String> right = by(r -> true, Row::structure).entrySet().stream()
				.map(e -> List.<Object>of(e.getValue().stream().mapToLong(Row::startNs).max().orElseThrow() - QuestionTrace.START
						+ QuestionTrace.INTERVAL,
						e.getKey(),
						e.getValue().stream().mapToLong(Row::accesses).sum()))
				.sorted(Comparator.comparing((List<Object> l) -> (Long) l.get(0)).thenComparing(l -> (String) l.get(1)))
				.map(l -> l.get(1) + "," + l.get(0) + "," + l.get(2)).toList();
		assertTrue(right.getFirst().startsWith("once,"), right::toString);
		assertEquals(right, ask("not used any more"));
	}

	@Test
	void howFullLinesAre() throws IOException {
		TreeMap<String, Double> right = new TreeMap<>();
		by(r -> true, Row::structure).forEach((s, of) -> right.put(s,
				of.stream().map(r -> (r.page() * QuestionTrace.PAGE + r.offset()) / 64).distinct().count() * 64.0
						/ (of.stream().mapToLong(Row::page).distinct().count() * QuestionTrace.PAGE)));
		List<String> got = ask("full are the cache lines");
		assertEquals(right.keySet(), got.stream().map(g -> g.split(",")[0]).collect(Collectors.toCollection(TreeSet::new)));
		for (String g : got) {
			assertEquals(right.get(g.split(",")[0]), Double.parseDouble(g.split(",")[3]), 0.0001, g);
		}
	}
}
