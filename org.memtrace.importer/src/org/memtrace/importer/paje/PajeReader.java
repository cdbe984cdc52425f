// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.paje;

import java.util.List;
import java.util.regex.Pattern;

import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.input.InputFormat;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.LineFileReader;

/**
 * Traces in the Pajé format, as EZTrace 1, StarPU, SimGrid, Akypuera, and {@code memtrace export --format paje} write them. Each file
 * says by its own definitions which fields its lines have: there are no dialects to choose from.
 */
public final class PajeReader extends LineFileReader {
	private static final Pattern FIRST = Pattern.compile("%\\s*EventDef\\s.*");

	public PajeReader() {
		super("paje", "Pajé trace", "Paje");
	}

	@Override
	public String description() {
		return "traces in the Pajé format: states, links, instants, variables";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("app.trace, app.paje", "Paje, of StarPU, SimGrid, Akypuera or memtrace"));
	}

	@Override
	protected boolean recognises(String head) {
		return FIRST.matcher(InputFormat.firstLine(head)).matches();
	}

	@Override
	protected Lines begin(InputFile file, EventSink sink) {
		return new PajeEvents(sink, file.name());
	}
}
