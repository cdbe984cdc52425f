// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.model.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ProducerTreeBuilderTest {
	private static final long A = 0xffff_ffff_0000_0000L; // above 2^63: addresses are unsigned

	private static ProducerTree sample() {
		ProducerTreeBuilder b = new ProducerTreeBuilder(4096);
		b.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1); // 0
		b.begin(ProducerKind.STRUCTURE, "A", A + 16, A + 4 * 4096, 0); // 1
		b.begin(ProducerKind.PART, null, A + 16, A + 2 * 4096, 0); // 2
		b.leaf(ProducerKind.PAGE, null, A + 16, A + 4096, 0); // 3
		b.leaf(ProducerKind.PAGE, null, A + 4096, A + 2 * 4096, 0); // 4
		b.end();
		b.leaf(ProducerKind.PAGE, null, A + 3 * 4096, A + 4 * 4096, 0); // 5
		b.end();
		b.begin(ProducerKind.GROUP, "main.c:42 (9 blocks)", A + 8 * 4096, A + 10 * 4096, -1); // 6
		b.leaf(ProducerKind.PAGE, null, A + 9 * 4096, A + 10 * 4096, -1); // 7
		b.end();
		b.end();
		return b.build();
	}

	@Test
	void shapeIsDepthFirst() {
		ProducerTree tree = sample();
		assertEquals(8, tree.size());
		assertEquals(8, tree.subtreeEnd(0));
		assertEquals(6, tree.subtreeEnd(1));
		assertEquals(5, tree.subtreeEnd(2));
		assertEquals(1, tree.firstChild(0));
		assertEquals(6, tree.nextSibling(1));
		assertEquals(-1, tree.nextSibling(6));
		assertEquals(5, tree.nextSibling(2));
		assertEquals(-1, tree.nextSibling(0));
		assertEquals(3, tree.level(4));
		assertTrue(tree.isLeaf(5));
		assertFalse(tree.isLeaf(2));
		assertEquals(ProducerTree.NO_PARENT, tree.parent(0));
		assertThrows(IndexOutOfBoundsException.class, () -> tree.parent(8));
	}

	@Test
	void namesCountPagesFromTheStartOfTheNamedAncestor() {
		ProducerTree tree = sample();
		assertEquals("A [pages 0-1]", tree.name(2));
		assertEquals("A [page 0]", tree.name(3));
		assertEquals("A [page 3]", tree.name(5));
		assertEquals("main.c:42 (9 blocks) [page at ffffffff00009000]", tree.name(7));
	}

	@Test
	void growsBeyondItsFirstArrays() {
		ProducerTreeBuilder b = new ProducerTreeBuilder(0);
		b.begin(ProducerKind.ROOT, "r", 0, 0, -1);
		for (int i = 0; i < 1000; i++) {
			assertEquals(i + 1, b.leaf(ProducerKind.OTHER, "n" + i, i, i + 1, -1));
		}
		b.end();
		ProducerTree tree = b.build();
		assertEquals(1001, tree.size());
		assertEquals("n999", tree.name(1000));
	}

	@Test
	void refusesWhatIsNotBalanced() {
		ProducerTreeBuilder b = new ProducerTreeBuilder(0);
		assertThrows(IllegalStateException.class, b::end);
		b.begin(ProducerKind.ROOT, "r", 0, 0, -1);
		assertThrows(IllegalStateException.class, b::build);
	}
}
