// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.input;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.model.TraceFormatException;

/** Counts what could not be used; in strict mode each such thing is an error. Safe for several threads. */
public final class SkipCounter {
	private static final int EXAMPLES = 20;

	private final boolean strict;
	private final Map<String, Long> byReason = new TreeMap<>();
	/** First occurrence of each reason, as {@code file, line n}. */
	private final Map<String, String> firstPlace = new LinkedHashMap<>();
	private final List<String> warnings = new ArrayList<>();
	private long incompleteLines;

	public SkipCounter(boolean strict) {
		this.strict = strict;
	}

	/** A row is not used. */
	public void skip(String file, long line, String reason) throws TraceFormatException {
		skip(file, line, reason, 1);
	}

	/** Some rows are not used. */
	public synchronized void skip(String file, long line, String reason, long rows) throws TraceFormatException {
		if (strict) {
			throw new TraceFormatException(file, line, reason);
		}
		byReason.merge(reason, rows, Long::sum);
		firstPlace.putIfAbsent(reason, line > 0 ? file + ", line " + line : file);
	}

	/** What another counter has found in what comes next. */
	public synchronized void add(Map<String, Long> rows, Map<String, String> firstPlaces, List<String> theirWarnings, long incomplete)
			throws TraceFormatException {
		if (strict && !firstPlaces.isEmpty()) {
			Map.Entry<String, String> first = firstPlaces.entrySet().iterator().next();
			throw new TraceFormatException(first.getValue(), 0, first.getKey());
		}
		if (strict && !theirWarnings.isEmpty()) {
			int end = theirWarnings.get(0).indexOf(": ");
			throw new TraceFormatException(theirWarnings.get(0).substring(0, Math.max(0, end)), 0, theirWarnings.get(0).substring(end + 2));
		}
		rows.forEach((reason, n) -> byReason.merge(reason, n, Long::sum));
		firstPlaces.forEach(firstPlace::putIfAbsent);
		theirWarnings.forEach(this::warn);
		incompleteLines += incomplete;
	}

	/** A file ends within a line, as a killed recorder leaves it. */
	public synchronized void incomplete(String file, long line) throws TraceFormatException {
		if (strict) {
			throw new TraceFormatException(file, line, "the last line is incomplete");
		}
		incompleteLines++;
		warn(file + ": the last line is incomplete and was dropped");
	}

	/**
	 * A part of a file of blocks is damaged, what stands behind it is read.
	 *
	 * @param records that are lost, as far as that is known
	 */
	public synchronized void damaged(String file, long offset, long bytes, long records) throws TraceFormatException {
		String what = bytes == 0 ? records + " records are missing before offset " + offset
				: bytes + " bytes from offset " + offset + " on are damaged, " + records + " records in them are lost";
		if (strict) {
			throw new TraceFormatException(file, 0, what);
		}
		warn(file + ": " + what);
		if (records > 0) {
			skip(file + ", offset " + offset, 0, "damaged block", records);
		}
	}

	/** A file of blocks ends within one, as a killed recorder leaves it. */
	public synchronized void cut(String file, long offset, long records) throws TraceFormatException {
		if (strict) {
			throw new TraceFormatException(file, 0, "ends within a block, which begins at offset " + offset);
		}
		incompleteLines++;
		warn(file + ": ends within a block, which begins at offset " + offset + " and was dropped");
		if (records > 0) {
			skip(file + ", offset " + offset, 0, "incomplete block", records);
		}
	}

	public synchronized void warn(String warning) {
		if (warnings.size() < EXAMPLES) {
			warnings.add(warning);
		}
	}

	/** Something is wrong with a file as a whole. */
	public synchronized void problem(String file, String reason) throws TraceFormatException {
		if (strict) {
			throw new TraceFormatException(file, 0, reason);
		}
		warn(file + ": " + reason);
	}

	public synchronized Map<String, Long> byReason() {
		return new TreeMap<>(byReason);
	}

	public synchronized Map<String, String> firstPlaces() {
		return new LinkedHashMap<>(firstPlace);
	}

	public synchronized List<String> warnings() {
		return List.copyOf(warnings);
	}

	public synchronized long incompleteLines() {
		return incompleteLines;
	}

	public synchronized long total() {
		return byReason.values().stream().mapToLong(Long::longValue).sum();
	}
}
