// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;

import org.memtrace.importer.access.AccessImport;
import org.memtrace.importer.access.ScratchFolder;
import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.importer.reader.ImportOption;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.importer.reader.TraceFolders;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

/**
 * Samples of memory accesses of perf: PEBS of Intel, IBS of AMD, SPE of Arm, or page faults, as {@code perf script} prints them. A trace
 * directory of the same run may be given with them: it has the names.
 */
public final class PerfReader implements InputReader {
	static final String WITH_NAMES = ", with the names of a recording";
	/** A sentence for the report. */
	static final String NO_ADDRESSES = "perf was asked for addresses of data (-d), and no event has one: all are instants";
	private static final String KIND = "samples of perf";

	@Override
	public String id() {
		return "perf-script";
	}

	@Override
	public String description() {
		return "memory samples and page faults of perf, as perf script prints them, alone or with a recording of the same run";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("app.perf.txt", "samples of perf, by perf script"), //
				new Example("app.memtrace app.perf.txt", "the same with the structures of a recording"));
	}

	/** The trace directory among what was given, null when there is none. */
	static Path recording(Input input) {
		return input.paths().stream().filter(Files::isDirectory).findFirst().orElse(null);
	}

	/** Whether this is not one or more files, with one folder at most. */
	static boolean foldersOnly(Input input) {
		long folders = input.paths().stream().filter(Files::isDirectory).count();
		return folders > 1 || folders == input.paths().size();
	}

	/** A recording as a part of what will be read. */
	static ImportSource.File namesOf(Path recording) {
		return new ImportSource.File(recording, recording.getFileName().toString(), "names of structures, stacks and threads", 0);
	}

	@Override
	public Optional<ImportSource> look(Input input) throws MemtraceException, IOException {
		if (foldersOnly(input)) {
			return Optional.empty();
		}
		Path recording = recording(input);
		List<InputFile> files = input.withoutFolders().files();
		long perf = 0;
		for (InputFile file : files) {
			perf += PerfScript.isOne(file.head()) ? 1 : 0;
		}
		if (perf == 0 || recording != null && !TraceFolders.isTraceDirectory(recording)) {
			return Optional.empty();
		}
		if (perf < files.size()) {
			throw new TraceFormatException(input.text(), 0, "has files that are not of perf; import those of perf alone");
		}
		List<ImportSource.File> all = new ArrayList<>();
		long bytes = 0;
		for (InputFile file : files) {
			all.add(ImportSource.File.of(file, KIND));
			bytes += file.size();
		}
		if (recording != null) {
			all.add(namesOf(recording));
		}
		return Optional.of(new ImportSource(id(), KIND, input.name(), KIND + (recording == null ? "" : WITH_NAMES), all,
				bytes, "ns", List.of(), EnumSet.of(ImportOption.MERGE, ImportOption.FANOUT)));
	}

	@Override
	public ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException, IOException {
		List<InputFile> files = input.withoutFolders().files();
		ImportReport report = read(files, input, request, progress, List.of());
		return report == null ? new PerfEventsReader(List.of(NO_ADDRESSES)).read(input, request, progress) : report;
	}

	private static boolean isAboutMemory(ImportRequest request) {
		return !request.rules().isEmpty() || request.fanout() != ImportRequest.DEFAULT_FANOUT;
	}

	/**
	 * Reads texts of {@code perf script}.
	 *
	 * @param notes sentences for the report
	 * @return null when no sample has an address, so that they are events like any others: nothing was imported yet
	 */
	static ImportReport read(List<InputFile> files, Input input, ImportRequest request, Progress progress, List<String> notes)
			throws MemtraceException, IOException {
		Path recording = recording(input);
		SkipCounter skips = new SkipCounter(request.strict());
		notes.forEach(skips::warn);
		progress.beginBytes("Reading samples", files.stream().mapToLong(InputFile::size).sum());
		try (ScratchFolder scratch = new ScratchFolder(request.scratchDirectory(), "memtrace-perf")) {
			PerfScript perf = new PerfScript(recording == null ? null : TraceDirectory.open(recording), scratch.path(), skips);
			Path shown = input.first();
			TraceDirectory trace;
			try {
				trace = perf.read(files, shown.toAbsolutePath().normalize(), input.name(), progress);
			} catch (TraceFormatException e) {
				if (recording == null && files.size() == 1 && perf.hasNoAddresses() && !isAboutMemory(request)) {
					return null;
				}
				throw e;
			}
			return new AccessImport(trace, input.text(), request, skips, perf.unused()).call(progress);
		}
	}
}
