// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.reader;

import java.io.IOException;
import java.util.Optional;

import org.memtrace.importer.input.ByteLines;
import org.memtrace.importer.input.CountedInput;
import org.memtrace.importer.input.InputFile;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

/** A reader of events in one file of lines: what such readers do alike. */
public abstract class LineFileReader implements InputReader {
	private static final int STEP = 1024;

	private final String id;
	private final String kind;
	private final String traceType;

	/** Takes the lines of a file, one after the other. */
	public interface Lines {
		/** A line: bytes {@code [start, end)} of a buffer that changes afterwards. @param number from 1 */
		void line(byte[] buffer, int start, int end, long number) throws MemtraceException;

		/** There are no more. */
		void finish() throws MemtraceException;
	}

	/**
	 * Describes the format.
	 *
	 * @param kind for a person, such as {@code Paraver trace}
	 * @param traceType see {@link EventSink#commit}
	 */
	protected LineFileReader(String id, String kind, String traceType) {
		this.id = id;
		this.kind = kind;
		this.traceType = traceType;
	}

	@Override
	public final String id() {
		return id;
	}

	/** Whether the beginning of a file is of this format. */
	protected abstract boolean recognises(String head);

	/** Begins with a file. */
	protected abstract Lines begin(InputFile file, EventSink sink) throws MemtraceException;

	@Override
	public final Optional<ImportSource> look(Input input) throws MemtraceException, IOException {
		if (input.isFolder() || !recognises(input.files().get(0).head())) {
			return Optional.empty();
		}
		if (input.files().size() > 1) {
			throw new TraceFormatException(input.files().get(0).name(), 0, "has " + description() + "; import it alone");
		}
		return Optional.of(ImportSource.ofEvents(id, kind, input));
	}

	@Override
	public final ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException, IOException {
		InputFile file = input.files().get(0);
		progress.beginBytes("Reading events", file.size());
		try (EventSink sink = new EventSink(input, request, progress)) {
			Lines lines = begin(file, sink);
			try (CountedInput in = file.open()) {
				read(in, file.name(), lines, sink, progress);
			} catch (IOException e) {
				sink.skips().problem(file.name(), "cannot be read: " + e.getMessage()); // damaged: what came before it counts
			}
			progress.check();
			lines.finish();
			return sink.commit(traceType, id);
		}
	}

	private static void read(CountedInput in, String name, Lines visitor, EventSink sink, Progress progress)
			throws MemtraceException, IOException {
		ByteLines lines = new ByteLines(in.stream());
		long told = 0;
		while (lines.next()) {
			if (lines.tooLong()) {
				sink.row();
				sink.skip(name, lines.line(), ByteLines.TOO_LONG);
			} else {
				visitor.line(lines.buffer(), lines.start, lines.end, lines.line());
			}
			if (lines.line() % STEP == 0) {
				progress.check();
				progress.worked(in.bytes() - told);
				told = in.bytes();
			}
		}
		if (lines.incomplete()) {
			sink.skips().incomplete(name, lines.line() + 1);
		}
	}
}
