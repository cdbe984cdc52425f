// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.paje;

import java.io.IOException;
import java.util.Optional;
import java.util.regex.Pattern;

import org.memtrace.importer.input.ByteLines;
import org.memtrace.importer.input.CountedInput;
import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.input.InputFormat;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

/**
 * Traces in the Pajé format, as EZTrace 1, StarPU, SimGrid, Akypuera, and {@code memtrace export --format paje} write them. Each file
 * says by its own definitions which fields its lines have: there are no dialects to choose from.
 */
public final class PajeReader implements InputReader {
	private static final Pattern FIRST = Pattern.compile("%\\s*EventDef\\s.*");
	private static final String KIND = "Pajé trace";
	private static final int STEP = 1024;

	@Override
	public String id() {
		return "paje";
	}

	@Override
	public String description() {
		return "traces in the Pajé format: states, links, instants, variables";
	}

	@Override
	public Optional<ImportSource> look(Input input) throws MemtraceException, IOException {
		if (input.isFolder() || !FIRST.matcher(InputFormat.firstLine(input.files().get(0).head())).matches()) {
			return Optional.empty();
		}
		InputFile file = input.files().get(0);
		if (input.files().size() > 1) {
			throw new TraceFormatException(file.name(), 0, "is a trace in the Pajé format; import it alone");
		}
		return Optional.of(ImportSource.ofEvents(id(), KIND, input));
	}

	@Override
	public ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException, IOException {
		InputFile file = input.files().get(0);
		progress.beginBytes("Reading events", file.size());
		try (EventSink sink = new EventSink(input, request, progress)) {
			PajeEvents events = new PajeEvents(sink, file.name());
			try (CountedInput in = file.open()) {
				read(in, file.name(), events, sink, progress);
			} catch (IOException e) {
				sink.skips().problem(file.name(), "cannot be read: " + e.getMessage()); // damaged: what came before it counts
			}
			events.finish();
			return sink.commit("Paje", id());
		}
	}

	private static void read(CountedInput in, String name, PajeEvents events, EventSink sink, Progress progress)
			throws MemtraceException, IOException {
		ByteLines lines = new ByteLines(in.stream());
		long told = 0;
		while (lines.next()) {
			if (lines.tooLong()) {
				sink.row();
				sink.skip(name, lines.line(), "line longer than 1 MiB");
			} else {
				events.line(lines.buffer(), lines.start, lines.end, lines.line());
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
