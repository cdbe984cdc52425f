// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.damon;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

import org.memtrace.importer.access.AccessImport;
import org.memtrace.importer.access.ScratchFolder;
import org.memtrace.importer.input.ByteLines;
import org.memtrace.importer.input.CountedInput;
import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.importer.reader.ImportOption;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.importer.samples.Sample;
import org.memtrace.importer.samples.SampleDirectory;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TimeRange;
import org.memtrace.model.TraceFormatException;

/**
 * What DAMON aggregates, as {@code perf script} or {@code trace-cmd report} prints {@code damon:damon_aggregated}: a range of addresses and
 * how often it was found accessed. The range becomes accesses of its blocks, as large as needed for {@link #MOST_BLOCKS} of them.
 */
public final class DamonReader implements InputReader {
	/** Records that all blocks of all ranges with accesses make at most. */
	static final long MOST_BLOCKS = 2_000_000;
	private static final String KIND = "regions of DAMON";

	@Override
	public String id() {
		return "damon";
	}

	@Override
	public String description() {
		return "what DAMON tells of ranges of memory, as perf script or trace-cmd report prints it";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("damon.txt", "DAMON, by perf script or trace-cmd report"));
	}

	@Override
	public Optional<ImportSource> look(Input input) throws MemtraceException, IOException {
		if (input.isFolder() || !DamonRegions.isOne(input.files().get(0).head())) {
			return Optional.empty();
		}
		if (input.files().size() > 1) {
			throw new TraceFormatException(input.files().get(0).name(), 0, "has regions of DAMON; import it alone");
		}
		InputFile file = input.files().get(0);
		return Optional.of(new ImportSource(id(), KIND, input.name(), KIND, List.of(ImportSource.File.of(file, KIND)), file.size(), "ns",
				List.of(), EnumSet.of(ImportOption.MERGE, ImportOption.FANOUT)));
	}

	@Override
	public ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException, IOException {
		return read(input.files().get(0), input, request, progress, List.of());
	}

	/**
	 * Reads the text of perf script or trace-cmd.
	 *
	 * @param notes sentences for the report
	 */
	public static ImportReport read(InputFile file, Input input, ImportRequest request, Progress progress, List<String> notes)
			throws MemtraceException, IOException {
		SkipCounter skips = new SkipCounter(request.strict());
		notes.forEach(skips::warn);
		progress.beginBytes("Reading regions", file.size());
		try (ScratchFolder scratch = new ScratchFolder(request.scratchDirectory(), "memtrace-damon");
				DamonRegions regions = new DamonRegions(scratch.path())) {
			lines(file, regions, skips, progress);
			int shift = regions.shift(MOST_BLOCKS);
			SampleDirectory samples = new SampleDirectory(scratch.path(), "DAMON", 1 << shift);
			samples(regions, samples, shift, file.name(), skips, progress);
			List<String> said = new ArrayList<>();
			said.add(String.format(Locale.ROOT, "a range of DAMON stands for blocks of %,d KiB, of which each has the count of its range; which threads"
					+ " these were, and whether they wrote, DAMON does not tell", (1L << shift) / 1024));
			if (regions.idle() > 0) {
				said.add(String.format(Locale.ROOT, "%,d of %,d ranges had no access", regions.idle(), regions.count()));
			}
			TraceDirectory trace = samples.end(file.name(), input.first().toAbsolutePath().normalize(), input.name(),
					new SampleDirectory.Promise(false, false), said, skips.total() > 0 ? ": " + skips.byReason() : "");
			return new AccessImport(trace, input.text(), request, skips, skips.total()).call(progress);
		}
	}

	private static void lines(InputFile file, DamonRegions regions, SkipCounter skips, Progress progress)
			throws MemtraceException, IOException {
		long told = 0;
		try (CountedInput in = file.open()) {
			ByteLines lines = new ByteLines(in.stream());
			while (lines.next()) {
				if (lines.line() % 1024 == 0) {
					progress.check();
					progress.worked(in.bytes() - told);
					told = in.bytes();
				}
				String problem = lines.tooLong() ? ByteLines.TOO_LONG
						: regions.line(new String(lines.buffer(), lines.start, lines.end - lines.start, StandardCharsets.ISO_8859_1));
				if (problem != null) {
					skips.skip(file.name(), lines.line(), problem);
				}
			}
			if (lines.incomplete()) {
				skips.incomplete(file.name(), lines.line() + 1);
			}
		} catch (java.util.zip.ZipException | java.io.EOFException e) {
			skips.problem(file.name(), "is damaged: " + e.getMessage()); // what came before it counts
		}
		progress.check();
	}

	private static void samples(DamonRegions regions, SampleDirectory samples, int shift, String file, SkipCounter skips, Progress progress)
			throws MemtraceException, IOException {
		Sample sample = new Sample();
		regions.visit((DamonRegions.Receiver<MemtraceException>) region -> {
			progress.check();
			if (region.accesses() == 0) {
				return;
			}
			long first = region.start() >>> shift;
			long blocks = (region.end() - 1 >>> shift) - first + 1;
			String problem = blocks > MOST_BLOCKS ? "a range of more than " + MOST_BLOCKS + " GiB"
					: !TimeRange.holds(region.sinceNs(), region.timeNs()) || region.sinceNs() < 0 ? TimeRange.REASON : null;
			for (long block = first; problem == null && block < first + blocks; block++) {
				sample.clear();
				sample.process = (int) (region.target() & Integer.MAX_VALUE);
				sample.command = "target " + region.target();
				sample.address = block << shift;
				sample.reads = region.accesses();
				sample.isDirectionKnown = false;
				sample.timeNs = region.sinceNs();
				sample.startNs = region.sinceNs();
				sample.endNs = region.timeNs();
				problem = samples.add(sample);
			}
			if (problem != null) {
				skips.skip(file, 0, problem);
			}
		});
	}
}
