// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.find;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Pieces of memory by address; some may overlap, as memory is used again and processes have the same addresses. Addresses are unsigned,
 * pieces half-open. Immutable.
 */
final class AddressIndex {
	/** A piece of memory. */
	record Block(long start, long end, int id) {
		boolean has(long address) {
			return Long.compareUnsigned(start, address) <= 0 && Long.compareUnsigned(address, end) < 0;
		}
	}

	private static final long BIAS = Long.MIN_VALUE;

	/** By start, then by end. */
	private final Block[] blocks;
	/** Starts with their sign turned. */
	private final long[] start;
	/** Of the blocks up to each one that which ends last. */
	private final int[] endsLast;

	AddressIndex(List<Block> all) {
		blocks = all.stream().filter(b -> Long.compareUnsigned(b.start(), b.end()) < 0)
				.sorted(Comparator.comparingLong((Block b) -> b.start() ^ BIAS).thenComparingLong(b -> b.end() ^ BIAS)).toArray(Block[]::new);
		start = Arrays.stream(blocks).mapToLong(b -> b.start() ^ BIAS).toArray();
		endsLast = new int[blocks.length];
		for (int i = 1; i < blocks.length; i++) {
			int before = endsLast[i - 1];
			endsLast[i] = Long.compareUnsigned(blocks[i].end(), blocks[before].end()) > 0 ? i : before;
		}
	}

	/** Number of blocks that begin at an address or before. */
	private int upTo(long address) {
		int low = 0;
		int high = start.length;
		while (low < high) {
			int middle = (low + high) >>> 1;
			if (start[middle] <= (address ^ BIAS)) {
				low = middle + 1;
			} else {
				high = middle;
			}
		}
		return low;
	}

	/** Those that have an address: the smallest first. */
	List<Block> at(long address) {
		int end = upTo(address);
		int first = end;
		while (first > 0 && blocks[endsLast[first - 1]].has(address)) {
			first--;
		}
		return IntStream.range(first, end).mapToObj(i -> blocks[i]).filter(b -> b.has(address))
				.sorted(Comparator.comparingLong((Block b) -> b.end() - b.start()).thenComparingInt(Block::id)).toList();
	}

	/** Of an address that nothing has: the one before it that ends last, or null. */
	Block before(long address) {
		int end = upTo(address);
		return end == 0 ? null : blocks[endsLast[end - 1]];
	}

	/** The first one that begins behind an address, or null. */
	Block after(long address) {
		int end = upTo(address);
		return end == blocks.length ? null : blocks[end];
	}
}
