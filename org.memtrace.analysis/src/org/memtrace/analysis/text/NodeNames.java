// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import java.util.List;
import java.util.Locale;

import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.model.memory.Lives;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/** What a person calls the nodes of a hierarchy. */
public final class NodeNames {
	private final Hierarchy hierarchy;
	private final ProducerTree tree;
	private final List<Structure> structures;
	private volatile Lives lives;

	/**
	 * @param tree the producers of the hierarchy; null to call nodes by their number
	 * @param structures structures by id, may be empty
	 */
	public NodeNames(Hierarchy hierarchy, ProducerTree tree, List<Structure> structures) {
		this.hierarchy = hierarchy;
		this.tree = tree;
		this.structures = structures;
	}

	public Hierarchy hierarchy() {
		return hierarchy;
	}

	/** Kind of a node; that of an artificial root is {@code ROOT}. */
	public ProducerKind kind(int node) {
		int id = hierarchy.producer(node);
		return id < 0 ? ProducerKind.ROOT : tree == null ? ProducerKind.OTHER : tree.kind(id);
	}

	/** The structure that a node is or is a part of, or null; of several blocks, all of them as one. */
	public Structure structure(int node) {
		int id = hierarchy.producer(node);
		int s = id < 0 || tree == null ? -1 : tree.structure(id);
		if (s < 0 || s >= structures.size()) {
			return null;
		}
		return tree.kind(id) != ProducerKind.GROUP ? structures.get(s) : lives().asOne(s);
	}

	private Lives lives() {
		Lives made = lives; // a race makes it twice
		if (made == null) {
			made = Lives.of(structures);
			lives = made;
		}
		return made;
	}

	/** Whether a node only stands around structures, as roots do. */
	public boolean isAround(int node) {
		int id = hierarchy.producer(node);
		return id < 0 || tree != null && Parts.isOpen(tree, id);
	}

	private boolean isBlocks(int node) {
		int id = hierarchy.producer(node);
		return id >= 0 && tree != null && tree.kind(id) == ProducerKind.GROUP && tree.structure(id) >= 0;
	}

	/** Name of a node. */
	public String name(int node) {
		int id = hierarchy.producer(node);
		if (id < 0) {
			return "all";
		}
		String name = tree == null ? "node " + id : tree.name(id);
		return hierarchy.isArtificial(node) ? name + " itself" : name;
	}

	/** Name without what stands in parentheses at its end: {@code 7f50a000} for {@code 7f50a000 (2 pages)}. */
	public String shortName(int node) {
		String name = name(node);
		int open = name.lastIndexOf(" (");
		return open > 0 && name.endsWith(")") ? name.substring(0, open) : name;
	}

	/**
	 * Whether a person finds the name of a node in the source of the program: allocations, and symbols with a known place. Symbols
	 * without one are mostly those of libraries.
	 */
	public boolean isNamedByProgram(int node) {
		ProducerKind kind = kind(node);
		if (kind == ProducerKind.OTHER) {
			return true;
		}
		Structure s = structure(node);
		if (kind != ProducerKind.STRUCTURE && !isBlocks(node) || s == null) {
			return kind == ProducerKind.STRUCTURE;
		}
		return switch (s.kind()) {
		case HEAP, MMAP -> true;
		case STATIC -> !s.site().isEmpty();
		case BRK -> !s.isWholeHeap();
		case STACK, FILE -> false;
		};
	}

	/** What some nodes are, in the plural: the common noun of a legend. */
	public String noun(List<Integer> nodes) {
		boolean inside = kind(0) != ProducerKind.ROOT && kind(0) != ProducerKind.IMAGE;
		if (nodes.stream().allMatch(n -> kind(n) == ProducerKind.STACK)) {
			return "stacks";
		} else if (nodes.stream().allMatch(n -> kind(n) == ProducerKind.RANGE)) {
			return "ranges";
		} else if (nodes.stream().allMatch(n -> kind(n) == ProducerKind.NODE)) {
			return "NUMA nodes";
		} else if (nodes.stream().allMatch(n -> kind(n) == ProducerKind.FRAMES)) {
			return "ranges of frames";
		} else if (nodes.stream().allMatch(n -> kind(n) == ProducerKind.OTHER)) {
			return "producers";
		}
		return inside ? "parts" : "structures";
	}

	/** Kind and size, such as {@code heap 8.0 MiB}; empty when the name says all. */
	public String detail(int node) {
		int id = hierarchy.producer(node);
		if (id < 0 || tree == null) {
			return "";
		}
		long size = tree.endAddress(id) - tree.startAddress(id);
		return switch (isBlocks(node) ? ProducerKind.STRUCTURE : tree.kind(id)) {
		case STRUCTURE, STACK -> {
			Structure s = structure(node);
			String kind = s == null ? tree.kind(id) == ProducerKind.STACK ? "stack" : ""
					: s.kind().name().toLowerCase(Locale.ROOT);
			long bytes = s == null ? size : s.sizeBytes();
			yield (kind + " " + (bytes > 0 ? Units.bytes(bytes) : "")).trim();
		}
		case RANGE, GROUP, IMAGE, NODE, FRAMES -> Units.plural(hierarchy.weight(node), "page");
		default -> "";
		};
	}

	/** Name and detail: {@code A [heap 8.0 MiB]}. */
	public String full(int node) {
		String name = name(node);
		String detail = detail(node);
		return detail.isEmpty() || name.contains("[") || name.endsWith(")") ? name : name + " [" + detail + "]";
	}
}
