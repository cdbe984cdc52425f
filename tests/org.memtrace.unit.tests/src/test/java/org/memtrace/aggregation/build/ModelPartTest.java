// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.build;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessMask;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.RandomTrace;
import org.memtrace.aggregation.Rechunked;
import org.memtrace.aggregation.base.SavedNumbers;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.time.Slicing;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.Stores;

/** Parts of a model, however a trace is divided and in whatever order they come, make the model of the whole, bit by bit. */
class ModelPartTest {
	private static final long SEED = 20261126;
	private static final List<String> QUESTION = List.of("--view=sharing", "--slices=7");

	private static TraceStore trace(Random random, int mostPages, int rows) throws MemtraceException {
		TraceCatalogue catalogue = Stores.inMemory();
		try (TraceWriter writer = catalogue.create("random")) {
			RandomTrace.write(writer, random, mostPages, rows);
		}
		return catalogue.open(catalogue.list().get(0).id());
	}

	/** All that a model is, exactly. */
	static String text(MicroscopicModel m) {
		StringBuilder b = new StringBuilder(m.types() + " " + m.metric() + " " + m.viewpoint().id() + " " + m.isGrouped() + "\n");
		for (int i = 0; i <= m.sliceCount(); i++) {
			b.append(m.slices().boundNs(i)).append(' ');
		}
		for (int leaf = 0; leaf < m.hierarchy().leafCount(); leaf++) {
			b.append('\n').append(m.hierarchy().producer(m.hierarchy().leafNode(leaf))).append(m.hierarchy().startsGroup(leaf) ? ":" : "|");
			for (int c = m.cellFrom(leaf); c < m.cellTo(leaf); c++) {
				b.append(' ').append(m.key(c)).append('=').append(Long.toHexString(Double.doubleToRawLongBits(m.value(c))));
				if (m.isGrouped()) {
					b.append('/').append(Long.toHexString(Double.doubleToRawLongBits(m.information(c, 1))));
				}
			}
		}
		return b.append(Arrays.toString(m.totals())).append(m.densities()).toString();
	}

	/** Parts of any sizes: parts of halves, thirds and so on that follow each other, and empty ones. */
	private static List<ModelPart> divided(AccessTable table, ModelRequest request, int mostSingle, Random random) throws MemtraceException {
		List<ModelPart> parts = new ArrayList<>();
		int halves = 1 << random.nextInt(3);
		for (int h = 0; h < halves; h++) {
			int more = List.of(1, 1, 2, 4, 64).get(random.nextInt(5));
			for (int k = 0; k < more; k++) {
				ModelPart part = ModelPart.of(table, request, mostSingle, "random.db", QUESTION, h * more + k, halves * more, Progress.NONE);
				byte[] bytes = part.bytes();
				assertTrue(ModelPart.mayBe(bytes));
				ModelPart read = ModelPart.read(bytes, h + "-" + k + ".part");
				assertTrue(Arrays.equals(bytes, read.bytes()), "what is read is what was written");
				parts.add(read);
			}
		}
		Collections.shuffle(parts, random);
		return parts;
	}

	@Test
	void anyDivisionGivesTheModelOfTheWhole() throws Exception {
		System.out.println("seed " + SEED);
		int grouped = 0;
		int empty = 0;
		int cutGroups = 0;
		int most = 0;
		for (int i = 0; i < 20; i++) {
			Random random = new Random(SEED + i);
			try (TraceStore store = trace(random, 1 + random.nextInt(i % 5 == 0 ? 2000 : 60), 1 + random.nextInt(3000))) {
				AccessTable all = AccessTable.of(store,
						new Rechunked(store.accessSource(Progress.NONE), random, List.of(1, 10, 100, 10_000).get(random.nextInt(4))));
				long start = store.info().startNs();
				long end = store.info().endNs();
				ModelRequest request = ModelRequest.firstPicture(start, end)
						.withSlicing(random.nextBoolean() ? Slicing.UNIFORM : Slicing.ADAPTIVE).withSlices(1 + random.nextInt(9))
						.withViewpoint(List.of(BasicDimensions.TYPE, BasicDimensions.THREAD, BasicDimensions.CPU, BasicDimensions.NODE)
								.get(random.nextInt(4)))
						.withMetric(List.of(Metric.ACCESSES, Metric.WRITES, Metric.EVENTS, Metric.THREADS).get(random.nextInt(4)));
				if (random.nextInt(4) == 0) {
					request = request.withWindow(start + (end - start) / 5, end - (end - start) / 4);
				}
				if (random.nextInt(4) == 0) {
					request = request.withProducer(random.nextInt(store.producers().size()));
				}
				if (random.nextInt(4) == 0) {
					request = request.withTypes(Pattern.compile("Read|1"));
				}
				AccessTable table = all;
				if (random.nextInt(3) == 0) {
					AccessMask mask = new AccessMask();
					mask.keep(BasicDimensions.THREAD, BasicDimensions.THREAD.values(all, Progress.NONE), t -> t != 1);
					table = all.filtered(mask);
				}
				int mostSingle = random.nextBoolean() ? 0 : 20;
				Hierarchy pages = new AccessModels(table).hierarchy(request.producer(), Progress.NONE);
				Hierarchy hierarchy = mostSingle == 0 ? pages : pages.grouped(store.producers(), mostSingle);
				String wanted = text(new ModelBuilder(table, request, Progress.NONE).build(hierarchy, Progress.NONE));
				for (int division = 0; division < 3; division++) {
					List<ModelPart> parts = divided(table, request, mostSingle, random);
					MicroscopicModel found = ModelParts.of(parts).model(all, request, Progress.NONE);
					assertEquals(wanted, text(found), "trace " + i);
					empty += (int) parts.stream().filter(p -> p.runFrom() == p.runTo()).count();
					most = Math.max(most, parts.size());
					grouped += found.isGrouped() ? 1 : 0;
					for (ModelPart part : parts) {
						for (int r = part.runFrom(); r < part.runTo() && found.isGrouped(); r++) {
							cutGroups += (int) part.run(r).groupStarts().stream().filter(leaf -> !hierarchy.startsGroup(leaf)).count();
						}
					}
				}
			}
		}
		assertTrue(grouped > 10 && empty > 10 && cutGroups > 10 && most >= 64, grouped + " " + empty + " " + cutGroups + " " + most);
	}

	/** A trace in some ranges. */
	private static AccessTable table(long seed, TraceStore store) throws MemtraceException {
		return AccessTable.of(store, new Rechunked(store.accessSource(Progress.NONE), new Random(seed), 10));
	}

	private static ModelPart part(AccessTable table, ModelRequest request, List<String> question, int number, int count, String name)
			throws MemtraceException {
		return ModelPart.read(ModelPart.of(table, request, true, "random.db", question, number, count, Progress.NONE).bytes(), name);
	}

	private static String refused(ModelPart... parts) {
		return assertThrows(StoreException.class, () -> ModelParts.of(List.of(parts))).getMessage();
	}

	@Test
	void whatIsMissingDoubledOrDoesNotFitIsNamed() throws Exception {
		System.out.println("seed " + SEED);
		try (TraceStore store = trace(new Random(SEED), 60, 2000); TraceStore store2 = trace(new Random(SEED + 1), 60, 2000)) {
			AccessTable table = table(SEED, store);
			ModelRequest request = new AccessModels(table).wholeRequest();
			int n = table.scan().runs(table.query(-1, request.fromNs(), request.toNs()));
			assertTrue(n >= 8, n + " ranges");
			ModelPart a = part(table, request, QUESTION, 0, 4, "a.part");
			ModelPart b = part(table, request, QUESTION, 1, 4, "b.part");
			ModelPart c = part(table, request, QUESTION, 1, 2, "c.part");
			ModelParts whole = ModelParts.of(List.of(c, a, b));
			assertEquals(text(new AccessModels(table).model(request, Progress.NONE)), text(whole.model(table, request, Progress.NONE)));
			assertEquals("random.db", whole.origin());
			assertEquals(QUESTION, whole.question());
			assertEquals("parts are missing: of the " + n + " ranges of pages of random no part has " + (n / 4 + 1) + " to " + n / 2, refused(a, c));
			assertEquals("parts are missing: of the " + n + " ranges of pages of random no part has " + (n / 2 + 1) + " to " + n, refused(a, b));
			assertTrue(refused(a).startsWith("parts are missing: "), refused(a));
			ModelPart twice = part(table, request, QUESTION, 0, 2, "d.part");
			assertEquals("d.part and a.part have the same pages: " + twice.ranges() + " and " + a.ranges(), refused(c, a, twice));
			assertTrue(refused(a, a, b, c).startsWith("a.part and a.part have the same pages"));
			List<ModelPart> single = new ArrayList<>(); // one range each: one too many or too few is the smallest mistake
			for (int k = 0; k < n; k++) {
				single.add(part(table, request, QUESTION, k, n, k + ".part"));
			}
			assertEquals("parts are missing: of the " + n + " ranges of pages of random no part has " + n,
					refused(single.subList(0, n - 1).toArray(ModelPart[]::new)));
			single.add(single.get(3));
			assertTrue(refused(single.toArray(ModelPart[]::new)).startsWith("3.part and 3.part have the same pages"));
			ModelPart other = part(table, request, List.of("--view=sharing", "--slices=8"), 1, 4, "e.part");
			assertEquals("e.part was made with --slices=8, a.part with --slices=7", refused(a, other, c));
			ModelPart sliced = part(table, request.withSlices(8), QUESTION, 1, 4, "f.part");
			assertTrue(refused(a, sliced, c).startsWith("f.part and a.part have other slices, types or pages"));
			AccessTable table2 = table(SEED, store2);
			ModelPart foreign = part(table2, new AccessModels(table2).wholeRequest(), QUESTION, 1, 4, "g.part");
			assertTrue(refused(a, foreign, c).startsWith("g.part is a part of random, a.part of another trace"), refused(a, foreign, c));
			String wrong = assertThrows(StoreException.class, () -> ModelParts.of(List.of(a, b, c)).model(table2, request, Progress.NONE))
					.getMessage();
			assertTrue(wrong.startsWith("the parts are of another trace than random"), wrong);
			assertThrows(IllegalArgumentException.class, () -> ModelPart.of(table, request, true, "random.db", QUESTION, 4, 4, Progress.NONE));
			assertThrows(IllegalArgumentException.class, () -> ModelPart.of(table, request, true, "random.db", QUESTION, -1, 4, Progress.NONE));
		}
	}

	@Test
	void everyFlippedBitAndEveryCutIsNoticed() throws Exception {
		System.out.println("seed " + SEED);
		Random random = new Random(SEED);
		try (TraceStore store = trace(random, 30, 300)) {
			AccessTable table = table(SEED, store);
			byte[] bytes = ModelPart.of(table, new AccessModels(table).wholeRequest(), 20, "random.db", QUESTION, 0, 1, Progress.NONE).bytes();
			for (int i = 0; i < 2000; i++) {
				byte[] wrong = bytes.clone();
				int at = i < bytes.length ? i : random.nextInt(bytes.length);
				wrong[at] ^= (byte) (1 << random.nextInt(8));
				assertTrue(assertThrows(StoreException.class, () -> ModelPart.read(wrong, "x.part")).getMessage().startsWith("x.part is "));
				byte[] cut = Arrays.copyOf(bytes, random.nextInt(bytes.length));
				assertTrue(assertThrows(StoreException.class, () -> ModelPart.read(cut, "x.part")).getMessage().startsWith("x.part is "));
			}
			SavedNumbers.Out another = new SavedNumbers.Out("part of a model, version 2");
			assertTrue(assertThrows(StoreException.class, () -> ModelPart.read(another.seal(), "x.part")).getMessage().contains("version"));
			assertTrue(assertThrows(StoreException.class, () -> ModelPart.read("SQLite format 3\0".getBytes(), "x.part")).getMessage()
					.startsWith("x.part is no part of a model"));
			assertFalse(ModelPart.mayBe(new byte[] {'M', 'T'}));
			assertFalse(ModelPart.mayBe("SQLite format 3".getBytes(java.nio.charset.StandardCharsets.UTF_8)));
		}
	}

	@Test
	void aDamagedChunkIsLostOnceAndToldByItsPart() throws Exception {
		System.out.println("seed " + SEED);
		Random random = new Random(SEED);
		try (TraceStore store = trace(random, 60, 2000)) {
			Rechunked source = new Rechunked(store.accessSource(Progress.NONE), random, 100);
			source.damaged = source.chunks() / 3;
			AccessTable table = AccessTable.of(store, source);
			ModelRequest request = new AccessModels(table).wholeRequest();
			MicroscopicModel wanted = new AccessModels(table).model(request, Progress.NONE);
			List<ModelPart> parts = new ArrayList<>();
			for (int k = 0; k < 5; k++) {
				parts.add(ModelPart.read(ModelPart.of(table, request, false, "random.db", QUESTION, k, 5, Progress.NONE).bytes(), k + ".part"));
			}
			ModelParts all = ModelParts.of(parts);
			assertEquals(text(wanted), text(all.model(table, request, Progress.NONE)));
			assertEquals(1, parts.stream().filter(p -> !p.losses().isNone()).count());
			assertEquals(table.lost(), all.losses());
		}
	}
}
