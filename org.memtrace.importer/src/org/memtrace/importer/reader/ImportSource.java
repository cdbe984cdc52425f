// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.reader;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * What an import would read, found out by the beginnings of the files, before it is done.
 *
 * @param reader id of the reader that recognised it
 * @param kind what recorded it, for a person, such as {@code full trace of Moca}
 * @param name its own name: of the trace, else of the first file
 * @param description all formats in one line, such as {@code full trace of Moca, structures, stacks of Moca}
 * @param files in the order of reading; of a trace directory a line for each process image
 * @param dataBytes size of the files with accesses or events, as they are stored
 * @param timeUnit {@code ns}, {@code tick}, or {@code none}
 * @param notes sentences about what will not be read, and why
 * @param options what can be asked for
 */
public record ImportSource(String reader, String kind, String name, String description, List<File> files, long dataBytes,
		String timeUnit, List<String> notes, Set<ImportOption> options) {
	public ImportSource {
		files = List.copyOf(files);
		notes = List.copyOf(notes);
		options = Set.copyOf(options);
	}

	/**
	 * A file that is read.
	 *
	 * @param path null for standard input
	 * @param what its format, for a person
	 */
	public record File(Path path, String name, String what, long bytes) {
	}
}
