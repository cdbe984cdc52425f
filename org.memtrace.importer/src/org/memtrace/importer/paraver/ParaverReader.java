// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.paraver;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.LineFileReader;
import org.memtrace.model.MemtraceException;

/** Traces of Paraver, of Extrae, Dimemas, ovni and others: NAME.prv, with NAME.pcf and NAME.row beside it when they are there. */
public final class ParaverReader extends LineFileReader {
	public ParaverReader() {
		super("paraver", "Paraver trace", "Paraver");
	}

	@Override
	public String description() {
		return "traces of Paraver: Extrae, Dimemas, ovni";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("app.prv", "Paraver, of Extrae, Dimemas, ovni"));
	}

	@Override
	protected boolean recognises(String head) {
		return ParaverEvents.isHeader(head.lines().findFirst().orElse(""));
	}

	@Override
	protected Lines begin(InputFile file, EventSink sink) throws MemtraceException {
		return new ParaverEvents(sink, file.name(), labels(file, sink));
	}

	private static ParaverLabels labels(InputFile file, EventSink sink) throws MemtraceException {
		ParaverLabels labels = new ParaverLabels();
		Path path = file.path();
		if (path != null) {
			String name = path.getFileName().toString().replaceFirst("\\.prv(\\.gz|\\.zst)?$", "");
			try {
				labels.readLabels(path.resolveSibling(name + ".pcf"));
				labels.readNames(path.resolveSibling(name + ".row"));
			} catch (IOException e) {
				sink.skips().problem(file.name(), "the names beside it cannot be read: " + e.getMessage());
			}
		}
		return labels;
	}
}
