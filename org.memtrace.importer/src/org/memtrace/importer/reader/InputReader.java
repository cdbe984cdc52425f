// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.reader;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/**
 * Reads one input format. A reader has no state: it may be used by several threads at a time. docs/extend/input-format.md shows how to
 * write one; {@code InputReaders} has one line for each.
 */
public interface InputReader {
	/** Short and stable, such as {@code events-csv}: the property {@code reader} of a trace. */
	String id();

	/** What it reads, for a person: half a sentence without a full stop, such as {@code events as CSV}. */
	String description();

	/**
	 * A file that the reader knows, for the help of {@code memtrace import}. In ASCII.
	 *
	 * @param name as users meet it, such as {@code app.trace}
	 * @param what what it is, without a full stop
	 */
	record Example(String name, String what) {
	}

	/** What the help of {@code memtrace import} lists for this reader. */
	default List<Example> examples() {
		return List.of(new Example(id(), description()));
	}

	/**
	 * Looks whether an input is of this format, by its content and never by its name. Reads the beginnings of files only.
	 *
	 * @return what an import would read; empty when the input is not of this format
	 * @throws MemtraceException one sentence, when it surely is of this format and cannot be read
	 */
	Optional<ImportSource> look(Input input) throws MemtraceException, IOException;

	/**
	 * Imports. Called for an input that {@link #look} has taken. Writes into one {@code TraceWriter} of the request and commits it;
	 * what is not used is counted with its reason. Checks the progress at least ten times a second.
	 *
	 * @throws IOException when a file cannot be read; the caller names the input
	 */
	ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException, IOException;

	/** What identifies the content: another text when something was changed. Sizes and times of the files, unless it knows better. */
	default String identity(Input input) throws MemtraceException, IOException {
		return input.identity();
	}
}
