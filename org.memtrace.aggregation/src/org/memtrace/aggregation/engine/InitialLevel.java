// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.Locale;

/** How the first p of a picture is chosen from the list of significant values. */
public enum InitialLevel {
	/** After the first step at which gain and loss differ most in how much they change (the reference's default). */
	LARGEST_GAP_AFTER,
	/** Before that step. */
	LARGEST_GAP_BEFORE,
	/** After the step with the largest change of gain or loss. */
	LARGEST_CHANGE,
	/** p = 1: one block. */
	ONE,
	/** p = 0: all information. */
	ZERO,
	/**
	 * Closest to full reduction without loss, on normalised curves: least (1 - gain)^2 + loss^2, among the levels that lose at
	 * most {@link #MOST_LOSS}, or {@link #MOST_LOSS_OF_MANY} where that would leave more than {@link #MOST_BLOCKS}. Without that
	 * limit the closest level of evenly used memory is a single block. Where structures are known, none with more than
	 * {@link #LEAST_PART} of the rows loses more than {@link #MOST_LOSS_OF_PART}, however few of the accesses it has.
	 */
	BALANCED;

	/** Name on the command line. */
	public String id() {
		return name().toLowerCase(Locale.ROOT).replace("largest_", "").replace('_', '-');
	}

	/** Strategy by name, or null. */
	public static InitialLevel byId(String id) {
		for (InitialLevel strategy : values()) {
			if (strategy.id().equals(id)) {
				return strategy;
			}
		}
		return null;
	}

	/** Largest loss of {@link #BALANCED}, as a share of what is between the finest level and one block. */
	public static final double MOST_LOSS = 0.25;
	/** Largest loss of {@link #BALANCED} when a picture with less loss would be a mosaic. */
	public static final double MOST_LOSS_OF_MANY = 0.5;
	/** Largest loss of a structure in {@link #BALANCED}, as a share of what lies between the finest level and one block for it. */
	public static final double MOST_LOSS_OF_PART = 0.5;
	/** Share of the rows above which that holds for a structure. */
	public static final double LEAST_PART = 0.01;
	/** Blocks above which a picture is a mosaic: noise takes more room than what is to be seen. */
	public static final int MOST_BLOCKS = 500;
}
