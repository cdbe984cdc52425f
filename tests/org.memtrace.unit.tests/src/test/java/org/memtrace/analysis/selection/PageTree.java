// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** Trees for tests of what is looked at. */
final class PageTree {
	private PageTree() {
	}

	/** Structures of two pages of 4096 bytes each, one after the other from 0x10000 on. */
	static ProducerTree of(String... structures) {
		ProducerTreeBuilder b = new ProducerTreeBuilder(4096);
		b.begin(ProducerKind.ROOT, "root", 0, 0, -1);
		for (int s = 0; s < structures.length; s++) {
			long start = 0x10000 + s * 0x2000;
			b.begin(ProducerKind.STRUCTURE, structures[s], start, start + 0x2000, s);
			b.leaf(ProducerKind.PAGE, structures[s] + " [page 0]", start, start + 0x1000, s);
			b.leaf(ProducerKind.PAGE, structures[s] + " [page 1]", start + 0x1000, start + 0x2000, s);
			b.end();
		}
		b.end();
		return b.build();
	}
}
