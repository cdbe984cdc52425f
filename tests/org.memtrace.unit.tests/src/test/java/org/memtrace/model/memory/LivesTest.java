// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

class LivesTest {
	private final List<Structure> structures = new ArrayList<>();

	private int add(StructureKind kind, String name, String site, long start, long size, long birth, long death) {
		structures.add(new Structure(structures.size(), 0, kind, name, start, start + size, birth, death, -1, -1, site));
		return structures.size() - 1;
	}

	@Test
	void whatIsOneStructure() {
		int a = add(StructureKind.HEAP, "a", "x.c:1", 0x1000, 100, 0, 5);
		int again = add(StructureKind.HEAP, "a #2", "x.c:1", 0x9000, 300, 2, Long.MAX_VALUE);
		int elsewhere = add(StructureKind.HEAP, "a", "x.c:2", 0x20000, 100, 0, 5);
		int mapped = add(StructureKind.MMAP, "a", "x.c:1", 0x30000, 100, 0, 5);
		int table = add(StructureKind.STATIC, "jump_table", "", 0x40000, 100, 0, Long.MAX_VALUE);
		int other = add(StructureKind.STATIC, "jump_table", "", 0x50000, 100, 0, Long.MAX_VALUE);
		int stack = add(StructureKind.STACK, "stack of worker", "", 0x60000, 100, 0, Long.MAX_VALUE);
		add(StructureKind.STACK, "stack of worker", "", 0x70000, 100, 0, Long.MAX_VALUE);
		int nameless = add(StructureKind.HEAP, "", "", 0x80000, 100, 0, 5);
		add(StructureKind.HEAP, "", "", 0x90000, 100, 0, 5);
		structures.add(new Structure(structures.size(), 1, StructureKind.HEAP, "a", 0x1000, 0x1064, 0, 5, -1, -1, "x.c:1"));
		Lives lives = Lives.of(structures);
		assertArrayEquals(new int[] {a, again}, lives.blocks(again), "the number of a block is not of its name");
		for (int alone : new int[] {elsewhere, mapped, table, other, stack, nameless, structures.size() - 1}) {
			assertEquals(1, lives.count(alone), structures.get(alone).toString());
			assertEquals(structures.get(alone), lives.asOne(alone));
		}
		Structure one = lives.asOne(again);
		assertEquals("a x.c:1 1000 400 0", one.name() + " " + one.site() + " " + Long.toHexString(one.startAddress()) + " " + one.sizeBytes()
				+ " " + one.birthNs());
		assertEquals(Long.MAX_VALUE, one.deathNs());
	}

	@Test
	void naturalOrderAndTheMostBytesAtOneTime() {
		for (int life = 39; life >= 0; life--) { // the importer may tell them in any order
			add(StructureKind.HEAP, "y8n", "r.c:16", life == 0 ? 0x900000 : 0x100010, 1000, 10 * life, 10 * life + 10);
		}
		Lives lives = Lives.of(structures);
		assertEquals(1, lives.number(39));
		assertEquals(40, lives.number(0));
		assertEquals(39, lives.first(0));
		assertEquals(1000, lives.asOne(0).sizeBytes(), "one dies before the next is born");
		int[] at = lives.at(0, 0x100000, 0x101000);
		assertEquals(39, at.length, "the first lived elsewhere");
		assertEquals(20, lives.number(lives.alive(at, 192, 195)));
		assertEquals(21, lives.number(lives.alive(at, 195, 205)), "of two in an interval the younger one");
		assertEquals(20, lives.number(lives.alive(at, 193, 203)), "if the other did not live longer in it");
		assertEquals(2, lives.number(lives.alive(at, 0, 5)), "before all of them");
		assertEquals(40, lives.number(lives.alive(at, 1000, 1005)), "after all of them");
		assertEquals(400, lives.lastDeathNs(20));
		assertEquals(10, lives.lastDeathNs(39), "nobody lived there after the first");
	}
}
