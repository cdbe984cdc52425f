// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * Finds the best partition of a model for any p. Made once per model (that is the expensive part), then asked for many p.
 * Safe for all threads; calls of {@link #partition} on one aggregator run one after the other.
 */
public interface Aggregator extends BlockSource {
	/** Tolerance of comparisons, relative to root gain + root loss. */
	double TOLERANCE = 1e-12;
	/** p is moved into [1e-9, 1 - 1e-9], which decides ties at 0 and 1 by the other criterion. */
	double P_MARGIN = 1e-9;

	/**
	 * The partition with the largest p * gain - (1 - p) * loss; ties go to the coarser one.
	 *
	 * @param p in [0, 1]; 0 keeps all information, 1 is one block
	 */
	Partition partition(double p, Progress progress) throws CancelledException;

	/** Says that hundreds of p will be asked for, so that work which is of use for all of them is worth while. */
	default void expectMany() {
	}

	/**
	 * Says that few p will be asked for from now on, if any: what was kept to be faster is forgotten, which may be some 100 MB. Answers stay
	 * the same.
	 */
	default void expectFew() {
	}

	/** {@link #partition(double, Progress)} without progress. */
	default Partition partition(double p) {
		try {
			return partition(p, Progress.NONE);
		} catch (CancelledException e) {
			throw new IllegalStateException(e);
		}
	}
}
