// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.memtrace.model.CallFrame;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.MemoryArea;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.PageCells;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.tree.MemoryTrees;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

class MemoryTreeBuilderTest {
	private static final int SHIFT = 12;
	private static final List<List<CallFrame>> STACKS = List.of(
			List.of(new CallFrame(1, "/usr/lib/libomp.so.5", "alloc", "", 0), new CallFrame(2, "app", "main", "main.c", 3)),
			List.of(new CallFrame(3, "", "", "", 0), new CallFrame(2, "/opt/app", "main", "main.c", 3)));

	private static Structure structure(int id, StructureKind kind, String name, long start, long end, int stack) {
		return new Structure(id, 0, kind, name, start, end, 0, Long.MAX_VALUE, -1, stack, stack < 0 ? "" : "main.c:" + stack);
	}

	/** Cells of (page, structure) pairs, or of (page, structure, image, frame, node). */
	private static PageCells cells(long[][] rows) {
		PageCells cells = PageCells.of(rows.length);
		for (int i = 0; i < rows.length; i++) {
			long[] r = rows[i];
			cells.set(i, r.length > 2 ? (int) r[2] : 0, r[0] << SHIFT, (int) r[1], r.length > 3 ? r[3] : PageCells.NO_FRAME,
					r.length > 4 ? (int) r[4] : -1);
		}
		return cells;
	}

	private static MemoryTrees build(PageCells cells, List<Structure> structures, int fanout, String... rules) throws MemtraceException {
		return build(cells, structures, fanout, Map.of(), List.of(), rules);
	}

	private static MemoryTrees build(PageCells cells, List<Structure> structures, int fanout, Map<Integer, String> images,
			List<MemoryArea> areas, String... rules) throws MemtraceException {
		return MemoryTreeBuilder.build(new MemoryLayout(cells, areas, images, 1 << SHIFT, fanout, List.of(rules)), structures,
				STACKS::get, Progress.NONE);
	}

	private static String print(ProducerTree tree) {
		StringBuilder text = new StringBuilder();
		for (int id = 0; id < tree.size(); id++) {
			text.append("  ".repeat(tree.level(id))).append(tree.kind(id)).append(' ').append(tree.name(id)).append('\n');
		}
		return text.toString();
	}

	/** What must hold for every tree. */
	private static void check(MemoryTrees trees, PageCells cells, int fanout) {
		ProducerTree tree = trees.virtual();
		int[] producers = trees.virtualLeaf();
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
		for (int leaf = 0; leaf < cells.count(); leaf++) {
			int id = producers[leaf];
			assertTrue(tree.isLeaf(id));
			long start = cells.address()[leaf];
			assertTrue(Long.compareUnsigned(tree.startAddress(id), start + 4095) <= 0
					&& Long.compareUnsigned(tree.endAddress(id) - 1, start) >= 0, tree.name(id));
		}
	}

	@Test
	void structuresRangesPartsAndPages() throws Exception {
		List<Structure> structures = List.of(structure(0, StructureKind.HEAP, "A", 0x10010, 0x18000, -1),
				structure(1, StructureKind.STACK, "stack of main", 0x30000, 0x32000, -1),
				structure(2, StructureKind.STATIC, "tiny=", 0x10000, 0x10010, -1));
		PageCells cells = cells(new long[][] { { 0x10, 0 }, { 0x11, 0 }, { 0x17, 0 }, { 0x10, 2 }, { 0x31, 1 }, { 0x50, -1 },
				{ 0x51, -1 }, { 0x53, -1 }, { 0xfffffffffffffL, -1 } });
		MemoryTrees trees = build(cells, structures, 2);
		ProducerTree tree = trees.virtual();
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
		check(trees, cells, 2);
		assertEquals("A [page 7]", tree.name(trees.virtualLeaf()[2]));
		assertEquals(0x10010, tree.startAddress(trees.virtualLeaf()[0]), "the part of the page that belongs to A");
		assertEquals("tiny:", tree.name(trees.virtualLeaf()[3]));
		assertEquals(2, tree.structure(trees.virtualLeaf()[3]));
	}

	@Test
	void fanoutAndGeometryOfTheStructure() throws Exception {
		List<Structure> structures = List.of(structure(0, StructureKind.HEAP, "A", 0x100000, 0x110000, -1));
		PageCells cells = cells(new long[][] { { 0x100, 0 }, { 0x104, 0 }, { 0x105, 0 }, { 0x10f, 0 } });
		MemoryTrees trees = build(cells, structures, 4);
		ProducerTree tree = trees.virtual();
		assertEquals("""
				ROOT MemoryRoot
				  STRUCTURE A
				    PAGE A [page 0]
				    PART A [pages 4-7]
				      PAGE A [page 4]
				      PAGE A [page 5]
				    PAGE A [page 15]
				""", print(tree));
		check(trees, cells, 4);
	}

	@Test
	void sameNamesAndImages() throws Exception {
		List<Structure> structures = List.of(structure(0, StructureKind.HEAP, "A", 0x20000, 0x21000, -1),
				structure(1, StructureKind.HEAP, "A", 0x10000, 0x11000, -1),
				structure(2, StructureKind.BRK, "[heap]", 0x40000, 0x41000, -1));
		PageCells cells = cells(new long[][] { { 0x20, 0, 0 }, { 0x10, 1, 0 }, { 0x40, 2, 0 }, { 0x20, -1, 1 } });
		ProducerTree tree = build(cells, structures, 2, Map.of(0, "p0000 app", 1, "p0001 app"), List.of()).virtual();
		assertEquals("""
				ROOT MemoryRoot
				  IMAGE p0000 app
				    GROUP A (2 blocks)
				      PAGE A (2 blocks) [page 0]
				      PAGE A (2 blocks) [page 16]
				    STRUCTURE heap (small blocks)
				  IMAGE p0001 app
				    RANGE 20000 (1 page)
				""", print(tree));
	}

	@Test
	void partsOfTheHeapHaveTheNameOfTheirPlace() throws Exception {
		List<Structure> structures = List.of(structure(0, StructureKind.BRK, "[heap]", 0x40000, 0x50000, -1),
				part(1, "u (rows of 2 KiB)", 0x41000), part(2, "u (rows of 2 KiB)", 0x45000), part(3, "v (rows of 2 KiB)", 0x43000));
		PageCells cells = cells(new long[][] { { 0x40, 0 }, { 0x41, 1 }, { 0x43, 3 }, { 0x45, 2 } });
		assertEquals("""
				ROOT MemoryRoot
				  STRUCTURE heap (small blocks)
				    PAGE heap (small blocks) [page 0]
				  GROUP u (rows of 2 KiB)
				    PAGE u (rows of 2 KiB) [page 0]
				    PAGE u (rows of 2 KiB) [page 4]
				  STRUCTURE v (rows of 2 KiB)
				""", print(build(cells, structures, 2, Map.of(), List.of()).virtual()));
	}

	/** A page of the heap that one place has filled. */
	private static Structure part(int id, String name, long start) {
		return new Structure(id, 0, StructureKind.BRK, name, start, start + 0x1000, 0, Long.MAX_VALUE, -1, -1,
				"/src/mg.c:" + name.charAt(0), "", "", -1, -1);
	}

	@Test
	void memoryMapNamesAndJoinsRanges() throws Exception {
		MemoryMap map = new MemoryMap();
		map.add("00010000-00018000 r-xp 00000000 08:01 123 /usr/lib/libc.so.6");
		map.add("00018000-00019000 rw-p 00000000 08:01 123 /usr/lib/libc.so.6");
		map.add("00020000-00030000 rw-p 00000000 00:00 0 ");
		map.add("garbage");
		map.add("00021000-00022000 rw-s 00021000 00:01 9 /memfd:memtrace (deleted)");
		PageCells cells = cells(new long[][] { { 0x10, -1 }, { 0x13, -1 }, { 0x18, -1 }, { 0x19, -1 }, { 0x21, -1 } });
		MemoryTrees trees = build(cells, List.of(), 2, Map.of(), map.areas(0));
		ProducerTree tree = trees.virtual();
		assertEquals("""
				ROOT MemoryRoot
				  RANGE libc.so.6 (code)
				    PAGE libc.so.6 (code) [page 0]
				    PAGE libc.so.6 (code) [page 3]
				  RANGE libc.so.6 (data)
				  RANGE 19000 (1 page)
				  RANGE 21000 (1 page)
				""", print(tree));
		check(trees, cells, 2);
	}

	@Test
	void manySmallBlocksOfOneSiteAreOneProducer() throws Exception {
		List<Structure> structures = new ArrayList<>();
		List<long[]> pairs = new ArrayList<>();
		for (int i = 0; i < 5000; i++) {
			structures.add(structure(i, StructureKind.HEAP, "node", 0x100000 + i * 64L, 0x100000 + i * 64L + 48, 42));
			pairs.add(new long[] { (0x100000 + i * 64L) >> SHIFT, i });
		}
		structures.add(structure(5000, StructureKind.HEAP, "big", 0x900000, 0x902000, 7));
		pairs.add(new long[] { 0x900, 5000 });
		PageCells cells = cells(pairs.toArray(long[][]::new));
		MemoryTrees trees = build(cells, structures, 2);
		ProducerTree tree = trees.virtual();
		check(trees, cells, 2);
		assertEquals("node (5,000 blocks)", tree.name(1));
		assertEquals(ProducerKind.GROUP, tree.kind(1));
		assertEquals(trees.virtualLeaf()[0], trees.virtualLeaf()[1], "blocks on one page are one leaf");
		assertTrue(tree.size() < 200, "79 pages, but " + tree.size() + " producers");
	}

	/** A program with 40 lives of y8n, rows that live at the same time, a variable and many others. */
	private static List<Structure> program(int others) {
		List<Structure> structures = new ArrayList<>();
		structures.add(structure(0, StructureKind.STATIC, "table", 0x1000, 0x3000, 3));
		for (int i = 0; i < others; i++) {
			long start = 0x100000 + i * 0x12000L;
			structures.add(structure(structures.size(), StructureKind.HEAP, "other[i]", start, start + 0x11170, 12));
		}
		for (int i = 0; i < 4; i++) { // what is mapped later lies lower
			long start = 0x7f0000000000L - i * 0x100000L;
			structures.add(structure(structures.size(), StructureKind.HEAP, "rows[i]", start + 0x10, start + 0x20010, 20));
		}
		for (int i = 0; i < 40; i++) {
			long start = i == 0 ? 0x7f1000000000L : 0x90000000L + i % 3 * 16;
			structures.add(new Structure(structures.size(), 0, StructureKind.HEAP, i == 0 ? "y8n" : "y8n #" + (i + 1), start, start + 0x20000,
					10 * i, 10 * i + 10, -1, 16, "main.c:16"));
		}
		return structures;
	}

	private static MemoryTrees treesOf(List<Structure> structures, String... rules) throws MemtraceException {
		List<long[]> pages = new ArrayList<>();
		structures.forEach(s -> {
			for (long page = s.startAddress() >> SHIFT; page <= s.endAddress() - 1 >> SHIFT; page += 8) {
				pages.add(new long[] { page, s.id() });
			}
		});
		PageCells cells = cells(pages.toArray(long[][]::new));
		MemoryTrees trees = build(cells, structures, 2, rules);
		check(trees, cells, 2);
		return trees;
	}

	/** Everything but others, with the named producers below. */
	private static String named(ProducerTree tree) {
		StringBuilder text = new StringBuilder();
		for (int id = 1; id < tree.size(); id++) {
			if (tree.kind(id) != ProducerKind.PART && tree.kind(id) != ProducerKind.PAGE && !tree.name(id).startsWith("other")) {
				text.append("  ".repeat(tree.level(id) - 1)).append(tree.kind(id)).append(' ').append(tree.name(id)).append('\n');
			}
		}
		return text.toString();
	}

	@Test
	void namesDoNotChangeByACount() throws Exception {
		for (int others : new int[] {900, 954, 955, 956, 957, 1000, 1001, 5000}) {
			List<Structure> structures = program(others);
			ProducerTree tree = treesOf(structures).virtual();
			assertEquals("""
					STRUCTURE table
					GROUP y8n (40 blocks)
					  STRUCTURE y8n #1
					  GROUP y8n #2-#40
					GROUP rows[i] (4 blocks)
					  GROUP rows[i] #1-#2
					    STRUCTURE rows[i] #1
					    STRUCTURE rows[i] #2
					  GROUP rows[i] #3-#4
					    STRUCTURE rows[i] #3
					    STRUCTURE rows[i] #4
					""", named(tree), others + " others");
			assertEquals(String.format(Locale.ROOT, "other[i] (%,d blocks)", others), tree.name(tree.subtreeEnd(1)));
			for (int id = 1; id < tree.size(); id++) { // what is in a group knows what it is part of
				assertTrue(tree.structure(id) >= 0, tree.name(id));
				assertEquals(tree.structure(id), tree.kind(id) == ProducerKind.PAGE ? tree.structure(tree.parent(id)) : tree.structure(id));
			}
		}
	}

	@Test
	void livesInOnePlaceHaveItsPages() throws Exception {
		List<Structure> structures = program(1);
		MemoryTrees trees = treesOf(structures);
		ProducerTree tree = trees.virtual();
		int place = IntStream.range(0, tree.size()).filter(id -> tree.name(id).equals("y8n #2-#40")).findFirst().orElseThrow();
		assertEquals(9, structures.get(tree.structure(place)).id(), "the first one that begins at the lowest address");
		List<String> pages = new ArrayList<>();
		for (int id = place; id < tree.subtreeEnd(place); id++) {
			if (tree.isLeaf(id)) {
				pages.add(tree.name(id));
			}
		}
		assertEquals("[y8n #2-#40 [page 0], y8n #2-#40 [page 8], y8n #2-#40 [page 16], y8n #2-#40 [page 24], y8n #2-#40 [page 32]]",
				pages.toString());
	}

	@Test
	void aRuleComesBeforeTheNames() throws Exception {
		ProducerTree tree = treesOf(program(3), "name:^(rows|other)").virtual();
		assertEquals("""
				STRUCTURE table
				GROUP y8n (40 blocks)
				  STRUCTURE y8n #1
				  GROUP y8n #2-#40
				GROUP rows (4 blocks)
				""", named(tree), "and other (3 blocks)");
		assertEquals("STRUCTURE table\nGROUP y8n (40 blocks)\nGROUP rows[i] (4 blocks)\n", named(treesOf(program(3), "stack").virtual()),
				"what a rule merges has the name that all have");
	}

	@Test
	void manyDifferentStructuresAreGroupedByAddress() throws Exception {
		List<Structure> structures = new ArrayList<>();
		List<long[]> pairs = new ArrayList<>();
		for (int i = 0; i < 3000; i++) {
			structures.add(structure(i, StructureKind.HEAP, "v" + i, 0x100000 + i * 8192L, 0x100000 + i * 8192L + 4096, i));
			pairs.add(new long[] { 0x100 + i * 2L, i });
		}
		PageCells cells = cells(pairs.toArray(long[][]::new));
		MemoryTrees trees = build(cells, structures, 2);
		ProducerTree tree = trees.virtual();
		check(trees, cells, 2);
		assertEquals("100000-2f3000 (250 structures)", tree.name(1));
	}

	@Test
	void randomTreesKeepTheLaws() throws Exception {
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
			PageCells cells = cells(pairs.toArray(long[][]::new));
			check(build(cells, structures, fanout), cells, fanout);
		}
	}

	@Test
	void aMillionPagesAreBuilt() throws Exception {
		Structure huge = structure(0, StructureKind.MMAP, "huge", 0x100000000L, 0x100000000L + (1L << 40), -1);
		PageCells cells = PageCells.of(1_000_000);
		for (int i = 0; i < cells.count(); i++) {
			cells.set(i, 0, 0x100000000L + i * 4096L * 7, 0, PageCells.NO_FRAME, -1);
		}
		MemoryTrees trees = build(cells, List.of(huge), 2);
		ProducerTree tree = trees.virtual();
		assertTrue(tree.size() >= 1_999_999 && tree.size() < 2_000_010, "" + tree.size());
		assertEquals("huge [page 6999993]", tree.name(trees.virtualLeaf()[999_999]));
	}

	/** Rules of R-09: 1,000s of blocks that nobody wants to see one by one. */
	private static List<Structure> blocks() {
		List<Structure> structures = new ArrayList<>();
		long[][] rows = { // address, pages, stack
				{ 0x100, 1, 0 }, { 0x101, 1, 0 }, { 0x103, 1, 0 }, { 0x110, 2, 0 }, { 0x120, 1, 1 }, { 0x121, 2, 1 }, { 0x130, 1, -1 } };
		for (int i = 0; i < rows.length; i++) {
			long start = rows[i][0] << SHIFT;
			int stack = (int) rows[i][2];
			structures.add(new Structure(i, 0, StructureKind.HEAP, "node_" + "abcdefg".charAt(i), start, start + (rows[i][1] << SHIFT), 0,
					Long.MAX_VALUE, -1, stack, stack < 0 ? "" : "main.c:" + stack));
		}
		return structures;
	}

	private static String top(List<Structure> structures, String... rules) throws MemtraceException {
		List<long[]> pages = new ArrayList<>();
		structures.forEach(s -> {
			for (long page = s.startAddress() >> SHIFT; page < s.endAddress() >> SHIFT; page++) {
				pages.add(new long[] { page, s.id() });
			}
		});
		PageCells cells = cells(pages.toArray(long[][]::new));
		MemoryTrees trees = build(cells, structures, 2, rules);
		check(trees, cells, 2);
		ProducerTree tree = trees.virtual();
		List<String> names = new ArrayList<>();
		for (int id = tree.firstChild(0); id >= 0; id = tree.nextSibling(id)) {
			names.add(tree.name(id));
		}
		return String.join(", ", names);
	}

	@Test
	void mergingRules() throws Exception {
		List<Structure> blocks = blocks();
		assertEquals("node_a, node_b, node_c, node_d, node_e, node_f, node_g", top(blocks));
		assertEquals("main.c:0 (4 blocks), main.c:1 (2 blocks), node_g", top(blocks, "stack"));
		assertEquals("main.c:0 (3 blocks), node_d, node_e, node_f, node_g", top(blocks, "stack+size"));
		assertEquals("heap blocks of 4,096 bytes (5 blocks), heap blocks of 8,192 bytes (2 blocks)", top(blocks, "size"));
		assertEquals("node_a and neighbours (3 blocks), node_d, node_e and neighbours (2 blocks), node_g", top(blocks, "consecutive"));
		assertEquals("libomp.so.5 (4 blocks), app (2 blocks), node_g", top(blocks, "library"));
		assertEquals("libomp.so.5 (4 blocks), node_e, node_f, node_g", top(blocks, "library:omp"));
		assertEquals("node_[a-c] (3 blocks), node_d, node_e, node_f, node_g", top(blocks, "name:node_[a-c]"));
		assertEquals("node (7 blocks)", top(blocks, "name:(node)_"));
		assertEquals("main.c:0 (4 blocks), node_e and neighbours (2 blocks), node_g", top(blocks, "consecutive", "stack"), "on what was merged");
		assertEquals("heap (7 blocks)", top(blocks, "stack", "kind"));
	}

	@Test
	void rulesThatAreNone() {
		for (String bad : List.of("", "stak", "stack+", "stack+stack", "size:3", "name:(", "stack size", "name:a+stack:b")) {
			if (bad.equals("name:a+stack:b")) {
				assertEquals(bad, MergeRule.parse(bad).toString(), "all behind the colon is the expression");
				continue;
			}
			String message = org.junit.jupiter.api.Assertions
					.assertThrows(IllegalArgumentException.class, () -> MergeRule.parse(bad)).getMessage();
			assertTrue(message.contains("'" + bad + "'"), message);
		}
	}

	@Test
	void physicalTree() throws Exception {
		List<Structure> structures = List.of(structure(0, StructureKind.HEAP, "A", 0x10000, 0x18000, -1));
		PageCells cells = cells(new long[][] { { 0x10, 0, 0, 0x500, 0 }, { 0x11, 0, 0, 0x501, 0 }, { 0x11, 0, 0, -1, -1 },
				{ 0x12, 0, 0, 0x600, 1 }, { 0x12, 0, 0, 0x700, 1 }, { 0x12, 0, 0, -1, 1 }, { 0x50, -1, 0, 0x502, 0 },
				{ 0x51, -1, 0, -1, -1 }, { 0x52, -1, 0, 0x900, -1 }, { 0x10, -1, 1, 0x500, 0 } });
		MemoryTrees trees = build(cells, structures, 2);
		assertEquals("""
				ROOT MemoryRoot
				  NODE NUMA node 0
				    FRAMES frames 500-502 (3 frames)
				      PAGE frame 500
				      PART frames 501-502
				        PAGE frame 501
				        PAGE frame 502
				  NODE NUMA node 1
				    FRAMES frame 600
				    FRAMES frame 700
				    GROUP no known frame
				      STRUCTURE A
				        PAGE A [page 2]
				  NODE no known NUMA node
				    FRAMES frame 900
				    GROUP no known frame #2
				      RANGE 51000 (1 page)
				""", print(trees.physical()));
		ProducerTree tree = trees.physical();
		int[] leaf = trees.physicalLeaf();
		assertEquals("frame 501", tree.name(leaf[2]), "the page was never in another frame");
		assertEquals(0x501000, tree.startAddress(leaf[2]));
		assertEquals(0, tree.structure(leaf[2]));
		assertEquals(-1, tree.structure(leaf[0]), "two images have used frame 500");
		assertEquals("A [page 2]", tree.name(leaf[5]), "frame 600 or 700");
		assertEquals(null, build(cells(new long[][] { { 0x10, 0, 0, -1, 0 } }), structures, 2).physical(), "one node says nothing");
	}
}
