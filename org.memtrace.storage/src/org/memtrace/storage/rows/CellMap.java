// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.rows;

import org.memtrace.model.store.AccessQuery;

/** From cells, which stored rows refer to, to the event producers of one tree. */
public final class CellMap {
	private final int[] producer;

	/** Keeps the array. */
	public CellMap(int[] producer) {
		this.producer = producer;
	}

	public int producer(int cell) {
		return producer[cell];
	}

	/** The array, which must not be changed. */
	public int[] producers() {
		return producer;
	}

	public int size() {
		return producer.length;
	}

	/** The cells of the producers that a query selects: all are within {@code [from, to)}, and if {@code exact} no others are. */
	public record Range(int from, int to, boolean exact) {
	}

	public Range range(AccessQuery query) {
		int from = producer.length;
		int to = 0;
		int count = 0;
		for (int cell = 0; cell < producer.length; cell++) {
			if (producer[cell] >= query.producerFrom() && producer[cell] < query.producerTo()) {
				from = Math.min(from, cell);
				to = cell + 1;
				count++;
			}
		}
		return new Range(from, to, to - from == count);
	}
}
