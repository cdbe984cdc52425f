// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perf;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One line of {@code perf script}, in the order in which perf prints its fields: command, process and thread, CPU, time, period, event,
 * address, data source, weight, code address, physical address. Fields that were not asked for are missing. One object is used for all
 * lines of a file.
 *
 * <p>What {@code perf script} writes is described in perf-script(1); the order of the fields was taken from the output of perf 6.1.
 */
final class PerfLine {
	/** What a line is. */
	enum Kind {
		/** A sample with an address of data. */
		SAMPLE,
		/** An event with one address, which may be of data or of code; {@link PerfLine#ip} has it, {@link PerfLine#text} what follows. */
		EVENT,
		/** Memory was mapped. */
		MAPPING,
		/** The process runs another program now: its memory is gone. */
		EXEC,
		/** The kernel had no room for so many events: {@link PerfLine#lost}. */
		LOST,
		/** A frame of the call chain of the sample before. */
		FRAME,
		/** Empty, a comment, or a record of perf that says nothing about memory. */
		NOTHING,
		/** A line that is not understood. */
		BAD
	}

	private static final Pattern LINE = Pattern
			.compile("\\s*(\\S.{0,60}?)\\s+(?:(-?\\d{1,9})/)?(-?\\d{1,9})\\s+(?:\\[(\\d{1,4})\\]\\s+)?(\\d{1,9})\\.(\\d{1,9}):\\s+");
	private static final Pattern EVENT = Pattern.compile("(?:\\d{1,18}\\s+)?(\\S+):(?:\\s+|$)");
	private static final Pattern MAPPING = Pattern.compile("PERF_RECORD_MMAP2? (-?\\d{1,9})/-?\\d{1,9}: \\[(?:0x)?([0-9a-f]{1,16})"
			+ "\\((?:0x)?([0-9a-f]{1,16})\\) @ [^\\]]*\\]: (\\S+) (.*)");
	private static final Pattern LOST = Pattern.compile("PERF_RECORD_LOST lost (\\d{1,15})\\b.*");
	private static final Pattern FRAME = Pattern.compile("\\s+([0-9a-f]{1,16})\\b\\s*(.*)");
	/** Where the address of data is, and the code address after it. */
	private static final Pattern DATA_PLACE = Pattern.compile("(.*?)(?:\\+0x([0-9a-f]{1,16}))? \\((.*?)\\)(?:\\s+(.*))?");
	private static final int SHORTEST_ADDRESS = 5;
	private static final int LONGEST_WEIGHT = 7;

	String command;
	/** -1 when the line does not tell it. */
	int process;
	int thread;
	/** -1 when the line does not tell it. */
	int cpu;
	long timeNs;
	String event;
	/** What follows the event. */
	String text;
	long address;
	/** Of the data; empty when perf does not know one. */
	String symbol;
	long symbolOffset;
	/** File in which the symbol is. */
	String symbolObject;
	/** perf_mem_data_src of linux/perf_event.h; 0 when the line does not tell it. */
	long dataSource;
	long weight;
	long ip;
	String function;
	String object;
	long physical;

	/** Events that were lost. */
	long lost;

	/** Of a mapping. */
	long end;
	String protection;
	String file;

	Kind parse(String line) {
		if (line.isBlank() || line.startsWith("#")) {
			return Kind.NOTHING;
		}
		Matcher m = LINE.matcher(line);
		if (!m.lookingAt()) {
			return frame(line);
		}
		command = m.group(1);
		thread = Integer.parseInt(m.group(3));
		process = m.group(2) == null ? -1 : Integer.parseInt(m.group(2));
		cpu = m.group(4) == null ? -1 : Integer.parseInt(m.group(4));
		timeNs = Long.parseLong(m.group(5)) * 1_000_000_000
				+ Long.parseLong((m.group(6) + "00000000").substring(0, 9));
		String rest = line.substring(m.end());
		if (rest.startsWith("PERF_RECORD_")) {
			return record(rest);
		}
		Matcher e = EVENT.matcher(rest);
		if (!e.lookingAt()) {
			return Kind.BAD;
		}
		event = e.group(1);
		text = rest.substring(e.end()).strip();
		if (fields(text) && (dataSource != 0 || ip != 0)) {
			return Kind.SAMPLE;
		}
		function = "";
		object = "";
		if (token(text, 0) >= SHORTEST_ADDRESS && isHex(text, 0, token(text, 0))) {
			code(text.substring(token(text, 0)));
		}
		return Kind.EVENT;
	}

	private Kind frame(String line) {
		Matcher m = FRAME.matcher(line);
		if (!m.matches()) {
			return Kind.BAD;
		}
		ip = Long.parseUnsignedLong(m.group(1), 16);
		code(m.group(2));
		return Kind.FRAME;
	}

	private Kind record(String rest) {
		if (rest.startsWith("PERF_RECORD_COMM exec")) {
			return Kind.EXEC;
		}
		Matcher missing = LOST.matcher(rest);
		if (missing.matches()) {
			lost = Long.parseLong(missing.group(1));
			return Kind.LOST;
		}
		Matcher m = MAPPING.matcher(rest);
		if (!m.matches()) {
			return Kind.NOTHING;
		}
		process = Integer.parseInt(m.group(1));
		address = Long.parseUnsignedLong(m.group(2), 16);
		end = address + Long.parseUnsignedLong(m.group(3), 16);
		protection = m.group(4);
		file = m.group(5).strip();
		return process <= 0 || Long.compareUnsigned(end, address) <= 0 ? Kind.NOTHING : Kind.MAPPING;
	}

	/** Address and what follows; false when there is no address. */
	private boolean fields(String text) {
		symbol = "";
		symbolOffset = 0;
		symbolObject = "";
		dataSource = 0;
		weight = 0;
		ip = 0;
		function = "";
		object = "";
		physical = 0;
		address = 0;
		int end = token(text, 0);
		if (!isHex(text, 0, end)) {
			return false;
		}
		address = Long.parseUnsignedLong(text.substring(0, end), 16);
		String rest = text.substring(end).strip();
		int source = rest.indexOf("|OP ");
		if (source < 0) {
			return withoutSource(rest);
		}
		String before = rest.substring(0, source).strip();
		int last = before.lastIndexOf(' ') + 1;
		if (!isHex(before, last, before.length())) {
			return false;
		}
		dataSource = Long.parseUnsignedLong(before.substring(last), 16);
		place(DATA_PLACE.matcher(before.substring(0, last).strip()));
		int label = rest.indexOf("|BLK", source);
		label = label < 0 ? rest.indexOf("|LCK", source) : label;
		int at = token(rest, label < 0 ? source : label);
		while (at < rest.length()) { // words of the data source
			int from = skipSpaces(rest, at);
			at = token(rest, from);
			if (isHex(rest, from, at)) {
				numbers(rest.substring(from));
				return true;
			}
		}
		return true;
	}

	/** Software events have no data source. The address may be followed by the place of the data. */
	private boolean withoutSource(String rest) {
		if (rest.isEmpty() || isHex(rest, 0, token(rest, 0)) && token(rest, 0) >= SHORTEST_ADDRESS) {
			numbers(rest);
			return true;
		}
		Matcher m = DATA_PLACE.matcher(rest);
		place(m);
		if (m.matches() && m.group(4) != null) {
			numbers(m.group(4));
		}
		return true;
	}

	private void place(Matcher m) {
		if (m.matches() && m.group(2) != null) {
			symbol = m.group(1).strip();
			symbolOffset = Long.parseUnsignedLong(m.group(2), 16);
			symbolObject = m.group(3);
		}
	}

	/** Weight, other latencies, code address, its place, physical address. */
	private void numbers(String text) {
		int at = 0;
		while (at < text.length()) {
			int end = token(text, at);
			if (!isHex(text, at, end)) {
				code(text.substring(at));
				return;
			}
			String number = text.substring(at, end);
			boolean small = number.length() <= LONGEST_WEIGHT && number.chars().allMatch(Character::isDigit);
			int next = skipSpaces(text, end);
			boolean lastNumber = next >= text.length() || !isHex(text, next, token(text, next));
			if (ip != 0) {
				physical = Long.parseUnsignedLong(number, 16);
			} else if (small && !(lastNumber && next < text.length())) {
				weight = weight == 0 ? Long.parseLong(number) : weight; // the second number is a part of it
			} else {
				ip = Long.parseUnsignedLong(number, 16);
			}
			at = next;
		}
	}

	/** Function and library of a code address, and the physical address after them. */
	private void code(String text) {
		String place = text.strip();
		int last = place.lastIndexOf(')');
		if (last >= 0 && last + 1 < place.length()) {
			String after = place.substring(last + 1).strip();
			if (isHex(after, 0, after.length())) {
				physical = Long.parseUnsignedLong(after, 16);
			}
			place = place.substring(0, last + 1);
		}
		int offset = place.lastIndexOf("+0x");
		int open = place.indexOf(" (", Math.max(0, offset));
		if (offset < 0) { // no offset: the last path in parentheses
			open = Math.max(place.lastIndexOf(" (/"), place.lastIndexOf(" (["));
		}
		object = open >= 0 && place.endsWith(")") ? place.substring(open + 2, place.length() - 1) : "";
		function = open >= 0 ? place.substring(0, open) : place;
		function = offset >= 0 ? place.substring(0, offset) : function;
		function = function.equals("[unknown]") ? "" : function;
	}

	private static int skipSpaces(String text, int from) {
		int at = from;
		while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
			at++;
		}
		return at;
	}

	/** The end of the token that begins at {@code from}. */
	private static int token(String text, int from) {
		int at = from;
		while (at < text.length() && !Character.isWhitespace(text.charAt(at))) {
			at++;
		}
		return at;
	}

	private static boolean isHex(String text, int from, int to) {
		if (to <= from || to - from > Long.SIZE / 4) {
			return false;
		}
		for (int i = from; i < to; i++) {
			if (Character.digit(text.charAt(i), 16) < 0) {
				return false;
			}
		}
		return true;
	}
}
