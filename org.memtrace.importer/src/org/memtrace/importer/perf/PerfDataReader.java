// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perf;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;

import org.memtrace.importer.access.ScratchFolder;
import org.memtrace.importer.damon.DamonReader;
import org.memtrace.importer.damon.DamonRegions;
import org.memtrace.importer.input.CountedInput;
import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.reader.ImportOption;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.importer.reader.TraceFolders;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.RegularFile;
import org.memtrace.model.TraceFormatException;

/**
 * Files of {@code perf record} and {@code perf mem record}. perf itself reads them, in a process of its own, and its text is read as that
 * of a file with the output of {@code perf script} is: {@link PerfReader} when there are addresses of data, else {@link PerfEventsReader}.
 */
public final class PerfDataReader implements InputReader {
	private static final String PROGRAM = "perf";
	private static final String KIND = "file of perf record";
	private static final int MAGIC_BYTES = 8;
	private static final int PIECE = 1 << 16;

	private final String program;

	public PerfDataReader() {
		this(PROGRAM);
	}

	/** @param program perf, a name or a path */
	PerfDataReader(String program) {
		this.program = program;
	}

	@Override
	public String id() {
		return "perf-data";
	}

	@Override
	public String description() {
		return "files of perf record and perf mem record: samples of memory, page faults, counters, tracepoints";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("perf.data", "perf record, perf mem record; perf reads it"), //
				new Example("app.memtrace perf.data", "samples of memory with a recording"));
	}

	@Override
	public Optional<ImportSource> look(Input input) throws MemtraceException, IOException {
		if (PerfReader.foldersOnly(input)) {
			return Optional.empty();
		}
		Path recording = PerfReader.recording(input);
		List<InputFile> files = input.withoutFolders().files();
		long found = 0;
		for (InputFile file : files) {
			found += PerfData.isOne(file.head()) ? 1 : 0;
		}
		if (found == 0 || recording != null && !TraceFolders.isTraceDirectory(recording)) {
			return Optional.empty();
		}
		if (files.size() > 1) {
			throw new TraceFormatException(input.text(), 0, "has a file of perf record and others; import it alone");
		}
		List<ImportSource.File> all = new ArrayList<>(List.of(ImportSource.File.of(files.get(0), KIND)));
		if (recording != null) {
			all.add(PerfReader.namesOf(recording));
		}
		return Optional.of(new ImportSource(id(), KIND, input.name(), KIND + (recording == null ? "" : PerfReader.WITH_NAMES), all,
				files.get(0).size(), "ns", List.of(), EnumSet.of(ImportOption.MERGE, ImportOption.FANOUT)));
	}

	@Override
	public ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException, IOException {
		Path recording = PerfReader.recording(input);
		InputFile file = input.withoutFolders().files().get(0);
		try (ScratchFolder scratch = new ScratchFolder(request.scratchDirectory(), "memtrace-perf-data")) {
			PerfData data = new PerfData(program, plain(file, scratch.path(), progress), file.name(), progress);
			progress.begin("Starting perf script", -1);
			try (PerfData.Text events = data.open(false)) { // the first mappings may be longer than the beginning that is looked at
				if (DamonRegions.isOne(events.file().head())) {
					return DamonReader.read(events.file(), input, request, progress, data.notes());
				}
				if (!PerfScript.isOne(events.file().head())) {
					progress.check();
					return events(file.name(), input, recording, request, progress, data, events.file());
				}
			}
			ImportReport report;
			try (PerfData.Text samples = data.open(true)) {
				report = PerfReader.read(List.of(samples.file()), input, request, progress, data.notes());
			}
			if (report != null) {
				return report;
			}
			List<String> notes = new ArrayList<>(List.of(PerfReader.NO_ADDRESSES));
			notes.addAll(data.notes());
			try (PerfData.Text events = data.open(false)) {
				return new PerfEventsReader(notes).read(input.reading(events.file()), request, progress);
			}
		}
	}

	private static ImportReport events(String name, Input input, Path recording, ImportRequest request, Progress progress, PerfData data,
			InputFile text) throws MemtraceException, IOException {
		if (recording != null) {
			throw new TraceFormatException(name, 0, "has no samples of memory that a recording could give names to; import it alone");
		}
		if (!request.rules().isEmpty() || request.fanout() != ImportRequest.DEFAULT_FANOUT) {
			throw new TraceFormatException(name, 0, "has no samples of memory, to which "
					+ (request.rules().isEmpty() ? ImportOption.FANOUT : ImportOption.MERGE).option() + " applies");
		}
		return new PerfEventsReader(data.notes()).read(input.reading(text), request, progress);
	}

	/** The file itself, or a copy of what can be read only once or is compressed: perf wants to find its places in it. */
	private static Path plain(InputFile file, Path scratch, Progress progress) throws MemtraceException, IOException {
		if (file.path() != null) {
			try (InputStream in = RegularFile.open(file.path())) {
				if (PerfData.isOne(new String(in.readNBytes(MAGIC_BYTES), StandardCharsets.ISO_8859_1))) {
					return file.path();
				}
			}
		}
		Path copy = scratch.resolve("perf.data");
		progress.beginBytes("Unpacking", file.size());
		byte[] piece = new byte[PIECE];
		try (CountedInput in = file.open(); OutputStream out = Files.newOutputStream(copy)) {
			long told = 0;
			for (int n = in.stream().read(piece); n >= 0; n = in.stream().read(piece)) {
				progress.check();
				out.write(piece, 0, n);
				progress.worked(in.bytes() - told);
				told = in.bytes();
			}
		}
		return copy;
	}
}
