// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.model;

import java.util.Arrays;

/**
 * Builds a {@link ProducerTree} in depth-first order: {@link #begin} a producer, its children, {@link #end}. The id of a
 * producer is the number of {@code begin} calls before it. Used by one thread.
 */
public final class ProducerTreeBuilder {
	static final ProducerKind[] KINDS = ProducerKind.values();

	private final int pageSizeBytes;
	private int size;
	/** The innermost producer that is not ended. */
	private int open = ProducerTree.NO_PARENT;
	private int[] parent = new int[64];
	private int[] subtreeEnd = new int[64];
	private byte[] kind = new byte[64];
	private long[] start = new long[64];
	private long[] end = new long[64];
	private int[] structure = new int[64];
	private String[] label = new String[64];

	/** @param pageSizeBytes size of a page, from which the names of parts and pages are made; 0 when there are none */
	public ProducerTreeBuilder(int pageSizeBytes) {
		this.pageSizeBytes = pageSizeBytes;
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
	 * @param structureId {@link Structure#id}, or -1
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
		return new ArrayProducerTree(size, Arrays.copyOf(parent, size), Arrays.copyOf(subtreeEnd, size),
				Arrays.copyOf(kind, size), Arrays.copyOf(start, size), Arrays.copyOf(end, size),
				Arrays.copyOf(structure, size), Arrays.copyOf(label, size), pageSizeBytes);
	}
}
