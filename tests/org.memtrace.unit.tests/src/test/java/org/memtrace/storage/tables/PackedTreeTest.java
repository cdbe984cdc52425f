// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;

/** A tree and its bytes. */
class PackedTreeTest {
	/** A structure for each of them, with pages at addresses of all lengths and names of all lengths. */
	private static ProducerTree tree(Random random, int structures) {
		ProducerTreeBuilder b = new ProducerTreeBuilder(4096);
		b.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
		for (int s = 0; s < structures; s++) {
			long start = (1L << random.nextInt(48)) & -4096;
			long length = 4096L << random.nextInt(14);
			int structure = random.nextInt(4) == 0 ? -1 : random.nextInt(1 << random.nextInt(20));
			b.begin(ProducerKind.STRUCTURE, "n\u00e4me ".repeat(random.nextInt(40)) + s, start, start + length, structure);
			for (int p = random.nextInt(5); p > 0; p--) {
				long page = start + 4096L * random.nextInt(1000);
				b.leaf(ProducerKind.PAGE, null, page, page + 4096, structure);
			}
			b.end();
		}
		b.end();
		return b.build();
	}

	private static String text(ProducerTree t) {
		StringBuilder s = new StringBuilder();
		for (int id = 0; id < t.size(); id++) {
			s.append(id).append(' ').append(t.kind(id)).append(" end ").append(t.subtreeEnd(id)).append(' ').append(t.startAddress(id))
					.append("..").append(t.endAddress(id)).append(" structure ").append(t.structure(id)).append(' ').append(t.name(id)).append('\n');
		}
		return s.toString();
	}

	/** In parts of any length, as the store keeps them. */
	private static List<byte[]> parts(byte[] all, int length) {
		return java.util.stream.IntStream.range(0, (all.length + length - 1) / length)
				.mapToObj(i -> Arrays.copyOfRange(all, i * length, Math.min(all.length, (i + 1) * length))).toList();
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3, 4 })
	void comesBack(long seed) throws Exception {
		Random random = new Random(seed);
		for (int structures : new int[] { 0, 1, 127, 128, 3000 }) {
			ProducerTree tree = tree(random, structures);
			byte[] packed = PackedTree.pack(tree, Progress.NONE);
			for (int length : new int[] { 1 + random.nextInt(50), packed.length }) {
				assertEquals(text(tree), text(PackedTree.read(parts(packed, length), 4096)), "seed " + seed);
			}
		}
		assertNull(PackedTree.read(List.of(), 4096));
	}

	/** Any cut is told as damage, never by another exception or a smaller tree. */
	@Test
	void cutAnywhere() throws Exception {
		byte[] packed = PackedTree.pack(tree(new Random(5), 20), Progress.NONE);
		for (int length = 0; length < packed.length - 4; length++) { // the last four are a check sum
			byte[] cut = Arrays.copyOf(packed, length);
			StoreException e = assertThrows(StoreException.class, () -> PackedTree.read(List.of(cut), 4096), "cut at " + length);
			assertTrue(e.getMessage().startsWith("the tree of event producers is damaged: "), e.getMessage());
		}
	}
}
