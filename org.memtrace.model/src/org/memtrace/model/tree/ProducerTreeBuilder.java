// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.model.tree;

import java.util.Arrays;

/**
 * Builds a {@link ProducerTree} in depth-first order: {@link #begin} a producer, its children, {@link #end}. The id of a
 * producer is the number of {@code begin} calls before it. Used by one thread.
 */
public final class ProducerTreeBuilder {

	private final int pageSizeBytes;
	private int size;
	/** The innermost producer that is not ended. */
	private int open = ProducerTree.NO_PARENT;
	private int[] parent;
	private int[] subtreeEnd;
	private byte[] kind;
	private long[] start;
	private long[] end;
	private int[] structure;
	private String[] label;

	/** @param pageSizeBytes size of a page, from which the names of parts and pages are made; 0 when there are none */
	public ProducerTreeBuilder(int pageSizeBytes) {
		this(pageSizeBytes, 64);
	}

	/** @param capacity number of producers to make room for, when it is known */
	public ProducerTreeBuilder(int pageSizeBytes, int capacity) {
		this.pageSizeBytes = pageSizeBytes;
		int n = Math.max(4, capacity);
		parent = new int[n];
		subtreeEnd = new int[n];
		kind = new byte[n];
		start = new long[n];
		end = new long[n];
		structure = new int[n];
		label = new String[n];
	}

	/** A forest of producers that are no memory, one root for each name. */
	public static ProducerTree flat(String... names) {
		ProducerTreeBuilder builder = new ProducerTreeBuilder(0);
		for (String name : names) {
			builder.leaf(ProducerKind.OTHER, name, 0, 0, -1);
		}
		return builder.build();
	}

	/** Number of producers so far, which is the id of the next one. */
	public int size() {
		return size;
	}

	/**
	 * Begins a producer; its parent is the one that was begun last and is not ended.
	 *
	 * @param name what a person reads, or null for a {@code PART} or {@code PAGE}: then the name is that of the nearest
	 *        named ancestor with the page numbers counted from its start (with addresses below a {@code GROUP})
	 * @param structureId {@link org.memtrace.model.memory.Structure#id}, or -1
	 * @return the id of the producer
	 */
	public int begin(ProducerKind producerKind, String name, long startAddress, long endAddress, int structureId) {
		if (size == parent.length) {
			int capacity = size + (size >> 1);
			parent = Arrays.copyOf(parent, capacity);
			subtreeEnd = Arrays.copyOf(subtreeEnd, capacity);
			kind = Arrays.copyOf(kind, capacity);
			start = Arrays.copyOf(start, capacity);
			end = Arrays.copyOf(end, capacity);
			structure = Arrays.copyOf(structure, capacity);
			label = Arrays.copyOf(label, capacity);
		}
		int id = size++;
		parent[id] = open;
		kind[id] = (byte) producerKind.ordinal();
		label[id] = name;
		start[id] = startAddress;
		end[id] = endAddress;
		structure[id] = structureId;
		open = id;
		return id;
	}

	/** Ends the producer that was begun last. */
	public void end() {
		if (open == ProducerTree.NO_PARENT) {
			throw new IllegalStateException("no producer is open");
		}
		subtreeEnd[open] = size;
		open = parent[open];
	}

	/** Adds a producer without children. */
	public int leaf(ProducerKind producerKind, String name, long startAddress, long endAddress, int structureId) {
		int id = begin(producerKind, name, startAddress, endAddress, structureId);
		end();
		return id;
	}

	/** The tree; the builder must not be used afterwards. */
	public ProducerTree build() {
		if (open != ProducerTree.NO_PARENT) {
			throw new IllegalStateException("producer " + open + " is not ended");
		}
		if (size < parent.length) {
			parent = Arrays.copyOf(parent, size);
			subtreeEnd = Arrays.copyOf(subtreeEnd, size);
			kind = Arrays.copyOf(kind, size);
			start = Arrays.copyOf(start, size);
			end = Arrays.copyOf(end, size);
			structure = Arrays.copyOf(structure, size);
			label = Arrays.copyOf(label, size);
		}
		return new ArrayProducerTree(size, parent, subtreeEnd, kind, start, end, structure, label, pageSizeBytes);
	}
}
