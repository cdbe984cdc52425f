// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.rows;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.AddressSpace;

/** What stores do alike for their trees. */
public final class Spaces {
	private Spaces() {
	}

	/** Each tree has caches of its own. */
	public static String cacheKey(AddressSpace space, String key) {
		return space == AddressSpace.VIRTUAL ? key : space.id() + "/" + key;
	}

	public static MemtraceException missing(TraceInfo info, AddressSpace space) {
		return new MemtraceException(info.alias() + " has no " + space.id() + " tree: neither page frames nor more than one NUMA node"
				+ " were recorded (record --physical as root)");
	}
}
