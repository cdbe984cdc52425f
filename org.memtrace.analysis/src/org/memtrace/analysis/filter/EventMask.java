// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.filter;

import java.util.BitSet;
import java.util.List;
import java.util.function.LongPredicate;

import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.events.EventTable;

/**
 * Which events of a trace without accesses pass a {@link FilterSet}.
 *
 * @param unwanted producers whose own events do not
 * @param terms all of them want an event that passes
 * @param either of each of these at least one, or none
 */
public record EventMask(BitSet unwanted, List<Term> terms, List<Either> either) implements EventTable.Filter {
	/** Which values of a property are wanted. */
	record Term(Dimension.OfEvents property, LongPredicate wanted) {
	}

	/**
	 * What one of several masks lets pass.
	 *
	 * @param not what none of them lets pass
	 */
	record Either(List<EventMask> masks, boolean not) {
		private boolean passes(int producer, int type, int onCpu) {
			for (EventMask m : masks) {
				if (m.passes(producer, type, onCpu)) {
					return !not;
				}
			}
			return not;
		}
	}

	@Override
	public boolean hasProducer(int id) {
		return !unwanted.get(id);
	}

	@Override
	public boolean passes(int producer, int type, int onCpu) {
		if (unwanted.get(producer) || type < 0) {
			return false;
		}
		for (int i = 0; i < terms.size(); i++) {
			Term t = terms.get(i);
			if (!t.wanted.test(t.property.value(type, onCpu))) {
				return false;
			}
		}
		for (int i = 0; i < either.size(); i++) {
			if (!either.get(i).passes(producer, type, onCpu)) {
				return false;
			}
		}
		return true;
	}
}
