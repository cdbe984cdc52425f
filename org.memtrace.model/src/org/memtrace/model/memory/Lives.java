// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.memory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which structures a person takes for one: blocks of one process image, kind, name and place in the source, whether they live one after
 * the other or at the same time. What is on a stack, and data of files of which no place is known, is never one with another. Immutable;
 * O(n log n) for n structures.
 */
public final class Lives {
	/** What the blocks of a structure have in common. */
	public record Key(int image, StructureKind kind, String name, String site) {
		/** That of a structure. */
		public static Key of(Structure s) {
			return new Key(s.image(), s.kind(), s.plainName(), s.site());
		}
	}

	private final List<Structure> structures;
	/** Of each structure the blocks that are one with it, in their natural order: of birth, then of number. */
	private final int[][] blocks;
	/** Of each structure its place among them. */
	private final int[] number;
	/** Of the first block of each structure, made when it is asked for. */
	private final Structure[] asOne;

	private Lives(List<Structure> structures) {
		this.structures = structures;
		int n = structures.size();
		blocks = new int[n][];
		number = new int[n];
		asOne = new Structure[n];
		Map<Key, List<Integer>> groups = new HashMap<>();
		for (int s = 0; s < n; s++) {
			Structure structure = structures.get(s);
			if (isNamedPlace(structure)) {
				groups.computeIfAbsent(Key.of(structure), key -> new ArrayList<>(1)).add(s);
			} else {
				blocks[s] = new int[] { s };
			}
		}
		for (List<Integer> group : groups.values()) {
			group.sort(Comparator.comparingLong((Integer s) -> structures.get(s).birthNs()).thenComparingInt(s -> s));
			int[] all = group.stream().mapToInt(Integer::intValue).toArray();
			for (int i = 0; i < all.length; i++) {
				blocks[all[i]] = all;
				number[all[i]] = i;
			}
		}
	}

	/** Of the structures of a trace; the number of a structure is its place in the list. */
	public static Lives of(List<Structure> structures) {
		return new Lives(structures);
	}

	/** Whether another structure with the same key is the same thing again. */
	private static boolean isNamedPlace(Structure s) {
		return switch (s.kind()) {
		case HEAP, MMAP -> !s.name().isBlank() || !s.site().isBlank();
		case BRK -> true;
		case STATIC, FILE -> !s.site().isBlank();
		case STACK -> false;
		};
	}

	/** Number of blocks that are one with a structure, itself included: 1 or more. */
	public int count(int structure) {
		return blocks[structure].length;
	}

	/** The blocks that are one with a structure, itself included, in the order of their births. */
	public int[] blocks(int structure) {
		return blocks[structure].clone();
	}

	/** The place of a structure among its blocks, from 1. */
	public int number(int structure) {
		return number[structure] + 1;
	}

	/** The first of the blocks that are one with a structure: the same for all of them. */
	public int first(int structure) {
		return blocks[structure][0];
	}

	/**
	 * What a person is told of all blocks of a structure: name, kind and place, the lowest address, the first birth, the last death, and
	 * as size the most bytes that lived at one time.
	 */
	public Structure asOne(int structure) {
		int[] all = blocks[structure];
		if (all.length == 1) {
			return structures.get(structure);
		}
		Structure one = asOne[all[0]]; // a race makes it twice
		if (one == null) {
			one = one(all);
			asOne[all[0]] = one;
		}
		return one;
	}

	private Structure one(int[] all) {
		Structure first = structures.get(all[0]);
		long start = first.startAddress();
		long death = first.deathNs();
		String type = first.typeName();
		long[] deaths = new long[all.length];
		Integer[] byDeath = new Integer[all.length];
		for (int i = 0; i < all.length; i++) {
			Structure s = structures.get(all[i]);
			start = Long.compareUnsigned(s.startAddress(), start) < 0 ? s.startAddress() : start;
			death = Math.max(death, s.deathNs());
			type = type.equals(s.typeName()) ? type : "";
			deaths[i] = s.deathNs();
			byDeath[i] = i;
		}
		Arrays.sort(byDeath, Comparator.comparingLong(i -> deaths[i]));
		long now = 0;
		long most = 0;
		int dead = 0;
		for (int block : all) { // in the order of births
			Structure s = structures.get(block);
			while (dead < all.length && deaths[byDeath[dead]] <= s.birthNs()) {
				now -= structures.get(all[byDeath[dead++]]).sizeBytes();
			}
			now += s.sizeBytes();
			most = Math.max(most, now);
		}
		return new Structure(first.id(), first.image(), first.kind(), first.plainName(), start, start + most, first.birthNs(), death,
				first.taskId(), first.stack(), first.site(), type, first.members(), most(all, Structure::hugeBytes),
				most(all, Structure::noHugeBytes));
	}

	private long most(int[] blocks, java.util.function.ToLongFunction<Structure> bytes) {
		return Arrays.stream(blocks).mapToLong(b -> bytes.applyAsLong(structures.get(b))).max().orElse(-1);
	}

	/**
	 * The blocks that are one with a structure and have some of an address range, in the order of their births: one after the other they
	 * lived there.
	 */
	public int[] at(int structure, long start, long end) {
		return Arrays.stream(blocks[structure]).filter(b -> Long.compareUnsigned(structures.get(b).startAddress(), end) < 0
				&& Long.compareUnsigned(start, structures.get(b).endAddress()) < 0).toArray();
	}

	/**
	 * Which of some blocks lived in an interval.
	 *
	 * @param some as {@link #at} gives them
	 * @return the one that lived longest in it, of equals the youngest; of those that have died before it, the last; -1 when there is none
	 */
	public int alive(int[] some, long startNs, long endNs) {
		int low = 0;
		int high = some.length;
		while (low < high) {
			int middle = (low + high) >>> 1;
			if (structures.get(some[middle]).birthNs() < endNs) {
				low = middle + 1;
			} else {
				high = middle;
			}
		}
		int best = -1;
		long longest = 0;
		for (int i = low - 1; i >= 0 && longest < endNs - startNs; i--) {
			Structure s = structures.get(some[i]);
			long lived = Math.min(endNs, s.deathNs()) - Math.max(startNs, s.birthNs());
			if (lived > longest) {
				best = some[i];
				longest = lived;
			} else if (s.deathNs() <= startNs && best >= 0) {
				break; // those before it have died, too, or live elsewhere
			}
		}
		return best >= 0 ? best : low > 0 ? some[low - 1] : some.length > 0 ? some[0] : -1;
	}

	/** The last death of the blocks that are one with a structure and lie where it lies. */
	public long lastDeathNs(int structure) {
		Structure s = structures.get(structure);
		return blocks[structure].length == 1 ? s.deathNs() : Arrays.stream(at(structure, s.startAddress(), s.endAddress()))
				.mapToLong(b -> structures.get(b).deathNs()).max().orElse(s.deathNs());
	}
}
