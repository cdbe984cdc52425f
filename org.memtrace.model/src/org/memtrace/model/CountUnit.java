// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import java.util.Map;

/**
 * What the numbers of reads and writes of a trace count. Only a recorder that counts each access may have them called
 * accesses; this is the one place where the word is chosen ({@link TraceInfo#counts()}). Names of columns, metrics and JSON members
 * are not words: they are the same for all traces.
 */
public enum CountUnit {
	/** Each access of the code that was counted. */
	ACCESSES("access", "accesses", "Accesses", "record", "Each read and write that was counted"),
	/** Each access while a window was open (record --exact --windows); {@link TraceInfo#PROPERTY_WINDOWS} says how much of the run. */
	ACCESSES_IN_WINDOWS("access in windows", "accesses in windows", "Accesses in windows", "record",
			"Each read and write that was counted, for a part of the time: not those of the whole run"),
	/** A page fault is the first access of a thread to a page in a while; those after it are not seen. */
	PAGE_FAULTS("page fault", "page faults", "Page faults", "record", "Page faults: how often it was seen, not how often it was accessed"),
	/** The processor told some accesses, by chance or in turn; there were many more. */
	SAMPLES("sample", "samples", "Samples", "row", "Accesses that the processor told, a sample of all"),
	/** The trace does not say how it was made. */
	RECORDS("record", "records", "Records", "row", "What was recorded; there may have been more accesses");

	/**
	 * Property of a trace: {@code exact} where each access was counted, {@code windows} where each was for a part of the time,
	 * {@code sampled} where some were taken of all.
	 */
	private static final String PROPERTY = "guarantee_counts";
	private static final String EXACT = "exact";
	private static final String SAMPLED = "sampled";
	private static final String WINDOWS = "windows";
	private static final String PROPERTY_PAGES = "guarantee_pages";

	private final String noun;
	private final String plural;
	private final String title;
	private final String row;
	private final String meaning;

	CountUnit(String noun, String plural, String title, String row, String meaning) {
		this.noun = noun;
		this.plural = plural;
		this.title = title;
		this.row = row;
		this.meaning = meaning;
	}

	/**
	 * The unit of a trace.
	 *
	 * @param type the format it was imported from
	 * @param properties of the trace; the guarantees of its recorder are among them
	 */
	public static CountUnit of(String type, Map<String, String> properties) {
		if (EXACT.equals(properties.get(PROPERTY)) || type.equals("TABARNAC")) {
			return ACCESSES;
		}
		if (WINDOWS.equals(properties.get(PROPERTY))) {
			return ACCESSES_IN_WINDOWS;
		}
		if (SAMPLED.equals(properties.get(PROPERTY))) {
			return SAMPLES;
		}
		return properties.containsKey(PROPERTY_PAGES) || type.equals("Moca") ? PAGE_FAULTS : RECORDS;
	}

	/** Whether numbers are those of the program, of the whole run. */
	public boolean isExact() {
		return this == ACCESSES;
	}

	/** One of them. */
	public String noun() {
		return noun;
	}

	/** Several of them, in a sentence. */
	public String plural() {
		return plural;
	}

	/** Head of a column, start of a line. */
	public String title() {
		return title;
	}

	/** A line of the trace (a page, a thread, an interval), which has one number of each. Not the same word as {@link #noun()}. */
	public String row() {
		return row;
	}

	/** The title in a sentence, for a tooltip. */
	public String meaning() {
		return meaning;
	}

	/** For programs: {@code accesses}, {@code accesses_in_windows}, {@code page_faults}, {@code samples} or {@code records}. */
	public String id() {
		return plural.replace(' ', '_');
	}
}
