// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.colour;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;


/**
 * The colours that all pictures share: those of {@link Palette}, which follow from names and numbers alone, and those that the
 * user chose instead. A palette is a snapshot, so a picture that is being made keeps its colours. Safe for all threads;
 * listeners are called by the thread that makes a change, after it.
 */
public final class Colours {

	private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
	private volatile State state;

	/** All three belong together. */
	private record State(Map<Palette.Key, Integer> chosen, Palette light, Palette dark) {
		static State of(Map<Palette.Key, Integer> chosen) {
			Map<Palette.Key, Integer> copy = Map.copyOf(chosen);
			return new State(copy, Palette.of(false, copy), Palette.of(true, copy));
		}
	}

	/** The defaults. */
	public Colours() {
		state = State.of(Map.of());
	}

	/** The palette as it is now. */
	public Palette palette(boolean dark) {
		State s = state;
		return dark ? s.dark : s.light;
	}

	/** What the user chose, opaque ARGB; the same in light and in dark themes. */
	public Map<Palette.Key, Integer> chosen() {
		return state.chosen;
	}

	/** Chooses a colour; transparency is not possible. */
	public void choose(Palette.Kind kind, String name, int rgb) {
		Map<Palette.Key, Integer> now = new TreeMap<>(state.chosen);
		now.put(new Palette.Key(kind, name), 0xff000000 | rgb);
		chooseAll(now);
	}

	/** Back to the default. */
	public void reset(Palette.Kind kind, String name) {
		Map<Palette.Key, Integer> now = new TreeMap<>(state.chosen);
		now.remove(new Palette.Key(kind, name));
		chooseAll(now);
	}

	/** Takes these instead of all choices that were made; nobody is told when nothing changes. */
	public void chooseAll(Map<Palette.Key, Integer> now) {
		synchronized (this) {
			if (now.equals(state.chosen)) {
				return;
			}
			state = State.of(now);
		}
		listeners.forEach(Runnable::run);
	}

	public void addListener(Runnable l) {
		listeners.add(l);
	}

	public void removeListener(Runnable l) {
		listeners.remove(l);
	}

	/** The choices as text, a line for each: kind, colour and name. */
	public String toText() {
		StringBuilder b = new StringBuilder();
		new TreeMap<>(state.chosen).forEach((key, argb) -> b.append(key.kind().name()).append(' ')
				.append(String.format(Locale.ROOT, "#%06x", argb & 0xffffff)).append(' ').append(key.name().replace("\\", "\\\\").replace("\n", "\\n"))
				.append('\n'));
		return b.toString();
	}

	/** The choices of {@link #toText}; lines that are none are left out. */
	public static Map<Palette.Key, Integer> parse(String text) {
		Map<Palette.Key, Integer> chosen = new TreeMap<>();
		for (String line : text.split("\n")) {
			String[] part = line.split(" ", 3);
			if (part.length == 3 && part[1].matches("#[0-9a-fA-F]{6}")) {
				for (Palette.Kind kind : Palette.Kind.values()) {
					if (kind.name().equals(part[0])) {
						chosen.put(new Palette.Key(kind, unescaped(part[2])), 0xff000000 | Integer.parseInt(part[1].substring(1), 16));
					}
				}
			}
		}
		return chosen;
	}

	private static String unescaped(String s) {
		StringBuilder b = new StringBuilder();
		for (int i = 0; i < s.length(); i++) {
			char c = s.charAt(i);
			if (c == '\\' && i + 1 < s.length()) {
				char next = s.charAt(++i);
				b.append(next == 'n' ? '\n' : next);
			} else {
				b.append(c);
			}
		}
		return b.toString();
	}
}
