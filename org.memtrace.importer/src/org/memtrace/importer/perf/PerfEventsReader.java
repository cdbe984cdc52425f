// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perf;

import java.util.List;

import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.LineFileReader;

/** Events that perf recorded, as {@code perf script} prints them, without addresses of data: {@link PerfEvents}. */
public final class PerfEventsReader extends LineFileReader {
	private final List<String> notes;

	public PerfEventsReader() {
		this(List.of());
	}

	/** @param notes sentences for the report */
	public PerfEventsReader(List<String> notes) {
		super("perf-events", "events of perf", "perf");
		this.notes = List.copyOf(notes);
	}

	@Override
	public String description() {
		return "events of perf: samples of counters, tracepoints, as perf script prints them";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("app.perf.txt", "any other events of perf, by perf script"));
	}

	@Override
	protected boolean recognises(String head) {
		return PerfScript.hasEvents(head);
	}

	@Override
	protected Lines begin(InputFile file, EventSink sink) {
		notes.forEach(sink.skips()::warn);
		return new PerfEvents(sink, file.name());
	}
}
