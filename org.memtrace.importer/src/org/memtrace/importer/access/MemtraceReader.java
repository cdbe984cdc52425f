// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.access;

import java.util.List;
import java.util.Set;

import org.memtrace.importer.input.InputFormat;

/** Trace directories of {@code memtrace record}, and single access files of them. */
public final class MemtraceReader extends AccessReader {
	public MemtraceReader() {
		super(Set.of(InputFormat.ACCESSES));
	}

	@Override
	public String id() {
		return "memtrace";
	}

	@Override
	public String description() {
		return "trace directories of memtrace record, and their access files";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("accesses-000000.csv", "accesses from a trace directory, alone"));
	}

	@Override
	boolean readsTraceDirectories() {
		return true;
	}

	@Override
	Set<InputFormat> others() {
		return Set.of(InputFormat.MOCA_TRACE, InputFormat.MOCA_FRAMESOC, InputFormat.TABARNAC_PAGES);
	}
}
