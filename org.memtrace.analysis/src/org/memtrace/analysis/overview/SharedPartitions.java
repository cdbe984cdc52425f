// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import java.util.LinkedHashMap;
import java.util.Map;

import org.memtrace.aggregation.engine.Partition;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * The partitions of one aggregator that were asked for last, for going to and fro. A search for all levels on the same aggregator lets
 * pictures go first. Safe for all threads.
 */
public final class SharedPartitions {
	/** Makes the partition that is not there. */
	public interface Maker {
		Partition make() throws CancelledException;
	}

	private static final int MOST_KEPT = 64;

	private final Map<Double, Partition> kept = new LinkedHashMap<>(MOST_KEPT, 0.75f, true) {
		private static final long serialVersionUID = 1L;

		@Override
		protected boolean removeEldestEntry(Map.Entry<Double, Partition> eldest) {
			return size() > MOST_KEPT;
		}
	};
	/** Pictures that wait for the aggregator. */
	private int waiting;

	/** Keeps what is known already. */
	public synchronized void put(double p, Partition partition) {
		kept.put(p, partition);
	}

	/** The partition for p, made now if it is not there. */
	public Partition get(double p, Maker maker) throws CancelledException {
		synchronized (this) {
			Partition known = kept.get(p);
			if (known != null) {
				return known;
			}
			waiting++;
		}
		try {
			Partition found = maker.make();
			put(p, found);
			return found;
		} finally {
			synchronized (this) {
				waiting--;
				notifyAll();
			}
		}
	}

	/** The progress of a search that lets pictures use the aggregator between two of its steps. */
	public Progress polite(Progress progress) {
		return new Progress() {
			@Override
			public void begin(String step, long total) {
				progress.begin(step, total);
			}

			@Override
			public void worked(long units) {
				progress.worked(units);
				letPicturesGoFirst(progress);
			}

			@Override
			public boolean isCancelled() {
				return progress.isCancelled();
			}
		};
	}

	private synchronized void letPicturesGoFirst(Progress search) {
		while (waiting > 0 && !search.isCancelled()) {
			try {
				wait(100);
			} catch (InterruptedException e) {
				Thread.currentThread().interrupt();
				return;
			}
		}
	}
}
