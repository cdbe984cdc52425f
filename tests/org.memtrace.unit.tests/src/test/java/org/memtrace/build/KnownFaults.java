// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.build;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What broke a rule when the rule was made: a line for each, {@code KIND BUNDLE NAME SIZE}, or {@code circle BUNDLE CLASS...}. The list may
 * only shrink: more is an error, and so is a line for what is better now.
 */
final class KnownFaults {
	static final String FILE = "tests/org.memtrace.unit.tests/house.txt";

	private final List<String> lines;

	KnownFaults(List<String> lines) {
		this.lines = lines;
	}

	static KnownFaults read() throws IOException {
		return new KnownFaults(Files.readAllLines(LayeringTest.ROOT.resolve(FILE)));
	}

	/** What is to be said of the sizes that were found, a line for each; empty when they are those that are known. */
	List<String> check(String kind, String bundle, Map<String, Integer> found) {
		String start = kind + " " + bundle + " ";
		Map<String, Integer> known = new TreeMap<>();
		for (String line : lines) {
			if (line.startsWith(start)) {
				String[] words = line.split(" ");
				known.put(words[2], Integer.valueOf(words[3]));
			}
		}
		List<String> wrong = new ArrayList<>();
		found.forEach((name, size) -> {
			Integer old = known.remove(name);
			if (old == null) {
				wrong.add("new: " + start + name + " " + size);
			} else if (!old.equals(size)) {
				wrong.add((size > old ? "longer" : "shorter, write it into " + FILE) + ": " + start + name + " " + size + ", " + old
						+ " was known");
			}
		});
		known.forEach((name, size) -> wrong.add("good now, take it out of " + FILE + ": " + start + name + " " + size));
		return wrong;
	}

	/** The same for circles of classes. */
	List<String> checkCircles(String bundle, Collection<String> found) {
		String start = "circle " + bundle + " ";
		Set<String> known = new TreeSet<>();
		lines.stream().filter(line -> line.startsWith(start)).forEach(line -> known.add(line.substring(start.length())));
		List<String> wrong = new ArrayList<>();
		for (String circle : found) {
			if (!known.remove(circle)) {
				wrong.add("new: " + start + circle);
			}
		}
		known.forEach(circle -> wrong.add("no more, take it out of " + FILE + ": " + start + circle));
		return wrong;
	}
}
