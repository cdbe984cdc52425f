// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.definition;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.memtrace.importer.definition.DefinitionText.Kind;
import org.memtrace.importer.definition.DefinitionText.Token;
import org.memtrace.importer.definition.MonitorWords.Event;
import org.memtrace.importer.definition.MonitorWords.Field;
import org.memtrace.importer.definition.MonitorWords.Source;
import org.memtrace.importer.definition.MonitorWords.Value;
import org.memtrace.model.Completion;

/**
 * What can be written at a place of a definition file: the fields that a monitor does not have yet, and behind each field what fits:
 * types of places, sources, the events of the source, reductions, {@code $0}. All of it is what {@code memtrace monitor --list} told.
 */
public final class DefinitionCompletion {
	private static final int OLD = 2015;
	/** Monitors of monitors are followed so far. */
	private static final int DEEPEST = 8;

	private final String text;
	private final MonitorWords words;
	/** The text without the word that is written. */
	private final DefinitionText rest;
	private final Set<Integer> generations;
	private final int monitor;
	private final Completion.Candidates found;

	private DefinitionCompletion(String text, int from, int to, int caret, int monitor, MonitorWords words) {
		this.text = text;
		this.words = words;
		this.monitor = monitor;
		rest = new DefinitionText(text.substring(0, from) + " ".repeat(to - from) + text.substring(to), words);
		generations = rest.generations();
		found = new Completion.Candidates(text.substring(from, caret));
	}

	/** @param caret place in the text, 0 to its length */
	public static Completion at(String text, int caret, MonitorWords words) {
		List<Token> head = new DefinitionText(text.substring(0, caret), words).tokens();
		Token last = head.isEmpty() ? null : head.getLast();
		boolean within = last != null && last.to() == caret && last.kind() != Kind.SYMBOL;
		if (within && last.kind() == Kind.COMMENT) {
			return Completion.none(caret);
		}
		int from = within ? last.from() : caret;
		DefinitionText before = new DefinitionText(text.substring(0, from), words);
		DefinitionText.End place = before.end();
		if (place.monitor() < 0 || place.betweenBoth()) {
			return Completion.none(caret);
		}
		boolean isField = place.field().isEmpty();
		Value value = before.value(place.field());
		int to = caret;
		while (to < text.length() && (isField || value == Value.FILE ? DefinitionText.isWord(text.charAt(to))
				: DefinitionText.isIn(value, text.charAt(to)))) {
			to++;
		}
		DefinitionCompletion c = new DefinitionCompletion(text, from, to, caret, place.monitor(), words);
		if (isField) {
			c.fields(to);
		} else {
			String symbol = before.tokens().stream().filter(t -> t.kind() != Kind.COMMENT).reduce((a, b) -> b).map(before::text).orElse("");
			c.values(value, place.field(), symbol);
		}
		return new Completion(from, to, c.found.best());
	}

	/** The fields that are not there yet, with what follows them, if it does not stand there. */
	private void fields(int to) {
		Set<String> there = rest.tokens().stream().filter(t -> t.monitor() == monitor && t.kind() == Kind.FIELD).map(rest::text)
				.collect(Collectors.toCollection(HashSet::new));
		String behind = text.substring(to).stripLeading();
		String assigns = behind.startsWith(":") || behind.startsWith("=") ? "" : generations.equals(Set.of(OLD)) ? "=" : ":=";
		for (Field f : words.fields()) {
			if (there.contains(f.name()) || f.generations().stream().noneMatch(generations::contains)) {
				continue;
			}
			boolean all = f.generations().containsAll(generations);
			found.add(f.name(), f.name() + assigns, f.text() + (all ? "" : " (" + f.generations().stream().map(String::valueOf)
					.collect(Collectors.joining(", ")) + ")"));
		}
	}

	/** @param symbol what stands before the word: of the value, or the = before it */
	private void values(Value value, String field, String symbol) {
		boolean begins = symbol.equals("=") && rest.values(monitor, field).isEmpty();
		switch (value) {
			case PLACES -> {
				if (begins) {
					words.types().forEach(t -> found.add(t.name(), t.name(), t.places() == 0 ? "not on this machine" : t.places() + " here"));
				}
			}
			case SOURCE -> words.sources().forEach(s -> found.add(s.name(), s.name(), s.text()));
			case EVENTS -> events();
			case COUNTERS -> words.sources().forEach(s -> s.events().stream().filter(e -> !e.pattern())
					.forEach(e -> found.add(e.name().replace('-', '_'), e.name().replace('-', '_'), note(e))));
			case SET_REDUCTION -> {
				numbers();
				if (begins) {
					reductions("", false);
					reductions("", true);
				}
			}
			case SAMPLES_REDUCTION -> {
				reductions("", false);
				reductions("", true);
			}
			case REDUCTIONS -> {
				if (symbol.equals("#")) {
					reductions("", true);
					reductions("", false);
				} else {
					numbers();
					if (begins) {
						reductions("1#", true);
						reductions("1#", false);
					}
				}
			}
			case FLAG -> {
				found.add("0", "0", "no");
				found.add("1", "1", "yes");
			}
			default -> {
				// a number, a path, or a field that nobody knows
			}
		}
	}

	private static String note(Event e) {
		return e.text() + (e.places().isEmpty() ? "" : "; " + e.places()) + (e.here() ? "" : "; not on this machine");
	}

	/** Events of the source of this monitor; of others when it names none. What works here is first. */
	private void events() {
		boolean isNamed = words.fields().stream().anyMatch(f -> f.value() == Value.SOURCE && !rest.values(monitor, f.name()).isEmpty());
		Source source = source(monitor);
		if (source != null && source.ofMonitors()) {
			List<String> monitors = rest.monitors();
			for (int i = 0; i < monitors.size(); i++) {
				if (i != monitor) {
					found.add(monitors.get(i), monitors.get(i), "a monitor of this file");
				}
			}
			return;
		}
		List<Source> from = source != null ? List.of(source) : isNamed ? List.of() : words.sources();
		for (boolean here : new boolean[] {true, false}) {
			from.forEach(s -> s.events().stream().filter(e -> e.here() == here && !e.pattern())
					.forEach(e -> found.add(e.name(), e.name(), (source == null ? s.name() + ": " : "") + note(e))));
		}
	}

	private void numbers() {
		List<String> events = events(monitor, 0);
		for (int i = 0; i < events.size(); i++) {
			found.add("$" + i, "$" + i, events.get(i));
		}
	}

	/** What $0, $1 and so on are; of a monitor that is made of others their events, one after the other. */
	private List<String> events(int of, int depth) {
		List<String> named = words.fields().stream().filter(f -> f.value() == Value.EVENTS)
				.flatMap(f -> rest.values(of, f.name()).stream()).toList();
		Source source = source(of);
		if (source == null || !source.ofMonitors() || depth == DEEPEST) {
			return named;
		}
		List<String> all = new ArrayList<>();
		for (String name : named) {
			int child = rest.monitors().indexOf(name);
			if (child < 0 || child == of) {
				all.add(name);
			} else {
				events(child, depth + 1).forEach(e -> all.add(name + ": " + e));
			}
		}
		return all;
	}

	/** Null: none is named, or one that nobody knows. */
	private Source source(int of) {
		return words.fields().stream().filter(f -> f.value() == Value.SOURCE).flatMap(f -> rest.values(of, f.name()).stream()).findFirst()
				.map(words::source).orElse(null);
	}

	private void reductions(String before, boolean window) {
		words.reductions().stream().filter(r -> r.window() == window)
				.forEach(r -> found.add(r.name(), before + r.name(), r.text()));
	}
}
