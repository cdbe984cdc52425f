// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.columns;

import java.util.Locale;

/**
 * Accesses that are in the trace but could not be read, because the chunks that hold them are damaged. An answer that was made without them
 * says so.
 *
 * @param chunks number of chunks
 * @param accesses number of their access records
 * @param reads reads that they count
 * @param writes writes that they count
 * @param reason why the first of them is damaged; empty when there is none
 */
public record Losses(int chunks, long accesses, long reads, long writes, String reason) {
	/** Nothing was lost as far as one has read. */
	public static final Losses NONE = new Losses(0, 0, 0, 0, "");

	/** Whether nothing was lost. */
	public boolean isNone() {
		return chunks == 0;
	}

	/** Both; they are about different chunks. */
	public Losses plus(Losses other) {
		return new Losses(chunks + other.chunks, accesses + other.accesses, reads + other.reads, writes + other.writes,
				isNone() ? other.reason : reason);
	}

	/** One sentence, such as {@code 65,536 access records with 70,000 reads and 3 writes in 1 damaged chunk are lost: …}. */
	public String text() {
		return isNone() ? "Nothing was lost."
				: String.format(Locale.ROOT, "%,d access record%s with %,d reads and %,d writes in %,d damaged chunk%s %s lost: %s", accesses,
						accesses == 1 ? "" : "s", reads, writes, chunks, chunks == 1 ? "" : "s", accesses == 1 ? "is" : "are", reason);
	}
}
