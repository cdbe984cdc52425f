// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.text.NaturalOrder;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Regions;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.store.TraceStore;

/**
 * The markers and bookmarks of a trace as they are stored with it: UTF-8 text, a first line with the version, then one line for
 * each with its fields between tabs. In names, tab, line feed, carriage return and backslash are written {@code \t \n \r \\}.
 */
public final class Markers {
	/** Name of the note in the trace database, for markers in the tree of the addresses of the program. */
	public static final String NOTE = "markers";
	private static final String HEAD = "memtrace-markers ";
	private static final int VERSION = 1;

	private Markers() {
	}

	/** Name of the note for a tree of producers: the numbers of producers of two trees are unrelated. */
	public static String note(AddressSpace space) {
		return space == AddressSpace.VIRTUAL ? NOTE : NOTE + "-" + space.id();
	}

	/** Earlier ones first, those of whole rows before all. */
	public static List<Marker> sorted(List<Marker> markers) {
		List<Marker> list = new ArrayList<>(markers);
		list.sort(Comparator.comparingLong(Marker::fromNs).thenComparingLong(Marker::toNs).thenComparingInt(Marker::producer)
				.thenComparing(Marker::name, NaturalOrder.INSTANCE));
		return List.copyOf(list);
	}

	/** Markers of regions that are drawn at most. */
	private static final int MOST_REGIONS = 200;

	/**
	 * The outermost regions that the program named, a marker over all rows for each time; of more than {@value #MOST_REGIONS} the longest
	 * ones. Inner ones would hide the rows. They are not stored: they follow from the trace.
	 */
	public static List<Marker> ofRegions(TraceStore store) throws MemtraceException {
		byte[] note = store.readNote(Regions.NOTE).orElse(null);
		Regions regions = note == null ? Regions.NONE : Regions.parse(note);
		List<Marker> markers = new ArrayList<>();
		Regions outer = regions.outermost();
		for (String name : outer.names()) {
			int argb = Palette.LIGHT.defaultStructure(name);
			outer.times(name).forEach(r -> markers.add(new Marker(name, argb, r.fromNs(), r.toNs(), Marker.NO_PRODUCER, false)));
		}
		markers.sort(Comparator.comparingLong(m -> m.fromNs() - m.toNs()));
		return sorted(markers.subList(0, Math.min(MOST_REGIONS, markers.size())));
	}

	/** As it is stored. */
	public static byte[] write(List<Marker> markers) {
		StringBuilder text = new StringBuilder(HEAD + VERSION + "\n");
		for (Marker m : markers) {
			text.append(m.bookmark() ? "bookmark" : "marker").append('\t').append(String.format("%06x", m.argb() & 0xffffff))
					.append('\t').append(m.hasTime() ? m.fromNs() + "\t" + m.toNs() : "-\t-").append('\t')
					.append(m.producer() == Marker.NO_PRODUCER ? "-" : Integer.toString(m.producer())).append('\t')
					.append(escape(m.name())).append('\n');
		}
		return text.toString().getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Reads what was stored.
	 *
	 * @throws MemtraceException when a newer version wrote it, or it is damaged
	 */
	public static List<Marker> read(byte[] stored) throws MemtraceException {
		String[] lines = new String(stored, StandardCharsets.UTF_8).split("\n");
		if (!lines[0].startsWith(HEAD)) {
			throw damaged(1, "is not the first line of a list of markers");
		}
		int version;
		try {
			version = Integer.parseInt(lines[0].substring(HEAD.length()).strip());
		} catch (NumberFormatException e) {
			throw damaged(1, "has no version");
		}
		if (version > VERSION) {
			throw new MemtraceException("the markers of this trace were written in version " + version
					+ " of their format; this memtrace reads up to " + VERSION);
		}
		List<Marker> markers = new ArrayList<>();
		for (int i = 1; i < lines.length; i++) {
			String[] f = lines[i].split("\t", -1);
			if (f.length < 6) {
				throw damaged(i + 1, "has " + f.length + " fields instead of 6");
			}
			try {
				long from = f[2].equals("-") ? Marker.NO_TIME : Long.parseLong(f[2]);
				long to = f[3].equals("-") ? Marker.NO_TIME : Long.parseLong(f[3]);
				int producer = f[4].equals("-") ? Marker.NO_PRODUCER : Integer.parseInt(f[4]);
				markers.add(new Marker(unescape(f[5]), Integer.parseInt(f[1], 16), from, to, producer,
						f[0].equals("bookmark")));
			} catch (IllegalArgumentException e) {
				throw damaged(i + 1, "cannot be read: " + e.getMessage());
			}
		}
		return markers;
	}

	private static MemtraceException damaged(int line, String reason) {
		return new MemtraceException(String.format(Locale.ROOT, "note \"%s\" of the trace, line %d: %s", NOTE, line, reason));
	}

	private static String escape(String name) {
		return name.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r");
	}

	private static String unescape(String text) {
		StringBuilder name = new StringBuilder();
		for (int i = 0; i < text.length(); i++) {
			char c = text.charAt(i);
			if (c == '\\' && i + 1 < text.length()) {
				char next = text.charAt(++i);
				name.append(next == 't' ? '\t' : next == 'n' ? '\n' : next == 'r' ? '\r' : next);
			} else {
				name.append(c);
			}
		}
		return name.toString();
	}
}
