// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.access;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.input.InputFormat;
import org.memtrace.importer.memtrace.AccessParser;
import org.memtrace.importer.memtrace.JobDirectory;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.importer.moca.HistoricalFiles;
import org.memtrace.importer.reader.ImportOption;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.importer.reader.TraceFolders;
import org.memtrace.importer.rows.RowParser;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

/** What readers of accesses do alike: a trace directory, or files that are put together as if they were one, and {@link AccessImport}. */
public abstract class AccessReader implements InputReader {
	private final Set<InputFormat> own;

	/** @param own formats of files with accesses that are of this reader */
	AccessReader(Set<InputFormat> own) {
		this.own = own;
	}

	/** Whether a trace directory is its own. */
	boolean readsTraceDirectories() {
		return false;
	}

	/** Makes the rows of its files; by default those of memtrace, and of what has the same columns. */
	RowParser.Factory parsers() {
		return AccessParser::new;
	}

	/** Formats by which another reader has a better claim. */
	Set<InputFormat> others() {
		return Set.of();
	}

	static TraceDirectory open(Input input) throws MemtraceException {
		if (isTraceDirectory(input)) {
			return TraceDirectory.open(input.first());
		}
		List<Path> ranks = ranks(input);
		return ranks.isEmpty() ? HistoricalFiles.open(input) : JobDirectory.open(shown(input, ranks), ranks);
	}

	/** The trace directories of ranks of a parallel job, which were given or are in the folder. */
	private static List<Path> ranks(Input input) throws MemtraceException {
		return input.paths().stream().allMatch(Files::isDirectory) ? JobDirectory.ranks(input.paths()) : List.of();
	}

	/** The folder that the user gave, or that the ranks are in. */
	private static Path shown(Input input, List<Path> ranks) {
		Path parent = ranks.get(0).toAbsolutePath().normalize().getParent();
		return input.paths().size() == 1 || parent == null ? input.first() : parent;
	}

	private static boolean isTraceDirectory(Input input) {
		return input.paths().size() == 1 && TraceFolders.isTraceDirectory(input.first());
	}

	/** Why nobody reads an input. */
	public static MemtraceException unknown(Input input) throws MemtraceException {
		if (input.isFolder()) {
			TraceDirectory.open(input.first()); // says what is missing
		}
		HistoricalFiles.open(input);
		return new TraceFormatException(input.text(), 0, "is of no format that can be imported; see 'memtrace import --help'");
	}

	@Override
	public Optional<ImportSource> look(Input input) throws MemtraceException {
		if (isTraceDirectory(input)) {
			return readsTraceDirectories() ? Optional.of(source(open(input))) : Optional.empty();
		}
		if (!ranks(input).isEmpty()) {
			return readsTraceDirectories() ? Optional.of(source(open(input))) : Optional.empty();
		}
		Path whole = input.isFolder() ? TraceFolders.traceDirectoryOf(input.first()) : null;
		if (whole != null) {
			throw new TraceFormatException(input.text(), 0, "is one process of the trace directory " + whole + "; import that");
		}
		Set<InputFormat> formats = HistoricalFiles.formats(input);
		return formats.stream().anyMatch(own::contains) && formats.stream().noneMatch(others()::contains)
				? Optional.of(source(HistoricalFiles.open(input))) : Optional.empty();
	}

	private ImportSource source(TraceDirectory trace) {
		List<ImportSource.File> files = new ArrayList<>();
		Set<InputFormat> formats = EnumSet.noneOf(InputFormat.class);
		long bytes = 0;
		boolean directory = false;
		for (TraceDirectory.Image image : trace.images()) {
			long size = 0;
			for (TraceDirectory.AccessFile access : image.chunks()) {
				formats.add(access.format());
				size += access.input().size();
				if (image.directory() == null) {
					files.add(file(access.input(), access.format()));
				}
			}
			bytes += size;
			if (image.directory() != null) {
				directory = true;
				String folder = image.directory().getFileName().toString();
				files.add(new ImportSource.File(image.directory(), image.rank() == null ? folder
						: image.directory().getParent().getFileName() + "/" + folder, image(image), size));
			}
			for (TraceDirectory.ContextFile context : image.context()) {
				files.add(file(context.input(), context.format()));
			}
		}
		String kind = trace.isJob() ? "ranks of a parallel job"
				: directory ? "trace directory of memtrace" : formats.stream().findFirst().map(InputFormat::description).orElse("");
		if (formats.contains(InputFormat.ACCESSES) && !directory) {
			kind += ", alone";
		}
		Set<String> all = new LinkedHashSet<>();
		files.forEach(f -> all.add(f.what()));
		String description = directory ? kind + ", " + files.size() + (files.size() == 1 ? " process image" : " process images")
				: String.join(", ", all);
		String unit = trace.manifest().text("time_unit");
		return new ImportSource(id(), kind, trace.manifest().text("name"), description, files, bytes, unit.isEmpty() ? "ns" : unit,
				trace.notes(), EnumSet.allOf(ImportOption.class));
	}

	private static ImportSource.File file(InputFile input, InputFormat format) {
		return new ImportSource.File(input.path(), input.path() == null ? input.name() : input.path().getFileName().toString(),
				format.description(), input.size());
	}

	private static String image(TraceDirectory.Image image) {
		String executable = image.json().text("executable");
		return "process image" + (executable.isEmpty() ? "" : ", " + executable.substring(executable.lastIndexOf('/') + 1))
				+ (image.chunks().isEmpty() ? ", without accesses" : "") + (image.unfinished() ? ", to be completed" : "");
	}

	@Override
	public ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException {
		return new AccessImport(open(input), input.text(), request, parsers()).call(progress);
	}

	@Override
	public String identity(Input input) throws MemtraceException {
		return open(input).identity();
	}
}
