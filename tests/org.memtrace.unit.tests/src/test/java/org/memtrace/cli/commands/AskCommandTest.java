// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Ran;
import org.memtrace.cli.commands.QuestionTrace.Row;

/** The words of docs/howto/questions.md, asked of a made trace. The right answers are counted in the rows that it is made of. */
class AskCommandTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root"));
	@TempDir
	static Path temporary;
	private static List<Row> rows;
	private static List<Row> other;

	@BeforeAll
	static void make() throws Exception {
		rows = QuestionTrace.rows(1, true);
		other = QuestionTrace.rows(1, false);
		QuestionTrace.write(temporary, "a", rows);
		QuestionTrace.write(temporary, "b", other);
	}

	private static String trace(String name) {
		return temporary.resolve(name + ".db").toString();
	}

	/** The words that the page has for a question; their answer without the head, as CSV. */
	private static List<String> ask(String title) throws IOException {
		Matcher m = Pattern.compile("## ([^\n]*)\n+```\nmemtrace ask app.memtrace (.*)\n```")
				.matcher(Files.readString(ROOT.resolve("docs/howto/questions.md")));
		while (m.find()) {
			if (m.group(1).contains(title)) {
				return words(m.group(2).replace("'", "").replace("before.memtrace", trace("b")));
			}
		}
		throw new IllegalArgumentException(title);
	}

	private static List<String> words(String words) {
		return Ran.ok("ask", "--format", "csv", trace("a"), words).lines().skip(1).toList();
	}

	private static Ran wrong(String... words) {
		List<String> all = new ArrayList<>(List.of("ask", trace("a")));
		all.addAll(List.of(words));
		return Ran.of(all.toArray(String[]::new));
	}

	private static <K extends Comparable<K>> TreeMap<K, List<Row>> by(Predicate<Row> which, Function<Row, K> key) {
		return rows.stream().filter(which).collect(Collectors.groupingBy(key, TreeMap::new, Collectors.toList()));
	}

	private static long threads(List<Row> of) {
		return of.stream().mapToInt(Row::thread).distinct().count();
	}

	private static long pages(List<Row> of) {
		return of.stream().mapToLong(Row::page).distinct().count();
	}

	/** Largest first, then by name: a line with the key and what is said of it. */
	private static List<String> lines(Map<String, List<Row>> of, ToLongFunction<List<Row>> order, Function<List<Row>, String> said) {
		return of.entrySet().stream().sorted(Comparator.comparing((Map.Entry<String, List<Row>> e) -> -order.applyAsLong(e.getValue()))
				.thenComparing(Map.Entry::getKey)).map(e -> e.getKey() + "," + said.apply(e.getValue())).toList();
	}

	@Test
	void writtenByMoreThanTwoInSolve() throws IOException {
		Map<String, List<Row>> right = by(r -> r.writes() > 0 && !r.iteration().isEmpty(), Row::structure);
		right.values().removeIf(of -> threads(of) <= 2);
		assertTrue(right.size() >= 2 && !right.containsKey("table"), right.keySet()::toString);
		assertEquals(lines(right, AskCommandTest::threads, of -> "" + threads(of)), ask("written by more than two"));
	}

	@Test
	void onlyThreadSeven() throws IOException {
		List<Row> alone = by(r -> true,
				Row::page).values().stream().filter(of -> of.stream().allMatch(r -> r.thread() == 7)).flatMap(List::stream)
				.toList();
		assertEquals(lines(alone.stream().collect(Collectors.groupingBy(Row::structure)), AskCommandTest::pages, of -> "" + pages(of)),
				ask("only thread 7"));
		assertEquals(List.of("own_7,9"), ask("only thread 7"));
	}

	@Test
	void touchedOnce() throws IOException {
		assertEquals(List.of("once,40," + 40 * QuestionTrace.PAGE), ask("touched once"));
	}

	@Test
	void twoRuns() throws IOException {
		List<String> got = ask("changed between two runs");
		assertEquals(QuestionTrace.STRUCTURES.size(), got.size());
		Map<String, List<Row>> here = by(r -> true, Row::structure);
		Map<String, List<Row>> there = other.stream().collect(Collectors.groupingBy(Row::structure));
		assertTrue(got.getFirst().startsWith("halo,"), got::toString);
		for (String line : got) {
			String name = line.substring(0, line.indexOf(','));
			List<Row> a = here.get(name);
			List<Row> b = there.get(name);
			assertEquals(name + "," + sum(a, Row::accesses) + "," + sum(b, Row::accesses) + "," + sum(a, Row::reads) + "," + sum(b,
					Row::reads) + ","
					+ sum(a, Row::writes) + "," + sum(b, Row::writes) + "," + threads(a) + "," + threads(b) + "," + pages(a) + ","
							+ pages(b), line);
		}
	}

	private static long sum(List<Row> of, ToLongFunction<Row> what) {
		return of.stream().mapToLong(what).sum();
	}

	@Test
	void workingSet() throws IOException {
		List<String> right = by(r -> true, r -> (r.startNs() - QuestionTrace.START) / 50_000_000).entrySet().stream()
				.map(e -> e.getKey() * 50_000_000 + "," + pages(e.getValue()) * QuestionTrace.PAGE + "," + threads(e.getValue())).toList();
		assertEquals(right, ask("working set"));
	}

	@Test
	void lastUse() throws IOException {
		TreeMap<String, List<Row>> of = by(r -> true, Row::structure);
		List<String> right = lines(of, l -> -l.stream().mapToLong(Row::startNs).max().orElseThrow(),
				l -> l.stream().mapToLong(Row::startNs).max()
				.orElseThrow() - QuestionTrace.START + QuestionTrace.INTERVAL + "," + sum(l, Row::accesses));
		assertEquals(right, ask("not used any more"));
		assertTrue(right.getFirst().startsWith("once,"), right::toString);
	}

	@Test
	void howFullLinesAre() throws IOException {
		TreeMap<String, List<Row>> of = by(r -> true, Row::structure);
		Function<List<Row>, Long> lines = l -> l.stream().map(r -> (r.page() * QuestionTrace.PAGE + r.offset()) / 64).distinct().count();
		ToLongFunction<List<Row>> hundredths = l -> Math.round(1e4 * lines.apply(l) * 64 / (pages(l) * QuestionTrace.PAGE));
		assertEquals(lines(of, l -> -hundredths.applyAsLong(l), l -> hundredths.applyAsLong(l) / 100.0 + "," + lines.apply(l) + ","
				+ pages(l)),
				ask("full are the cache lines"));
	}

	@Test
	void whoIsFirst() throws IOException {
		Map<Long, Row> first = new TreeMap<>();
		by(r -> true, Row::page).forEach((page, of) -> first.put(page,
				of.stream().min(Comparator.comparingInt(Row::interval).thenComparingInt(Row::thread)).orElseThrow()));
		Map<String, List<Row>> right = first.values().stream().collect(Collectors.groupingBy(r -> "/home/user/app.c:" + r.line()));
		assertEquals(lines(right, AskCommandTest::pages, l -> "" + pages(l)), words("first by source show pages"));
	}

	@Test
	void whatIsUnderstoodIsSaid() {
		String out = Ran.ok("ask", trace("a"), "written region:solve writers>2 by structure");
		assertEquals("page faults written in region solve, by structure, with more than 2 writers", out.lines().findFirst().orElseThrow());
		String json = Ran.ok("ask", "--format", "json", trace("a"), "thread:7", "page.threads:1", "by", "structure");
		assertTrue(json.startsWith("{\"schema\":\"memtrace.ask/1\""), json);
		assertTrue(json.contains("\"understood\":\"page faults by thread 7 on pages with 1 thread, by structure\""), json);
		assertTrue(Ran.of("ask", trace("a"), "structure:grid -grid".replace("-grid",
				"time:5s..6s")).err().contains("nothing: the trace has no such"));
	}

	@Test
	void namesWithBlanksAsAShellGivesThem() {
		long right = sum(by(r -> r.iteration().equals("iteration 3"), r -> 0).get(0), Row::accesses);
		for (String[] words : new String[][] {{"region:iteration 3", "show", "accesses"}, {"region:\"iteration 3\" show accesses"},
				{"region:solve/iteration 3", "show", "accesses"}}) {
			List<String> all = new ArrayList<>(List.of("ask", "--format", "csv", trace("a")));
			all.addAll(List.of(words));
			assertEquals("accesses\n" + right + "\n", Ran.ok(all.toArray(String[]::new)).replace("\r", ""));
		}
		assertEquals(String.format(Locale.ROOT, "memtrace ask: a name with blanks stands in quotation marks: region:\"iteration 3\"%n"),
				wrong("region:iteration 3 show accesses").err());
	}

	@Test
	void whatTheTraceDoesNotHaveIsAnError() {
		for (String[] w : new String[][] {{"structure:hal", "there is no structure 'hal'; near: halo"}, {"region:sol",
				"there is no region 'sol'; near: solve"},
				{"thread:9", "there is no thread 9; there are 0 to 7"}, {"thread:1003",
						"there is no thread 1003; the thread with the id 1003 is thread:3"},
				{"function:wrk", "there is no function 'wrk'; near: work"}, {"grid",
						"'grid' is no word, but a structure has this name: write structure:grid"},
				{"region:grid", "there is no region 'grid'; 'memtrace ask TRACE by region' lists them; there is structure:grid"},
				{"structure:x*", "no structure is like 'x*'"}, {"by structre", "there is no field 'structre'; near: structure"},
				{"thrad:3", "there is no field 'thrad'; near: thread"}, {"show pags", "there is no count 'pags'; near: pages"},
				{"time:1x..2s", "time: '1x' is no time: give a number with ns, us, ms, s, min or h"}, {"kind:hep",
						"there is no kind 'hep'; near: heap"}}) {
			Ran ran = wrong(w[0]);
			assertEquals(2, ran.code(), ran.err());
			assertTrue(ran.err().contains("memtrace ask: " + w[1]), ran.err());
			assertEquals("", ran.out());
		}
		assertEquals(2, Ran.of("ask", trace("a")).code());
		assertTrue(wrong("written", "--format", "csv").err().contains("options such as --format stand before the trace"));
	}

	/** Those of docs/reference/words.md, as a shell gives them. */
	@Test
	void examples() throws IOException {
		String page = Files.readString(ROOT.resolve("docs/reference/words.md"));
		List<String> examples = page.substring(page.indexOf("## Examples")).lines().filter(l -> l.startsWith("memtrace ask ")).toList();
		assertTrue(examples.size() >= 10, examples::toString);
		for (String example : examples) {
			List<String> words = new ArrayList<>();
			Matcher m = Pattern.compile("'([^']*)'|((?:[^\\s\"']|\"[^\"]*\")+)").matcher(example.substring("memtrace ".length()));
			while (m.find()) {
				String word = m.group(1) != null ? m.group(1) : m.group(2).replace("\"", "");
				words.add(word.equals("app.memtrace") ? trace("a") : word);
			}
			assertTrue(Ran.ok(words.toArray(String[]::new)).lines().count() > 2, example);
		}
	}

	@Test
	void filtersInWordsMeanTheSame() {
		String filtered = Ran.ok("query", "--what", "groups", "--by", "structure", "--format", "csv", "--filter", "written region:solve",
				trace("a"));
		List<String> asked = words("written region:solve by structure show records,reads,writes");
		assertEquals(asked.stream().sorted().toList(), filtered.lines().skip(1).sorted().toList());
		Ran ran = Ran.of("summary", "--filter", "structure:hal", trace("a"));
		assertEquals(2, ran.code());
		assertTrue(ran.err().contains("memtrace summary: --filter: there is no structure 'hal'; near: halo"), ran.err());
		Ran group = Ran.of("summary", "--filter", "writers>2", trace("a"));
		assertEquals(2, group.code());
		assertTrue(group.err().contains("page.writers>2 is about pages"), group.err());
	}

	@Test
	void anotherDatabaseAnswersTheSame() throws IOException {
		Ran.ok("import", "-o", temporary.resolve("h2.mv.db").toString(), temporary.resolve("a.memtrace").toString());
		String words = "written -structure:halo by structure,thread";
		assertEquals(Ran.ok("ask", "--format", "csv", trace("a"), words), Ran.ok("ask", "--format", "csv",
				temporary.resolve("h2.mv.db").toString(), words));
	}
}
