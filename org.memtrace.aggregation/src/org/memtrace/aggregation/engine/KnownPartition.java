// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

/** A p whose partition is known. */
final class KnownPartition {
	/** What is left between two known p. */
	record Left(KnownPartition low, KnownPartition high, Survivors survivors) {
	}

	final double p;
	/** Value of the partition, divided by the values.scale. */
	double value;
	Partition partition;
	/** null when they would tell nothing, or there is no room. */
	Deficits deficits;
	/** What is left between this p and the next known one; null when that is not known, or too much. */
	Left left;
	/** Whether it is known that it is too much. */
	boolean tooMuch;

	/** Whether the deficits of all blocks and divisions are known. */
	boolean isExact() {
		return deficits != null && deficits.blocks != null;
	}

	KnownPartition(double p) {
		this.p = p;
	}
}
