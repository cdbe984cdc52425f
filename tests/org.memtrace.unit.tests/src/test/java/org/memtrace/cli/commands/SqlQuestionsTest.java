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
import java.util.Map;
import java.util.Random;
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
import org.memtrace.sql.DuckDbLibrary;
import org.memtrace.sql.SqlDatabase;

/** The questions of docs/howto/questions.md, asked of a made trace. The right answers are counted in the rows that it is made of. */
class SqlQuestionsTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root"));
	private static final long START = 999_000_000L;
	private static final long FIRST = 1_000_000_000L;
	private static final long INTERVAL = 10_000_000L;
	private static final int INTERVALS = 120;
	private static final int THREADS = 8;
	private static final long PAGE = 4096;
	private static final long BASE = 0x10000000000L;
	/** Name, pages; one after the other in memory. */
	private static final Map<String, Integer> STRUCTURES = new TreeMap<>(Map.of("grid", 48, "halo", 12, "once", 40, "own_7", 9, "table", 20));
	@TempDir
	static Path temporary;
	private static List<Row> rows;
	private static List<Row> other;

	/** A row of the access file; the interval counts from 0. */
	private record Row(String structure, long page, int interval, int thread, long offset, int reads, int writes, int line) {
		long startNs() {
			return FIRST + interval * INTERVAL;
		}

		/** Iterations have ten intervals, from the eleventh on; the last ten intervals are in none. */
		String iteration() {
			int k = interval / 10;
			return k >= 1 && k <= 10 ? "iteration " + k : "";
		}

		int accesses() {
			return reads + writes;
		}
	}

	@BeforeAll
	static void make() throws Exception {
		DuckDb.use(temporary);
		DuckDb.useExtension();
		rows = rows(1, true);
		other = rows(1, false);
		write("a", rows);
		write("b", other);
	}

	@AfterAll
	static void reset() {
		System.clearProperty(DuckDbLibrary.PROPERTY);
		System.clearProperty(SqlDatabase.PROPERTY);
		System.clearProperty("memtrace.cache");
	}

	private static List<Row> rows(long seed, boolean withHalo) {
		Random random = new Random(seed);
		List<Row> made = new ArrayList<>();
		long page = BASE / PAGE;
		for (Map.Entry<String, Integer> s : STRUCTURES.entrySet()) {
			for (int p = 0; p < s.getValue(); p++, page++) {
				for (int i = 0; i < INTERVALS; i++) {
					for (int t = 0; t < THREADS; t++) {
						int dice = random.nextInt(1000);
						Row row = row(s.getKey(), page, p, i, t, dice, random);
						if (row != null && (withHalo || !s.getKey().equals("halo") || row.writes() == 0)) {
							made.add(row);
						}
					}
				}
			}
		}
		return made;
	}

	private static Row row(String structure, long page, int p, int i, int t, int dice, Random random) {
		boolean solve = i >= 10 && i < 110;
		boolean use = switch (structure) {
		case "grid" -> i == 0 ? t == 0 : (t + i / 20) % THREADS == p % THREADS && dice < 700;
		case "halo" -> solve && dice < 120;
		case "once" -> i == p % 100 && t == p % 3;
		case "own_7" -> t == 7 && dice < 300;
		default -> i < 60 && dice < 60;
		};
		if (!use) {
			return null;
		}
		int writes = structure.equals("table") ? t < 2 && solve ? dice % 2 : 0 : dice % 3;
		return new Row(structure, page, i, t, 8L * random.nextInt(512), dice % 4 + (writes == 0 ? 1 : 0), writes, 31 + (i + t) % 3);
	}

	private static void write(String name, List<Row> of) throws IOException {
		Path trace = temporary.resolve(name + ".memtrace");
		Path image = trace.resolve("p0000");
		Files.createDirectories(image);
		Path example = ROOT.resolve("testdata/format-example");
		long end = FIRST + INTERVALS * INTERVAL;
		Files.writeString(trace.resolve("manifest.json"),
				Files.readString(example.resolve("manifest.json")).replace("\"end_ns\": 1201000000", "\"end_ns\": " + end));
		Files.copy(example.resolve("p0000/image.json"), image.resolve("image.json"));
		StringBuilder b = new StringBuilder("@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags\n");
		of.stream().sorted(Comparator.comparingInt(Row::interval)).forEach(r -> b.append(Long.toHexString(r.page() * PAGE + r.offset()))
				.append(",0,").append(r.reads()).append(',').append(r.writes()).append(",1,").append(r.startNs()).append(',')
				.append(r.startNs() + INTERVAL).append(',').append(1000 + r.thread()).append(',').append(Long.toHexString(0x5000L + r.line()))
				.append(",0,0\n"));
		Files.writeString(image.resolve("accesses-000000.csv"), b);
		StringBuilder threads = new StringBuilder("TaskId,Name,Birth,Death,StackStart,StackEnd,Start,CpuNs\n");
		StringBuilder regions = new StringBuilder("Time,TaskId,Event,Name\n");
		for (int t = 0; t < THREADS; t++) {
			threads.append(1000 + t).append(",app,").append(FIRST).append(",-1,")
					.append(Long.toHexString(0x7f0000000000L + t * 0x100000L)).append(',')
					.append(Long.toHexString(0x7f0000010000L + t * 0x100000L)).append(",,\n");
			regions.append(FIRST + 10 * INTERVAL).append(',').append(1000 + t).append(",begin,solve\n");
			for (int k = 1; k <= 10; k++) {
				regions.append(FIRST + 10 * k * INTERVAL).append(',').append(1000 + t).append(",begin,iteration ").append(k).append('\n')
						.append(FIRST + (10 * k + 10) * INTERVAL).append(',').append(1000 + t).append(",end,\n");
			}
			regions.append(FIRST + 110 * INTERVAL).append(',').append(1000 + t).append(",end,\n");
		}
		Files.writeString(image.resolve("threads.csv"), threads);
		Files.writeString(image.resolve("regions.csv"), regions);
		StringBuilder structures = new StringBuilder("Id,Kind,Name,Start,End,Birth,Death,TaskId,Stack,Site,Type,Members\n");
		long at = BASE;
		int id = 0;
		for (Map.Entry<String, Integer> s : STRUCTURES.entrySet()) {
			structures.append(id++).append(",static,").append(s.getKey()).append(',').append(Long.toHexString(at)).append(',')
					.append(Long.toHexString(at += s.getValue() * PAGE)).append(',').append(FIRST).append(",-1,-1,,/home/user/app.c:").append(id)
					.append(",,\n");
		}
		Files.writeString(image.resolve("structures.csv"), structures);
		StringBuilder code = new StringBuilder("Ip,Object,Offset,Function,File,Line\n");
		for (int line = 31; line < 34; line++) {
			code.append(Long.toHexString(0x5000L + line)).append(",/home/user/app,0,work,/home/user/app.c,").append(line).append('\n');
		}
		Files.writeString(image.resolve("code.csv"), code);
		Files.writeString(image.resolve("intervals.csv"), Files.readAllLines(example.resolve("p0000/intervals.csv")).getFirst() + "\n");
		Ran.ok("import", "-o", temporary.resolve(name + ".db").toString(), trace.toString());
	}

	private static List<String> ask(String title) throws IOException {
		Matcher m = Pattern.compile("## ([^\n]*)\n[^`]*?(?:`[^`]+`[^`]*?)*```sql\n(.*?)```", Pattern.DOTALL)
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
			long[] sums = new long[THREADS];
			of.forEach(r -> sums[r.thread()] += r.accesses());
			int best = 0;
			for (int t = 0; t < THREADS; t++) {
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
				.map(e -> e.getKey() + "," + e.getValue()[0] + "," + e.getValue()[0] * PAGE + "," + e.getValue()[1]).toList();
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
		assertEquals(STRUCTURES.size(), got.size());
		for (String same : got.subList(1, got.size())) {
			String[] f = same.split(",");
			assertEquals(List.of(f[1], f[3], f[5], f[7], f[9]), List.of(f[2], f[4], f[6], f[8], f[10]), same);
		}
	}

	@Test
	void workingSet() throws IOException {
		List<String> right = by(r -> true, r -> (r.startNs() - START) / 50_000_000).entrySet().stream()
				.map(e -> e.getKey() * 50_000_000 + "," + e.getValue().stream().mapToLong(Row::page).distinct().count() * PAGE + ","
						+ threads(e.getValue())).toList();
		assertEquals(right, ask("working set"));
	}

	@Test
	void lastUse() throws IOException {
		List<String> right = by(r -> true, Row::structure).entrySet().stream()
				.map(e -> List.<Object>of(e.getValue().stream().mapToLong(Row::startNs).max().orElseThrow() - START + INTERVAL, e.getKey(),
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
				of.stream().map(r -> (r.page() * PAGE + r.offset()) / 64).distinct().count() * 64.0
						/ (of.stream().mapToLong(Row::page).distinct().count() * PAGE)));
		List<String> got = ask("full are the cache lines");
		assertEquals(right.keySet(), got.stream().map(g -> g.split(",")[0]).collect(Collectors.toCollection(TreeSet::new)));
		for (String g : got) {
			assertEquals(right.get(g.split(",")[0]), Double.parseDouble(g.split(",")[3]), 0.0001, g);
		}
	}
}
