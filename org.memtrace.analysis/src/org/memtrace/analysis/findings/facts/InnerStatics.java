// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.Collections;
import java.util.Comparator;
import java.util.List;

import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;

/** Static objects in which others lie. One thread. */
final class InnerStatics {
	private final List<Structure> structures;
	private final int pageBytes;
	/** Static objects by address; null: not asked for yet. */
	private List<Structure> statics;

	InnerStatics(List<Structure> structures, int pageBytes) {
		this.structures = structures;
		this.pageBytes = pageBytes;
	}

	/** Bytes of a static object in which others lie, to which their accesses belong: variables in the thread-local data of a library. */
	long bytes(Structure outer) {
		if (outer.kind() != StructureKind.STATIC || outer.sizeBytes() < pageBytes) {
			return 0;
		}
		if (statics == null) {
			statics = structures.stream().filter(s -> s.kind() == StructureKind.STATIC)
					.sorted(Comparator.comparing(Structure::startAddress, Long::compareUnsigned)).toList();
		}
		int from = Collections.binarySearch(statics, outer, Comparator.comparing(Structure::startAddress, Long::compareUnsigned));
		while (from > 0 && statics.get(from - 1).startAddress() == outer.startAddress()) {
			from--;
		}
		long bytes = 0;
		long end = outer.startAddress();
		for (Structure s : statics.subList(from, statics.size())) {
			if (Long.compareUnsigned(s.startAddress(), outer.endAddress()) >= 0) {
				break;
			}
			boolean inner = s.image() == outer.image() && s.birthNs() < outer.deathNs() && outer.birthNs() < s.deathNs()
					&& (s.sizeBytes() < outer.sizeBytes() || s.sizeBytes() == outer.sizeBytes() && s.id() < outer.id());
			if (inner && Long.compareUnsigned(s.endAddress(), end) > 0) {
				long last = Long.compareUnsigned(s.endAddress(), outer.endAddress()) > 0 ? outer.endAddress() : s.endAddress();
				bytes += last - (Long.compareUnsigned(s.startAddress(), end) > 0 ? s.startAddress() : end);
				end = last;
			}
		}
		return bytes;
	}
}
