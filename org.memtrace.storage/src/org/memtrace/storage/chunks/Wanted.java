// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import org.memtrace.model.store.AccessQuery;

/**
 * Rows that are wanted: those of a query from {@code (fromNs, fromId)} on until before {@code (toNs, toId)}, by start and id.
 *
 * @param cellFrom no wanted producer has a smaller cell
 * @param cellTo no wanted producer has this cell or a larger one
 */
record Wanted(AccessQuery query, int cellFrom, int cellTo, long fromNs, int fromId, long toNs, int toId) {
	/** Whether the bounds are before a row. */
	boolean after(long startNs, long id) {
		return startNs > fromNs || startNs == fromNs && id >= fromId;
	}

	boolean before(long startNs, long id) {
		return startNs < toNs || startNs == toNs && id < toId;
	}

	/** What is left of it after a row. */
	Wanted following(long startNs, int id) {
		return new Wanted(query, cellFrom, cellTo, startNs, id + 1, toNs, toId);
	}
}
