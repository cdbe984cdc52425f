// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.samples;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.memtrace.importer.access.AccessImport;
import org.memtrace.importer.access.ScratchFolder;
import org.memtrace.importer.input.CountedInput;
import org.memtrace.importer.input.CsvTable;
import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.input.InputFormat;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.importer.reader.ImportOption;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

/** Accesses as rows of CSV, the plainest way from any tool that samples or traces memory: docs/reference/accesses-csv.md. */
public final class AccessCsvReader implements InputReader {
	private static final String KIND = "accesses as CSV";
	private static final int PAGE_SIZE = 4096;
	/** Column of times by unit. */
	private static final Map<String, Integer> UNITS = Map.of("ns", 0, "us", 3, "ms", 6, "s", 9, "tick", 0);

	@Override
	public String id() {
		return "accesses-csv";
	}

	@Override
	public String description() {
		return "accesses of any tool as CSV: time, thread, address, bytes, read or write";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("any.csv", "accesses of any tool: time_ns,thread,address,..."));
	}

	/** Unit of the column of times, null when a header is not of this format. */
	private static String unit(String head) {
		List<String> columns = InputFormat.columns(InputFormat.firstLine(head));
		return columns.contains("address") && columns.contains("thread")
				? UNITS.keySet().stream().filter(u -> columns.contains("time_" + u)).findFirst().orElse(null) : null;
	}

	@Override
	public Optional<ImportSource> look(Input input) throws MemtraceException, IOException {
		if (input.isFolder()) {
			return Optional.empty();
		}
		String unit = null;
		long bytes = 0;
		List<ImportSource.File> files = new ArrayList<>();
		for (InputFile file : input.files()) {
			String own = unit(file.head());
			if (own == null) {
				return Optional.empty();
			}
			if (unit != null && own.equals("tick") != unit.equals("tick")) {
				throw new TraceFormatException(file.name(), 1, "has times in " + own + ", the file before it in " + unit);
			}
			unit = own;
			bytes += file.size();
			files.add(ImportSource.File.of(file, KIND));
		}
		return Optional.of(new ImportSource(id(), KIND, input.name(), KIND, files, bytes, "tick".equals(unit) ? "tick" : "ns", List.of(),
				EnumSet.of(ImportOption.MERGE, ImportOption.FANOUT)));
	}

	@Override
	public ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException, IOException {
		SkipCounter skips = new SkipCounter(request.strict());
		long bytes = 0;
		for (InputFile file : input.files()) {
			bytes += file.size();
		}
		progress.beginBytes("Reading accesses", bytes);
		try (ScratchFolder scratch = new ScratchFolder(request.scratchDirectory(), "memtrace-accesses")) {
			SampleDirectory samples = new SampleDirectory(scratch.path(), "CSV", PAGE_SIZE);
			AccessCsvRows rows = new AccessCsvRows(samples, skips, progress);
			boolean isTicks = false;
			for (InputFile file : input.files()) {
				String unit = unit(file.head());
				isTicks |= "tick".equals(unit);
				try (CountedInput in = file.open()) {
					rows.begin(file.name(), unit, UNITS.get(unit), in);
					CsvTable.read(in.stream(), file.name(), List.of("address", "thread", "time_" + unit), skips, rows).forEach(rows::unused);
				} catch (IOException e) {
					skips.problem(file.name(), "cannot be read: " + e.getMessage()); // damaged: what came before it counts
				}
				progress.check();
			}
			TraceDirectory trace = samples.end(input.text(), input.first().toAbsolutePath().normalize(), input.name(),
					new SampleDirectory.Promise(rows.isExact(), isTicks), rows.notes(),
					skips.total() > 0 ? ": " + skips.byReason() : "");
			return new AccessImport(trace, input.text(), request, skips, skips.total()).call(progress);
		}
	}
}
