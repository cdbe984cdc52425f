// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.build;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Groups of classes of which each can reach all others: none of them can be understood or tested alone. Nested classes count as the class
 * around them.
 */
final class ClassCircles {
	private final Map<String, Set<String>> uses = new TreeMap<>();
	private final Map<String, Integer> index = new HashMap<>();
	private final Map<String, Integer> lowest = new HashMap<>();
	private final Deque<String> open = new ArrayDeque<>();
	private final Set<String> found = new TreeSet<>();

	/** @param classes what each class refers to, by its name; references to classes that are not among them do not count */
	ClassCircles(Map<String, Set<String>> classes) {
		classes.forEach((name, references) -> {
			Set<String> targets = uses.computeIfAbsent(top(name), key -> new TreeSet<>());
			for (String reference : references) {
				String target = reference.replaceFirst("#.*", "");
				if (classes.containsKey(target)) {
					targets.add(top(target));
				}
			}
			targets.remove(top(name));
		});
	}

	private static String top(String className) {
		return className.replaceFirst("\\$.*", "");
	}

	/** The circles, each as the names of its classes without packages, in alphabetical order. */
	Set<String> find() {
		for (String name : uses.keySet()) {
			if (!index.containsKey(name)) {
				visit(name);
			}
		}
		return found;
	}

	/** Tarjan's algorithm for strongly connected components. */
	private void visit(String name) {
		index.put(name, index.size());
		lowest.put(name, index.get(name));
		open.push(name);
		for (String target : uses.get(name)) {
			if (!index.containsKey(target)) {
				visit(target);
				lowest.merge(name, lowest.get(target), Math::min);
			} else if (open.contains(target)) {
				lowest.merge(name, index.get(target), Math::min);
			}
		}
		if (lowest.get(name).equals(index.get(name))) {
			List<String> circle = new ArrayList<>();
			String last;
			do {
				last = open.pop();
				circle.add(last.substring(last.lastIndexOf('.') + 1));
			} while (!last.equals(name));
			if (circle.size() > 1) {
				circle.sort(null);
				found.add(String.join(" ", circle));
			}
		}
	}
}
