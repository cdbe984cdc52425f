// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;

/** Names below names, against a map. */
class NameTreeTest {
	@Test
	void numbersAreThoseOfAMap() {
		long seed = System.nanoTime();
		System.out.println("seed " + seed);
		Random random = new Random(seed);
		NameTree tree = new NameTree();
		Map<List<Object>, Integer> known = new HashMap<>();
		List<String> names = new ArrayList<>();
		for (int i = 0; i < 20_000; i++) {
			int above = tree.size() == 0 || random.nextInt(4) == 0 ? NameTree.ROOT : random.nextInt(tree.size());
			String name = switch (random.nextInt(4)) {
			case 0 -> "";
			case 1 -> "é" + random.nextInt(50);
			case 2 -> "x".repeat(random.nextInt(300));
			default -> Integer.toString(random.nextInt(1000));
			};
			Integer there = known.get(List.of(above, name));
			assertEquals(there == null ? -1 : there, tree.find(above, name));
			int number = tree.child(above, name);
			if (there == null) {
				assertEquals(names.size(), number);
				known.put(List.of(above, name), number);
				names.add(name);
			} else {
				assertEquals(there, number);
			}
			assertEquals(above, tree.parent(number));
		}
		assertEquals(names.size(), tree.size());
		for (int i = 0; i < names.size(); i++) {
			assertEquals(names.get(i), tree.name(i));
		}
	}
}
