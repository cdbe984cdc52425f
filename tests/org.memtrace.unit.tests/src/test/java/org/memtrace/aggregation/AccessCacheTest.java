// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.storage.Stores;

/** Saved columns give the same models, are used only for what they were made from, and keep to the limit. */
class AccessCacheTest {
	private static final long ENOUGH = 1L << 30;
	private static final int PAGES = 40;
	private final Map<String, byte[]> cache = new HashMap<>();
	private int visits;

	/** A trace of random accesses; the cache of the store is {@link #cache}. */
	private TraceStore store(long seed, int records) throws Exception {
		TraceCatalogue catalogue = Stores.inMemory();
		try (TraceWriter w = catalogue.create("t")) {
			return counting(catalogue.open(write(w, seed, records).id()));
		}
	}

	private static TraceInfo write(TraceWriter w, long seed, int records) throws Exception {
		Random random = new Random(seed);
		ProducerTreeBuilder tree = new ProducerTreeBuilder(4096);
		tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
		for (int p = 0; p < PAGES; p++) {
			tree.leaf(ProducerKind.PAGE, null, 4096L * (p + 1), 4096L * (p + 2), -1);
		}
		tree.end();
		AccessBatch batch = new AccessBatch(records);
		for (int i = 0; i < records; i++) {
			long start = 1000 + i / 3 * 1_000_003L;
			batch.add(start, start + 1 + random.nextInt(3) * 700L, 1 + random.nextInt(PAGES), random.nextInt(4) - 1,
					random.nextInt(4) - 1, random.nextInt(3), 1 + random.nextInt(90_000), 1 + random.nextInt(3),
					random.nextInt(3) - 1, 0, 0);
		}
		BitSet both = new BitSet();
		both.set(0, 2);
		w.threads(List.of(new ThreadInfo(0, 0, 100, "a", 0, 9, "", true), new ThreadInfo(1, 0, 101, "b", 0, 9, "", false),
				new ThreadInfo(2, 0, 102, "c", 0, 9, "", false)));
		w.structures(List.of());
		w.cpuSets(List.of(both, BitSet.valueOf(new long[] {4}), BitSet.valueOf(new long[] {1L << 40})));
		w.producers(tree.build());
		w.accesses(batch);
		w.intervals(List.of());
		return w.commit(new TraceInfo(-1, "t", "t", TraceInfo.TYPE_MEMTRACE, "t", "h", "Linux", 2, records,
				PAGES + 1, 1000, 1000 + records * 1_000_003L, Instant.EPOCH, 4096, "", Map.of("seed", "" + seed)), "{}",
				Progress.NONE);
	}

	private TraceStore counting(TraceStore store) {
		return (TraceStore) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {TraceStore.class},
				(proxy, method, arguments) -> {
					switch (method.getName()) {
					case "readCache":
						return java.util.Optional.ofNullable(cache.get(arguments[0])).map(byte[]::clone);
					case "writeCache":
						cache.put((String) arguments[0], ((byte[]) arguments[1]).clone());
						return null;
					case "visitAccesses":
						visits++;
						break;
					default:
						break;
					}
					try {
						return method.invoke(store, arguments);
					} catch (InvocationTargetException e) {
						throw e.getCause();
					}
				});
	}

	private AccessTable load(TraceStore store) throws Exception {
		return AccessTable.load(store, ENOUGH, 1, Progress.NONE);
	}

	private long size() {
		return cache.values().stream().mapToLong(b -> b.length).sum();
	}

	private static void assertSame(AccessTable expected, AccessTable actual) throws Exception {
		assertEquals(expected.size(), actual.size());
		for (Viewpoint v : Viewpoint.values()) {
			if (v != Viewpoint.TYPE) {
				MicroscopicModel a = expected.model(expected.wholeRequest().withViewpoint(v), Progress.NONE);
				MicroscopicModel b = actual.model(expected.wholeRequest().withViewpoint(v), Progress.NONE);
				assertEquals(a.types(), b.types());
				for (int leaf = 0; leaf < a.hierarchy().leafCount(); leaf++) {
					for (int t = 0; t < a.sliceCount(); t++) {
						assertTrue(Arrays.equals(a.sums(leaf, leaf + 1, t, t + 1), b.sums(leaf, leaf + 1, t, t + 1)), v + " " + leaf);
					}
				}
			}
		}
		assertEquals(expected.details(0).toString().replaceAll("\\[[DI]@\\w+", ""),
				actual.details(0).toString().replaceAll("\\[[DI]@\\w+", ""));
	}

	@Test
	void theSecondTimeTheEventsAreNotRead() throws Exception {
		TraceStore store = store(1, 5000);
		AccessTable first = load(store);
		assertEquals(1, visits);
		AccessTable second = load(store);
		assertEquals(1, visits, "from the cache");
		assertSame(first, second);
		assertTrue(size() < 18L * first.size(), size() + " bytes for " + first.size());
	}

	@Test
	void anotherTraceDoesNotGetThem() throws Exception {
		load(store(1, 5000));
		for (TraceStore other : List.of(store(2, 5000), store(1, 4999))) {
			visits = 0;
			AccessTable loaded = load(other);
			assertEquals(1, visits, "the cache was made from another trace");
			assertSame(AccessTable.load(other, 0, 1, Progress.NONE), loaded);
			visits = 0;
			assertSame(loaded, load(other));
		}
	}

	@Test
	void whatIsDamagedIsNotUsed() throws Exception {
		TraceStore store = store(3, 3000);
		AccessTable good = load(store);
		Map<String, byte[]> saved = new HashMap<>(cache);
		for (String key : saved.keySet()) {
			for (int damage = 0; damage < 3; damage++) {
				cache.clear();
				saved.forEach((k, v) -> cache.put(k, v.clone()));
				byte[] bytes = cache.get(key);
				switch (damage) {
				case 0 -> cache.remove(key);
				case 1 -> bytes[bytes.length / 2] ^= 4;
				default -> cache.put(key, Arrays.copyOf(bytes, bytes.length - 1));
				}
				visits = 0;
				assertSame(good, load(store));
				assertEquals(1, visits, key + ", damage " + damage);
			}
		}
	}

	@Test
	void theLimitIsKept() throws Exception {
		TraceStore store = store(4, 5000);
		AccessTable.load(store, 10_000, 1, Progress.NONE);
		assertEquals(0, size());
		AccessTable.load(store, ENOUGH, 5001, Progress.NONE);
		assertEquals(0, size(), "not worth it");
		load(store);
		long full = size();
		assertTrue(full > 10_000);
		visits = 0;
		AccessTable.load(store, full, 1, Progress.NONE);
		assertEquals(0, visits);
		AccessTable.load(store, 10_000, 1, Progress.NONE);
		assertEquals(1, visits);
		assertEquals(0, size(), "a lower limit makes room");
		assertEquals(3L << 20, AccessCache.limit("3M"));
		assertEquals(0, AccessCache.limit("0"));
		assertEquals(AccessCache.DEFAULT_LIMIT_BYTES, AccessCache.limit("much"));
		assertEquals(Long.MAX_VALUE, AccessCache.limit("999999999999999G"));
	}

	@Test
	void cancelledSavingLeavesNothingThatCounts() throws Exception {
		TraceStore store = store(5, 3000);
		Progress impatient = new Progress() {
			private boolean saving;

			@Override
			public void begin(String step, long total) {
				saving = step.startsWith("Saving");
			}

			@Override
			public void worked(long units) {
			}

			@Override
			public boolean isCancelled() {
				return saving && cache.size() >= 2;
			}
		};
		assertThrows(CancelledException.class, () -> AccessTable.load(store, ENOUGH, 1, impatient));
		visits = 0;
		load(store);
		assertEquals(1, visits);
	}
}
