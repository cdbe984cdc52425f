// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.reader;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

import org.memtrace.importer.input.InputFile;
import org.memtrace.model.MemtraceException;

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
	/** Properties of an imported trace that tell where it came from. */
	public static final String PROPERTY_SOURCE = "source";
	public static final String PROPERTY_SOURCE_IDENTITY = "source_identity";

	public ImportSource {
		files = List.copyOf(files);
		notes = List.copyOf(notes);
		options = Set.copyOf(options);
	}

	/** One file of events, with times in nanoseconds. */
	public static ImportSource ofEvents(String reader, String kind, Input input) throws MemtraceException {
		InputFile file = input.files().get(0);
		return new ImportSource(reader, kind, input.name(), kind, List.of(File.of(file, kind)), file.size(), "ns", List.of(), Set.of());
	}

	/**
	 * A file that is read.
	 *
	 * @param path null for standard input
	 * @param what its format, for a person
	 */
	public record File(Path path, String name, String what, long bytes) {
		/** A file of the input. */
		public static File of(InputFile file, String what) {
			return new File(file.path(), file.path() == null ? file.name() : file.path().getFileName().toString(), what, file.size());
		}
	}
}
