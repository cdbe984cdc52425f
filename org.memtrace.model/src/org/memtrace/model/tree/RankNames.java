// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.tree;

import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;

/**
 * What structures are called, in all tables, pictures and findings: their own name, and where several of a trace have that, what tells
 * them apart: the rank of a parallel job before it, {@code r1 grid}, as the names of threads have it; the place in the source (or the
 * kind) behind it, {@code grid (a.c:12)}; the process, {@code heap (small blocks) of lulesh}. In all other cases names stay as they are.
 */
public final class RankNames {
	/** A level of memory in the trees of such traces. */
	private static final Pattern LEVEL = Pattern.compile("rank (\\d+)");
	/** The name of a process in the tree: its number in the trace, the program, the number that the system gave it. */
	private static final Pattern PROCESS = Pattern.compile("(p\\d+ )?(.*?)( \\(process \\d+\\))?");

	private record Named(int image, String name) {
	}

	private record Origin(StructureKind kind, String site) {
	}

	private final Map<Integer, Integer> rankOfImage;
	private final Map<Integer, String> processes;
	/** Names of several ranks, of several processes of one rank or of none, of several places of one process. */
	private final Set<String> ofRanks = new HashSet<>();
	private final Set<String> ofProcesses = new HashSet<>();
	private final Set<Named> ofPlaces = new HashSet<>();

	/**
	 * @param used structures with accesses; others have names that nobody sees
	 */
	private RankNames(Map<Integer, Integer> rankOfImage, Map<Integer, String> imageNames, List<Structure> structures, BitSet used) {
		this.rankOfImage = rankOfImage;
		boolean ranks = rankOfImage.values().stream().distinct().limit(2).count() >= 2;
		processes = ranks ? Map.of() : distinct(imageNames);
		Map<String, Integer> rank = new HashMap<>();
		Map<String, Integer> image = new HashMap<>();
		Map<Named, Origin> place = new HashMap<>();
		for (Structure s : structures) {
			Integer its = ranks ? rankOfImage.get(s.image()) : null;
			if (its != null && !rank.computeIfAbsent(s.plainName(), name -> its).equals(its)) {
				ofRanks.add(s.plainName());
			}
			if (!used.get(s.id())) {
				continue;
			}
			if (image.computeIfAbsent(s.plainName(), name -> s.image()) != s.image()) {
				ofProcesses.add(s.plainName());
			}
			Named named = new Named(s.image(), s.plainName());
			Origin origin = new Origin(s.kind(), s.site());
			if (s.kind() != StructureKind.STACK && !place.computeIfAbsent(named, key -> origin).equals(origin)) {
				ofPlaces.add(named);
			}
		}
	}

	/** The program of each process, with its number in the trace where several run the same. */
	private static Map<Integer, String> distinct(Map<Integer, String> imageNames) {
		Map<String, Long> count = imageNames.values().stream().collect(Collectors.groupingBy(name -> part(name, 2), Collectors.counting()));
		Map<Integer, String> names = new HashMap<>();
		imageNames.forEach((image, name) -> names.put(image, (count.get(part(name, 2)) == 1 ? "" : part(name, 1)) + part(name, 2)));
		return names;
	}

	private static String part(String name, int group) {
		Matcher m = PROCESS.matcher(name);
		return m.matches() && m.group(group) != null ? m.group(group) : "";
	}

	/** By the names of images in a layout. */
	public static RankNames of(MemoryLayout layout, List<Structure> structures) {
		Map<Integer, Integer> ranks = new HashMap<>();
		Map<Integer, String> processes = new HashMap<>();
		layout.images().forEach((image, label) -> {
			processes.put(image, label.substring(label.lastIndexOf(MemoryLayout.LEVEL) + 1));
			for (String level : label.split(MemoryLayout.LEVEL, -1)) {
				Matcher m = LEVEL.matcher(level);
				if (m.matches()) {
					ranks.put(image, Integer.valueOf(m.group(1)));
				}
			}
		});
		BitSet used = new BitSet();
		IntStream.of(layout.cells().structure()).filter(s -> s >= 0).forEach(used::set);
		return new RankNames(ranks, processes, structures, used);
	}

	/** By the levels of a tree; of images whose structures were not used rank and process are not known. */
	public static RankNames of(ProducerTree tree, List<Structure> structures) {
		Map<Integer, Integer> ranks = new HashMap<>();
		Map<Integer, String> processes = new HashMap<>();
		BitSet used = new BitSet();
		for (int id = 0; id < tree.size(); id++) {
			if (tree.structure(id) >= 0) {
				used.set(tree.structure(id));
			}
			Matcher m = LEVEL.matcher(tree.kind(id) == ProducerKind.IMAGE ? tree.name(id) : "");
			if (tree.kind(id) == ProducerKind.IMAGE && !m.matches()) {
				for (int below = id + 1; below < tree.subtreeEnd(id); below++) {
					int s = tree.structure(below);
					if (s >= 0 && s < structures.size()) {
						processes.put(structures.get(s).image(), tree.name(id));
					}
				}
			} else if (m.matches()) {
				for (int below = id + 1; below < tree.subtreeEnd(id); below++) {
					int s = tree.structure(below);
					if (s >= 0 && s < structures.size()) {
						ranks.put(structures.get(s).image(), Integer.valueOf(m.group(1)));
					}
				}
			}
		}
		return new RankNames(ranks, processes, structures, used);
	}

	/** The name of a structure without the number of a block: {@code grid} of {@code grid #2}. */
	public static String plain(String name) {
		return name.strip().replaceFirst(" #\\d+$", "");
	}

	/** What a structure with a name is called, without the number of a block. */
	public String shown(Structure structure) {
		return shown(structure, plain(structure.name()));
	}

	/**
	 * @param name what the structure is called, if it were alone
	 */
	public String shown(Structure structure, String name) {
		String site = structure.shortSite();
		String place = site.isBlank() ? structure.kind().name().toLowerCase(Locale.ROOT) : site;
		boolean alone = !ofPlaces.contains(new Named(structure.image(), structure.plainName())) || name.contains(place);
		String full = alone ? name : name + " (" + place + ")";
		if (ofRanks.contains(structure.plainName()) && rankOfImage.containsKey(structure.image())) {
			return "r" + rankOfImage.get(structure.image()) + " " + full;
		}
		return ofProcesses.contains(structure.plainName()) && processes.containsKey(structure.image())
				? full + " of " + processes.get(structure.image()) : full;
	}
}
