// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.base.SavedNumbers;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.build.Preparation;
import org.memtrace.aggregation.time.AccessTimes;
import org.memtrace.aggregation.time.TimeDensity;
import org.memtrace.aggregation.time.TimeSlices;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.statistics.AccessGroups;
import org.memtrace.analysis.statistics.Statistics;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.columns.ChunkInfo;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.Stores;

/** What is saved with a trace answers as all of its accesses do; what is damaged is told, and answers nothing. */
public class SavedSumsTest {
	private static final long SEED = 1122334455L;
	@TempDir
	Path directory;

	/** Accesses that must not be read: the trace could be of any size. */
	public static final class Unreadable implements AccessSource {
		private final AccessSource source;

		public Unreadable(AccessSource source) {
			this.source = source;
		}

		@Override
		public int chunks() {
			throw new AssertionError("the chunks are looked at");
		}

		@Override
		public ChunkInfo info(int chunk) {
			throw new AssertionError("a chunk is looked at");
		}

		@Override
		public long rows() {
			return source.rows();
		}

		@Override
		public void read(int chunk, Set<AccessColumn> wanted, AccessChunk into) {
			throw new AssertionError("a chunk is read");
		}
	}

	private TraceStore trace(Random random, int number, int rows) throws MemtraceException {
		Path file = directory.resolve(number + ".db");
		try (TraceWriter writer = Stores.createFile(file, notice -> {
		})) {
			RandomTrace.write(writer, random, 40, rows);
		}
		return Stores.openFile(file);
	}

	/** All answers that can come from sums, and where they came from. */
	private static final class Answers {
		final List<String> texts = new ArrayList<>();
		int ofSums;

		Answers(AccessTable table, Random random) throws MemtraceException {
			TraceStore store = table.store();
			long start = store.info().startNs();
			long end = store.info().endNs();
			List<AccessQuery> queries = new ArrayList<>(List.of(AccessQuery.ALL, new AccessQuery(start, end, 0, store.producers().size())));
			for (int i = 0; i < 4; i++) {
				long from = start + random.nextLong(end - start);
				long to = from + 1 + random.nextLong(end - from);
				int producer = random.nextInt(store.producers().size());
				AccessQuery window = new AccessQuery(from, to, 0, store.producers().size());
				queries.add(i < 2 ? window : i < 3 ? AccessQuery.ALL.subtree(store.producers(), producer)
						: window.subtree(store.producers(), producer));
			}
			List<Dimension> all = Dimensions.of(Use.GROUP);
			for (AccessQuery query : queries) {
				for (boolean inProportion : new boolean[] {false, true}) {
					ofSums += table.rows(query, inProportion, true, Progress.NONE) != null ? 1 : 0;
				}
				for (Dimension by : Statistics.keysOfAccesses()) {
					for (Statistics.Sum sum : Statistics.sumsOfAccesses()) {
						int producer = query.producerTo() - query.producerFrom() >= store.producers().size() ? -1 : query.producerFrom();
						texts.add(query + " " + sum + " " + by + Statistics.of(table, sum, by, Math.max(start, query.fromNs()),
								Math.min(end, query.toNs()), producer, Progress.NONE));
					}
				}
				for (Dimension first : all) {
					texts.add(groups(table, query, List.of(first), random));
				}
				for (int i = 0; i < 4; i++) {
					Dimension first = all.get(random.nextInt(all.size()));
					Dimension second = all.get(random.nextInt(all.size()));
					texts.add(groups(table, query, first == second ? List.of(first) : List.of(first, second), random));
				}
			}
			texts.add(table.maxNode(Progress.NONE) + " " + table.maxSharing(Progress.NONE) + " " + table.records() + " "
					+ table.intervals(Progress.NONE) + " " + new AccessModels(table).hierarchy(-1, Progress.NONE).size());
			AccessTimes times = table.times(TimeDensity.GRID, Progress.NONE);
			for (int t = 0; times != null && t < times.count(); t++) {
				texts.add(times.startNs(t) + " " + times.endNs(t));
			}
			FirstTouches touches = table.firstTouches(Progress.NONE);
			for (int i = 0; i < touches.count(); i++) {
				texts.add(touches.producer(i) + " " + touches.startNs(i) + " " + touches.atNs(i) + " " + touches.isKnown(i) + " "
						+ touches.endNs(i) + " " + touches.thread(i));
			}
			for (int slices : new int[] {1, 7, 50}) {
				TimeSlices cut = table.timeDensity(Progress.NONE).slices(start, end, slices);
				for (int s = 0; s <= slices; s++) {
					texts.add("slice " + cut.boundNs(s));
				}
			}
		}

		private static String groups(AccessTable table, AccessQuery query, List<Dimension> keys, Random random) throws MemtraceException {
			long length = table.info().endNs() - table.info().startNs();
			long windowNs = random.nextBoolean() ? length + 1 : 1 + length / (1 + random.nextInt(20));
			return keys + " " + query + " " + windowNs + AccessGroups.of(table, AccessFilter.of(query), keys, windowNs, Progress.NONE);
		}
	}

	@Test
	void answersAreThoseOfTheAccesses() throws Exception {
		System.out.println("seed " + SEED);
		int ofSums = 0;
		int all = 0;
		for (int i = 0; i < 14; i++) {
			Random random = new Random(SEED + i);
			try (TraceStore store = trace(random, i, i % 10 == 9 ? 1 : 1 + random.nextInt(2000))) {
				AccessTable plain = AccessTable.of(store, store.accessSource(Progress.NONE));
				Answers wanted = new Answers(plain, new Random(SEED - i));
				assertEquals(0, wanted.ofSums);
				assertTrue(Preparation.save(AccessTable.load(store, Progress.NONE), List.of(),
						i % 3 == 0 ? 40 : AccessCube.MOST_CELLS, 8, Progress.NONE));
				Answers found = new Answers(AccessTable.load(store, Progress.NONE), new Random(SEED - i));
				assertEquals(wanted.texts, found.texts, "trace " + i);
				ofSums += found.ofSums;
				all += 12;
			}
		}
		System.out.println(ofSums + " of " + all + " queries by sums");
		assertTrue(ofSums > all / 4, ofSums + " of " + all);
	}

	@Test
	void sumsAndSlicesOfTheWholeReadNoAccess() throws Exception {
		System.out.println("seed " + SEED);
		try (TraceStore store = trace(new Random(SEED), 0, 2000)) {
			assertTrue(Preparation.save(store, Progress.NONE));
			AccessTable table = AccessTable.ofSaved(store, new Unreadable(store.accessSource(Progress.NONE)));
			for (Dimension by : List.of(Statistics.structures(), BasicDimensions.THREAD, BasicDimensions.TYPE, BasicDimensions.READ_WRITE,
					Dimensions.find("site", Use.GROUP), Dimensions.find("size_class", Use.GROUP))) {
				assertFalse(Statistics.of(table, Statistics.Sum.ACCESSES, by, store.info().startNs(), store.info().endNs(), -1,
						Progress.NONE).isEmpty());
			}
			for (String keys : List.of("structure", "thread", "type", "rw", "site", "size_class", "structure,thread,type")) {
				List<Dimension> by = Arrays.stream(keys.split(",")).map(k -> Dimensions.find(k, Use.GROUP)).toList();
				assertFalse(AccessGroups.of(table, AccessFilter.of(AccessQuery.ALL), by, 0, Progress.NONE).isEmpty(), keys);
			}
			assertNotNull(table.timeDensity(Progress.NONE).slices(store.info().startNs(), store.info().endNs(), 10));
			assertNotNull(new AccessModels(table).hierarchy(-1, Progress.NONE));
			assertTrue(table.firstTouches(Progress.NONE).count() > 0);
			assertTrue(table.maxSharing(Progress.NONE) > 0);
		}
	}

	@Test
	void timesArePutTogetherUntilTheCellsFit() throws Exception {
		System.out.println("seed " + SEED);
		try (TraceStore store = trace(new Random(SEED + 4), 0, 3000)) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			AccessTimes times = table.times(TimeDensity.GRID, Progress.NONE);
			AccessCube fine = cube(table, times, AccessCube.MOST_CELLS);
			int most = fine.size();
			for (int cells = most; cells > 0; cells /= 2) {
				AccessCube cube = cube(table, times, cells);
				if (cube == null) {
					assertTrue(fine.totals().size() > cells);
					return;
				}
				assertTrue(cube.size() <= cells);
				assertArrayEquals(columns(fine.totals()), columns(cube.totals()));
			}
		}
	}

	/** Of each range of pages the sums are known and right, or not known. */
	@Test
	void sumsOfARangeHaveNoPageTooMany() throws Exception {
		try (TraceStore store = trace(new Random(SEED + 5), 0, 3000)) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			AccessCube cube = cube(table, table.times(TimeDensity.GRID, Progress.NONE), AccessCube.MOST_CELLS);
			long[] reads = new long[table.producers().size() + 1];
			table.scan().run(AccessQuery.ALL, AccessCube.COLUMNS, "", Progress.NONE, (from, to) -> (chunk, leafFrom, leafTo) -> {
				synchronized (reads) {
					for (int l = leafFrom; l < leafTo; l++) {
						for (int r = chunk.leafFrom[l]; r < chunk.leafFrom[l + 1]; r++) {
							reads[chunk.leaf[l]] += chunk.reads[r];
						}
					}
				}
			});
			int known = 0;
			for (int to = 1; to <= table.producers().size(); to++) {
				AccessCube.Rows rows = cube.rows(new AccessQuery(Long.MIN_VALUE, Long.MAX_VALUE, 0, to), true);
				if (rows != null) {
					known++;
					long sum = Arrays.stream(rows.chunk().reads, 0, rows.chunk().rows).sum();
					assertEquals(Arrays.stream(reads, 0, to).sum(), sum, "seed " + SEED + ", to " + to);
				}
			}
			assertTrue(known > 1 && known < table.producers().size(), "known " + known);
		}
	}

	private static long[] columns(AccessCube cube) {
		AccessCube.Rows rows = cube.rows(AccessQuery.ALL, true);
		AccessChunk c = rows.chunk();
		List<Long> all = new ArrayList<>();
		for (int l = 0; l < c.leaves; l++) {
			for (int r = c.leafFrom[l]; r < c.leafFrom[l + 1]; r++) {
				all.addAll(List.of((long) c.leaf[l], (long) c.thread[r], (long) c.sharing[r], c.reads[r], c.writes[r], rows.records().all()[r]));
			}
		}
		return all.stream().mapToLong(v -> v).toArray();
	}

	private static AccessCube cube(AccessTable table, AccessTimes times, int most) throws MemtraceException {
		AccessCube.Builder builder = new AccessCube.Builder(table.producers(), table.threads().size(), times, table.info().startNs(),
				table.info().endNs(), most);
		table.scan().run(AccessQuery.ALL, AccessCube.COLUMNS, "", Progress.NONE, (from, to) -> builder.part());
		return builder.build();
	}

	@Test
	void damageIsToldAndMendedAndNeverAnswers() throws Exception {
		System.out.println("seed " + SEED);
		Random random = new Random(SEED);
		Path file = directory.resolve("0.db");
		trace(random, 0, 200).close();
		List<String> wanted;
		byte[][] good = new byte[4][];
		String[] names = {SavedSums.FACTS, SavedSums.TOTALS, SavedSums.CUBE, SavedSums.TOUCHES};
		try (TraceStore store = Stores.openFile(file)) {
			wanted = new Answers(AccessTable.of(store, store.accessSource(Progress.NONE)), new Random(1)).texts;
			assertTrue(Preparation.save(store, Progress.NONE));
			for (int i = 0; i < names.length; i++) {
				good[i] = store.readCache("pre-aggregates/" + names[i]).orElseThrow();
			}
		}
		for (int i = 0; i < 16; i++) {
			int section = i % names.length;
			byte[] bad = good[section].clone();
			if (i % 3 == 0) {
				bad = Arrays.copyOf(bad, random.nextInt(bad.length));
			} else {
				bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
			}
			try (TraceStore store = Stores.openFile(file)) {
				store.writeCache("pre-aggregates/" + names[section], bad);
				List<String> told = new ArrayList<>();
				AccessTable table = AccessTable.load(store, Progress.NONE).telling(told::add);
				assertEquals(wanted, new Answers(table, new Random(1)).texts, "byte flip " + i);
				boolean otherFormat = bad.length > 4 && bad[4] != good[section][4];
				assertTrue(told.size() == 1 || otherFormat && told.size() <= 1, i + ": " + told);
				if (told.size() == 1) {
					assertTrue(told.get(0).contains(names[section]) && told.get(0).contains("damaged"), told.get(0));
					assertArrayEquals(good[section], store.readCache("pre-aggregates/" + names[section]).orElseThrow(), "made again");
				} else {
					store.writeCache("pre-aggregates/" + names[section], good[section]);
				}
			}
		}
	}

	@Test
	void verifyFindsDamageAndSumsOfOtherAccesses() throws Exception {
		Path file = directory.resolve("0.db");
		trace(new Random(SEED), 0, 300).close();
		try (TraceStore store = Stores.openFile(file)) {
			List<String> problems = new ArrayList<>();
			Preparation.verify(store, List.of(), problems::add);
			assertTrue(Preparation.save(store, Progress.NONE));
			Preparation.verify(store, List.of(), problems::add);
			assertEquals(List.of(), problems);
			byte[] totals = store.readCache("pre-aggregates/totals").orElseThrow();
			totals[totals.length - 1] ^= 1;
			store.writeCache("pre-aggregates/totals", totals);
			Preparation.verify(store, List.of(), problems::add);
			assertEquals(1, problems.size(), problems.toString());
			problems.clear();
			SavedNumbers.Out out = new SavedNumbers.Out(store.contentStamp());
			try (TraceStore other = trace(new Random(SEED + 1), 1, 400)) {
				cube(AccessTable.load(other, Progress.NONE), null, AccessCube.MOST_CELLS).totals().write(out);
			}
			store.writeCache("pre-aggregates/totals", out.seal());
			Preparation.verify(store, List.of(), problems::add);
			assertEquals(1, problems.size(), problems.toString());
			assertTrue(problems.get(0).contains("totals"), problems.get(0));
		}
	}

	@Test
	void whatBelongsToOtherAccessesIsNotUsed() throws Exception {
		Path file = directory.resolve("0.db");
		trace(new Random(SEED), 0, 300).close();
		try (TraceStore store = Stores.openFile(file)) {
			assertTrue(Preparation.save(store, Progress.NONE));
			assertNotNull(AccessTable.load(store, Progress.NONE).rows(AccessQuery.ALL, true, false, Progress.NONE));
		}
		try (Connection db = DriverManager.getConnection("jdbc:sqlite:" + file)) {
			db.createStatement().execute("UPDATE MT_CHUNK SET ROWS = ROWS");
		}
		try (TraceStore store = Stores.openFile(file)) {
			List<String> told = new ArrayList<>();
			assertNull(AccessTable.load(store, Progress.NONE).telling(told::add).rows(AccessQuery.ALL, true, false, Progress.NONE));
			assertEquals(List.of(), told);
		}
	}

	@Test
	void numbersComeBackAsTheyWere() throws Exception {
		Random random = new Random(SEED);
		System.out.println("seed " + SEED);
		long[] longs = {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, 127, 128, 1L << 35, random.nextLong()};
		long[] whole = {0, 1, 127, 128, 1L << 62, Long.MAX_VALUE};
		int[] ints = {0, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 1 << 20};
		double[] doubles = {0, -0.0, 1, Math.PI, Double.MIN_VALUE, Double.MAX_VALUE, random.nextDouble()};
		byte[] sealed = new SavedNumbers.Out("stamp é").deltas(longs, longs.length).unsigned(whole, whole.length).deltas(ints, ints.length)
				.doubles(doubles, doubles.length).signed(-7).text("").seal();
		assertNull(SavedNumbers.open(sealed, "another"));
		SavedNumbers.In in = SavedNumbers.open(sealed, "stamp é");
		assertArrayEquals(longs, in.deltaLongs());
		assertArrayEquals(whole, in.unsignedLongs());
		assertArrayEquals(ints, in.deltaInts());
		assertArrayEquals(doubles, in.doubles());
		assertEquals(-7, in.signed());
		assertEquals("", in.text());
		in.end();
	}
}
