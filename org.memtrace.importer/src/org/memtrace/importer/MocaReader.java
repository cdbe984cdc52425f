// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import java.util.Set;

import org.memtrace.importer.input.InputFormat;

/** Full traces of Moca and its files for FrameSoc, with structures and stacks. */
final class MocaReader extends AccessReader {
	MocaReader() {
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
}
