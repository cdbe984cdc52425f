// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.model.ProducerKind;
import org.memtrace.model.ProducerTree;
import org.memtrace.model.ProducerTreeBuilder;
import org.memtrace.model.Structure;
import org.memtrace.model.StructureKind;

/**
 * Builds the tree of event producers (docs/import.md): root, images if there are several, structures and ranges by address,
 * their recursive division by page number, pages. O(n log n) for n leaves.
 *
 * <p>A structure is divided by its own pages, touched or not, so that a part is at the same place in the structure in every
 * trace; parts without a touched page are left out, and so is a part that would have a single child.
 */
final class MemoryTreeBuilder {
	/** More siblings than these are merged and grouped. */
	static final int MOST_SIBLINGS = 1000;
	private static final int GROUP_SIZE = 250;

	/** A top-level producer and its leaves in order of their pages; a page comes more than once only in a merged group. */
	private record Owner(ProducerKind kind, String label, long start, long end, int structure, int[] leaves) {
	}

	private final int pageShift;
	private final int fanout;
	private final List<Structure> structures;
	private final ProducerTreeBuilder tree;
	private final Map<String, Integer> usedLabels = new HashMap<>();
	/** Of the image that is being built. */
	private LeafTable leaves;
	private int[] producerOfLeaf;

	MemoryTreeBuilder(int pageShift, int fanout, List<Structure> structures) {
		this.pageShift = pageShift;
		this.fanout = fanout;
		this.structures = structures;
		tree = new ProducerTreeBuilder(1 << pageShift);
		tree.begin(ProducerKind.ROOT, unique("MemoryRoot"), 0, 0, -1);
	}

	/**
	 * Adds an image.
	 *
	 * @param label name of its own node, null when it is the only one
	 * @return the producer of each leaf
	 */
	int[] image(String label, LeafTable table, MemoryMap map) {
		leaves = table;
		producerOfLeaf = new int[table.size()];
		if (label != null) {
			tree.begin(ProducerKind.IMAGE, unique(label), 0, 0, -1);
		}
		List<Owner> owners = owners(map);
		if (owners.size() > MOST_SIBLINGS) {
			owners = merge(owners, true);
		}
		if (owners.size() > MOST_SIBLINGS) {
			owners = merge(owners, false);
		}
		owners.sort(Comparator.comparing(Owner::start, Long::compareUnsigned).thenComparing(Owner::structure));
		siblings(owners);
		if (label != null) {
			tree.end();
		}
		return producerOfLeaf;
	}

	ProducerTree build() {
		tree.end();
		return tree.build();
	}

	/** Structures and ranges; names are given in the order of the structures' ids, that is of their allocation. */
	private List<Owner> owners(MemoryMap map) {
		int[] order = byStructureAndPage();
		List<Owner> owners = new ArrayList<>();
		int from = 0;
		while (from < order.length) {
			int structure = leaves.structure(order[from]);
			int to = from + 1;
			while (to < order.length && leaves.structure(order[to]) == structure) {
				to++;
			}
			if (structure < 0) {
				ranges(Arrays.copyOfRange(order, from, to), map, owners);
			} else {
				Structure s = structures.get(structure);
				owners.add(new Owner(s.kind() == StructureKind.STACK ? ProducerKind.STACK : ProducerKind.STRUCTURE, null,
						s.startAddress(), s.endAddress(), structure, Arrays.copyOfRange(order, from, to)));
			}
			from = to;
		}
		return owners;
	}

	private int[] byStructureAndPage() {
		int n = leaves.size();
		long[] sorted = new long[n];
		for (int i = 0; i < n; i++) {
			sorted[i] = leaves.pageIndex(i);
		}
		Arrays.sort(sorted);
		int[] rank = new int[n];
		for (int i = 0; i < n; i++) {
			rank[i] = Arrays.binarySearch(sorted, leaves.pageIndex(i));
		}
		int[] key = new int[n];
		for (int i = 0; i < n; i++) {
			key[i] = leaves.structure(i) + 1;
		}
		int[] identity = new int[n];
		for (int i = 0; i < n; i++) {
			identity[i] = i;
		}
		return countingSort(countingSort(identity, rank, n), key, structures.size() + 1);
	}

	/** Stable. */
	private static int[] countingSort(int[] items, int[] key, int keys) {
		int[] position = new int[keys + 1];
		for (int item : items) {
			position[key[item] + 1]++;
		}
		for (int k = 0; k < keys; k++) {
			position[k + 1] += position[k];
		}
		int[] result = new int[items.length];
		for (int item : items) {
			result[position[key[item]]++] = item;
		}
		return result;
	}

	/** Pages outside of structures: one range for each area of the memory map, elsewhere one for each run of pages. */
	private void ranges(int[] order, MemoryMap map, List<Owner> owners) {
		int from = 0;
		while (from < order.length) {
			long first = leaves.pageIndex(order[from]);
			MemoryMap.Area area = map.at(first << pageShift);
			int to = from + 1;
			while (to < order.length) {
				long page = leaves.pageIndex(order[to]);
				if (area != null ? Long.compareUnsigned(page << pageShift, area.end()) >= 0
						: page != leaves.pageIndex(order[to - 1]) + 1 || map.at(page << pageShift) != null) {
					break;
				}
				to++;
			}
			long end = leaves.pageIndex(order[to - 1]) + 1;
			long pages = end - first;
			String label = area != null && !area.name().isEmpty() ? area.name()
					: Long.toHexString(first << pageShift) + " (" + pages + (pages == 1 ? " page)" : " pages)");
			owners.add(new Owner(ProducerKind.RANGE, label, first << pageShift, end << pageShift, -1,
					Arrays.copyOfRange(order, from, to)));
			from = to;
		}
	}

	/**
	 * Merges structures of one origin into one producer.
	 *
	 * @param byOrigin by call stack or site and by size (all sizes below a page are one); else all smaller than a page by kind
	 */
	private List<Owner> merge(List<Owner> owners, boolean byOrigin) {
		Map<String, List<Owner>> groups = new LinkedHashMap<>();
		List<Owner> result = new ArrayList<>();
		for (Owner owner : owners) {
			String key = owner.structure < 0 ? null : key(structures.get(owner.structure), byOrigin);
			if (key == null) {
				result.add(owner);
			} else {
				groups.computeIfAbsent(key, k -> new ArrayList<>()).add(owner);
			}
		}
		for (List<Owner> members : groups.values()) {
			result.add(members.size() == 1 ? members.get(0) : merged(members, byOrigin));
		}
		return result;
	}

	private String key(Structure s, boolean byOrigin) {
		boolean small = Long.compareUnsigned(s.sizeBytes(), 1L << pageShift) < 0;
		if (!byOrigin) {
			return small ? s.kind().name() : null;
		}
		if (s.stack() < 0 && s.site().isEmpty()) {
			return null;
		}
		return s.kind() + "|" + (s.stack() >= 0 ? s.stack() : s.site()) + "|" + (small ? "small" : s.sizeBytes());
	}

	private Owner merged(List<Owner> members, boolean byOrigin) {
		Structure first = structures.get(members.get(0).structure);
		String what = !byOrigin ? "small " + first.kind().name().toLowerCase(Locale.ROOT) + " blocks"
				: first.site().isEmpty() ? first.name() : first.site();
		String label = String.format(Locale.ROOT, "%s (%,d blocks)", what, members.size());
		int[] all = members.stream().flatMapToInt(m -> Arrays.stream(m.leaves)).toArray();
		Integer[] boxed = Arrays.stream(all).boxed().toArray(Integer[]::new);
		Arrays.sort(boxed, Comparator.comparingLong(leaves::pageIndex));
		int[] sorted = Arrays.stream(boxed).mapToInt(Integer::intValue).toArray();
		return new Owner(ProducerKind.GROUP, label, leaves.pageIndex(sorted[0]) << pageShift,
				leaves.pageIndex(sorted[sorted.length - 1]) + 1 << pageShift, -1, sorted);
	}

	private void siblings(List<Owner> owners) {
		String[] labels = new String[owners.size()];
		Integer[] byId = new Integer[owners.size()];
		Arrays.setAll(byId, i -> i);
		Arrays.sort(byId, Comparator.comparingInt(i -> owners.get(i).structure));
		for (int i : byId) {
			labels[i] = unique(owners.get(i).label != null ? owners.get(i).label : label(owners.get(i)));
		}
		siblings(owners, labels, 0, owners.size());
	}

	/** Too many siblings are put into groups of neighbours, those into groups again if there are still too many. */
	private void siblings(List<Owner> owners, String[] labels, int from, int to) {
		int count = to - from;
		if (count <= MOST_SIBLINGS) {
			for (int i = from; i < to; i++) {
				emit(owners.get(i), labels[i]);
			}
			return;
		}
		int groups = Math.min(MOST_SIBLINGS, (count + GROUP_SIZE - 1) / GROUP_SIZE);
		for (int g = 0; g < groups; g++) {
			int first = from + (int) ((long) count * g / groups);
			int last = from + (int) ((long) count * (g + 1) / groups);
			long start = owners.get(first).start;
			long end = owners.get(last - 1).end;
			tree.begin(ProducerKind.GROUP, unique(String.format(Locale.ROOT, "%x-%x (%,d producers)", start, end,
					last - first)), start, end, -1);
			siblings(owners, labels, first, last);
			tree.end();
		}
	}

	private String label(Owner owner) {
		Structure s = structures.get(owner.structure);
		if (s.kind() == StructureKind.BRK) {
			return "heap (small blocks)";
		}
		if (!s.name().isBlank()) {
			return s.name().strip();
		}
		return s.kind().name().toLowerCase(Locale.ROOT) + " "
				+ (s.site().isBlank() ? Long.toHexString(s.startAddress()) : s.site());
	}

	/** The label, or with the first free number behind it. '=' would break FrameSoc's colour files. */
	private String unique(String label) {
		String base = label.replace('=', ':').replaceAll("\\p{Cntrl}", " ");
		Integer count = usedLabels.putIfAbsent(base, 1);
		if (count == null) {
			return base;
		}
		String candidate;
		do {
			candidate = base + " #" + ++count;
		} while (usedLabels.containsKey(candidate));
		usedLabels.put(base, count);
		usedLabels.put(candidate, 1);
		return candidate;
	}

	private void emit(Owner owner, String label) {
		int[] list = owner.leaves;
		long firstPage = owner.start >>> pageShift;
		long pages = (owner.end - 1 >>> pageShift) - firstPage + 1;
		int id = tree.begin(owner.kind, label, owner.start, owner.end, owner.structure);
		if (pages == 1) {
			map(list, 0, list.length, id); // the producer is its only page
		} else {
			divide(owner, firstPage, pages, 0, list.length);
		}
		tree.end();
	}

	private void map(int[] list, int from, int to, int id) {
		for (int i = from; i < to; i++) {
			producerOfLeaf[list[i]] = id;
		}
	}

	/** Emits the children of a cell of pages: {@code list[from..to)} are the leaves in it. */
	private void divide(Owner owner, long cellFirst, long cellPages, int from, int to) {
		int[] list = owner.leaves;
		long first = cellFirst;
		long pages = cellPages;
		while (true) {
			if (leaves.pageIndex(list[from]) == leaves.pageIndex(list[to - 1])) {
				page(owner, from, to);
				return;
			}
			int parts = (int) Math.min(fanout, pages);
			int[] bounds = new int[parts + 1];
			int used = 0;
			int only = 0;
			bounds[0] = from;
			for (int k = 0; k < parts; k++) {
				bounds[k + 1] = k == parts - 1 ? to : lowerBound(list, bounds[k], to, first + bound(pages, k + 1, parts));
				if (bounds[k + 1] > bounds[k]) {
					used++;
					only = k;
				}
			}
			if (used == 1) { // a node with a single child says nothing: go on inside
				long start = bound(pages, only, parts);
				pages = bound(pages, only + 1, parts) - start;
				first += start;
				continue;
			}
			for (int k = 0; k < parts; k++) {
				if (bounds[k + 1] > bounds[k]) {
					part(owner, first + bound(pages, k, parts), bound(pages, k + 1, parts) - bound(pages, k, parts),
							bounds[k], bounds[k + 1]);
				}
			}
			return;
		}
	}

	private static long bound(long pages, int k, int parts) {
		return pages / parts * k + pages % parts * k / parts;
	}

	private int lowerBound(int[] list, int from, int to, long page) {
		int low = from;
		int high = to;
		while (low < high) {
			int middle = (low + high) >>> 1;
			if (leaves.pageIndex(list[middle]) < page) {
				low = middle + 1;
			} else {
				high = middle;
			}
		}
		return low;
	}

	private void part(Owner owner, long cellFirst, long cellPages, int from, int to) {
		int[] list = owner.leaves;
		if (leaves.pageIndex(list[from]) == leaves.pageIndex(list[to - 1])) {
			page(owner, from, to);
			return;
		}
		// shrink the cell as long as all its leaves are in one part of it, so that the name is about them
		long first = cellFirst;
		long pages = cellPages;
		while (true) {
			int parts = (int) Math.min(fanout, pages);
			int k = 0;
			long lowest = leaves.pageIndex(list[from]) - first;
			while (bound(pages, k + 1, parts) <= lowest) {
				k++;
			}
			if (leaves.pageIndex(list[to - 1]) - first >= bound(pages, k + 1, parts)) {
				break;
			}
			long start = bound(pages, k, parts);
			pages = bound(pages, k + 1, parts) - start;
			first += start;
		}
		tree.begin(ProducerKind.PART, null, clipStart(owner, first << pageShift),
				clipEnd(owner, first + pages << pageShift), owner.structure);
		divide(owner, first, pages, from, to);
		tree.end();
	}

	private void page(Owner owner, int from, int to) {
		long start = leaves.pageIndex(owner.leaves[from]) << pageShift;
		map(owner.leaves, from, to, tree.leaf(ProducerKind.PAGE, null, clipStart(owner, start),
				clipEnd(owner, start + (1L << pageShift)), owner.structure));
	}

	private static long clipStart(Owner owner, long start) {
		return Long.compareUnsigned(start, owner.start) < 0 ? owner.start : start;
	}

	/** An end of 0 is the end of the address space. */
	private static long clipEnd(Owner owner, long end) {
		return Long.compareUnsigned(end - 1, owner.end - 1) > 0 ? owner.end : end;
	}
}
