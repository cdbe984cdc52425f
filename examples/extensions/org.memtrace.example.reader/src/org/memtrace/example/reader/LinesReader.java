// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.example.reader;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import org.memtrace.importer.input.CountedInput;
import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.EventCategory;

/** A made-up log: the first line begins with LINES, each other one is a time in nanoseconds, a thread and the name of an event. */
public final class LinesReader implements InputReader {
	@Override
	public String id() {
		return "lines";
	}

	@Override
	public String description() {
		return "lines of a log";
	}

	@Override
	public Optional<ImportSource> look(Input input) throws MemtraceException, IOException {
		if (input.isFolder() || !input.files().get(0).head().startsWith("LINES")) {
			return Optional.empty();
		}
		InputFile file = input.files().get(0);
		return Optional.of(new ImportSource(id(), "lines of a log", input.name(), "lines of a log",
				List.of(new ImportSource.File(file.path(), file.name(), "lines of a log", file.size())), file.size(), "ns",
				List.of(), Set.of()));
	}

	@Override
	public ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException, IOException {
		InputFile file = input.files().get(0);
		progress.beginBytes("Reading events", file.size());
		try (EventSink sink = new EventSink(input, request, progress); CountedInput in = file.open()) {
			BufferedReader lines = new BufferedReader(new InputStreamReader(in.stream(), StandardCharsets.UTF_8));
			lines.readLine();
			long line = 1;
			for (String text = lines.readLine(); text != null; text = lines.readLine()) {
				line++;
				sink.row();
				String[] parts = text.split(" ");
				if (parts.length != 3 || !parts[0].matches("\\d{1,18}")) {
					sink.skip(file.name(), line, "not a time, a thread and a name");
					continue;
				}
				long time = Long.parseLong(parts[0]);
				int type = sink.type(EventCategory.PUNCTUAL, parts[2]);
				sink.event(type, sink.producer(List.of("threads", parts[1])), time, time, 0, 0, Map.of());
			}
			return sink.commit("lines", id());
		}
	}
}
