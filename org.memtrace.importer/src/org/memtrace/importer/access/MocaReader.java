// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.access;

import java.util.List;
import java.util.Set;

import org.memtrace.importer.input.InputFormat;

/** Full traces of Moca and its files for FrameSoc, with structures and stacks. */
public final class MocaReader extends AccessReader {
	public MocaReader() {
		super(Set.of(InputFormat.MOCA_TRACE, InputFormat.MOCA_FRAMESOC));
	}

	@Override
	public String id() {
		return "moca";
	}

	@Override
	public String description() {
		return "files of Moca, with the structures and stacks that belong to them";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("Moca-full-trace.csv", "accesses of Moca; either generation of its header"), //
				new Example("Moca-framesoc.csv", "the same with Shared (0 or 1, or number of threads)"), //
				new Example("structs.csv", "structures of Moca or TABARNAC"), //
				new Example("stacks.log", "stacks of Moca"), //
				new Example("Virtual-producers.log", "page size of Moca"));
	}
}
