// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;

import org.memtrace.analysis.findings.facts.GroupFacts;

/**
 * Which groups of blocks of several recordings are the same structure: by kind, name and site; then by kind, name and a size between a half
 * and the double (the source moved); then by kind, source file and order of the first allocation (it was renamed). Always within process
 * images of the same number. What matches nothing is a structure of its own.
 */
final class Matching {
	/** A structure: its group in each run that has it. */
	static final class Slot {
		/** Group by run, null where it is not there. */
		final List<GroupFacts> groups = new ArrayList<>();
		/** How it was found where not by kind, name and site; empty otherwise. */
		String how = "";

		GroupFacts any() {
			return groups.stream().filter(g -> g != null).findFirst().orElseThrow();
		}
	}

	private final List<Slot> slots = new ArrayList<>();

	private Matching() {
	}

	/** Matches all runs, the first one first. */
	static List<Slot> of(List<Run> runs) {
		Matching m = new Matching();
		for (int r = 0; r < runs.size(); r++) {
			m.add(runs.get(r), r);
		}
		return m.slots;
	}

	private void add(Run run, int index) {
		List<GroupFacts> rest = new ArrayList<>(run.facts().groups());
		rest.removeIf(g -> g.library);
		rest.sort(Comparator.comparingLong((GroupFacts g) -> firstBirth(run, g)).thenComparingLong(g -> firstAddress(run, g)).thenComparing(g ->
				g.name));
		slots.forEach(s -> s.groups.add(null));
		match(rest, index, "", (a, b) -> a.name.equals(b.name) && a.site.equals(b.site));
		match(rest, index, "by name and size", (a, b) -> a.name.equals(b.name) && a.liveBytes <= 2 * b.liveBytes
				&& b.liveBytes <= 2 * a.liveBytes);
		match(rest, index, "by source file and order", (a, b) -> !file(a).isEmpty() && file(a).equals(file(b)));
		for (GroupFacts g : rest) {
			Slot s = new Slot();
			for (int r = 0; r < index; r++) {
				s.groups.add(null);
			}
			s.groups.add(g);
			slots.add(s);
		}
	}

	private void match(List<GroupFacts> rest, int run, String how, BiPredicate<GroupFacts, GroupFacts> same) {
		Set<GroupFacts> matched = new HashSet<>();
		Map<Slot, GroupFacts> known = new HashMap<>();
		for (Slot s : slots) {
			if (s.groups.get(run) != null) {
				continue;
			}
			GroupFacts old = known.computeIfAbsent(s, Slot::any);
			for (GroupFacts g : rest) {
				if (!matched.contains(g) && g.image == old.image && g.kind == old.kind && same.test(old, g)) {
					s.groups.set(run, g);
					s.how = how.isEmpty() ? s.how : how;
					matched.add(g);
					break;
				}
			}
		}
		rest.removeAll(matched);
	}

	private static String file(GroupFacts g) {
		return g.site.replaceFirst(":\\d+$", "");
	}

	private static long firstBirth(Run run, GroupFacts g) {
		return g.structures.stream().mapToLong(id -> run.facts().structures().get(id).birthNs()).min().orElse(0);
	}

	private static long firstAddress(Run run, GroupFacts g) {
		return g.structures.stream().mapToLong(id -> run.facts().structures().get(id).startAddress()).min().orElse(0);
	}
}
