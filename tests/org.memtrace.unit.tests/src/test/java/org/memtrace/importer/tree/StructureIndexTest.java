// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.importer.rows.RowBatch;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;

class StructureIndexTest {
	private static final long TOP = 0xffff_ffff_ff60_0000L;

	private static Structure structure(int id, StructureKind kind, long start, long end, long birth, long death) {
		return new Structure(id, 0, kind, "s" + id, start, end, birth, death, -1, -1, "");
	}

	private static int resolve(List<Structure> structures, long address, long start, long end) {
		long page = address & ~0xfffL;
		return StructureIndex.resolve(new StructureIndex(structures).page(page, page + 0x1000), address, start, end);
	}

	@Test
	void classThenSizeThenBirthThenId() {
		List<Structure> s = List.of(structure(0, StructureKind.BRK, 0x1000, 0x9000, 0, 100),
				structure(1, StructureKind.MMAP, 0x1000, 0x2000, 0, 100),
				structure(2, StructureKind.HEAP, 0x1000, 0x4000, 0, 100),
				structure(3, StructureKind.STATIC, 0x1800, 0x1900, 0, 100),
				structure(4, StructureKind.STATIC, 0x1800, 0x1900, 0, 100));
		assertEquals(2, resolve(s, 0x1000, 10, 20));
		assertEquals(3, resolve(s, 0x1800, 10, 20));
		assertEquals(2, resolve(s, 0x1900, 10, 20));
		assertEquals(0, resolve(s, 0x4000, 10, 20));
		assertEquals(StructureIndex.NONE, resolve(s, 0x9000, 10, 20));
		assertEquals(StructureIndex.NONE, resolve(s, 0x1000, 100, 120), "dead at 100");
	}

	@Test
	void aReusedAddressIsAnotherStructure() {
		List<Structure> s = List.of(structure(0, StructureKind.HEAP, 0x1000, 0x2000, 0, 50),
				structure(1, StructureKind.HEAP, 0x1000, 0x2000, 53, 100));
		StructureIndex.Page page = new StructureIndex(s).page(0x1000, 0x2000);
		assertEquals(0, StructureIndex.resolve(page, 0x1000, 10, 20));
		assertEquals(0, StructureIndex.resolve(page, 0x1000, 40, 60), "50 - 40 is longer than 60 - 53");
		assertEquals(1, StructureIndex.resolve(page, 0x1000, 45, 65));
		assertEquals(1, StructureIndex.resolve(page, 0x1fff, 60, 70));
		assertEquals(0, StructureIndex.resolve(page, 0x1fff, 10, 20), "back in time");
	}

	@Test
	void atAKnownTimeTheBlockThatLivedThen() {
		List<Structure> s = List.of(structure(0, StructureKind.HEAP, 0x1000, 0x2000, 0, 40),
				structure(1, StructureKind.HEAP, 0x1000, 0x2000, 45, 60), structure(2, StructureKind.BRK, 0x1000, 0x9000, 0, 100));
		StructureIndex.Page page = new StructureIndex(s).page(0x1000, 0x2000);
		assertEquals(0, StructureIndex.resolve(page, 0x1000, 0, 100), "lives longest");
		assertEquals(0, StructureIndex.resolve(page, 0x1000, 0, 100, 39));
		assertEquals(1, StructureIndex.resolve(page, 0x1000, 0, 100, 45));
		assertEquals(1, StructureIndex.resolve(page, 0x1000, 0, 100, 59));
		assertEquals(1, StructureIndex.resolve(page, 0x1000, 0, 100, 42), "calloc writes before the birth is noted");
		assertEquals(2, StructureIndex.resolve(page, 0x1000, 0, 100, 60), "freed: the allocator's own data, or small blocks");
		assertEquals(2, StructureIndex.resolve(page, 0x1000, 70, 100, 80));
	}

	@Test
	void livesThatNeverMeetAreGroups() {
		List<Structure> s = List.of(structure(0, StructureKind.HEAP, 0x1000, 0x2000, 0, 10),
				structure(1, StructureKind.HEAP, 0x1000, 0x2000, 10, 30), structure(2, StructureKind.HEAP, 0x1800, 0x1900, 29, 80),
				structure(3, StructureKind.BRK, 0x1000, 0x9000, 0, 100), structure(4, StructureKind.HEAP, 0x1000, 0x1800, 90, 99));
		StructureIndex.Page page = new StructureIndex(s).page(0x1000, 0x2000);
		assertEquals(0, page.group(1), "the longest, 10 to 80");
		assertEquals(0, page.group(2));
		assertEquals(1, page.group(0));
		assertEquals(2, page.group(4));
		assertEquals(0, page.group(3), "no block");
		assertEquals(0, page.group(77), "not there");
	}

	@Test
	void aStackIsThereBeforeAndAfterItsThread() {
		List<Structure> s = List.of(structure(0, StructureKind.STACK, 0x1000, 0x3000, 100, 200),
				structure(1, StructureKind.STACK, 0x1000, 0x3000, 300, 400), structure(2, StructureKind.BRK, 0x2000, 0x3000, 0, 250));
		assertEquals(0, resolve(s, 0x1000, 10, 100));
		assertEquals(0, resolve(s, 0x1000, 200, 240));
		assertEquals(1, resolve(s, 0x1000, 260, 290));
		assertEquals(1, resolve(s, 0x1000, 500, 600));
		assertEquals(2, resolve(s, 0x2000, 10, 100), "living structures first");
		assertEquals(StructureIndex.NONE, resolve(s, 0x3000, 10, 100));
	}

	@Test
	void addressesAreUnsigned() {
		List<Structure> s = List.of(structure(0, StructureKind.FILE, TOP, TOP + 0x1000, 0, 100),
				structure(1, StructureKind.STATIC, 0x1000, 0x2000, 0, 100));
		assertEquals(0, resolve(s, TOP + 8, 1, 2));
		assertEquals(1, resolve(s, 0x1008, 1, 2));
	}

	@Test
	void randomStructuresAgreeWithAScan() {
		for (long seed = 1; seed <= 40; seed++) {
			Random random = new Random(seed);
			List<Structure> all = new ArrayList<>();
			for (int i = 0; i < (seed % 4 == 0 ? 3000 : 60); i++) { // few and many at a page
				long start = 0x10000 + random.nextInt(0x8000);
				long birth = random.nextInt(100);
				all.add(structure(i, StructureKind.values()[random.nextInt(6)], start,
						start + 1 + random.nextInt(random.nextBoolean() ? 0x4000 : 64), birth, birth + 1 + random.nextInt(60)));
			}
			StructureIndex index = new StructureIndex(all);
			StructureIndex.Page[] pages = new StructureIndex.Page[16];
			for (int p = 0; p < pages.length; p++) {
				pages[p] = index.page(0x10000 + p * 0x1000L, 0x11000 + p * 0x1000L);
			}
			long time = 0;
			for (int i = 0; i < 400; i++) {
				time = random.nextInt(30) == 0 ? random.nextInt(160) : time + random.nextInt(2);
				long start = time;
				long end = time + 1 + random.nextInt(20);
				int p = random.nextInt(16);
				long address = 0x10000 + p * 0x1000L + random.nextInt(0x1000);
				int expected = all.stream()
						.filter(s -> s.startAddress() <= address && address < s.endAddress() && s.birthNs() < end
								&& s.deathNs() > start)
						.min(Comparator.comparingInt((Structure s) -> s.kind().ordinal() < 2 || s.kind() == StructureKind.STACK ? 0
						: s.kind() == StructureKind.MMAP ? 1 : 2)
								.thenComparingLong(s -> -(Math.min(end, s.deathNs()) - Math.max(start, s.birthNs())))
								.thenComparingLong(Structure::sizeBytes).thenComparingLong(s -> -s.birthNs())
								.thenComparingInt(Structure::id))
						.or(() -> all.stream().filter(s -> s.kind() == StructureKind.STACK && s.startAddress() <= address && address < s.endAddress())
								.min(Comparator.comparingLong((Structure s) -> Math.max(s.birthNs() - end, start - s.deathNs()))
										.thenComparingInt(Structure::id)))
						.map(Structure::id).orElse(StructureIndex.NONE);
				assertEquals(expected, StructureIndex.resolve(pages[p], address, start, end), "seed " + seed + ", query " + i);
			}
		}
	}

	/** Where many structures are at a page: also with a known time of the first access, and their groups of lives. */
	@Test
	void manyStructuresAgreeWithAScan() {
		for (long seed = 1; seed <= 8; seed++) {
			Random random = new Random(seed);
			List<Structure> all = new ArrayList<>();
			boolean same = seed % 2 == 0;
			for (int i = 0; i < 500; i++) {
				long start = same ? 0x10000 : 0x10000 + random.nextInt(0x3000);
				long end = same ? 0x11000 : start + 1 + random.nextInt(0x1000);
				long birth = random.nextInt(seed % 3 == 0 ? 2 : 2000);
				all.add(structure(i, StructureKind.values()[random.nextInt(6)], start, end, birth,
						birth + 1 + (seed > 4 ? random.nextInt(40) : 5000)));
			}
			StructureIndex index = new StructureIndex(all);
			StructureIndex.Page page = index.page(0x10000, 0x11000);
			assertEquals(-7, page.sole(0x10000, 0x10fff, -7));
			for (int i = 0; i < 500; i++) {
				long address = 0x10000 + random.nextInt(0x1000);
				long start = random.nextInt(2100);
				long end = start + 1 + random.nextInt(random.nextBoolean() ? 3 : 300);
				long first = random.nextBoolean() ? start + random.nextInt((int) (end - start)) : RowBatch.NO_TIME;
				Structure best = null;
				for (Structure s : all) {
					if (StructureOrder.contains(s, address) && s.birthNs() < end && s.deathNs() > start
							&& (best == null || StructureOrder.better(s, best, start, end, first))) {
						best = s;
					}
				}
				if (best == null) {
					for (Structure s : all) {
						if (s.kind() == StructureKind.STACK && StructureOrder.contains(s, address)
								&& (best == null || StructureOrder.nearer(s, best, start, end))) {
							best = s;
						}
					}
				}
				assertEquals(best == null ? StructureIndex.NONE : best.id(), StructureIndex.resolve(page, address, start, end, first),
						"seed " + seed + ", query " + i);
			}
			List<Structure> blocks = all.stream().filter(s -> s.startAddress() < 0x11000 && StructureOrder.rank(s) == 0)
					.sorted(Comparator.comparingLong(Structure::birthNs)).toList();
			for (int i = 1; i < blocks.size(); i++) {
				long until = blocks.subList(0, i).stream().mapToLong(Structure::deathNs).max().getAsLong();
				boolean apart = until <= blocks.get(i).birthNs();
				assertEquals(apart, page.group(blocks.get(i).id()) != page.group(blocks.get(i - 1).id()));
			}
		}
	}

	/** 100,000 structures in one place, and as many accesses: each looked at all structures, ten thousand million times. */
	@Test
	void manyStructuresInOnePlace() {
		int n = 100_000;
		List<Structure> same = new ArrayList<>();
		List<Structure> nested = new ArrayList<>();
		List<Structure> chained = new ArrayList<>();
		for (int i = 0; i < n; i++) {
			same.add(structure(i, StructureKind.HEAP, 0x1000, 0x2000, 0, 10 * n));
			nested.add(structure(i, StructureKind.HEAP, 0x1000, 0x2000, i, 10 * n - i));
			chained.add(structure(i, StructureKind.HEAP, 0x1000, 0x2000, 10 * i, 10 * i + 15));
		}
		for (List<Structure> structures : List.of(same, nested, chained)) {
			StructureIndex index = new StructureIndex(structures);
			LeafTable leaves = new LeafTable(12);
			int page = leaves.pageOf(0x1000, index);
			for (int i = 0; i < n; i++) {
				long now = (i * 7919L) % n * 10 + 5; // out of order
				int found = leaves.structure(page, index, 0x1000, now, now + 1, now);
				long latest = Math.min(n - 1, Math.min(now, 10L * n - now - 1));
				assertEquals(structures == same ? 0 : structures == chained ? now / 10 : latest, found);
				leaves.leaf(page, i, -1, -1); // as many as there are structures
			}
			assertEquals(n, leaves.size());
		}
	}
}
