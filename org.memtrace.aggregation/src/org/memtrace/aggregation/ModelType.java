// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import org.memtrace.model.ThreadInfo;

/**
 * One of the K dimensions of a cell.
 *
 * @param name what a person reads, unique in the model
 * @param role what it stands for; colours are chosen by role and index
 * @param index index of the thread, CPU, node or other type; 0 for roles that occur once
 */
public record ModelType(String name, Role role, int index) {
	public enum Role {
		PRIVATE_READ, PRIVATE_WRITE, SHARED_READ, SHARED_WRITE,
		/** Accesses of which it is not known whether another thread used the memory at that time. */
		NOT_KNOWN_READ, NOT_KNOWN_WRITE,
		READ, WRITE, THREAD, CPU, NODE,
		/** A structure, stack or range; its colour is that of its name. */
		STRUCTURE,
		/** Accesses of which the property is not known. */
		UNKNOWN,
		/** A type of a trace that is not a memory trace. */
		OTHER
	}

	/** The type of the accesses of a thread; the index tells threads of the same name apart. */
	public static ModelType thread(ThreadInfo thread) {
		String name = thread.name() == null || thread.name().isEmpty() ? "thread" : thread.name();
		return new ModelType(name + " #" + thread.index(), Role.THREAD, thread.index());
	}

	public static ModelType cpu(int cpu) {
		return new ModelType("CPU " + cpu, Role.CPU, cpu);
	}

	/** The type of the accesses to memory of a NUMA node. */
	public static ModelType node(int node) {
		return new ModelType("Node " + node, Role.NODE, node);
	}

	/**
	 * Types of a trace that is no memory trace. A name has the same index, and so the same colour, in most traces: it depends on the
	 * name, and only among names that would have the same one on the others.
	 *
	 * @param names all event types of the trace
	 * @return a type for each, in the same order, with different indexes
	 */
	public static List<ModelType> ofEvents(List<String> names) {
		int slots = Math.max(12, names.size());
		BitSet taken = new BitSet();
		Map<String, Integer> slot = new HashMap<>();
		for (String name : new TreeSet<>(names)) {
			int wanted = Math.floorMod(name.hashCode() * 0x9e3779b9 >>> 8, 12);
			int free = taken.nextClearBit(wanted);
			if (free >= slots) {
				free = taken.nextClearBit(0);
			}
			taken.set(free);
			slot.put(name, free);
		}
		return names.stream().map(name -> new ModelType(name, Role.OTHER, slot.get(name))).toList();
	}
}
