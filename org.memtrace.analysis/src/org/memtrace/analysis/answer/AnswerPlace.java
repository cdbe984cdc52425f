// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.answer;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.memtrace.analysis.text.Parts;

import org.memtrace.model.ThreadInfo;
import org.memtrace.model.memory.Lives;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/** What a row of an answer is about, by the names of its columns: pages and structures, or a thread. */
public final class AnswerPlace {
	/** Columns of addresses, the finest first. */
	private static final String[] ADDRESSES = {"address", "page_start"};
	private static final String[] STRUCTURES = {"structure", "name"};

	private AnswerPlace() {
	}

	/**
	 * Producers of a row: by {@code producer}, else by an address, else by {@code structure_id}, else by the name of a structure.
	 *
	 * @param tree the tree of the trace that was asked
	 * @return in the order of the tree; none when the row names nothing that the tree has
	 */
	public static int[] producers(AnswerTable table, int row, ProducerTree tree, List<Structure> structures) {
		if (whole(table, "producer", row) instanceof Long id) {
			return id >= 0 && id < tree.size() ? new int[] {id.intValue()} : new int[0];
		}
		for (String name : ADDRESSES) {
			int column = table.column(name);
			if (column >= 0 && table.columns().get(column).isAddress() && table.rows().get(row)[column] instanceof Number n) {
				long address = n instanceof BigInteger i ? i.longValue() : n.longValue();
				return IntStream.range(0, tree.size()).filter(id -> tree.isLeaf(id) && Long.compareUnsigned(tree.startAddress(id), address) <= 0
						&& Long.compareUnsigned(address, tree.endAddress(id)) < 0).toArray();
			}
		}
		if (whole(table, "structure_id", row) instanceof Long id) {
			return id < 0 || id >= structures.size() ? new int[0] : block(tree, structures, id.intValue());
		}
		for (String name : STRUCTURES) {
			int column = table.column(name);
			if (column >= 0 && table.rows().get(row)[column] instanceof String text) {
				int[] ids = structures.stream().filter(s -> s.name().equals(text)).mapToInt(Structure::id).sorted().toArray();
				if (ids.length > 0) {
					return tops(tree, s -> Arrays.binarySearch(ids, s) >= 0);
				}
				for (int part : Parts.ids(tree, -1)) {
					if (tree.name(part).equals(text)) {
						return new int[] {part};
					}
				}
				return ids;
			}
		}
		return new int[0];
	}

	/** The producer of a block, or of the place where it and others of its name lived. */
	private static int[] block(ProducerTree tree, List<Structure> structures, int structure) {
		int[] own = tops(tree, s -> s == structure);
		if (own.length > 0) {
			return own;
		}
		Structure block = structures.get(structure);
		int[] all = Lives.of(structures).blocks(structure);
		int[] places = tops(tree, s -> Arrays.stream(all).anyMatch(b -> b == s));
		for (int id : places) { // what is deepest comes last
			for (int below = tree.subtreeEnd(id) - 1; below >= id; below--) {
				if (tree.kind(below) == ProducerKind.GROUP && Long.compareUnsigned(tree.startAddress(below), block.startAddress()) <= 0
						&& Long.compareUnsigned(block.endAddress() - 1, tree.endAddress(below) - 1) <= 0) {
					return new int[] {below};
				}
			}
		}
		return own;
	}

	/** The highest producers of some structures. */
	private static int[] tops(ProducerTree tree, IntPredicate structure) {
		IntStream.Builder tops = IntStream.builder();
		for (int id = 0; id < tree.size();) {
			if (tree.structure(id) >= 0 && structure.test(tree.structure(id))) {
				tops.add(id);
				id = tree.subtreeEnd(id);
			} else {
				id++;
			}
		}
		return tops.build().toArray();
	}

	/** The thread of a row: by {@code thread_index}, else by {@code thread} where only one has that name; -1 for none. */
	public static int thread(AnswerTable table, int row, List<ThreadInfo> threads) {
		if (whole(table, "thread_index", row) instanceof Long index) {
			return index >= 0 && index < threads.size() ? index.intValue() : -1;
		}
		int column = table.column("thread");
		if (column < 0 || !(table.rows().get(row)[column] instanceof String text)) {
			return -1;
		}
		int[] named = IntStream.range(0, threads.size()).filter(t -> threads.get(t).name().equals(text)).toArray();
		return named.length == 1 ? named[0] : -1;
	}

	private static Long whole(AnswerTable table, String name, int row) {
		int column = table.column(name);
		return column >= 0 && table.rows().get(row)[column] instanceof Long n ? n : null;
	}
}
