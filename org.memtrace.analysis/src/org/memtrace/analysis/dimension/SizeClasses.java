// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.analysis.text.Parts;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.Lives;
import org.memtrace.model.tree.ProducerTree;

/** The size of the structure, stack or range: classes between powers of two. */
final class SizeClasses extends OfMemory {
	private static final int CLASSES = 64;

	SizeClasses() {
		super("size_class", "Size class", "Sizes of structures", Type.TEXT,
				"Size of the structure, stack or range, between two powers of two", Use.ALL);
	}

	@Override
	public boolean isOfSums() {
		return true;
	}

	@Override
	public ProducerValues values(AccessTable table, Progress progress) {
		ProducerTree tree = table.producers();
		Parts parts = new Parts(tree, table.structures());
		Lives lives = Lives.of(table.structures());
		return new ProducerValues(CLASSES, producer -> {
			int s = tree.structure(producer);
			if (s >= 0) {
				return sizeClass(lives.asOne(s).sizeBytes());
			}
			int part = parts.of(producer);
			return part < 0 ? DimensionValues.UNKNOWN
					: sizeClass(tree.endAddress(parts.producer(part)) - tree.startAddress(parts.producer(part)));
		}, SizeClasses::name);
	}

	/** Class c has the sizes from 2^c to below 2^(c+1) bytes. */
	static long sizeClass(long bytes) {
		return bytes <= 0 ? DimensionValues.UNKNOWN : CLASSES - 1 - Long.numberOfLeadingZeros(bytes);
	}

	static String name(long sizeClass) {
		return Units.bytes(1L << sizeClass) + (sizeClass < CLASSES - 2 ? " to " + Units.bytes(1L << sizeClass + 1) : " and more");
	}
}
