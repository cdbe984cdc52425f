// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.rows;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Numbers for the distinct CPU masks of a trace. */
public final class CpuSets {
	private final LongNumbers narrow = new LongNumbers();
	/** Number of a mask of up to 64 CPUs by its number in {@link #narrow}. */
	private final List<Integer> narrowNumber = new ArrayList<>();
	private final Map<BitSet, Integer> wide = new HashMap<>();
	private final List<BitSet> sets = new ArrayList<>();

	/** -1 for the empty set, which means unknown. */
	public int number(long mask) {
		if (mask == 0) {
			return -1;
		}
		int known = narrow.size();
		int number = narrow.number(mask);
		if (number == known) {
			narrowNumber.add(sets.size());
			sets.add(BitSet.valueOf(new long[] { mask }));
		}
		return narrowNumber.get(number);
	}

	/** A mask of any width; the bytes must be hexadecimal digits. */
	public int number(byte[] digits, int from, int to) {
		byte[] big = new BigInteger(new String(digits, from, to - from, StandardCharsets.US_ASCII), 16).toByteArray();
		byte[] little = new byte[big.length];
		for (int i = 0; i < big.length; i++) {
			little[i] = big[big.length - 1 - i];
		}
		return number(BitSet.valueOf(little));
	}

	/** A set of any width. */
	public int number(BitSet set) {
		if (set.length() <= Long.SIZE) {
			return number(set.isEmpty() ? 0 : set.toLongArray()[0]);
		}
		return wide.computeIfAbsent(set, key -> {
			sets.add(key);
			return sets.size() - 1;
		});
	}

	public List<BitSet> sets() {
		return sets;
	}
}
