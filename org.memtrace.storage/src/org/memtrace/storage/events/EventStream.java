// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.events;

import java.sql.Connection;
import java.sql.SQLException;

import org.memtrace.model.StoreException;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.storage.chunks.LeafOrder;

/**
 * Writes the rows of FrameSoc while the accesses come, as long as they come in order of their start: those with the same start wait for
 * each other and are put in the order of their ids. So the rows are the same as when they are made from the chunks.
 */
public final class EventStream implements AutoCloseable {
	private final EventWriter writer;
	private final LeafOrder order;
	private final int mostTogether;
	private AccessBatch together = new AccessBatch(64);
	private long lastStartNs = Long.MIN_VALUE;

	/**
	 * @param leafOfCell leaf of each cell
	 * @param leafCount number after the largest leaf
	 * @param mostTogether accesses with the same start that wait for each other
	 */
	public EventStream(Connection db, int[] leafOfCell, int leafCount, int mostTogether) throws SQLException {
		writer = new EventWriter(db);
		order = new LeafOrder(leafOfCell, leafCount);
		this.mostTogether = mostTogether;
	}

	/** Adds an access; false when it starts before the one before, or too many start with it: then what was written is of no use. */
	public boolean add(AccessBatch batch, int i) throws SQLException, StoreException {
		long start = batch.startNs[i];
		if (start != lastStartNs) {
			if (start < lastStartNs) {
				return false;
			}
			write();
			lastStartNs = start;
		} else if (together.isFull()) {
			if (together.count >= mostTogether) {
				return false;
			}
			AccessBatch bigger = new AccessBatch(Math.min(mostTogether, together.count * 4));
			for (int k = 0; k < together.count; k++) {
				bigger.addFrom(together, k);
			}
			together = bigger;
		}
		together.addFrom(batch, i);
		return true;
	}

	private void write() throws SQLException, StoreException {
		int[] rows = order.of(together);
		for (int k = 0; k < together.count; k++) {
			writer.access(together, rows[k]);
		}
		together.count = 0;
	}

	/** Gives what wrote the rows, after the last one. */
	public EventWriter end() throws SQLException, StoreException {
		write();
		return writer;
	}

	@Override
	public void close() throws SQLException {
		writer.close();
	}
}
