// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.input;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** What a file holds; told by its first lines and never by its name. docs/reference/input-accesses.md lists the formats. */
public enum InputFormat {
	/** Access file of a trace directory (docs/reference/trace-format.md). */
	ACCESSES(true, "accesses of a trace directory"),
	/** {@code Moca-full-trace.csv}: one line for each chunk, address and task; either generation of its header. */
	MOCA_TRACE(true, "full trace of Moca"),
	/** {@code Moca-framesoc.csv}: the same, cut into segments with their sharing. */
	MOCA_FRAMESOC(true, "Moca's file for FrameSoc"),
	/** TABARNAC's {@code NAME.full.page.csv}: reads and writes of each page by thread, without time. */
	TABARNAC_PAGES(true, "pages of TABARNAC"),
	/** Moca's or TABARNAC's {@code structs.csv}. */
	STRUCTURES(false, "structures"),
	/** TABARNAC's {@code NAME.stackmap.csv}. */
	STACK_MAP(false, "stacks of TABARNAC"),
	/** Moca's {@code stacks.log}: lines of /proc/PID/maps. */
	STACKS_LOG(false, "stacks of Moca"),
	/** Moca's {@code Virtual-producers.log}, {@code Physical-producers.log}: a page size and addresses. */
	PRODUCERS(false, "event producers of Moca"),
	UNKNOWN(false, "unknown");

	/** How accesses in blocks begin (docs/reference/trace-records.md). */
	private static final String RECORDS = "\u0089MTR";
	private static final Pattern MAPS_STACK = Pattern
			.compile("[0-9a-f]+-[0-9a-f]+ +[-rwxps]{4} .*\\[stack(:\\d+)?\\]\\s*");
	private static final Pattern PAGE_SIZE = Pattern.compile("\\d{3,10}");
	private static final Pattern PRODUCER = Pattern.compile("[0-9a-fA-F]{1,16}(,\\d+)*");

	private final boolean accesses;
	private final String description;

	InputFormat(boolean accesses, String description) {
		this.accesses = accesses;
		this.description = description;
	}

	/** Whether it holds accesses, as opposed to what is told about structures. */
	public boolean hasAccesses() {
		return accesses;
	}

	public String description() {
		return description;
	}

	/** The columns of a header, without blanks. */
	public static List<String> columns(String header) {
		return Arrays.asList(header.replaceAll("[\\s\"\uFEFF]|\u00EF\u00BB\u00BF", "").split(",", -1));
	}

	private static String[] firstLines(String head) {
		return head.lines().filter(line -> !line.isBlank() && !line.startsWith("#")).limit(2).toArray(String[]::new);
	}

	/** The first line that is no comment, without blanks around it. */
	public static String firstLine(String head) {
		String[] lines = firstLines(head);
		return lines.length == 0 ? "" : lines[0].strip();
	}

	/** The format of something that begins with this text. Lines that begin with # are comments. */
	public static InputFormat of(String head) {
		if (head.startsWith(RECORDS)) {
			return ACCESSES;
		}
		String[] lines = firstLines(head);
		if (lines.length == 0 || lines[0].length() > 100_000) {
			return UNKNOWN;
		}
		List<String> columns = columns(lines[0]);
		if (columns.contains("@Virt") || columns.contains("VirtualAddr")) {
			return columns.contains("Shared") ? MOCA_FRAMESOC
					: columns.stream().anyMatch(Set.of("Ip", "Node", "Flags")::contains) ? ACCESSES : MOCA_TRACE;
		}
		if (columns.containsAll(List.of("addr", "firstacc", "type"))) {
			return TABARNAC_PAGES;
		}
		if (columns.contains("name") && (columns.containsAll(List.of("addr", "size"))
				|| columns.containsAll(List.of("start", "sz")))) {
			return STRUCTURES;
		}
		if (columns.containsAll(List.of("tid", "stackmax", "sz"))) {
			return STACK_MAP;
		}
		if (MAPS_STACK.matcher(lines[0]).matches()) {
			return STACKS_LOG;
		}
		if (PAGE_SIZE.matcher(lines[0].strip()).matches() && Long.bitCount(Long.parseLong(lines[0].strip())) == 1
				&& (lines.length == 1 || PRODUCER.matcher(lines[1].strip()).matches())) {
			return PRODUCERS;
		}
		return UNKNOWN;
	}
}
