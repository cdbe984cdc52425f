// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis;

import java.util.BitSet;
import java.util.function.IntPredicate;

/**
 * Which events of a trace without accesses pass a {@link FilterSet}.
 *
 * @param unwanted producers whose own events do not
 * @param types indexes of the names of event types that do
 * @param cpu asked for the CPU of each event
 */
record EventMask(BitSet unwanted, BitSet types, IntPredicate cpu) {
	boolean passes(int producer, int type, int onCpu) {
		return !unwanted.get(producer) && type >= 0 && types.get(type) && cpu.test(onCpu);
	}
}
