// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.binding;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.memtrace.analysis.machine.MachineTopology;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;
import org.memtrace.model.MemtraceException;

/**
 * How far the CPUs of a machine are from each other: the height in the tree of hwloc of the smallest object that has both. 0 is the same
 * CPU, 1 the lowest object with several CPUs. Objects with the same CPUs are one level; an object is one level above its highest part.
 * So two CPUs at distance h are in different groups at the levels 0 to h - 1, and in the same group from level h on. Immutable.
 */
public final class CpuDistances {
	/** Which of several objects with the same CPUs gives the name. */
	private static final List<Type> NAMING = List.of(Type.PU, Type.CORE, Type.PACKAGE, Type.DIE, Type.CACHE, Type.GROUP, Type.MACHINE);

	private final MachineTopology topology;
	private final int[] osIndex;
	/** Number of each CPU in the order of the tree, by the number of the operating system; -1: none. */
	private final int[] numberOf;
	/** [level][CPU], CPUs in the order of the tree. */
	private final int[][] group;
	private final List<String> names = new ArrayList<>();

	/** Of a machine. */
	public CpuDistances(MachineTopology topology) throws MemtraceException {
		this.topology = topology;
		List<MachineObject> pus = topology.pus();
		if (pus.isEmpty()) {
			throw new MemtraceException("the machine has no CPU (" + topology.origin() + ")");
		}
		osIndex = pus.stream().mapToInt(MachineObject::osIndex).toArray();
		numberOf = new int[topology.root().cpus().length()];
		Arrays.fill(numberOf, -1);
		for (int i = 0; i < osIndex.length; i++) {
			if (osIndex[i] >= 0 && osIndex[i] < numberOf.length) {
				numberOf[osIndex[i]] = i;
			}
		}
		List<Set<String>> words = new ArrayList<>();
		List<List<BitSet>> sets = new ArrayList<>();
		int top = level(topology.root(), words, sets);
		group = new int[top + 1][osIndex.length];
		for (int cpu = 0; cpu < osIndex.length; cpu++) {
			int number = cpu; // a group is named by its first CPU
			for (int h = 0; h <= top; h++) {
				for (BitSet set : sets.get(h)) {
					if (osIndex[cpu] >= 0 && set.get(osIndex[cpu])) {
						number = first(set);
					}
				}
				group[h][cpu] = h == top ? 0 : number;
			}
		}
		for (int h = 0; h <= top; h++) {
			names.add(words.get(h).isEmpty() ? "level " + h : String.join("/", words.get(h)));
		}
	}

	private int first(BitSet set) {
		for (int i = 0; i < osIndex.length; i++) {
			if (osIndex[i] >= 0 && set.get(osIndex[i])) {
				return i;
			}
		}
		throw new IllegalStateException("an object without CPUs");
	}

	/** The height of an object; its CPUs and its name are put into the lists of its level. */
	private static int level(MachineObject outer, List<Set<String>> words, List<List<BitSet>> sets) {
		List<MachineObject> chain = new ArrayList<>(); // objects with the same CPUs
		List<MachineObject> parts = List.of(outer);
		while (parts.size() == 1) {
			chain.add(parts.get(0));
			parts = parts.get(0).children().stream().filter(c -> c.cpuCount() > 0).toList();
		}
		int height = 0;
		for (MachineObject part : parts) {
			height = Math.max(height, level(part, words, sets) + 1);
		}
		while (words.size() <= height) {
			words.add(new LinkedHashSet<>());
			sets.add(new ArrayList<>());
		}
		words.get(height).add(word(chain));
		sets.get(height).add(outer.cpus());
		return height;
	}

	private static String word(List<MachineObject> chain) {
		for (Type type : NAMING) {
			for (MachineObject o : chain) {
				if (o.type() == type) {
					return type == Type.PU ? type.word() : type == Type.CACHE || type == Type.GROUP ? o.name() : type.word().toLowerCase(Locale.ROOT);
				}
			}
		}
		return chain.get(0).name();
	}

	public MachineTopology topology() {
		return topology;
	}

	/** Number of CPUs. In the other methods CPUs are numbered from 0 in the order of the tree. */
	public int cpus() {
		return osIndex.length;
	}

	/** The number that the operating system gives a CPU. */
	public int osCpu(int cpu) {
		return osIndex[cpu];
	}

	/** The CPU with a number of the operating system, -1 when the machine has none. */
	public int cpu(int osCpu) {
		return osCpu >= 0 && osCpu < numberOf.length ? numberOf[osCpu] : -1;
	}

	/** The largest distance. */
	public int largest() {
		return group.length - 1;
	}

	/** A number that two CPUs have in common when they are not farther from each other than a level. */
	public int group(int level, int cpu) {
		return group[level][cpu];
	}

	/** What has both CPUs at a distance: {@code CPU}, {@code core}, {@code L3}, {@code package}, {@code machine}. */
	public String name(int distance) {
		return names.get(distance);
	}

	/** The distance of two CPUs, 0 to {@link #largest()}. */
	public int between(int a, int b) {
		int h = 0;
		while (group[h][a] != group[h][b]) {
			h++;
		}
		return h;
	}

	/** Such as {@code 0 the same CPU, 1 the same core, 2 the same machine}. */
	public String legend() {
		StringBuilder b = new StringBuilder();
		for (int h = 0; h < group.length; h++) {
			b.append(h == 0 ? "" : ", ").append(h).append(" the same ").append(names.get(h));
		}
		return b.toString();
	}
}
