// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer;

import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.input.InputFormat;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.model.MemtraceException;

/**
 * What an import would read, found out by the beginnings of the files, before it is done.
 *
 * @param name its own name: of the trace, else of the first file
 * @param files in the order of reading; of a trace directory a line for each process image
 * @param accessBytes size of the files with accesses, as they are stored
 * @param timeUnit {@code ns}, {@code tick}, or {@code none}
 * @param notes sentences about what will not be read, and why
 */
public record ImportSource(Kind kind, String name, List<File> files, long accessBytes, String timeUnit, List<String> notes) {
	/** What recorded it. */
	public enum Kind {
		TRACE_DIRECTORY("trace directory of memtrace"), MOCA_TRACE("full trace of Moca"), MOCA_FRAMESOC("Moca's file for FrameSoc"),
		TABARNAC("pages of TABARNAC"), ACCESSES("accesses of a trace directory, alone");

		private final String text;

		Kind(String text) {
			this.text = text;
		}

		/** For a person. */
		public String text() {
			return text;
		}
	}

	/**
	 * A file that is read.
	 *
	 * @param path null for standard input
	 * @param what its format, for a person
	 */
	public record File(Path path, String name, String what, long bytes) {
	}

	/**
	 * Looks at a trace directory, a folder with files of Moca or TABARNAC, or such files.
	 *
	 * @throws MemtraceException one sentence, when it is nothing that can be imported
	 */
	public static ImportSource detect(List<Path> paths) throws MemtraceException {
		TraceDirectory trace = ImportOperation.open(paths, InputStream.nullInputStream());
		List<File> files = new ArrayList<>();
		Set<InputFormat> formats = EnumSet.noneOf(InputFormat.class);
		long bytes = 0;
		boolean directory = false;
		for (TraceDirectory.Image image : trace.images()) {
			long own = 0;
			for (TraceDirectory.AccessFile access : image.chunks()) {
				formats.add(access.format());
				own += access.input().size();
				if (image.directory() == null) {
					files.add(file(access.input(), access.format()));
				}
			}
			bytes += own;
			if (image.directory() != null) {
				directory = true;
				files.add(new File(image.directory(), image.directory().getFileName().toString(), image(image), own));
			}
			for (TraceDirectory.ContextFile context : image.context()) {
				files.add(file(context.input(), context.format()));
			}
		}
		Kind kind = directory ? Kind.TRACE_DIRECTORY : formats.contains(InputFormat.TABARNAC_PAGES) ? Kind.TABARNAC
				: formats.contains(InputFormat.MOCA_FRAMESOC) ? Kind.MOCA_FRAMESOC
						: formats.contains(InputFormat.MOCA_TRACE) ? Kind.MOCA_TRACE : Kind.ACCESSES;
		String unit = trace.manifest().text("time_unit");
		return new ImportSource(kind, trace.manifest().text("name"), List.copyOf(files), bytes, unit.isEmpty() ? "ns" : unit,
				List.copyOf(trace.notes()));
	}

	private static File file(InputFile input, InputFormat format) {
		return new File(input.path(), input.path() == null ? input.name() : input.path().getFileName().toString(),
				format.description(), input.size());
	}

	private static String image(TraceDirectory.Image image) {
		String executable = image.json().text("executable");
		return "process image" + (executable.isEmpty() ? "" : ", " + executable.substring(executable.lastIndexOf('/') + 1))
				+ (image.chunks().isEmpty() ? ", without accesses" : "") + (image.unfinished() ? ", to be completed" : "");
	}

	/** All formats in one line, such as {@code full trace of Moca, structures, stacks of Moca}. */
	public String description() {
		if (kind == Kind.TRACE_DIRECTORY) {
			return kind.text() + ", " + files.size() + (files.size() == 1 ? " process image" : " process images");
		}
		Set<String> all = new LinkedHashSet<>();
		files.forEach(f -> all.add(f.what()));
		return String.join(", ", all);
	}
}
