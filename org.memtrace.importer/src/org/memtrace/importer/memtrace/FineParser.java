// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.memtrace;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.importer.input.CountedInput;
import org.memtrace.importer.input.CsvTable;
import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TimeRange;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.fine.FineCounts;
import org.memtrace.model.fine.FineCounts.Bin;
import org.memtrace.model.fine.FineCounts.Count;
import org.memtrace.model.fine.FineCounts.First;
import org.memtrace.model.fine.FineCounts.Stay;
import org.memtrace.model.fine.FineCounts.Stratum;

/**
 * Reads what a fine clock counted in an image (docs/reference/trace-fine.md). A line that breaks a rule makes its bin not known, and is
 * counted; so do chunks that are missing or damaged. Nothing is repaired.
 */
public final class FineParser {
	private static final Pattern CHUNK = Pattern.compile("(fine|finethreads)-(\\d{1,9})\\.csv(\\.zst|\\.gz)?");
	private static final Pattern USERS = Pattern.compile("((-1|\\d{1,18}):\\d{1,18}(;(-1|\\d{1,18}):\\d{1,18})*)?");

	private final TraceDirectory.Image image;
	private final SkipCounter skips;
	private final long shiftNs;
	private final TreeMap<Long, Bin> bins = new TreeMap<>();
	private final Map<Long, Stratum> strata = new HashMap<>();
	private final TreeMap<Long, Map<Long, Count>> counts = new TreeMap<>();
	private final List<First> firsts = new ArrayList<>();
	private final List<Stay> stays = new ArrayList<>();
	private final TreeSet<Long> notKnown = new TreeSet<>();
	/** Last bin of the chunk that is read; the first one that follows a gap is waited for. */
	private long lastBin = -1;
	private boolean gap;

	/** The counts of several images; may be built once. */
	public static final class Builder {
		private final List<Bin> bins = new ArrayList<>();
		private final List<Stratum> strata = new ArrayList<>();
		private final List<Count> counts = new ArrayList<>();
		private final List<First> firsts = new ArrayList<>();
		private final List<Stay> stays = new ArrayList<>();

		/** All of them. */
		public FineCounts build() {
			return new FineCounts(bins, strata, counts, firsts, stays);
		}
	}

	private FineParser(TraceDirectory.Image image, SkipCounter skips) {
		this.image = image;
		this.skips = skips;
		this.shiftNs = image.clockShiftNs();
	}

	/** Adds what an image has; nothing without a file with bins. */
	public static void read(TraceDirectory.Image image, Builder to, SkipCounter skips, Progress progress) throws MemtraceException {
		if (Files.exists(image.directory().resolve("bins.csv"))) {
			new FineParser(image, skips).read(to, progress);
		}
	}

	/** The stays of pages in the panel alone, of an image that may have no fine clock; what is wrong is told by {@link #read}. */
	public static List<Stay> stays(TraceDirectory.Image image) throws MemtraceException {
		FineParser parser = new FineParser(image, new SkipCounter(false));
		if (image.directory() != null && Files.exists(image.directory().resolve("bins.csv"))) {
			parser.panel();
		}
		return parser.stays;
	}

	private void panel() throws MemtraceException {
		table("panel.csv", List.of("@Virt", "Start", "End", "Looks", "Active", "WaitNs", "Written", "Users"), this::stay);
	}

	private void read(Builder to, Progress progress) throws MemtraceException {
		table("bins.csv", List.of("Bin", "Start", "Away", "End", "Look", "Lost"), this::bin);
		table("strata.csv", List.of("Stratum", "Start", "End", "TaskId"), this::stratum);
		chunks("fine", List.of("Bin", "Stratum", "Mapped", "Sampled", "Hit", "HitWritten", "Armed", "ArmedHit", "ArmedWritten"), this::count,
				progress);
		chunks("finethreads", List.of("Bin", "Stratum", "TaskId", "Hit", "Written", "ArmedHit", "ArmedWritten", "WaitNs"), this::first,
				progress);
		panel();
		compareThreads();
		for (Bin b : bins.values()) {
			boolean known = b.known() && !notKnown.contains(b.number());
			to.bins.add(new Bin(b.image(), b.number(), b.startNs(), b.awayNs(), b.endNs(), b.cpuNs(), b.look(), b.faults(), b.lost(), known));
			if (known) {
				counts.getOrDefault(b.number(), Map.of()).values().forEach(to.counts::add);
			} else {
				notKnown.add(b.number());
			}
		}
		firsts.stream().filter(f -> !notKnown.contains(f.bin())).forEach(to.firsts::add);
		strata.values().stream().sorted((a, b) -> Long.compare(a.number(), b.number())).forEach(to.strata::add);
		to.stays.addAll(stays);
	}

	private void table(String file, List<String> columns, CsvTable.RowVisitor visitor) throws MemtraceException {
		LeftOut.columns(image, file, CsvTable.read(image.directory().resolve(file), image.fileName(file), columns, skips, visitor), skips);
	}

	private void bin(CsvTable.Row row) throws MemtraceException {
		long number = row.number("Bin", -1);
		long start = row.number("Start", -1);
		long end = row.number("End", -1);
		long away = row.number("Away", -1);
		long lost = row.number("Lost", -1);
		String name = image.fileName("bins.csv");
		if (number < 0 || start < 0 || end <= start || !TimeRange.holds(start + shiftNs, end + shiftNs) || bins.containsKey(number)) {
			skips.skip(name, row.line(), "not a bin of a fine clock");
			notKnown.add(number);
			return;
		}
		Bin before = bins.isEmpty() ? null : bins.lastEntry().getValue();
		boolean valid = away >= start && lost >= 0 && (before == null || before.number() < number && before.endNs() <= start + shiftNs);
		if (!valid) {
			skips.skip(name, row.line(), "a bin that overlaps the one before, or whose numbers cannot be");
		}
		bins.put(number, new Bin(image.index(), number, start + shiftNs, away + shiftNs, end + shiftNs, row.number("CpuNs", -1),
				row.number("Look", 0) == 1, Math.max(0, row.number("Faults", 0)), Math.max(0, lost), valid && lost == 0));
	}

	private void stratum(CsvTable.Row row) throws MemtraceException {
		long number = row.number("Stratum", -1);
		long start = row.address("Start");
		long end = row.address("End");
		if (number < 0 || Long.compareUnsigned(end, start) <= 0 || strata.containsKey(number)) {
			skips.skip(image.fileName("strata.csv"), row.line(), "not a stratum");
			return;
		}
		strata.put(number, new Stratum(image.index(), number, start, end, row.number("TaskId", -1)));
	}

	private interface ChunkLine {
		void line(String name, CsvTable.Row row) throws MemtraceException;
	}

	/** Chunks by their numbers; where some are missing or damaged the bins beside the gap and in it are not known. */
	private void chunks(String kind, List<String> columns, ChunkLine line, Progress progress) throws MemtraceException {
		TreeMap<Long, Path> byNumber = new TreeMap<>();
		try (DirectoryStream<Path> entries = Files.newDirectoryStream(image.directory())) {
			for (Path entry : entries) {
				Matcher m = CHUNK.matcher(entry.getFileName().toString());
				if (m.matches() && m.group(1).equals(kind)) { // of two the plain one wins: the other is not complete
					byNumber.merge(Long.parseLong(m.group(2)), entry, (a, b) -> a.toString().length() < b.toString().length() ? a : b);
				}
			}
		} catch (IOException e) {
			throw new TraceFormatException(image.fileName(""), 0, "cannot be read: " + e.getMessage());
		}
		lastBin = -1;
		gap = false;
		long next = 0;
		for (Map.Entry<Long, Path> chunk : byNumber.entrySet()) {
			progress.check();
			String name = image.fileName(chunk.getValue().getFileName().toString());
			if (chunk.getKey() != next) {
				skips.problem(name, "the chunk before it is missing");
				gap = true;
			}
			next = chunk.getKey() + 1;
			try (CountedInput in = InputFile.of(chunk.getValue(), name).open(); InputStream text = in.stream()) {
				CsvTable.read(text, name, columns, skips, row -> {
					long bin = row.number("Bin", -1);
					if (gap) {
						lose(lastBin, bin);
						gap = false;
					}
					lastBin = Math.max(lastBin, bin);
					line.line(name, row);
				});
			} catch (IOException e) {
				skips.problem(name, "is damaged: " + e.getMessage());
				gap = true;
			}
		}
		if (gap) {
			lose(lastBin, Long.MAX_VALUE);
		}
	}

	private void lose(long from, long to) {
		if (from <= to) {
			notKnown.addAll(bins.subMap(from, true, to, true).keySet());
		}
	}

	/** Whether a line is of a bin that is known so far; one without a line in bins.csv was cut off. */
	private boolean isUsed(long bin) {
		return bins.containsKey(bin) && bins.get(bin).known();
	}

	private void wrong(String name, CsvTable.Row row, long bin, String reason) throws MemtraceException {
		skips.skip(name, row.line(), reason);
		notKnown.add(bin);
	}

	private void count(String name, CsvTable.Row row) throws MemtraceException {
		Count c = new Count(image.index(), row.number("Bin", -1), row.number("Stratum", -1), row.number("Mapped", -1),
				row.number("Sampled", -1), row.number("Hit", -1), row.number("HitWritten", -1), row.number("Armed", -1),
				row.number("ArmedHit", -1), row.number("ArmedWritten", -1));
		if (!isUsed(c.bin())) {
			skips.skip(name, row.line(), "of a bin that is not known");
		} else if (!strata.containsKey(c.stratum())) {
			wrong(name, row, c.bin(), "of an unknown stratum");
		} else if (!c.isValid()) {
			wrong(name, row, c.bin(), "more pages than there can be");
		} else if (counts.computeIfAbsent(c.bin(), b -> new TreeMap<>()).put(c.stratum(), c) != null) {
			wrong(name, row, c.bin(), "a second line of a bin and stratum");
		}
	}

	private void first(String name, CsvTable.Row row) throws MemtraceException {
		First f = new First(image.index(), row.number("Bin", -1), row.number("Stratum", -1), row.number("TaskId", -1), row.number("Hit", -1),
				row.number("Written", -1), row.number("ArmedHit", -1), row.number("ArmedWritten", -1), row.number("WaitNs", -1));
		if (!isUsed(f.bin())) {
			skips.skip(name, row.line(), "of a bin that is not known");
		} else if (f.hit() < 0 || f.written() < 0 || f.written() > f.hit() || f.armedHit() < 0 || f.armedWritten() < 0
				|| f.armedWritten() > f.armedHit() || f.waitNs() < 0 || !counts.getOrDefault(f.bin(), Map.of()).containsKey(f.stratum())) {
			wrong(name, row, f.bin(), "more pages than there can be");
		} else {
			firsts.add(f);
		}
	}

	/** Pages by thread are those of the stratum, where threads are told at all. */
	private void compareThreads() throws MemtraceException {
		if (firsts.isEmpty()) {
			return;
		}
		Map<List<Long>, long[]> sums = new HashMap<>();
		for (First f : firsts) {
			long[] sum = sums.computeIfAbsent(List.of(f.bin(), f.stratum()), k -> new long[2]);
			sum[0] += f.hit();
			sum[1] += f.armedHit();
		}
		for (Map<Long, Count> ofBin : counts.values()) {
			for (Count c : ofBin.values()) {
				long[] sum = sums.getOrDefault(List.of(c.bin(), c.stratum()), new long[2]);
				if ((sum[0] != c.hit() || sum[1] != c.armedHit()) && notKnown.add(c.bin())) {
					skips.problem(image.fileName("finethreads-*.csv"), "bin " + c.bin() + " has other pages by thread than together");
				}
			}
		}
	}

	private void stay(CsvTable.Row row) throws MemtraceException {
		String users = row.text("Users").strip();
		Stay s = new Stay(image.index(), row.address("@Virt"), row.number("Start", -1) + shiftNs, row.number("End", -1) + shiftNs,
				row.number("Looks", -1), row.number("Active", -1), row.number("WaitNs", -1), row.number("Written", -1), users);
		boolean valid = USERS.matcher(users).matches() && s.endNs() > s.startNs() && TimeRange.holds(s.startNs(), s.endNs())
				&& s.written() >= 0 && s.written() <= s.active() && s.active() <= s.looks() && s.waitNs() >= 0;
		long sum = 0;
		for (long n : valid ? s.looksByTask().values() : List.<Long>of()) {
			sum += n;
		}
		if (!valid || sum != s.active()) {
			skips.skip(image.fileName("panel.csv"), row.line(), "not a stay in the panel");
			return;
		}
		stays.add(s);
	}
}
