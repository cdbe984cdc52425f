// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.memtrace.model.ProducerKind;
import org.memtrace.model.ProducerTree;
import org.memtrace.model.Structure;
import org.memtrace.model.StructureKind;

class MemoryTreeBuilderTest {
	private static final int SHIFT = 12;
	private static final StructureIndex NOTHING = new StructureIndex(List.of());

	private static Structure structure(int id, StructureKind kind, String name, long start, long end, int stack) {
		return new Structure(id, 0, kind, name, start, end, 0, Long.MAX_VALUE, -1, stack, stack < 0 ? "" : "main.c:" + stack);
	}

	/** Touches (page, structure) pairs. */
	private static LeafTable leaves(long[][] pairs) {
		LeafTable table = new LeafTable(SHIFT);
		for (long[] pair : pairs) {
			table.leaf(table.pageOf(pair[0] << SHIFT, NOTHING), (int) pair[1]);
		}
		return table;
	}

	private static String print(ProducerTree tree) {
		StringBuilder text = new StringBuilder();
		for (int id = 0; id < tree.size(); id++) {
			text.append("  ".repeat(tree.level(id))).append(tree.kind(id)).append(' ').append(tree.name(id)).append('\n');
		}
		return text.toString();
	}

	/** What must hold for every tree. */
	private static void check(ProducerTree tree, LeafTable table, int[] producers, int fanout) {
		Set<String> names = new HashSet<>();
		for (int id = 0; id < tree.size(); id++) {
			assertTrue(names.add(tree.name(id)), "twice: " + tree.name(id));
			assertFalse(tree.name(id).contains("="));
			int children = 0;
			long previousEnd = tree.startAddress(id);
			for (int c = tree.firstChild(id); c >= 0; c = tree.nextSibling(c)) {
				children++;
				if (tree.kind(id) != ProducerKind.ROOT && tree.kind(id) != ProducerKind.IMAGE && tree.kind(id) != ProducerKind.GROUP) {
					assertTrue(Long.compareUnsigned(tree.startAddress(c), previousEnd) >= 0, "order below " + tree.name(id));
					assertTrue(Long.compareUnsigned(tree.endAddress(c) - 1, tree.endAddress(id) - 1) <= 0);
					previousEnd = tree.endAddress(c);
				}
			}
			if (tree.kind(id) == ProducerKind.PART) {
				assertTrue(children >= 2 && children <= fanout, tree.name(id) + " has " + children + " children");
			}
			assertTrue(children <= MemoryTreeBuilder.MOST_SIBLINGS);
		}
		for (int leaf = 0; leaf < table.size(); leaf++) {
			int id = producers[leaf];
			assertTrue(tree.isLeaf(id));
			long start = table.pageIndex(leaf) << SHIFT;
			assertTrue(Long.compareUnsigned(tree.startAddress(id), start + 4095) <= 0
					&& Long.compareUnsigned(tree.endAddress(id) - 1, start) >= 0, tree.name(id));
		}
	}

	@Test
	void structuresRangesPartsAndPages() {
		List<Structure> structures = List.of(structure(0, StructureKind.HEAP, "A", 0x10010, 0x18000, -1),
				structure(1, StructureKind.STACK, "stack of main", 0x30000, 0x32000, -1),
				structure(2, StructureKind.STATIC, "tiny=", 0x10000, 0x10010, -1));
		LeafTable table = leaves(new long[][] { { 0x10, 0 }, { 0x11, 0 }, { 0x17, 0 }, { 0x10, 2 }, { 0x31, 1 }, { 0x50, -1 },
				{ 0x51, -1 }, { 0x53, -1 }, { 0xfffffffffffffL, -1 } });
		MemoryTreeBuilder builder = new MemoryTreeBuilder(SHIFT, 2, structures);
		int[] producers = builder.image(null, table, new MemoryMap());
		ProducerTree tree = builder.build();
		assertEquals("""
				ROOT MemoryRoot
				  STRUCTURE tiny:
				  STRUCTURE A
				    PART A [pages 0-1]
				      PAGE A [page 0]
				      PAGE A [page 1]
				    PAGE A [page 7]
				  STACK stack of main
				    PAGE stack of main [page 1]
				  RANGE 50000 (2 pages)
				    PAGE 50000 (2 pages) [page 0]
				    PAGE 50000 (2 pages) [page 1]
				  RANGE 53000 (1 page)
				  RANGE fffffffffffff000 (1 page)
				""", print(tree));
		check(tree, table, producers, 2);
		assertEquals("A [page 7]", tree.name(producers[2]));
		assertEquals(0x10010, tree.startAddress(producers[0]), "the part of the page that belongs to A");
		assertEquals("tiny:", tree.name(producers[3]));
		assertEquals(2, tree.structure(producers[3]));
	}

	@Test
	void fanoutAndGeometryOfTheStructure() {
		List<Structure> structures = List.of(structure(0, StructureKind.HEAP, "A", 0x100000, 0x110000, -1));
		LeafTable table = leaves(new long[][] { { 0x100, 0 }, { 0x104, 0 }, { 0x105, 0 }, { 0x10f, 0 } });
		MemoryTreeBuilder builder = new MemoryTreeBuilder(SHIFT, 4, structures);
		int[] producers = builder.image(null, table, new MemoryMap());
		ProducerTree tree = builder.build();
		assertEquals("""
				ROOT MemoryRoot
				  STRUCTURE A
				    PAGE A [page 0]
				    PART A [pages 4-7]
				      PAGE A [page 4]
				      PAGE A [page 5]
				    PAGE A [page 15]
				""", print(tree));
		check(tree, table, producers, 4);
	}

	@Test
	void sameNamesAndImages() {
		List<Structure> structures = List.of(structure(0, StructureKind.HEAP, "A", 0x20000, 0x21000, -1),
				structure(1, StructureKind.HEAP, "A", 0x10000, 0x11000, -1),
				structure(2, StructureKind.BRK, "[heap]", 0x40000, 0x41000, -1));
		MemoryTreeBuilder builder = new MemoryTreeBuilder(SHIFT, 2, structures);
		builder.image("p0000 app", leaves(new long[][] { { 0x20, 0 }, { 0x10, 1 }, { 0x40, 2 } }), new MemoryMap());
		builder.image("p0001 app", leaves(new long[][] { { 0x20, -1 } }), new MemoryMap());
		assertEquals("""
				ROOT MemoryRoot
				  IMAGE p0000 app
				    STRUCTURE A #2
				    STRUCTURE A
				    STRUCTURE heap (small blocks)
				  IMAGE p0001 app
				    RANGE 20000 (1 page)
				""", print(builder.build()));
	}

	@Test
	void memoryMapNamesAndJoinsRanges() {
		MemoryMap map = new MemoryMap();
		map.add("00010000-00018000 r-xp 00000000 08:01 123 /usr/lib/libc.so.6");
		map.add("00018000-00019000 rw-p 00000000 08:01 123 /usr/lib/libc.so.6");
		map.add("00020000-00030000 rw-p 00000000 00:00 0 ");
		map.add("garbage");
		LeafTable table = leaves(new long[][] { { 0x10, -1 }, { 0x13, -1 }, { 0x18, -1 }, { 0x19, -1 }, { 0x21, -1 } });
		MemoryTreeBuilder builder = new MemoryTreeBuilder(SHIFT, 2, List.of());
		int[] producers = builder.image(null, table, map);
		ProducerTree tree = builder.build();
		assertEquals("""
				ROOT MemoryRoot
				  RANGE libc.so.6 (code)
				    PAGE libc.so.6 (code) [page 0]
				    PAGE libc.so.6 (code) [page 3]
				  RANGE libc.so.6 (data)
				  RANGE 19000 (1 page)
				  RANGE 21000 (1 page)
				""", print(tree));
		check(tree, table, producers, 2);
	}

	@Test
	void manySmallBlocksOfOneSiteAreOneProducer() {
		List<Structure> structures = new ArrayList<>();
		List<long[]> pairs = new ArrayList<>();
		for (int i = 0; i < 5000; i++) {
			structures.add(structure(i, StructureKind.HEAP, "node", 0x100000 + i * 64L, 0x100000 + i * 64L + 48, 42));
			pairs.add(new long[] { (0x100000 + i * 64L) >> SHIFT, i });
		}
		structures.add(structure(5000, StructureKind.HEAP, "big", 0x900000, 0x902000, 7));
		pairs.add(new long[] { 0x900, 5000 });
		LeafTable table = leaves(pairs.toArray(long[][]::new));
		MemoryTreeBuilder builder = new MemoryTreeBuilder(SHIFT, 2, structures);
		int[] producers = builder.image(null, table, new MemoryMap());
		ProducerTree tree = builder.build();
		check(tree, table, producers, 2);
		assertEquals("main.c:42 (5,000 blocks)", tree.name(1));
		assertEquals(ProducerKind.GROUP, tree.kind(1));
		assertEquals(producers[0], producers[1], "blocks on one page are one leaf");
		assertTrue(tree.size() < 200, "79 pages, but " + tree.size() + " producers");
	}

	@Test
	void manyDifferentStructuresAreGroupedByAddress() {
		List<Structure> structures = new ArrayList<>();
		List<long[]> pairs = new ArrayList<>();
		for (int i = 0; i < 3000; i++) {
			structures.add(structure(i, StructureKind.HEAP, "v" + i, 0x100000 + i * 8192L, 0x100000 + i * 8192L + 4096, i));
			pairs.add(new long[] { 0x100 + i * 2L, i });
		}
		LeafTable table = leaves(pairs.toArray(long[][]::new));
		MemoryTreeBuilder builder = new MemoryTreeBuilder(SHIFT, 2, structures);
		int[] producers = builder.image(null, table, new MemoryMap());
		ProducerTree tree = builder.build();
		check(tree, table, producers, 2);
		assertEquals("100000-2f3000 (250 producers)", tree.name(1));
	}

	@Test
	void randomTreesKeepTheLaws() {
		for (long seed = 1; seed <= 30; seed++) {
			Random random = new Random(seed);
			int fanout = 2 + random.nextInt(15);
			List<Structure> structures = new ArrayList<>();
			long address = 0x10000;
			for (int i = 0; i < 20; i++) {
				address += random.nextInt(20000);
				long end = address + 1 + random.nextInt(1 << random.nextInt(22));
				structures.add(structure(i, StructureKind.values()[random.nextInt(6)], "s" + random.nextInt(12), address, end, random.nextInt(5) - 1));
				address = end;
			}
			List<long[]> pairs = new ArrayList<>();
			for (int i = 0; i < 2000; i++) {
				int s = random.nextInt(21) - 1;
				long at = s < 0 ? address + random.nextInt(1 << 20)
						: structures.get(s).startAddress() + random.nextLong(structures.get(s).sizeBytes());
				pairs.add(new long[] { at >> SHIFT, s });
			}
			LeafTable table = leaves(pairs.toArray(long[][]::new));
			MemoryTreeBuilder builder = new MemoryTreeBuilder(SHIFT, fanout, structures);
			int[] producers = builder.image(null, table, new MemoryMap());
			check(builder.build(), table, producers, fanout);
		}
	}

	@Test
	void aMillionPagesAreBuilt() {
		Structure huge = structure(0, StructureKind.MMAP, "huge", 0x100000000L, 0x100000000L + (1L << 40), -1);
		LeafTable table = new LeafTable(SHIFT);
		for (int i = 0; i < 1_000_000; i++) {
			table.leaf(table.pageOf(0x100000000L + i * 4096L * 7, NOTHING), 0);
		}
		MemoryTreeBuilder builder = new MemoryTreeBuilder(SHIFT, 2, List.of(huge));
		int[] producers = builder.image(null, table, new MemoryMap());
		ProducerTree tree = builder.build();
		assertTrue(tree.size() >= 1_999_999 && tree.size() < 2_000_010, "" + tree.size());
		assertEquals("huge [page 6999993]", tree.name(producers[999_999]));
	}
}
