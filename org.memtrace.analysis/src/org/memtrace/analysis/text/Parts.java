// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

import org.memtrace.model.memory.Structure;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/** The structure, stack or range of each producer, by binary search. Immutable. */
public final class Parts {
	private final ProducerTree tree;
	private final List<Structure> structures;
	private final int[] part;
	private final String[] names;

	/** What a person calls the parts of all memory. */
	public Parts(ProducerTree tree, List<Structure> structures) {
		this(tree, structures, -1);
	}

	/**
	 * The parts of a producer.
	 *
	 * @param producer -1 for all memory
	 */
	public Parts(ProducerTree tree, List<Structure> structures, int producer) {
		this.tree = tree;
		this.structures = structures;
		this.part = ids(tree, producer).stream().mapToInt(Integer::intValue).toArray();
		this.names = new String[part.length];
	}

	/** Number of parts. */
	public int count() {
		return part.length;
	}

	/** Index of the part that holds a producer, -1 when it is above them. */
	public int of(int producer) {
		int i = Arrays.binarySearch(part, producer);
		i = i >= 0 ? i : -i - 2;
		return i < 0 || producer >= tree.subtreeEnd(part[i]) ? -1 : i;
	}

	/** Producer of a part. */
	public int producer(int index) {
		return part[index];
	}

	/** Name of what holds a producer; that of the structure, also inside of a group of small ones. */
	public String name(int producer) {
		int i = groupOf(producer);
		int s = tree.structure(producer);
		if (i < 0 && s >= 0 && s < structures.size()) {
			return structures.get(s).name();
		}
		i = of(producer);
		return i < 0 ? "" : partName(i);
	}

	/** Index of the part that holds a producer and is a group of blocks, -1 when there is none. */
	private int groupOf(int producer) {
		int i = of(producer);
		return i >= 0 && tree.kind(part[i]) == ProducerKind.GROUP ? i : -1;
	}

	/** Name of a part. */
	public String partName(int i) {
		String name = names[i]; // a race makes it twice
		if (name == null) {
			name = tree.name(part[i]);
			names[i] = name;
		}
		return name;
	}

	/** For each structure, then for each part, its place in the order of names. */
	public int[] ranks() {
		int n = structures.size() + part.length;
		String[] all = new String[n];
		Integer[] order = new Integer[n];
		for (int i = 0; i < n; i++) {
			all[i] = i < structures.size() ? structures.get(i).name() : partName(i - structures.size());
			order[i] = i;
		}
		Arrays.sort(order, Comparator.comparing((Integer i) -> all[i], String.CASE_INSENSITIVE_ORDER));
		int[] rank = new int[n];
		for (int i = 1; i < n; i++) {
			rank[order[i]] = rank[order[i - 1]] + (all[order[i]].equalsIgnoreCase(all[order[i - 1]]) ? 0 : 1);
		}
		return rank;
	}

	/** Index of a producer in {@link #ranks}, -1 when it has none. */
	public int rankIndex(int producer) {
		int i = groupOf(producer);
		int s = tree.structure(producer);
		if (i < 0 && s >= 0 && s < structures.size()) {
			return s;
		}
		i = of(producer);
		return i < 0 ? -1 : structures.size() + i;
	}

	/**
	 * What a person calls the parts of a subtree: structures, stacks and ranges, or what is directly below one of them; a producer
	 * without children is its own part. In order, disjoint, everything with accesses is in one of them.
	 */
	public static List<Integer> ids(ProducerTree tree, int producer) {
		List<Integer> parts = new ArrayList<>();
		int id = Math.max(0, producer);
		int end = producer < 0 ? tree.size() : tree.subtreeEnd(producer);
		if (producer >= 0 && !isOpen(tree, producer) && !tree.isLeaf(producer)) {
			id++;
		}
		while (id < end) {
			if (isOpen(tree, id)) {
				id++;
			} else {
				parts.add(id);
				id = tree.subtreeEnd(id);
			}
		}
		return parts;
	}

	/** Whether a producer stands around parts and is none. Groups of blocks are parts, groups of structures are not. */
	public static boolean isOpen(ProducerTree tree, int id) {
		if (tree.isLeaf(id)) {
			return false;
		}
		return switch (tree.kind(id)) {
		case ROOT, IMAGE, NODE -> true;
		case GROUP -> tree.structure(id) < 0 && switch (tree.kind(tree.firstChild(id))) {
			case STRUCTURE, STACK, RANGE, FRAMES, GROUP -> true;
			default -> false;
		};
		default -> false;
		};
	}
}
