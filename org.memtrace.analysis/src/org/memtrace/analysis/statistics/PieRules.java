// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.statistics;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a user did to the parts of a pie: which are left out, and which are one. Immutable; kept with the trace as text.
 *
 * @param excluded keys of {@link Statistics.Item}
 * @param groups what was merged; a key is in one of them at most
 */
public record PieRules(Set<String> excluded, List<Group> groups) {
	/** Key of the note in which they are kept with a trace. */
	public static final String NOTE = "statistics";
	/** Nothing done. */
	public static final PieRules NONE = new PieRules(Set.of(), List.of());

	/**
	 * Several items as one.
	 *
	 * @param name what a person calls them
	 * @param color opaque ARGB, or 0 for the colour of the largest
	 * @param keys keys of the items
	 */
	public record Group(String name, int color, Set<String> keys) {
		public Group {
			keys = Set.copyOf(keys);
		}

		/** Key of the whole. */
		public String key() {
			return "G" + name;
		}
	}

	public PieRules {
		excluded = Set.copyOf(excluded);
		groups = List.copyOf(groups);
	}

	/** Leaves some out. */
	public PieRules exclude(Collection<String> keys) {
		Set<String> now = new LinkedHashSet<>(excluded);
		now.addAll(keys);
		return new PieRules(now, groups);
	}

	/** Brings some back that were left out. */
	public PieRules restore(Collection<String> keys) {
		Set<String> now = new LinkedHashSet<>(excluded);
		now.removeAll(keys);
		return new PieRules(now, groups);
	}

	/** Brings all back that were left out. */
	public PieRules restore() {
		return new PieRules(Set.of(), groups);
	}

	/** Makes some one; what was in other groups leaves these, a group of that name is replaced. */
	public PieRules merge(String name, int color, Collection<String> keys) {
		List<Group> now = new ArrayList<>();
		for (Group g : groups) {
			Set<String> left = new TreeSet<>(g.keys);
			left.removeAll(keys);
			if (!left.isEmpty() && !g.name.equals(name)) {
				now.add(new Group(g.name, g.color, left));
			}
		}
		now.add(new Group(name, color, Set.copyOf(keys)));
		return new PieRules(excluded, now);
	}

	/** Takes groups apart. */
	public PieRules unmerge(Collection<String> names) {
		return new PieRules(excluded, groups.stream().filter(g -> !names.contains(g.name)).toList());
	}

	/** As text that {@link #parse} reads: a line for each rule, fields divided by tabs. */
	public String toText() {
		StringBuilder b = new StringBuilder();
		for (String key : new TreeSet<>(excluded)) {
			b.append("exclude\t").append(escaped(key)).append('\n');
		}
		for (Group g : groups) {
			b.append("merge\t").append(escaped(g.name)).append('\t').append(String.format("%08x", g.color));
			for (String key : new TreeSet<>(g.keys)) {
				b.append('\t').append(escaped(key));
			}
			b.append('\n');
		}
		return b.toString();
	}

	/** Reads {@link #toText}; lines that are no rules are left out. */
	public static PieRules parse(String text) {
		PieRules rules = NONE;
		for (String line : text.split("\n")) {
			String[] f = line.split("\t");
			if (f.length == 2 && f[0].equals("exclude")) {
				rules = rules.exclude(List.of(unescaped(f[1])));
			} else if (f.length > 3 && f[0].equals("merge") && f[2].matches("[0-9a-f]{8}")) {
				List<String> keys = new ArrayList<>();
				for (int i = 3; i < f.length; i++) {
					keys.add(unescaped(f[i]));
				}
				rules = rules.merge(unescaped(f[1]), Integer.parseUnsignedInt(f[2], 16), keys);
			}
		}
		return rules;
	}

	private static String escaped(String s) {
		return s.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n");
	}

	private static String unescaped(String s) {
		StringBuilder b = new StringBuilder();
		for (int i = 0; i < s.length(); i++) {
			char c = s.charAt(i);
			if (c == '\\' && i + 1 < s.length()) {
				c = s.charAt(++i);
				c = c == 't' ? '\t' : c == 'n' ? '\n' : c;
			}
			b.append(c);
		}
		return b.toString();
	}
}
