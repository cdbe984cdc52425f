// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.source;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.memtrace.model.CallFrame;
import org.memtrace.model.CodePlaces;

/**
 * Finds source files of a recording on this machine, where they may have other paths. Immutable.
 *
 * @param rules tried in their order, before the path as it was recorded
 * @param directories in which names without a path are looked for
 */
public record SourceFiles(List<Rule> rules, List<Path> directories) {
	/** A path that begins with {@code from} begins with {@code to} here. */
	public record Rule(String from, String to) {
	}

	public SourceFiles {
		rules = List.copyOf(rules);
		directories = List.copyOf(directories);
	}

	/**
	 * Reads rules: {@code /build/app=/home/me/app; /usr/src=/src}.
	 *
	 * @throws IllegalArgumentException with a sentence
	 */
	public static List<Rule> rules(String text) {
		List<Rule> rules = new ArrayList<>();
		for (String part : text.split("[;\n]")) {
			String p = part.strip();
			if (p.isEmpty()) {
				continue;
			}
			int at = p.indexOf('=');
			if (at <= 0 || at == p.length() - 1) {
				throw new IllegalArgumentException("'" + p + "' is no rule; write for example /build/app=/home/me/app");
			}
			rules.add(new Rule(p.substring(0, at).strip(), p.substring(at + 1).strip()));
		}
		return rules;
	}

	/** The rule after which a recorded path is the file that somebody has shown: the common end of both paths is left out. */
	public static Rule rule(String recorded, Path shown) {
		String from = recorded;
		String to = shown.toAbsolutePath().normalize().toString();
		while (true) {
			int a = from.lastIndexOf('/');
			int b = to.lastIndexOf('/');
			if (a <= 0 || b <= 0 || !from.substring(a).equals(to.substring(b))) {
				return new Rule(from, to);
			}
			from = from.substring(0, a);
			to = to.substring(0, b);
		}
	}

	/** As {@link #rules(String)} reads them. */
	public static String text(List<Rule> rules) {
		return String.join("; ", rules.stream().map(r -> r.from() + "=" + r.to()).toList());
	}

	/** With the directories of the code of a trace, as far as they are on this machine, for names without a path. */
	public static SourceFiles of(List<Rule> rules, CodePlaces code) {
		SourceFiles plain = new SourceFiles(rules, List.of());
		Set<Path> directories = new LinkedHashSet<>();
		for (CallFrame f : code.frames()) {
			Path found = f.file().startsWith("/") ? plain.find(f.file()) : null;
			if (found != null && found.getParent() != null) {
				directories.add(found.getParent());
			}
		}
		return new SourceFiles(rules, List.copyOf(directories));
	}

	/** The file here, or null. */
	public Path find(String recorded) {
		for (Path p : candidates(recorded)) {
			if (Files.isRegularFile(p)) {
				return p;
			}
		}
		return null;
	}

	/** Where a file is looked for, in this order. */
	public List<Path> candidates(String recorded) {
		List<Path> all = new ArrayList<>();
		try {
			for (Rule r : rules) {
				if (recorded.equals(r.from()) || recorded.startsWith(r.from().endsWith("/") ? r.from() : r.from() + "/")) {
					all.add(Path.of(r.to() + recorded.substring(r.from().length())));
				}
			}
			if (recorded.startsWith("/")) {
				all.add(Path.of(recorded));
			} else {
				directories.forEach(d -> all.add(d.resolve(recorded).normalize()));
			}
		} catch (InvalidPathException e) {
			// no path of this system: not found
		}
		return all;
	}
}
