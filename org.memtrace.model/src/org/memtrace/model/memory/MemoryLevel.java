// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.memory;

/**
 * Where the processor found the data of a sampled access, and how long that took. Both are kept in the flags of a record
 * ({@link org.memtrace.model.store.AccessBatch#flags}): bits 4 to 7 are the level, bits 8 to 23 the latency in cycles. 0 is unknown.
 */
public enum MemoryLevel {
	L1("L1"), //
	FILL_BUFFER("fill buffer"), //
	L2("L2"), //
	L3("L3"), //
	OTHER_CACHE("another cache"), //
	LOCAL_MEMORY("local memory"), //
	REMOTE_MEMORY("remote memory"), //
	REMOTE_CACHE("cache of another node"), //
	/** A line that another core of the node had written (HITM of Intel and AMD, peer of Arm): sharing, true or false. */
	MODIFIED("written by another core (HITM)"), //
	REMOTE_MODIFIED("written on another node (HITM)"), //
	UNCACHED("uncached"), //
	DEVICE("device"), //
	PERSISTENT("persistent memory"), //
	CXL("CXL memory"), //
	/** Stores of Intel tell no more. */
	BEYOND_L1("beyond L1");

	private static final MemoryLevel[] ALL = values();
	private static final int LEVEL_SHIFT = 4;
	private static final int LEVEL_MASK = 15;
	private static final int LATENCY_SHIFT = 8;
	/** The largest latency that can be kept; it stands for all larger ones, too. */
	public static final int MAX_LATENCY_CYCLES = (1 << 16) - 1;

	private final String label;

	MemoryLevel(String label) {
		this.label = label;
	}

	/** For a person. */
	public String label() {
		return label;
	}

	/**
	 * Bits for the flags of a record.
	 *
	 * @param level null when it is not known
	 * @param latencyCycles 0 when it is not known
	 */
	public static int flags(MemoryLevel level, long latencyCycles) {
		return (level == null ? 0 : level.ordinal() + 1 << LEVEL_SHIFT)
				| (int) Math.clamp(latencyCycles, 0, MAX_LATENCY_CYCLES) << LATENCY_SHIFT;
	}

	/** The level in the flags of a record, null when it is not known. */
	public static MemoryLevel of(int flags) {
		int number = flags >>> LEVEL_SHIFT & LEVEL_MASK;
		return number == 0 ? null : ALL[number - 1];
	}

	/** The latency in the flags of a record, 0 when it is not known. */
	public static int latencyCycles(int flags) {
		return flags >>> LATENCY_SHIFT & MAX_LATENCY_CYCLES;
	}
}
