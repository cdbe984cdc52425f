// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.paje;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.importer.input.DecimalNumber;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.LineFileReader;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.EventCategory;

/**
 * The lines of {@code pj_dump}: docs/reference/input-events.md, "pjdump". They have no quotation marks: names may have commas, and the
 * numbers between them tell where they end. As in FrameSoc the type of a state, an event or a link is its value. Used by one thread.
 */
final class PjdumpEvents implements LineFileReader.Lines {
	private static final String NUMBER = "\\s*(-?\\d[\\d.eE+-]*)\\s*";
	private static final Pattern CONTAINER = Pattern.compile("Container,(.*?,.*?)," + NUMBER + "," + NUMBER + "," + NUMBER + ",(.*)");
	private static final Pattern STATE = Pattern.compile("State,(.*?,.*?)," + NUMBER + "," + NUMBER + "," + NUMBER + "," + NUMBER + ",(.*)");
	private static final Pattern VARIABLE = Pattern.compile("Variable,(.*?,.*?)," + NUMBER + "," + NUMBER + "," + NUMBER + "," + NUMBER);
	private static final Pattern EVENT = Pattern.compile("Event,(.*?,.*?)," + NUMBER + ",(.*)");
	private static final Pattern LINK = Pattern.compile("Link,(.*?,.*?)," + NUMBER + "," + NUMBER + "," + NUMBER + ",(.*)");
	private static final Pattern HEADER = Pattern.compile("(Container|Link|Event|Variable|State), *(Parent|Container), *(Type|Variable),.*");
	private static final String FIELDS = "fields that are not those of its kind of line";
	private static final String TOP = "0";
	private static final int NS_DIGITS = 9;
	/** In names, which are tried at each. */
	private static final int MOST_COMMAS = 32;

	private final EventSink sink;
	private final String file;
	private final int digits;
	/** Paths of containers by name. */
	private final Map<String, List<String>> containers = new HashMap<>();
	/** Lines that name a container which was not there yet, and their numbers. */
	private final List<byte[]> held = new ArrayList<>();
	private final List<Long> heldNumbers = new ArrayList<>();
	private boolean isEnd;
	private long sameNames;
	private long endsBeforeStart;

	/** @param isSeconds whether times are seconds; else they are whole nanoseconds, as FrameSoc writes them */
	PjdumpEvents(EventSink sink, String file, boolean isSeconds) {
		this.sink = sink;
		this.file = file;
		digits = isSeconds ? NS_DIGITS : 0;
	}

	/** Whether the times of a file that begins so have decimals. */
	static boolean isSeconds(String head) {
		boolean isTold = false;
		for (String line : head.lines().toList()) {
			String text = line.strip();
			Matcher m = (text.startsWith("State") ? STATE : text.startsWith("Variable") ? VARIABLE : text.startsWith("Event") ? EVENT : LINK)
					.matcher(text);
			if (m.matches()) {
				isTold = true;
				if (m.group(2).contains(".")) {
					return true;
				}
			}
		}
		return !isTold;
	}

	@Override
	public void line(byte[] buffer, int start, int end, long number) throws MemtraceException {
		String text = new String(buffer, start, end - start, StandardCharsets.UTF_8).strip();
		if (text.isEmpty() || text.startsWith("#") || HEADER.matcher(text).matches()) {
			return;
		}
		sink.row();
		take(text, number);
	}

	private void take(String text, long number) throws MemtraceException {
		String problem;
		try {
			int comma = text.indexOf(',');
			problem = switch (comma < 0 ? text : text.substring(0, comma)) {
			case "Container" -> container(CONTAINER.matcher(text));
			case "State" -> state(STATE.matcher(text), text, number);
			case "Variable" -> variable(VARIABLE.matcher(text), text, number);
			case "Event" -> event(EVENT.matcher(text), text, number);
			case "Link" -> link(LINK.matcher(text), text, number);
			default -> "neither a container, state, variable, event nor link";
			};
		} catch (NumberFormatException e) {
			problem = "time or value that is not a number";
		} catch (ArithmeticException e) {
			problem = "time that is out of range";
		}
		if (problem != null) {
			sink.skip(file, number, problem);
		}
	}

	/** A line waits for its container. @return null: nothing is wrong yet */
	private String hold(String text, long number) {
		if (isEnd) {
			return "container that is not there";
		}
		held.add(text.getBytes(StandardCharsets.UTF_8));
		heldNumbers.add(number);
		return null;
	}

	private String container(Matcher m) {
		if (!m.matches()) {
			return FIELDS;
		}
		String name = m.group(5).strip();
		String[] above = first(m.group(1));
		if (name.equals(TOP) || name.isEmpty()) {
			return null; // what is around all
		}
		List<String> path = new ArrayList<>(above[0].equals(TOP) ? List.of() : containers.getOrDefault(above[0], List.of()));
		if (path.isEmpty() && !above[0].equals(TOP)) {
			return "container below one that is not there";
		}
		path.add(name);
		List<String> known = containers.putIfAbsent(name, path);
		sameNames += known != null && !known.equals(path) ? 1 : 0;
		sink.producer(path);
		return null;
	}

	/** A container and what follows it: the longest name that is known, else what is before the first comma. */
	private String[] first(String text) {
		int tried = 0;
		for (int at = text.length(); at > 0 && tried++ < MOST_COMMAS; at = text.lastIndexOf(',', at - 1)) {
			String name = text.substring(0, at).strip();
			if (name.equals(TOP) || containers.containsKey(name)) {
				return new String[] { name, at < text.length() ? text.substring(at + 1).strip() : "" };
			}
		}
		int comma = text.indexOf(',');
		return comma < 0 ? new String[] { text.strip(), "" }
				: new String[] { text.substring(0, comma).strip(), text.substring(comma + 1).strip() };
	}

	private int producer(String name) {
		List<String> path = containers.get(name);
		return path != null ? sink.producer(path) : name.equals(TOP) ? sink.producer(List.of(TOP)) : -1;
	}

	private boolean isKnown(String name) {
		return name.equals(TOP) || containers.containsKey(name);
	}

	private long time(String text) {
		return DecimalNumber.scaled(text, digits);
	}

	private long end(long startNs, long endNs) {
		endsBeforeStart += endNs < startNs ? 1 : 0;
		return Math.max(startNs, endNs);
	}

	private static String named(String text) {
		return text.isBlank() ? "unnamed" : text.strip();
	}

	private String state(Matcher m, String text, long number) throws MemtraceException {
		if (!m.matches()) {
			return FIELDS;
		}
		String name = first(m.group(1))[0];
		if (!isKnown(name)) {
			return hold(text, number);
		}
		double level = Double.parseDouble(m.group(5));
		long start = time(m.group(2));
		sink.event(sink.typeOf(EventCategory.STATE, named(m.group(6))), producer(name), start, end(start, time(m.group(3))), level, 0, Map.of());
		return null;
	}

	private String variable(Matcher m, String text, long number) throws MemtraceException {
		if (!m.matches()) {
			return FIELDS;
		}
		String[] fields = first(m.group(1));
		if (!isKnown(fields[0])) {
			return hold(text, number);
		}
		double value = Double.parseDouble(m.group(5));
		if (!Double.isFinite(value)) {
			return "value that is not finite";
		}
		long start = time(m.group(2));
		sink.event(sink.typeOf(EventCategory.VARIABLE, named(fields[1])), producer(fields[0]), start, end(start, time(m.group(3))), value, 0,
				Map.of());
		return null;
	}

	private String event(Matcher m, String text, long number) throws MemtraceException {
		if (!m.matches()) {
			return FIELDS;
		}
		String name = first(m.group(1))[0];
		if (!isKnown(name)) {
			return hold(text, number);
		}
		long at = time(m.group(2));
		sink.event(sink.typeOf(EventCategory.PUNCTUAL, named(m.group(3))), producer(name), at, at, 0, 0, Map.of());
		return null;
	}

	/** Value, start, end, and perhaps a key: the names of containers tell where each of them ends. */
	private String link(Matcher m, String text, long number) throws MemtraceException {
		if (!m.matches()) {
			return FIELDS;
		}
		String[] parts = m.group(5).split(",", -1);
		if (parts.length < 3 || parts.length > MOST_COMMAS) {
			return parts.length < 3 ? FIELDS : "more than " + MOST_COMMAS + " commas in its names";
		}
		for (int value = parts.length - 2; value > 0; value--) {
			for (int from = value + 1; from < parts.length; from++) {
				for (int to = parts.length; to >= Math.max(from + 1, parts.length - 1); to--) {
					String start = joined(parts, value, from);
					String end = joined(parts, from, to);
					if (isKnown(start) && isKnown(end)) {
						long at = time(m.group(2));
						sink.event(sink.typeOf(EventCategory.LINK, named(joined(parts, 0, value))), producer(start), at, end(at, time(m.group(3))),
								producer(end), 0, to < parts.length ? Map.of("key", named(parts[to])) : Map.of());
						return null;
					}
				}
			}
		}
		return hold(text, number);
	}

	private static String joined(String[] parts, int from, int to) {
		return String.join(",", Arrays.copyOfRange(parts, from, to)).strip();
	}

	@Override
	public void finish() throws MemtraceException {
		isEnd = true;
		for (int i = 0; i < held.size(); i++) {
			take(new String(held.get(i), StandardCharsets.UTF_8), heldNumbers.get(i));
		}
		warn(endsBeforeStart, "events end before they start; they take no time");
		warn(sameNames, "containers have the name of another one; what happens in them stands at the first one of that name");
	}

	private void warn(long how, String text) {
		if (how > 0) {
			sink.skips().warn(String.format(Locale.ROOT, "%,d %s", how, text));
		}
	}
}
