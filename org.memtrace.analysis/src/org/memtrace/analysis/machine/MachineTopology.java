// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;

import org.memtrace.analysis.text.Units;

/** What a machine consists of: a tree of packages, caches, cores and processing units, with the memory beside them. Immutable. */
public final class MachineTopology {
	/** Kinds of objects, from the outside in. */
	public enum Type {
		MACHINE("Machine"), PACKAGE("Package"), DIE("Die"), GROUP("Group"), CACHE("Cache"), CORE("Core"),
		/** Processing unit: what the operating system calls a CPU. */
		PU("CPU"), NODE("NUMA node"),
		/** A cache in front of a memory. */
		MEMORY_CACHE("Memory cache"), OTHER("Object");

		private final String word;

		Type(String word) {
			this.word = word;
		}

		/** What a person calls it. */
		public String word() {
			return word;
		}
	}

	/**
	 * One object.
	 *
	 * @param type kind
	 * @param name short name without number, such as {@code L3} or {@code Package}
	 * @param osIndex number that the operating system gives it, -1 when it has none
	 * @param logicalIndex number among the objects of its kind, -1 when it has none
	 * @param sizeBytes size of a cache or a memory, 0 when not known
	 * @param cpus operating-system numbers of its processing units; for memory: of those that are near to it
	 * @param memory memory that is attached here: NUMA nodes and caches in front of them
	 * @param children what it consists of
	 */
	public record MachineObject(Type type, String name, int osIndex, int logicalIndex, long sizeBytes, BitSet cpus,
			List<MachineObject> memory, List<MachineObject> children) {
		public MachineObject {
			cpus = (BitSet) cpus.clone();
			memory = List.copyOf(memory);
			children = List.copyOf(children);
		}

		@Override
		public BitSet cpus() {
			return (BitSet) cpus.clone();
		}

		public int cpuCount() {
			return cpus.cardinality();
		}

		/** Whether a CPU belongs to it. */
		public boolean has(int cpu) {
			return cpu >= 0 && cpus.get(cpu);
		}

		/** Such as {@code L3 0 (32.0 MiB)}, {@code CPU 5} or {@code NUMA node 1 (62.8 GiB)}. */
		public String label() {
			return shortLabel() + (sizeBytes > 0 ? " (" + Units.bytes(sizeBytes) + ")" : "");
		}

		/** The label without the size. */
		public String shortLabel() {
			int index = type == Type.PU || type == Type.NODE || type == Type.PACKAGE || type == Type.CORE
					? osIndex >= 0 ? osIndex : logicalIndex : logicalIndex;
			return type == Type.MACHINE || index < 0 ? name : name + " " + index;
		}

		/** Identity, not contents: two cores may look alike. */
		@Override
		public boolean equals(Object o) {
			return this == o;
		}

		@Override
		public int hashCode() {
			return System.identityHashCode(this);
		}
	}

	private final MachineObject root;
	private final String origin;
	private final boolean recorded;
	private final boolean given;
	/** CPUs that were left out. */
	private final BitSet hidden;
	private final List<MachineObject> objects = new ArrayList<>();
	private final List<MachineObject> nodes = new ArrayList<>();
	private final List<MachineObject> pus = new ArrayList<>();
	private final BitSet nodeIndexes = new BitSet();
	private final List<BitSet> nearNodes = new ArrayList<>();

	/**
	 * @param root the machine
	 * @param origin what it was read from, for a person
	 * @param recorded whether it is the machine of the trace, not the one we run on
	 */
	public MachineTopology(MachineObject root, String origin, boolean recorded) {
		this(root, origin, recorded, false, new BitSet());
	}

	private MachineTopology(MachineObject root, String origin, boolean recorded, boolean given, BitSet hidden) {
		this.root = root;
		this.origin = origin;
		this.recorded = recorded;
		this.given = given;
		this.hidden = hidden;
		collect(root);
		for (MachineObject node : nodes) {
			nodeIndexes.set(Math.max(0, node.osIndex));
			for (int cpu = node.cpus.nextSetBit(0); cpu >= 0; cpu = node.cpus.nextSetBit(cpu + 1)) {
				while (nearNodes.size() <= cpu) {
					nearNodes.add(new BitSet());
				}
				nearNodes.get(cpu).set(Math.max(0, node.osIndex));
			}
		}
	}

	private void collect(MachineObject o) {
		objects.add(o);
		if (o.type == Type.PU) {
			pus.add(o);
		} else if (o.type == Type.NODE) {
			nodes.add(o);
		}
		o.memory.forEach(this::collect);
		o.children.forEach(this::collect);
	}

	public MachineObject root() {
		return root;
	}

	/** What it was read from, for a person. */
	public String origin() {
		return origin;
	}

	/** Whether it is the machine of the trace, not the one we run on. */
	public boolean isRecorded() {
		return recorded;
	}

	/** The same machine, which somebody asked about instead of that of a trace. */
	public MachineTopology given() {
		return new MachineTopology(root, origin, true, true, hidden);
	}

	/** Whether somebody asked about it instead of the machine of a trace. */
	public boolean isGiven() {
		return given;
	}

	/**
	 * The part of the machine with some of its CPUs: without the other ones, and without what then has no CPU.
	 *
	 * @return this machine, if it has none of them or no others
	 */
	public MachineTopology only(BitSet cpus) {
		BitSet kept = root.cpus();
		kept.and(cpus);
		if (kept.isEmpty() || kept.equals(root.cpus)) {
			return this;
		}
		BitSet without = root.cpus();
		without.andNot(kept);
		without.or(hidden);
		return new MachineTopology(only(root, kept), origin, recorded, given, without);
	}

	private static MachineObject only(MachineObject o, BitSet kept) {
		BitSet cpus = o.cpus();
		cpus.and(kept);
		List<MachineObject> parts = new ArrayList<>();
		for (MachineObject part : o.children) {
			if (part.cpus.intersects(kept)) {
				parts.add(only(part, kept));
			}
		}
		return new MachineObject(o.type, o.name, o.osIndex, o.logicalIndex, o.sizeBytes, cpus, o.memory, parts);
	}

	/** Whether a CPU of the machine was left out. */
	boolean isHidden(int cpu) {
		return cpu >= 0 && hidden.get(cpu);
	}

	/** That it is not the machine of the trace, a sentence; else empty. */
	public List<String> notes() {
		return given ? List.of("The machine is not that of the recording: it is " + origin + ".")
				: recorded ? List.of() : List.of("The trace does not say on which machine it was recorded: this is " + origin + ".");
	}

	/** All objects: each before its parts, its memory before its other parts. */
	public List<MachineObject> objects() {
		return List.copyOf(objects);
	}

	/** NUMA nodes. */
	public List<MachineObject> nodes() {
		return List.copyOf(nodes);
	}

	/** Processing units. */
	public List<MachineObject> pus() {
		return List.copyOf(pus);
	}

	/** Whether the machine has a CPU. */
	public boolean hasCpu(int cpu) {
		return root.has(cpu);
	}

	/** Whether the machine has a NUMA node. */
	public boolean hasNode(int node) {
		return node >= 0 && nodeIndexes.get(node);
	}

	/** Whether memory of a NUMA node is near to a CPU. A CPU may be near to several nodes, such as DRAM and HBM of its package. */
	public boolean isLocal(int cpu, int node) {
		return cpu >= 0 && cpu < nearNodes.size() && node >= 0 && nearNodes.get(cpu).get(node);
	}

	/** Such as {@code 2 packages, 2 NUMA nodes, 8 cores, 16 CPUs}. */
	public String summary() {
		StringBuilder b = new StringBuilder();
		for (Type type : new Type[] {Type.PACKAGE, Type.NODE, Type.CORE, Type.PU}) {
			long n = objects.stream().filter(o -> o.type == type).count();
			if (n > 0) {
				String word = type == Type.PACKAGE || type == Type.CORE ? type.word.toLowerCase(Locale.ROOT) : type.word;
				b.append(b.isEmpty() ? "" : ", ").append(Units.plural(n, word));
			}
		}
		return b.toString();
	}
}
