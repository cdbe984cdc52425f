// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.build;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Finds packages that refer to each other in a circle. */
final class PackageCycles {
	/** For each package the packages that it uses, each with the classes of one such use. */
	private final Map<String, Map<String, String>> uses = new TreeMap<>();

	/**
	 * @param classes what each class refers to, by its name; references to classes that are not among them do not count
	 */
	PackageCycles(Map<String, Set<String>> classes) {
		classes.forEach((name, references) -> {
			String from = packageOf(name);
			for (String reference : references) {
				String target = reference.replaceFirst("#.*", "");
				if (classes.containsKey(target) && !packageOf(target).equals(from)) {
					uses.computeIfAbsent(from, key -> new TreeMap<>()).putIfAbsent(packageOf(target), name + " uses " + target);
				}
			}
		});
	}

	private static String packageOf(String className) {
		return className.substring(0, className.lastIndexOf('.'));
	}

	/** The packages that each package uses. */
	Map<String, Map<String, String>> uses() {
		return Collections.unmodifiableMap(uses);
	}

	/** For each use that closes a circle the shortest way around it, as classes that use each other. */
	List<String> find() {
		List<String> found = new ArrayList<>();
		uses.forEach((from, targets) -> targets.forEach((to, example) -> {
			List<String> back = way(to, from);
			if (back != null) {
				found.add(example + "; " + String.join("; ", back));
			}
		}));
		return found;
	}

	/** The shortest way between two packages, null when there is none. */
	private List<String> way(String from, String to) {
		Map<String, String> reachedFrom = new TreeMap<>(Map.of(from, from));
		Deque<String> next = new ArrayDeque<>(List.of(from));
		while (!next.isEmpty()) {
			String at = next.remove();
			if (at.equals(to)) {
				List<String> way = new ArrayList<>();
				for (String p = to; !p.equals(from); p = reachedFrom.get(p)) {
					way.add(0, uses.get(reachedFrom.get(p)).get(p));
				}
				return way;
			}
			for (String p : uses.getOrDefault(at, Map.of()).keySet()) {
				if (reachedFrom.putIfAbsent(p, at) == null) {
					next.add(p);
				}
			}
		}
		return null;
	}
}
