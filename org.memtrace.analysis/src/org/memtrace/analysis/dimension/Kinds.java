// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.text.Parts;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/** Kinds of memory: those of structures, and range for what is outside of all. A filter by kind is a condition of its own. */
final class Kinds extends OfMemory {
	private static final List<String> NAMES = Stream.concat(Stream.of(StructureKind.values()).map(k -> k.name().toLowerCase(Locale.ROOT)),
			Stream.of("range")).distinct().toList();

	Kinds() {
		super("kind", "Kind", "Kinds of memory", Type.TEXT, "Kind of memory: static, heap, mmap, stack, brk, file, or range outside of structures",
				Set.of(Use.GROUP));
	}

	@Override
	public ProducerValues values(AccessTable table, Progress progress) {
		ProducerTree tree = table.producers();
		List<Structure> structures = table.structures();
		Parts parts = new Parts(tree, structures);
		return new ProducerValues(NAMES.size(), producer -> {
			int part = parts.of(producer);
			int s = part < 0 ? -1 : tree.structure(parts.producer(part));
			return NAMES.indexOf(s >= 0 && s < structures.size() ? structures.get(s).kind().name().toLowerCase(Locale.ROOT)
					: part >= 0 && tree.kind(parts.producer(part)) == ProducerKind.STACK ? "stack" : "range");
		}, value -> NAMES.get((int) value));
	}
}
