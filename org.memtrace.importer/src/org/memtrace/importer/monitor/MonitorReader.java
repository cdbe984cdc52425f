// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.monitor;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

import org.memtrace.importer.input.ByteLines;
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
import org.memtrace.model.store.TraceStore;

/**
 * Traces of {@code memtrace monitor} and of the three generations of hierarchical monitors. Places of the machine are event producers, the
 * values of monitors are variables, each from the sample before it. docs/reference/input-events.md, "Monitors", describes the formats.
 */
public final class MonitorReader implements InputReader {
	@Override
	public String id() {
		return "monitors";
	}

	@Override
	public String description() {
		return "traces of monitors on the places of a machine";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("monitors.txt", "monitors of a machine: PU:0 nanoseconds values..."));
	}

	@Override
	public Optional<ImportSource> look(Input input) throws MemtraceException, IOException {
		if (input.isFolder()) {
			return Optional.empty();
		}
		List<ImportSource.File> files = new ArrayList<>();
		long bytes = 0;
		for (InputFile file : input.files()) {
			if (!isMonitors(file.head())) {
				return Optional.empty();
			}
			bytes += file.size();
			files.add(ImportSource.File.of(file, "values of monitors"));
		}
		return Optional.of(new ImportSource(id(), "monitors", input.name(), "values of monitors", files, bytes, "ns", List.of(), Set.of()));
	}

	private static boolean isMonitors(String head) {
		if (isNodes(head)) {
			return true;
		}
		for (String line : head.split("\n", 1000)) {
			if (line.startsWith(MonitorLines.TOPOLOGY + "<") || isWhere(line)) { // what follows may be more than is looked at
				return true;
			}
			String[] words = MonitorLines.words(line);
			if (words.length > 0) {
				return MonitorLines.isHeader(words) || MonitorLines.at(words) >= 0;
			}
		}
		return false;
	}

	/** A comment that says where a place is: there is one for each CPU. */
	private static boolean isWhere(String line) {
		String[] words = line.split(" ");
		return words.length == 4 && line.startsWith("# at ") && MonitorLines.PLACE.matcher(words[2]).matches() && words[3].contains(":");
	}

	/** The format of 2015, whose definitions of events have a field that nothing else has. */
	private static boolean isNodes(String head) {
		return head.startsWith("%EventDef") && Pattern.compile("\\blogscale\\b", Pattern.CASE_INSENSITIVE).matcher(head).find();
	}

	@Override
	public ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException, IOException {
		long bytes = 0;
		for (InputFile file : input.files()) {
			bytes += file.size();
		}
		progress.beginBytes("Reading values of monitors", bytes);
		try (EventSink sink = new EventSink(input, request, progress)) {
			MonitorLines values = new MonitorLines(new Events(sink));
			for (InputFile file : input.files()) {
				values.begin(file.name(), isNodes(file.head()));
				try (CountedInput in = file.open()) {
					ByteLines lines = new ByteLines(in.stream());
					long told = 0;
					while (lines.next()) {
						if (lines.tooLong()) {
							values.tooLong();
						} else {
							values.line(new String(lines.buffer(), lines.start, lines.end - lines.start, StandardCharsets.UTF_8));
						}
						progress.worked(in.bytes() - told);
						told = in.bytes();
					}
					if (lines.incomplete()) {
						sink.skips().incomplete(file.name(), lines.line() + 1);
					}
				} catch (IOException e) {
					sink.skips().problem(file.name(), "cannot be read: " + e.getMessage()); // damaged: what came before it counts
				}
			}
			if (!values.machine().isEmpty()) { // is kept with the trace
				sink.note(TraceStore.NOTE_TOPOLOGY, values.machine().getBytes(StandardCharsets.UTF_8));
			}
			return sink.commit("monitors", id());
		}
	}

	/** Makes events of values. */
	private record Events(EventSink sink) implements MonitorLines.Target {
		@Override
		public void row() throws MemtraceException {
			sink.row();
		}

		@Override
		public void skip(String file, long line, String problem) throws MemtraceException {
			sink.skip(file, line, problem);
		}

		@Override
		public void property(String name, String value) {
			sink.property(name, value);
		}

		@Override
		public String value(List<String> path, String variable, long fromNs, long toNs, double value, Map<String, String> parameters)
				throws MemtraceException {
			int type = sink.typeOf(EventCategory.VARIABLE, variable);
			if (type < 0) {
				return "type that had another category before";
			}
			sink.event(type, sink.producer(path), fromNs, toNs, value, 0, parameters);
			return null;
		}
	}
}
