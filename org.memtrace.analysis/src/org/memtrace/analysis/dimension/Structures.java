// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.HashSet;
import java.util.Set;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.ModelType.Role;
import org.memtrace.aggregation.ModelType;
import org.memtrace.analysis.text.Parts;
import org.memtrace.model.Progress;
import org.memtrace.model.tree.ProducerTree;

/** Structures, stacks and ranges outside of them. */
final class Structures extends OfMemory {
	/** The producer whose parts are wanted; -1 for structures. */
	private final int divided;

	Structures() {
		this(-1);
	}

	private Structures(int divided) {
		super("structure", "Structure", "Structures", Type.TEXT, "The structure, stack or range of memory", Use.ALL);
		this.divided = divided;
	}

	@Override
	public Dimension of(Question question) {
		return question.divided() && question.producer() > 0 ? new Structures(question.producer()) : this;
	}

	@Override
	public boolean isOfSums() {
		return true;
	}

	@Override
	public ProducerValues values(AccessTable table, Progress progress) {
		ProducerTree tree = table.producers();
		Parts parts = new Parts(tree, table.structures(), divided);
		return new ProducerValues(parts.count(), parts::of, value -> parts.partName((int) value)) {
			@Override
			public String label(long value) {
				return value == UNKNOWN ? null : parts.partName((int) value);
			}

			@Override
			public int producer(long value) {
				return value == UNKNOWN ? -1 : parts.producer((int) value);
			}

			/** Names that several structures have; made when a picture asks. */
			private volatile Set<String> ambiguous;

			@Override
			public ModelType type(long value) {
				if (value == UNKNOWN) {
					return unknownType();
				}
				Set<String> several = ambiguous;
				if (several == null) {
					Set<String> seen = new HashSet<>();
					several = new HashSet<>();
					for (int i = 0; i < parts.count(); i++) {
						if (!seen.add(parts.partName(i))) {
							several.add(parts.partName(i));
						}
					}
					ambiguous = several;
				}
				String name = name(value);
				return new ModelType(several.contains(name) ? name + " #" + value : name, Role.STRUCTURE, (int) value);
			}
		};
	}
}
