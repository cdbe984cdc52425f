// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.model.tree;

/** A {@link ProducerTree} in arrays; made by {@link ProducerTreeBuilder}. About 40 bytes per producer. */
final class ArrayProducerTree implements ProducerTree {
	private static final ProducerKind[] KINDS = ProducerKind.values();

	private final int size;
	private final int[] parent;
	private final int[] subtreeEnd;
	private final byte[] kind;
	private final long[] start;
	private final long[] end;
	private final int[] structure;
	private final String[] label;
	private final int pageSizeBytes;

	/** Keeps the arrays. */
	ArrayProducerTree(int size, int[] parent, int[] subtreeEnd, byte[] kind, long[] start, long[] end, int[] structure,
			String[] label, int pageSizeBytes) {
		this.size = size;
		this.parent = parent;
		this.subtreeEnd = subtreeEnd;
		this.kind = kind;
		this.start = start;
		this.end = end;
		this.structure = structure;
		this.label = label;
		this.pageSizeBytes = pageSizeBytes;
	}

	@Override
	public int size() {
		return size;
	}

	@Override
	public int parent(int id) {
		return parent[check(id)];
	}

	@Override
	public int subtreeEnd(int id) {
		return subtreeEnd[check(id)];
	}

	@Override
	public ProducerKind kind(int id) {
		return KINDS[kind[check(id)]];
	}

	@Override
	public long startAddress(int id) {
		return start[check(id)];
	}

	@Override
	public long endAddress(int id) {
		return end[check(id)];
	}

	@Override
	public int structure(int id) {
		return structure[check(id)];
	}

	@Override
	public String name(int id) {
		if (label[check(id)] != null) {
			return label[id];
		}
		int owner = parent[id];
		while (owner != NO_PARENT && label[owner] == null) {
			owner = parent[owner];
		}
		String ownerLabel = owner == NO_PARENT ? "" : label[owner] + " ";
		boolean page = kind(id) == ProducerKind.PAGE;
		if (owner != NO_PARENT && pageSizeBytes > 0 && kind(owner) == ProducerKind.FRAMES) {
			String first = Long.toHexString(Long.divideUnsigned(start[id], pageSizeBytes));
			return page ? "frame " + first
					: "frames " + first + "-" + Long.toHexString(Long.divideUnsigned(end[id] - 1, pageSizeBytes));
		}
		if (owner == NO_PARENT || pageSizeBytes <= 0 || kind(owner) == ProducerKind.GROUP && structure[owner] < 0) {
			String from = Long.toHexString(start[id]);
			return ownerLabel + (page ? "[page at " + from + "]" : "[" + from + "-" + Long.toHexString(end[id]) + "]");
		}
		long origin = Long.divideUnsigned(start[owner], pageSizeBytes);
		long first = Long.divideUnsigned(start[id], pageSizeBytes) - origin;
		long last = Long.divideUnsigned(end[id] - 1, pageSizeBytes) - origin;
		return ownerLabel + (page ? "[page " + first + "]" : "[pages " + first + "-" + last + "]");
	}

	private int check(int id) {
		if (id < 0 || id >= size) {
			throw new IndexOutOfBoundsException("event producer " + id + " of " + size);
		}
		return id;
	}
}
