// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.Locale;
import java.util.TreeMap;

/**
 * Accesses that are in the trace but could not be read, because what holds them is damaged. An answer that was made without them says
 * so.
 *
 * @param chunks damaged chunks that were skipped
 * @param rows access records in them
 * @param reason why the first of them is damaged; empty when there is none
 */
public record LostAccesses(int chunks, long rows, String reason) {
	/** Nothing was lost. */
	public static final LostAccesses NONE = new LostAccesses(0, 0, "");

	/** Whether something was lost. */
	public boolean any() {
		return chunks > 0;
	}

	/** One sentence, such as {@code 65,536 accesses in 1 damaged chunk are missing: …}; empty when nothing was lost. */
	public String text() {
		return !any() ? "" : String.format(Locale.ROOT, "%,d access record%s in %,d damaged chunk%s %s missing: %s", rows,
				rows == 1 ? "" : "s", chunks, chunks == 1 ? "" : "s", rows == 1 ? "is" : "are", reason);
	}

	/** Collects what is lost; a chunk counts once however often it is read. Safe for all threads. */
	static final class Log {
		private final TreeMap<Integer, String> reasons = new TreeMap<>();
		private long rows;

		synchronized void add(int chunk, long rowCount, String reason) {
			if (reasons.putIfAbsent(chunk, reason) == null) {
				rows += rowCount;
			}
		}

		synchronized LostAccesses lost() {
			return reasons.isEmpty() ? NONE : new LostAccesses(reasons.size(), rows, reasons.firstEntry().getValue());
		}
	}
}
