// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perf;

import org.memtrace.model.memory.MemoryLevel;

/**
 * What {@code perf_mem_data_src} says: 64 bits, the same for the samples of Intel, AMD and Arm. The fields are those of
 * {@code union perf_mem_data_src} in linux/perf_event.h.
 */
final class DataSource {
	private static final int NOT_KNOWN = 1;
	private static final int LOAD = 2;
	private static final int STORE = 4;
	private static final int PREFETCH = 8;

	private static final int HIT = 0x02;
	private static final int MISS = 0x04;
	private static final int L1 = 0x08;
	private static final int LFB = 0x10;
	private static final int L2 = 0x20;
	private static final int L3 = 0x40;
	private static final int LOCAL_RAM = 0x80;
	private static final int REMOTE_RAM = 0x300;
	private static final int REMOTE_CACHE = 0xc00;
	private static final int IO = 0x1000;
	private static final int UNCACHED = 0x2000;

	private static final int SNOOP_HITM = 0x10;
	private static final int SNOOPX_PEER = 2;

	private DataSource() {
	}

	private static int field(long source, int shift, int bits) {
		return (int) (source >>> shift) & (1 << bits) - 1;
	}

	static boolean isStore(long source) {
		return (field(source, 0, 5) & STORE) != 0;
	}

	static boolean isLoad(long source) {
		return (field(source, 0, 5) & (LOAD | PREFETCH)) != 0;
	}

	/** Of an access of which no more is known. @param store null when not even that is */
	static long ofDirection(Boolean store) {
		return store == null ? NOT_KNOWN : store ? STORE : LOAD;
	}

	/** Where the data was; null when the processor did not tell. */
	static MemoryLevel level(long source) {
		int level = field(source, 5, 14);
		int number = field(source, 33, 4);
		boolean remote = field(source, 37, 1) != 0 || (level & (REMOTE_RAM | REMOTE_CACHE)) != 0;
		if ((field(source, 19, 5) & SNOOP_HITM) != 0 || field(source, 38, 2) == SNOOPX_PEER) {
			return remote ? MemoryLevel.REMOTE_MODIFIED : MemoryLevel.MODIFIED;
		}
		MemoryLevel known = switch (number) {
		case 0x1 -> MemoryLevel.L1;
		case 0x2, 0x5 -> MemoryLevel.L2; // 5: its buffer of misses
		case 0x3 -> remote ? MemoryLevel.REMOTE_CACHE : MemoryLevel.L3;
		case 0x4, 0x6, 0xb -> remote ? MemoryLevel.REMOTE_CACHE : MemoryLevel.OTHER_CACHE;
		case 0x8 -> MemoryLevel.UNCACHED;
		case 0x9 -> MemoryLevel.CXL;
		case 0xa -> MemoryLevel.DEVICE;
		case 0xc -> MemoryLevel.FILL_BUFFER;
		case 0xd -> remote ? MemoryLevel.REMOTE_MEMORY : MemoryLevel.LOCAL_MEMORY;
		case 0xe -> MemoryLevel.PERSISTENT;
		default -> null;
		};
		if ((level & MISS) != 0 && (level & HIT) == 0) { // it was not there; older kernels tell no more
			return (level & L1) != 0 || known == MemoryLevel.L1 ? MemoryLevel.BEYOND_L1 : null;
		}
		return known != null ? known : older(level);
	}

	/** The field of kernels before 4.14, and of the events that still use it alone. */
	private static MemoryLevel older(int level) {
		if ((level & UNCACHED) != 0) {
			return MemoryLevel.UNCACHED;
		}
		if ((level & IO) != 0) {
			return MemoryLevel.DEVICE;
		}
		if ((level & REMOTE_RAM) != 0) {
			return MemoryLevel.REMOTE_MEMORY;
		}
		if ((level & LOCAL_RAM) != 0) {
			return MemoryLevel.LOCAL_MEMORY;
		}
		if ((level & REMOTE_CACHE) != 0) {
			return MemoryLevel.REMOTE_CACHE;
		}
		return (level & L3) != 0 ? MemoryLevel.L3 : (level & L2) != 0 ? MemoryLevel.L2
				: (level & LFB) != 0 ? MemoryLevel.FILL_BUFFER : (level & L1) != 0 ? MemoryLevel.L1 : null;
	}
}
