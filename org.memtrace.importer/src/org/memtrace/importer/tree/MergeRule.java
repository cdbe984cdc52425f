// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.tree;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Collectors;

import org.memtrace.model.CallFrame;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.Structure;

/**
 * Which structures are shown as one. As text: criteria separated by {@code +}, of which {@code library} and {@code name} may have a
 * regular expression behind a colon, and then come last: {@code stack+size}, {@code consecutive}, {@code library:libmpi},
 * {@code name:node_(.)}. Structures are merged when they have the same value of every criterion; one that has no value of a criterion
 * (no call stack, a name that does not match) is left alone. docs/how/import.md describes the criteria.
 */
public final class MergeRule {
	/** What merged structures have in common. */
	public enum Criterion {
		/** Call stack of the allocation, or where that is not known its place in the source. */
		STACK,
		/** Place in the source where it is allocated. */
		SITE,
		/** Number of bytes. */
		SIZE,
		/** Neighbours in memory: no more than a page between the end of one and the start of the next. */
		CONSECUTIVE,
		/** Library or program that called the allocation function. */
		LIBRARY,
		/** Name; with a regular expression, the text of its first group, or all that match if it has none. */
		NAME,
		/** Kind of structure: heap, static, ... */
		KIND
	}

	/** How to find the frames of a call stack. */
	@FunctionalInterface
	public interface Stacks {
		List<CallFrame> stack(int id) throws MemtraceException;
	}

	private final Set<Criterion> criteria;
	private final Pattern pattern;
	private final String text;

	private MergeRule(Set<Criterion> criteria, Pattern pattern, String text) {
		this.criteria = criteria;
		this.pattern = pattern;
		this.text = text;
	}

	/** @throws IllegalArgumentException with a sentence that says what is wrong */
	public static MergeRule parse(String text) {
		String rest = text.strip();
		Set<Criterion> criteria = EnumSet.noneOf(Criterion.class);
		Pattern pattern = null;
		while (pattern == null) {
			Matcher next = Pattern.compile("([a-z]+)(?:(\\+)|(:)|$)(.*)", Pattern.DOTALL).matcher(rest);
			Criterion criterion = next.matches() ? byId(next.group(1)) : null;
			if (criterion == null || !criteria.add(criterion)) {
				throw new IllegalArgumentException("the merging rule '" + text + "' has '" + rest + "' where one of "
						+ names(EnumSet.complementOf(EnumSet.copyOf(criteria.isEmpty() ? EnumSet.noneOf(Criterion.class) : criteria)))
						+ " should be");
			}
			rest = next.group(4);
			if (next.group(3) != null) {
				if (criterion != Criterion.LIBRARY && criterion != Criterion.NAME) {
					throw new IllegalArgumentException("in the merging rule '" + text + "' only library and name can have a regular"
							+ " expression");
				}
				try {
					pattern = Pattern.compile(rest);
				} catch (PatternSyntaxException e) {
					throw new IllegalArgumentException("the merging rule '" + text + "' has no regular expression behind the colon: "
							+ e.getDescription());
				}
			} else if (next.group(2) == null) {
				break;
			}
		}
		return new MergeRule(criteria, pattern, text.strip());
	}

	/** All of them; see {@link #parse}. */
	public static List<MergeRule> parseAll(List<String> texts) {
		return texts.stream().map(MergeRule::parse).toList();
	}

	private static Criterion byId(String id) {
		for (Criterion c : Criterion.values()) {
			if (c.name().toLowerCase(Locale.ROOT).equals(id)) {
				return c;
			}
		}
		return null;
	}

	private static String names(Set<Criterion> criteria) {
		return criteria.stream().map(c -> c.name().toLowerCase(Locale.ROOT)).collect(Collectors.joining(", "));
	}

	/** As it was parsed. */
	@Override
	public String toString() {
		return text;
	}

	@Override
	public boolean equals(Object other) {
		return other instanceof MergeRule rule && rule.text.equals(text);
	}

	@Override
	public int hashCode() {
		return text.hashCode();
	}

	boolean isConsecutive() {
		return criteria.contains(Criterion.CONSECUTIVE);
	}

	/**
	 * What a structure must have in common with others to be merged with them, neighbourhood aside; null to leave it alone.
	 */
	String key(Structure s, Stacks stacks) throws MemtraceException {
		List<String> values = new ArrayList<>();
		for (Criterion criterion : criteria) {
			String value = switch (criterion) {
			case STACK -> s.stack() >= 0 ? Integer.toString(s.stack()) : s.site();
			case SITE -> s.site();
			case SIZE -> Long.toString(s.sizeBytes());
			case KIND -> s.kind().name();
			case CONSECUTIVE -> "next";
			case LIBRARY -> matched(library(s, stacks), Criterion.LIBRARY);
			case NAME -> matched(s.name(), Criterion.NAME);
			};
			if (value.isEmpty()) {
				return null;
			}
			values.add(value);
		}
		return s.image() + "|" + String.join("|", values);
	}

	private String matched(String value, Criterion criterion) {
		boolean own = pattern != null && (criterion == Criterion.NAME || !criteria.contains(Criterion.NAME));
		if (!own || value.isEmpty()) {
			return value;
		}
		Matcher matcher = pattern.matcher(value);
		if (!matcher.find()) {
			return "";
		}
		return matcher.groupCount() == 0 ? criterion == Criterion.NAME ? "all" : value : "=" + matcher.group(1);
	}

	/** The object of the frame that called the allocation function. */
	private static String library(Structure s, Stacks stacks) throws MemtraceException {
		if (s.stack() < 0) {
			return "";
		}
		for (CallFrame frame : stacks.stack(s.stack())) {
			if (!frame.object().isEmpty()) {
				return frame.object().substring(frame.object().lastIndexOf('/') + 1);
			}
		}
		return "";
	}

	/** What a person reads: a label for structures that were merged. */
	String label(List<Structure> blocks, Stacks stacks) throws MemtraceException {
		Structure first = blocks.get(0);
		boolean oneName = !first.name().isBlank() && blocks.stream().allMatch(s -> s.plainName().equals(first.plainName()));
		String what;
		if (criteria.contains(Criterion.NAME)) {
			what = pattern == null ? first.name() : matched(first.name(), Criterion.NAME).equals("all") ? pattern.pattern()
					: matched(first.name(), Criterion.NAME).substring(1);
		} else if (criteria.contains(Criterion.STACK) || criteria.contains(Criterion.SITE)) {
			what = oneName ? first.plainName() : first.site().isEmpty() ? first.name() : first.shortSite();
		} else if (criteria.contains(Criterion.LIBRARY)) {
			what = library(first, stacks);
		} else if (criteria.contains(Criterion.SIZE)) {
			what = first.kind().name().toLowerCase(Locale.ROOT) + " blocks of " + String.format(Locale.ROOT, "%,d", first.sizeBytes())
					+ " bytes";
		} else if (criteria.contains(Criterion.CONSECUTIVE)) {
			what = first.name() + " and neighbours";
		} else {
			what = first.kind().name().toLowerCase(Locale.ROOT);
		}
		return what + " " + String.format(Locale.ROOT, "(%,d blocks)", blocks.size());
	}
}
