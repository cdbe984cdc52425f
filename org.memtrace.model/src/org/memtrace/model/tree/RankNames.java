// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.tree;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.Structure;

/**
 * Names of structures in a trace of a parallel job: those that structures of several ranks have get the rank before them,
 * {@code r1 grid}, as the names of threads do. In all other traces names stay as they are.
 */
public final class RankNames {
	/** A level of memory in the trees of such traces. */
	private static final Pattern LEVEL = Pattern.compile("rank (\\d+)");

	private final Map<Integer, Integer> rankOfImage;
	private final Set<String> ambiguous = new HashSet<>();

	private RankNames(Map<Integer, Integer> rankOfImage, List<Structure> structures) {
		this.rankOfImage = rankOfImage;
		if (rankOfImage.values().stream().distinct().limit(2).count() < 2) {
			return;
		}
		Map<String, Integer> first = new HashMap<>();
		for (Structure s : structures) {
			Integer rank = rankOfImage.get(s.image());
			if (rank != null && !first.computeIfAbsent(s.plainName(), name -> rank).equals(rank)) {
				ambiguous.add(s.plainName());
			}
		}
	}

	/** By the names of images in a layout. */
	public static RankNames of(MemoryLayout layout, List<Structure> structures) {
		Map<Integer, Integer> ranks = new HashMap<>();
		layout.images().forEach((image, label) -> {
			for (String level : label.split(MemoryLayout.LEVEL, -1)) {
				Matcher m = LEVEL.matcher(level);
				if (m.matches()) {
					ranks.put(image, Integer.valueOf(m.group(1)));
				}
			}
		});
		return new RankNames(ranks, structures);
	}

	/** By the levels of a tree; of images whose structures were not used the rank is not known. */
	public static RankNames of(ProducerTree tree, List<Structure> structures) {
		Map<Integer, Integer> ranks = new HashMap<>();
		for (int id = 0; id < tree.size(); id++) {
			Matcher m = LEVEL.matcher(tree.kind(id) == ProducerKind.IMAGE ? tree.name(id) : "");
			if (m.matches()) {
				for (int below = id + 1; below < tree.subtreeEnd(id); below++) {
					int s = tree.structure(below);
					if (s >= 0 && s < structures.size()) {
						ranks.put(structures.get(s).image(), Integer.valueOf(m.group(1)));
					}
				}
			}
		}
		return new RankNames(ranks, structures);
	}

	/** The name of a structure without the number of a block: {@code grid} of {@code grid #2}. */
	public static String plain(String name) {
		return name.strip().replaceFirst(" #\\d+$", "");
	}

	/**
	 * @param name what the structure is called, if there were one rank
	 */
	public String shown(Structure structure, String name) {
		return ambiguous.contains(structure.plainName()) && rankOfImage.containsKey(structure.image())
				? "r" + rankOfImage.get(structure.image()) + " " + name : name;
	}
}
