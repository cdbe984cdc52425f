// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.paje;

import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;

import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.input.InputFormat;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.LineFileReader;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceFormatException;

/** What {@code pj_dump}, FrameSoc and {@code memtrace export --format pjdump} write of a trace: a line for each container and event. */
public final class PjdumpReader extends LineFileReader {
	private static final String NUMBER = "\\s*-?\\d[\\d.eE+-]*\\s*";
	private static final Pattern FIRST = Pattern.compile("Container,[^,]*,[^,]*," + NUMBER + "," + NUMBER + "," + NUMBER + ",.*"
			+ "|(State|Variable|Link),.*," + NUMBER + "," + NUMBER + "," + NUMBER + ",.*|Event,.*," + NUMBER + ",.*"
			+ "|Container, *Parent, *Type, *Start, *End, *Duration, *Name");

	public PjdumpReader() {
		super("pjdump", "output of pj_dump", "pjdump");
	}

	@Override
	public String description() {
		return "what pj_dump and FrameSoc write: states, links, instants, variables";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("app.pjdump", "output of pj_dump, of FrameSoc or memtrace"));
	}

	@Override
	protected boolean recognises(String head) {
		return FIRST.matcher(InputFormat.firstLine(head)).matches();
	}

	@Override
	protected Lines begin(InputFile file, EventSink sink) throws MemtraceException {
		try {
			return new PjdumpEvents(sink, file.name(), PjdumpEvents.isSeconds(file.head()));
		} catch (IOException e) {
			throw new TraceFormatException(file.name(), 0, "cannot be read: " + e.getMessage());
		}
	}
}
