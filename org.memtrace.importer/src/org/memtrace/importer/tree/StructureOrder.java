// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.tree;

import org.memtrace.importer.rows.RowBatch;
import org.memtrace.model.memory.Structure;

/** Of structures that were at one address: which one an access belongs to. */
final class StructureOrder {
	static final int ALIVE = 0;
	static final int TO_COME = 1;
	static final int GONE = 2;

	private StructureOrder() {
	}

	static boolean contains(Structure s, long address) {
		return Long.compareUnsigned(address, s.startAddress()) >= 0 && Long.compareUnsigned(address, s.endAddress()) < 0;
	}

	/** Time between a life and an interval that do not meet. */
	static long distance(Structure s, long startNs, long endNs) {
		return s.birthNs() >= endNs ? s.birthNs() - endNs : startNs - s.deathNs();
	}

	static boolean nearer(Structure a, Structure b, long startNs, long endNs) {
		int order = Long.compare(distance(a, startNs, endNs), distance(b, startNs, endNs));
		return order == 0 ? a.id() < b.id() : order < 0;
	}

	static boolean better(Structure a, Structure b, long startNs, long endNs, long firstNs) {
		int order = Boolean.compare(when(a, firstNs) == GONE, when(b, firstNs) == GONE);
		if (order == 0) {
			order = Integer.compare(rank(a), rank(b));
		}
		if (order == 0) {
			order = Integer.compare(when(a, firstNs), when(b, firstNs));
		}
		if (order == 0) {
			order = Long.compare(overlap(b, startNs, endNs), overlap(a, startNs, endNs));
		}
		if (order == 0) {
			order = Long.compareUnsigned(a.sizeBytes(), b.sizeBytes());
		}
		if (order == 0) {
			order = Long.compare(b.birthNs(), a.birthNs());
		}
		return order == 0 ? a.id() < b.id() : order < 0;
	}

	static int when(Structure s, long timeNs) {
		return timeNs == RowBatch.NO_TIME ? ALIVE : s.deathNs() <= timeNs ? GONE : s.birthNs() > timeNs ? TO_COME : ALIVE;
	}

	static int rank(Structure s) {
		return switch (s.kind()) {
		case STATIC, HEAP, STACK -> 0;
		case MMAP -> 1;
		case BRK, FILE -> 2;
		};
	}

	static long overlap(Structure s, long startNs, long endNs) {
		return Math.min(endNs, s.deathNs()) - Math.max(startNs, s.birthNs());
	}
}
