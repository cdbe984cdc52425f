// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.formats;

import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import org.memtrace.analysis.export.OutputFile;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.output.Console;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;

/** What {@code memtrace export} can write; {@link ExportFormats} lists them (docs/extend/export-format.md). */
public interface ExportFormat {
	/**
	 * What is to be written.
	 *
	 * @param output null for standard output; nothing is there yet
	 */
	record Request(TraceStore store, AccessFilter filter, CommandLine args, Path output, Console console) {
		/** For formats that are folders. */
		void needsOutput() throws UsageException {
			if (output == null) {
				throw new UsageException("--format " + args.get("format") + " makes a folder and needs --output");
			}
		}
	}

	/** Its name for {@code --format}. */
	String name();

	/** Whether it can write traces of events, too. */
	default boolean isOfEvents() {
		return false;
	}

	/** Writes it, complete or not at all. */
	void write(Request request) throws Exception;

	/** One file of text, or standard output. */
	record OfText(String name, boolean isOfEvents, Content content) implements ExportFormat {
		/** Writes the text. */
		interface Content {
			void write(Request request, Appendable out) throws MemtraceException;
		}

		@Override
		public void write(Request r) throws Exception {
			if (r.output == null) {
				content.write(r, r.console.out());
				return;
			}
			OutputFile.write(r.output, temporary -> {
				try (Writer writer = Files.newBufferedWriter(temporary, StandardCharsets.UTF_8)) {
					content.write(r, writer);
				}
			});
		}
	}
}
