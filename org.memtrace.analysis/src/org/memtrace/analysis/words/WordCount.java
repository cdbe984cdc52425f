// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.words;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.EnumSet;
import java.util.Arrays;
import java.util.Locale;

import org.memtrace.analysis.statistics.AccessCount;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.TraceInfo;

/** What words can show of a group and set limits to. */
public enum WordCount {
	/** Reads and writes. */
	ACCESSES("accesses", "reads and writes", AccessCount.ACCESSES),
	/** Reads. */
	READS("reads", "reads", AccessCount.READS),
	/** Writes. */
	WRITES("writes", "writes", AccessCount.WRITES),
	/** Records. */
	RECORDS("records", "records: what a thread did to a page in an interval", AccessCount.RECORDS),
	/** Pages. */
	PAGES("pages", "different pages, or parts of pages that belong to a structure", AccessCount.PAGES),
	/** Bytes of the pages. */
	BYTES("bytes", "size of these pages", AccessCount.BYTES),
	/** Threads. */
	THREADS("threads", "different threads that were seen", AccessCount.THREADS),
	/** Threads that read. */
	READERS("readers", "those of them that read", AccessCount.READERS),
	/** Threads that wrote. */
	WRITERS("writers", "those of them that wrote", AccessCount.WRITERS),
	/** Cache lines. */
	LINES("lines", "different cache lines of which an address was seen", AccessCount.LINES),
	/** Share of the lines of these pages. */
	USED_LINES("used_lines", "per cent of the cache lines of these pages of which an address was seen, the least first", AccessCount.LINES,
			AccessCount.BYTES),
	/** When the group was used last. */
	LAST("last", "time of the last use, the earliest first", AccessCount.LAST);

	private static final double LINE_BYTES = 64;

	private final String word;
	private final String meaning;
	private final Set<AccessCount> needs;

	WordCount(String word, String meaning, AccessCount... needs) {
		this.word = word;
		this.meaning = meaning;
		this.needs = EnumSet.copyOf(List.of(needs));
	}

	/** How it is written. */
	public String word() {
		return word;
	}

	/** What it is, in a sentence. */
	public String meaning() {
		return meaning;
	}

	/** What has to be counted for it. */
	Set<AccessCount> needs() {
		return needs;
	}

	/** Whether it is of bytes; otherwise, unless {@link #isTime}, it is a number. */
	boolean isSize() {
		return this == BYTES;
	}

	/** Whether it is a time since the start of the trace. */
	public boolean isTime() {
		return this == LAST;
	}

	/** Whether it is a number of cache lines: a lower bound, where not every address is known. */
	boolean isOfLines() {
		return this == LINES || this == USED_LINES;
	}

	/** Whether the smallest one comes first. */
	boolean isAscending() {
		return this == USED_LINES || this == LAST;
	}

	/** The one that is written so, or null. */
	static WordCount find(String word) {
		return Arrays.stream(values()).filter(c -> c.word.equals(word.toLowerCase(Locale.ROOT))).findFirst().orElse(null);
	}

	/** How all are written. */
	public static List<String> words() {
		return Arrays.stream(values()).map(WordCount::word).toList();
	}

	/** Head of its column. */
	public String column(TraceInfo trace) {
		return this == LAST ? trace.timeUnit().column("last_ns") : word;
	}

	/** Of counts of a group: a {@link Long}, or a {@link Double} for per cent. */
	Object value(Map<AccessCount, Long> counts, TraceInfo trace) {
		if (this == USED_LINES) {
			long bytes = counts.get(AccessCount.BYTES);
			return bytes == 0 ? null : (Object) (Math.rint(1e4 * counts.get(AccessCount.LINES) * LINE_BYTES / bytes) / 100);
		}
		long n = counts.get(needs.iterator().next());
		return this == LAST ? n - trace.startNs() : n;
	}

	/** A value as a person reads it in a table; the value itself where that is as good. */
	public Object shown(Object value, TraceInfo trace) {
		if (!(value instanceof Number n)) {
			return value;
		}
		return this == LAST ? Units.duration(trace, n.longValue()) : this == BYTES ? Units.bytes(n.longValue())
				: this == USED_LINES ? Units.percent(n.doubleValue()) : String.format(Locale.ROOT, "%,d", n.longValue());
	}
}
