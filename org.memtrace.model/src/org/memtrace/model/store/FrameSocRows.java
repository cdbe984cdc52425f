// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

/**
 * Whether a trace database also gets each access as rows of FrameSoc's EVENT and EVENT_PARAM, for FrameSoc and its tools; memtrace
 * itself does not read them.
 */
public enum FrameSocRows {
	/** Up to {@link #MOST_AUTO} accesses. */
	AUTO,
	/** Always. */
	YES,
	/** Never: the table is there and empty. */
	NO;

	/** Number of accesses up to which {@link #AUTO} writes rows: some 25 to 90 bytes and a microsecond for each. */
	public static final long MOST_AUTO = 5_000_000;

	/** Whether a trace with so many accesses gets rows. */
	public boolean writes(long accesses) {
		return this == YES || this == AUTO && accesses <= MOST_AUTO;
	}
}
