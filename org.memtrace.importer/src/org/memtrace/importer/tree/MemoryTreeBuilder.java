// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.tree;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.IntSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.Lives;
import org.memtrace.model.memory.MemoryArea;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.PageCells;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.tree.MemoryTrees;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.model.tree.RankNames;

/**
 * Builds the trees of event producers from cells (docs/how/import.md). The virtual one: root, images if there are several, structures and
 * ranges by address, their recursive division by page number, pages. The physical one: root, NUMA nodes, contiguous ranges of page
 * frames, their division, frames. O(n log n) for n cells.
 *
 * <p>A structure is divided by its own pages, touched or not, so that a part is at the same place in the structure in every
 * trace; parts without a touched page are left out, and so is a part that would have a single child.
 */
public final class MemoryTreeBuilder {

	/** More siblings than these are merged and grouped. */
	static final int MOST_SIBLINGS = 1000;
	private static final int GROUP_SIZE = 250;
	/** Blocks with fewer pages are not shown one by one. */
	private static final int SMALL_PAGES = 16;
	private static final int CHECK = 65_536;

	/** Cells by page number, which is that of the frame in the physical tree. */
	private interface Pages {
		long pageIndex(int cell);
	}

	/**
	 * A producer that is divided into pages.
	 *
	 * @param label null to be made from the structure
	 * @param structure -1 when there is none, or several
	 * @param members structures
	 * @param cells in order of their pages; a page comes more than once when several structures or frames have used it
	 * @param blocks what it is divided into before the pages, in the order of the first births; empty for pages only
	 */
	private record Owner(ProducerKind kind, String label, long start, long end, int structure, int[] members, int[] cells,
			List<Owner> blocks) {
		Owner(ProducerKind kind, String label, long start, long end, int structure, int[] members, int[] cells) {
			this(kind, label, start, end, structure, members, cells, List.of());
		}
	}

	private final PageCells cells;
	private final int pageShift;
	private final int fanout;
	private final List<Structure> structures;
	private final List<MergeRule> rules;
	private final MergeRule.Stacks stacks;
	private final ProducerLabels names;
	private final Lives lives;
	private final Progress progress;
	private ProducerTreeBuilder tree;
	private Pages pages;
	/** Producer of each cell in the tree that is being built. */
	private int[] producerOf;
	private int worked;

	private MemoryTreeBuilder(MemoryLayout layout, List<Structure> structures, MergeRule.Stacks stacks, Progress progress) {
		this.cells = layout.cells();
		this.pageShift = Integer.numberOfTrailingZeros(layout.pageSizeBytes());
		this.fanout = layout.fanout();
		this.structures = structures;
		this.rules = MergeRule.parseAll(layout.rules());
		this.stacks = stacks;
		this.lives = Lives.of(structures);
		this.names = new ProducerLabels(RankNames.of(layout, structures), lives);
		this.progress = progress;
	}

	/**
	 * Builds both trees.
	 *
	 * @param layout its rules are followed
	 * @param stacks call stacks of the structures, asked only if a rule needs them
	 */
	public static MemoryTrees build(MemoryLayout layout, List<Structure> structures, MergeRule.Stacks stacks, Progress progress)
			throws MemtraceException {
		progress.begin("Building the tree of event producers", layout.cells().count());
		MemoryTreeBuilder builder = new MemoryTreeBuilder(layout, structures, stacks, progress);
		ProducerTree virtual = builder.virtual(layout);
		int[] virtualLeaf = builder.producerOf;
		ProducerTree physical = builder.isPhysicalKnown() ? builder.physical() : null;
		return new MemoryTrees(virtual, virtualLeaf, physical, physical == null ? null : builder.producerOf);
	}

	private void begin(Pages by) {
		tree = new ProducerTreeBuilder(1 << pageShift);
		names.clear();
		producerOf = new int[cells.count()];
		pages = by;
		tree.begin(ProducerKind.ROOT, names.unique("MemoryRoot"), 0, 0, -1);
	}

	private ProducerTree virtual(MemoryLayout layout) throws MemtraceException {
		begin(cell -> cells.address()[cell] >>> pageShift);
		int[] all = byStructureAndPage(CellArrays.identity(cells.count()));
		int[] images = IntStream.of(cells.image()).distinct().sorted().toArray();
		images(layout, all, images, images.length == 1, 0);
		tree.end();
		return tree.build();
	}

	/** The images, one below the other where their names have levels ({@link MemoryLayout#LEVEL}). */
	private void images(MemoryLayout layout, int[] all, int[] images, boolean alone, int level) throws MemtraceException {
		Map<String, List<Integer>> byName = new LinkedHashMap<>();
		for (int image : images) {
			String label = layout.images().get(image);
			String[] levels = label == null ? new String[0] : label.split(MemoryLayout.LEVEL, -1);
			if (level < levels.length) {
				// two processes may have one name, the levels above are one
				String last = level + 1 == levels.length ? MemoryLayout.LEVEL + image : "";
				byName.computeIfAbsent(levels[level] + last, key -> new ArrayList<>()).add(image);
				continue;
			}
			int[] own = alone ? all : IntStream.of(all).filter(cell -> cells.image()[cell] == image).toArray();
			siblings(grouped(owners(own, MemoryMap.of(layout.areas(), image))));
		}
		for (Map.Entry<String, List<Integer>> name : byName.entrySet()) {
			int last = name.getKey().indexOf(MemoryLayout.LEVEL);
			tree.begin(ProducerKind.IMAGE, names.unique(last < 0 ? name.getKey() : name.getKey().substring(0, last)), 0, 0, -1);
			images(layout, all, name.getValue().stream().mapToInt(Integer::intValue).toArray(), alone, level + 1);
			tree.end();
		}
	}

	/** Applies the rules, makes one of what a person takes for one, and if that leaves too many siblings, merges small ones without a name. */
	private List<Owner> grouped(List<Owner> owners) throws MemtraceException {
		List<Owner> result = owners;
		for (MergeRule rule : rules) {
			result = merge(result, rule);
		}
		result = joinLives(result);
		if (result.size() > MOST_SIBLINGS) {
			result = mergeNameless(result);
		}
		result.sort(Comparator.comparing(Owner::start, Long::compareUnsigned).thenComparing(Owner::structure));
		return result;
	}

	/** Structures and ranges; names are given in the order of the structures' ids, that is of their allocation. */
	private List<Owner> owners(int[] order, MemoryMap map) throws MemtraceException {
		List<Owner> owners = new ArrayList<>();
		int from = 0;
		while (from < order.length) {
			progress.check();
			int structure = cells.structure()[order[from]];
			int to = from + 1;
			while (to < order.length && cells.structure()[order[to]] == structure) {
				to++;
			}
			if (structure < 0) {
				ranges(Arrays.copyOfRange(order, from, to), map, owners);
			} else {
				Structure s = structures.get(structure);
				owners.add(new Owner(s.kind() == StructureKind.STACK ? ProducerKind.STACK : ProducerKind.STRUCTURE, null,
						s.startAddress(), s.endAddress(), structure, new int[] { structure },
						Arrays.copyOfRange(order, from, to)));
			}
			from = to;
		}
		return owners;
	}

	/** By page. Stable. */
	private int[] byPage(int[] items) throws MemtraceException {
		int n = items.length;
		long[] sorted = new long[n];
		for (int i = 0; i < n; i++) {
			sorted[i] = pages.pageIndex(items[i]);
		}
		progress.check();
		Arrays.parallelSort(sorted);
		progress.check();
		int[] rank = new int[n];
		for (int i = 0; i < n; i++) {
			rank[i] = Arrays.binarySearch(sorted, pages.pageIndex(items[i]));
		}
		int[] order = CellArrays.countingSort(CellArrays.identity(n), rank, n);
		for (int i = 0; i < n; i++) {
			order[i] = items[order[i]];
		}
		return order;
	}

	private int[] byStructureAndPage(int[] items) throws MemtraceException {
		int[] key = new int[cells.count()];
		for (int i = 0; i < key.length; i++) {
			key[i] = cells.structure()[i] + 1;
		}
		return CellArrays.countingSort(byPage(items), key, structures.size() + 1);
	}

	/** Pages outside of structures: one range for each area of the memory map, elsewhere one for each run of pages. */
	private void ranges(int[] order, MemoryMap map, List<Owner> owners) {
		int from = 0;
		while (from < order.length) {
			long first = pages.pageIndex(order[from]);
			MemoryArea area = map.at(first << pageShift);
			int to = from + 1;
			while (to < order.length) {
				long page = pages.pageIndex(order[to]);
				if (area != null ? Long.compareUnsigned(page << pageShift, area.end()) >= 0
						: Long.compareUnsigned(page - pages.pageIndex(order[to - 1]), 1) > 0 || map.at(page << pageShift) != null) {
					break;
				}
				to++;
			}
			long end = pages.pageIndex(order[to - 1]) + 1;
			long pages = end - first;
			String label = area != null && !area.name().isEmpty() ? area.name()
					: Long.toHexString(first << pageShift) + " (" + pages + (pages == 1 ? " page)" : " pages)");
			owners.add(new Owner(ProducerKind.RANGE, label, first << pageShift, end << pageShift, -1,
					new int[0], Arrays.copyOfRange(order, from, to)));
			from = to;
		}
	}

	/** Merges what a rule says. */
	private List<Owner> merge(List<Owner> owners, MergeRule rule) throws MemtraceException {
		Map<String, List<Owner>> groups = new LinkedHashMap<>();
		List<Owner> result = new ArrayList<>();
		for (Owner owner : owners) {
			progress.check();
			String key = key(owner, rule);
			if (key == null) {
				result.add(owner);
			} else {
				groups.computeIfAbsent(key, k -> new ArrayList<>()).add(owner);
			}
		}
		for (List<Owner> members : groups.values()) {
			progress.check();
			members.sort(Comparator.comparing(Owner::start, Long::compareUnsigned).thenComparing(Owner::structure));
			int from = 0;
			long end = members.get(0).end;
			for (int to = 1; to <= members.size(); to++) {
				if (to == members.size() || rule.isConsecutive() && isApart(end, members.get(to).start)) {
					List<Owner> some = members.subList(from, to);
					if (some.size() == 1) {
						result.add(some.get(0));
					} else {
						List<Structure> blocks = some.stream().flatMapToInt(o -> Arrays.stream(o.members)).mapToObj(structures::get).toList();
						result.add(merged(some, rule.label(blocks, stacks)));
					}
					from = to;
				}
				if (to < members.size()) {
					end = from == to || Long.compareUnsigned(members.get(to).end, end) > 0 ? members.get(to).end : end;
				}
			}
		}
		return result;
	}

	private boolean isApart(long end, long start) {
		return Long.compareUnsigned(start, end) > 0 && Long.compareUnsigned(start - end, 1L << pageShift) > 0;
	}

	/** What all structures of an owner have in common by a rule, or null. */
	private String key(Owner owner, MergeRule rule) throws MemtraceException {
		String common = null;
		for (int member : owner.members) {
			String key = rule.key(structures.get(member), stacks);
			if (key == null || common != null && !common.equals(key)) {
				return null;
			}
			common = key;
		}
		return common;
	}

	/** Makes one owner of the blocks of each structure, however many there are. */
	private List<Owner> joinLives(List<Owner> owners) throws MemtraceException {
		Map<Integer, List<Owner>> groups = new LinkedHashMap<>();
		List<Owner> result = new ArrayList<>();
		Map<Integer, Integer> elsewhere = new HashMap<>(); // blocks that a rule has put elsewhere
		for (Owner owner : owners) {
			progress.check();
			if (owner.structure >= 0 && lives.count(owner.structure) > 1) {
				groups.computeIfAbsent(lives.first(owner.structure), k -> new ArrayList<>()).add(owner);
			} else {
				result.add(owner);
				if (owner.structure < 0) {
					Arrays.stream(owner.members).forEach(s -> elsewhere.merge(lives.first(s), 1, Integer::sum));
				}
			}
		}
		for (Map.Entry<Integer, List<Owner>> group : groups.entrySet()) {
			int count = lives.count(group.getKey()) - elsewhere.getOrDefault(group.getKey(), 0);
			result.add(count == 1 ? group.getValue().get(0) : joined(group.getValue(), count));
		}
		return result;
	}

	/**
	 * One structure of several blocks. Blocks that lie apart are shown one by one, unless they are small; those that have lived one after
	 * the other in the same place are pages of that place.
	 *
	 * @param count blocks, also those that were never accessed
	 */
	private Owner joined(List<Owner> blocks, int count) throws MemtraceException {
		List<Owner> places = new ArrayList<>();
		for (List<Owner> place : places(blocks)) {
			progress.check();
			places.add(place.size() == 1 ? place.get(0) : place(place, null, List.of()));
		}
		places.sort(Comparator.comparingInt(this::firstNumber));
		Structure first = structures.get(blocks.get(0).structure);
		String what = first.isWholeHeap() ? " (%,d heaps)" : first.kind() == StructureKind.BRK ? "" : " (%,d blocks)";
		return place(blocks, names.label(first) + String.format(Locale.ROOT, what, count), places.size() > 1 ? places : List.of());
	}

	/** Blocks that have bytes in common at any time are at one place; all small ones of a structure are, too. */
	private List<List<Owner>> places(List<Owner> blocks) {
		List<Owner> byAddress = new ArrayList<>(blocks);
		byAddress.sort(Comparator.comparing(Owner::start, Long::compareUnsigned).thenComparing(Owner::structure));
		List<List<Owner>> places = new ArrayList<>();
		List<Owner> small = new ArrayList<>();
		for (int from = 0, to; from < byAddress.size(); from = to) {
			long end = lastByte(byAddress.get(from));
			boolean hasSmall = isSmall(byAddress.get(from));
			for (to = from + 1; to < byAddress.size() && Long.compareUnsigned(firstByte(byAddress.get(to)), end) <= 0; to++) {
				hasSmall |= isSmall(byAddress.get(to));
				end = Long.compareUnsigned(lastByte(byAddress.get(to)), end) > 0 ? lastByte(byAddress.get(to)) : end;
			}
			List<Owner> place = byAddress.subList(from, to);
			if (hasSmall) {
				small.addAll(place);
			} else {
				places.add(place);
			}
		}
		if (!small.isEmpty()) {
			places.add(small);
		}
		return places;
	}

	private boolean isSmall(Owner block) {
		return Long.compareUnsigned(block.end - block.start, (long) SMALL_PAGES << pageShift) < 0;
	}

	/** Of a small block, that of its first page. */
	private long firstByte(Owner block) {
		return isSmall(block) ? block.start & -(1L << pageShift) : block.start;
	}

	private long lastByte(Owner block) {
		return isSmall(block) ? block.end - 1 | (1L << pageShift) - 1 : block.end - 1;
	}

	/** @param label null to be made from the numbers of the blocks */
	private Owner place(List<Owner> blocks, String label, List<Owner> places) throws MemtraceException {
		Owner lowest = blocks.get(0);
		long last = lowest.end - 1;
		for (Owner b : blocks) {
			int lower = Long.compareUnsigned(b.start, lowest.start);
			lowest = lower < 0 || lower == 0 && b.structure < lowest.structure ? b : lowest;
			last = Long.compareUnsigned(b.end - 1, last) > 0 ? b.end - 1 : last;
		}
		int[] sorted = places.isEmpty() ? byPage(blocks.stream().flatMapToInt(b -> Arrays.stream(b.cells)).toArray()) : new int[0];
		int[] members = blocks.stream().flatMapToInt(b -> Arrays.stream(b.members)).toArray();
		return new Owner(ProducerKind.GROUP, label, lowest.start, last + 1, lowest.structure, members, sorted, places);
	}

	/** The least number among the blocks of an owner. */
	private int firstNumber(Owner owner) {
		return Arrays.stream(owner.members).map(lives::number).min().orElse(0);
	}

	/** Merges structures below a page that have neither a name nor a place, by kind. */
	private List<Owner> mergeNameless(List<Owner> owners) throws MemtraceException {
		Map<StructureKind, List<Owner>> groups = new EnumMap<>(StructureKind.class);
		List<Owner> result = new ArrayList<>();
		for (Owner owner : owners) {
			Structure s = owner.structure < 0 || owner.kind == ProducerKind.GROUP ? null : structures.get(owner.structure);
			if (s != null && s.name().isBlank() && s.site().isBlank() && Long.compareUnsigned(s.sizeBytes(), 1L << pageShift) < 0) {
				groups.computeIfAbsent(s.kind(), k -> new ArrayList<>()).add(owner);
			} else {
				result.add(owner);
			}
		}
		for (Map.Entry<StructureKind, List<Owner>> group : groups.entrySet()) {
			progress.check();
			List<Owner> members = group.getValue();
			result.add(members.size() == 1 ? members.get(0) : merged(members, String.format(Locale.ROOT, "small %s blocks (%,d blocks)",
					group.getKey().name().toLowerCase(Locale.ROOT), members.size())));
		}
		return result;
	}

	private Owner merged(List<Owner> owners, String label) throws MemtraceException {
		int[] sorted = byPage(owners.stream().flatMapToInt(m -> Arrays.stream(m.cells)).toArray());
		int[] members = owners.stream().flatMapToInt(m -> Arrays.stream(m.members)).toArray();
		return new Owner(ProducerKind.GROUP, label, pages.pageIndex(sorted[0]) << pageShift,
				pages.pageIndex(sorted[sorted.length - 1]) + 1 << pageShift, -1, members, sorted);
	}

	/** Whether a physical tree says more than the virtual one: frames, or more than one NUMA node. */
	private boolean isPhysicalKnown() {
		return Arrays.stream(cells.frame()).anyMatch(frame -> frame != PageCells.NO_FRAME)
				|| Arrays.stream(cells.node()).filter(node -> node >= 0).distinct().limit(2).count() > 1;
	}

	private ProducerTree physical() throws MemtraceException {
		long[] frame = CellArrays.frames(cells);
		begin(cell -> frame[cell]);
		int[] known = byPage(IntStream.range(0, frame.length).filter(cell -> frame[cell] != PageCells.NO_FRAME).toArray());
		// a frame is on one node: the first that was told
		int[] node = cells.node().clone();
		for (int from = 0, to; from < known.length; from = to) {
			to = from + 1;
			int itsNode = node[known[from]];
			while (to < known.length && frame[known[to]] == frame[known[from]]) {
				itsNode = itsNode >= 0 ? itsNode : node[known[to]];
				to++;
			}
			for (int i = from; i < to; i++) {
				node[known[i]] = itsNode;
			}
		}
		Pages byFrame = pages;
		Pages byAddress = cell -> cells.address()[cell] >>> pageShift;
		for (int n : IntStream.of(node).distinct().map(v -> v < 0 ? Integer.MAX_VALUE : v).sorted().toArray()) {
			int itsNode = n == Integer.MAX_VALUE ? -1 : n;
			tree.begin(ProducerKind.NODE, names.unique(itsNode < 0 ? "no known NUMA node" : "NUMA node " + itsNode), 0, 0, -1);
			pages = byFrame;
			siblings(frameRanges(IntStream.of(known).filter(cell -> node[cell] == itsNode).toArray()));
			int[] rest = IntStream.range(0, frame.length)
					.filter(cell -> frame[cell] == PageCells.NO_FRAME && node[cell] == itsNode).toArray();
			if (rest.length > 0) {
				tree.begin(ProducerKind.GROUP, names.unique("no known frame"), 0, 0, -1);
				pages = byAddress;
				List<Owner> owners = new ArrayList<>();
				for (int image : IntStream.of(rest).map(cell -> cells.image()[cell]).distinct().sorted().toArray()) {
					owners.addAll(owners(byStructureAndPage(IntStream.of(rest).filter(c -> cells.image()[c] == image).toArray()),
							new MemoryMap()));
				}
				siblings(grouped(owners));
				tree.end();
			}
			tree.end();
		}
		tree.end();
		return tree.build();
	}

	private List<Owner> frameRanges(int[] order) {
		List<Owner> owners = new ArrayList<>();
		int from = 0;
		while (from < order.length) {
			long first = pages.pageIndex(order[from]);
			int to = from + 1;
			while (to < order.length && pages.pageIndex(order[to]) - pages.pageIndex(order[to - 1]) <= 1) {
				to++;
			}
			long last = pages.pageIndex(order[to - 1]);
			String label = first == last ? "frame " + Long.toHexString(first) : String.format(Locale.ROOT,
					"frames %x-%x (%,d frames)", first, last, last - first + 1);
			int[] own = Arrays.copyOfRange(order, from, to);
			owners.add(new Owner(ProducerKind.FRAMES, label, first << pageShift, last + 1 << pageShift, structureOf(own, 0, own.length),
					new int[0], own));
			from = to;
		}
		return owners;
	}

	/** The structure that all these cells belong to, or -1. */
	private int structureOf(int[] list, int from, int to) {
		int structure = cells.structure()[list[from]];
		for (int i = from + 1; i < to; i++) {
			structure = cells.structure()[list[i]] == structure ? structure : -1;
		}
		return structure;
	}

	private void siblings(List<Owner> owners) throws MemtraceException {
		String[] labels = new String[owners.size()];
		Integer[] byId = new Integer[owners.size()];
		Arrays.setAll(byId, i -> i);
		Arrays.sort(byId, Comparator.comparingInt(i -> owners.get(i).structure));
		for (int i : byId) {
			labels[i] = names.unique(owners.get(i).label != null ? owners.get(i).label : names.label(structures.get(owners.get(i).structure)));
		}
		siblings(owners, labels, 0, owners.size());
	}

	/** Too many siblings are put into groups of neighbours, those into groups again if there are still too many. */
	private void siblings(List<Owner> owners, String[] labels, int from, int to) throws MemtraceException {
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
			tree.begin(ProducerKind.GROUP, names.unique(String.format(Locale.ROOT, "%x-%x (%,d structures)", start, end,
					last - first)), start, end, -1);
			siblings(owners, labels, first, last);
			tree.end();
		}
	}

	/** Emits the children of an owner that is divided into blocks: some of these, divided as pages are. */
	private void blocks(Owner owner, int from, int to) throws MemtraceException {
		int parts = Math.min(fanout, to - from);
		for (int k = 0; k < parts; k++) {
			int first = from + (int) bound(to - from, k, parts);
			int last = from + (int) bound(to - from, k + 1, parts);
			List<Owner> some = owner.blocks.subList(first, last);
			if (some.size() == 1) {
				emit(some.get(0), names.unique(numbered(some)));
			} else {
				Owner all = place(some, null, some);
				tree.begin(ProducerKind.GROUP, names.unique(numbered(some)), all.start, all.end, all.structure);
				blocks(owner, first, last);
				tree.end();
			}
		}
	}

	/** Name and numbers of blocks: {@code rows #3}, {@code rows #3-#8}, and if others lie between them, how many they are. */
	private String numbered(List<Owner> some) {
		IntSummaryStatistics numbers = some.stream().flatMapToInt(b -> Arrays.stream(b.members)).map(lives::number).summaryStatistics();
		String name = names.label(structures.get(some.get(0).structure));
		String range = name + " #" + numbers.getMin() + (numbers.getMin() == numbers.getMax() ? "" : "-#" + numbers.getMax());
		return numbers.getCount() > numbers.getMax() - numbers.getMin() ? range
				: String.format(Locale.ROOT, "%s (%,d of them)", range, numbers.getCount());
	}

	private void emit(Owner owner, String label) throws MemtraceException {
		if (!owner.blocks.isEmpty()) {
			tree.begin(owner.kind, label, owner.start, owner.end, owner.structure);
			blocks(owner, 0, owner.blocks.size());
			tree.end();
			return;
		}
		int[] list = owner.cells;
		worked += list.length;
		if (worked >= CHECK) {
			progress.check();
			progress.worked(worked);
			worked = 0;
		}
		long firstPage = owner.start >>> pageShift;
		long count = (owner.end - 1 >>> pageShift) - firstPage + 1;
		int id = tree.begin(owner.kind, label, owner.start, owner.end, owner.structure);
		if (count == 1) {
			map(list, 0, list.length, id); // the producer is its only page
		} else {
			divide(owner, firstPage, count, 0, list.length);
		}
		tree.end();
	}

	private void map(int[] list, int from, int to, int id) {
		for (int i = from; i < to; i++) {
			producerOf[list[i]] = id;
		}
	}

	/** Emits the children of a piece of an owner: {@code list[from..to)} are the cells in it. */
	private void divide(Owner owner, long pieceFirst, long piecePages, int from, int to) {
		int[] list = owner.cells;
		long first = pieceFirst;
		long count = piecePages;
		while (true) {
			if (pages.pageIndex(list[from]) == pages.pageIndex(list[to - 1])) {
				page(owner, from, to);
				return;
			}
			int parts = (int) Math.min(fanout, count);
			int[] bounds = new int[parts + 1];
			int used = 0;
			int only = 0;
			bounds[0] = from;
			for (int k = 0; k < parts; k++) {
				bounds[k + 1] = k == parts - 1 ? to : lowerBound(list, bounds[k], to, first + bound(count, k + 1, parts));
				if (bounds[k + 1] > bounds[k]) {
					used++;
					only = k;
				}
			}
			if (used == 1) { // a node with a single child says nothing: go on inside
				long start = bound(count, only, parts);
				count = bound(count, only + 1, parts) - start;
				first += start;
				continue;
			}
			for (int k = 0; k < parts; k++) {
				if (bounds[k + 1] > bounds[k]) {
					part(owner, first + bound(count, k, parts), bound(count, k + 1, parts) - bound(count, k, parts),
							bounds[k], bounds[k + 1]);
				}
			}
			return;
		}
	}

	private static long bound(long pageCount, int k, int parts) {
		return pageCount / parts * k + pageCount % parts * k / parts;
	}

	private int lowerBound(int[] list, int from, int to, long page) {
		int low = from;
		int high = to;
		while (low < high) {
			int middle = (low + high) >>> 1;
			if (pages.pageIndex(list[middle]) < page) {
				low = middle + 1;
			} else {
				high = middle;
			}
		}
		return low;
	}

	private void part(Owner owner, long pieceFirst, long piecePages, int from, int to) {
		int[] list = owner.cells;
		if (pages.pageIndex(list[from]) == pages.pageIndex(list[to - 1])) {
			page(owner, from, to);
			return;
		}
		// shrink the piece as long as all its leaves are in one part of it, so that the name is about them
		long first = pieceFirst;
		long count = piecePages;
		while (true) {
			int parts = (int) Math.min(fanout, count);
			int k = 0;
			long lowest = pages.pageIndex(list[from]) - first;
			while (bound(count, k + 1, parts) <= lowest) {
				k++;
			}
			if (pages.pageIndex(list[to - 1]) - first >= bound(count, k + 1, parts)) {
				break;
			}
			long start = bound(count, k, parts);
			count = bound(count, k + 1, parts) - start;
			first += start;
		}
		tree.begin(ProducerKind.PART, null, clipStart(owner, first << pageShift),
				clipEnd(owner, first + count << pageShift), structure(owner, from, to));
		divide(owner, first, count, from, to);
		tree.end();
	}

	private int structure(Owner owner, int from, int to) {
		return owner.kind == ProducerKind.FRAMES ? structureOf(owner.cells, from, to) : owner.structure;
	}

	private void page(Owner owner, int from, int to) {
		long start = pages.pageIndex(owner.cells[from]) << pageShift;
		map(owner.cells, from, to, tree.leaf(ProducerKind.PAGE, null, clipStart(owner, start),
				clipEnd(owner, start + (1L << pageShift)), structure(owner, from, to)));
	}

	private static long clipStart(Owner owner, long start) {
		return Long.compareUnsigned(start, owner.start) < 0 ? owner.start : start;
	}

	/** An end of 0 is the end of the address space. */
	private static long clipEnd(Owner owner, long end) {
		return Long.compareUnsigned(end - 1, owner.end - 1) > 0 ? owner.end : end;
	}
}
