// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.source;

import java.util.List;

import org.memtrace.analysis.source.SourcePlace;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.TraceStore;

/** What is chosen in a view has which places in the source, the best one first. Asked in the background. */
@FunctionalInterface
public interface SourceQuestion {
	/** The places; empty when none is known. */
	List<SourcePlace> places(TraceStore store, CodePlaces code) throws MemtraceException;

	/** Where a structure is made. */
	static SourceQuestion of(Structure structure) {
		return (store, code) -> SourcePlace.of(structure, structure.stack() < 0 ? List.of() : store.stack(structure.stack()), code);
	}
}
