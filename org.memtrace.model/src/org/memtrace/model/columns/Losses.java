// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.columns;

import java.util.Locale;

/**
 * What could not be read because it is damaged; every answer leaves it out, and says so.
 *
 * @param chunks number of chunks
 * @param accesses number of their access records
 * @param reads reads that they count
 * @param writes writes that they count
 */
public record Losses(int chunks, long accesses, long reads, long writes) {
	/** Nothing was lost as far as one has read. */
	public static final Losses NONE = new Losses(0, 0, 0, 0);

	/** Whether nothing was lost. */
	public boolean isNone() {
		return chunks == 0;
	}

	/** Both. */
	public Losses plus(Losses other) {
		return new Losses(chunks + other.chunks, accesses + other.accesses, reads + other.reads, writes + other.writes);
	}

	/** One sentence. */
	public String text() {
		return isNone() ? "Nothing was lost."
				: String.format(Locale.ROOT, "%,d accesses with %,d reads and %,d writes, in %,d damaged chunk%s, are lost.", accesses, reads,
						writes, chunks, chunks == 1 ? "" : "s");
	}
}
