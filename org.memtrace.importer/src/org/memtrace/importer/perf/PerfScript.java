// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perf;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.importer.input.ByteLines;
import org.memtrace.importer.input.CountedInput;
import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.input.Json;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

/**
 * Makes a trace directory of the text of {@code perf script}: each sample is a row. With a recording of memtrace beside it the samples
 * take its structures, stacks and threads; alone, the mappings and symbols that perf knows. Used once, by one thread.
 */
public final class PerfScript {
	/** Samples of the same interval are at the same time for the sharing of a page. The recorder's own intervals have this order. */
	static final long INTERVAL_NS = 20_000_000;
	private static final int PAGE_SIZE = 4096;
	private static final long KERNEL = 0xffff800000000000L;
	/** A clock of perf may be this far from the recording's: the recording begins a moment after the program. */
	private static final long SLACK_NS = 1_000_000_000;

	private static final String NO_ADDRESS = "no address of data";

	private final SkipCounter skips;
	private final Path scratch;
	private final TraceDirectory recording;
	private final Map<Integer, List<PerfImage>> images = new LinkedHashMap<>();
	/** Where images of a recording begin, beside those of {@link #images}. */
	private final Map<Integer, List<Long>> begins = new LinkedHashMap<>();
	private final Map<Integer, String> commands = new LinkedHashMap<>();
	private final int pageSizeBytes;
	/** The time of the recording, with some room. */
	private long recordedFromNs;
	private long recordedToNs;
	/** Samples and other rows that were read. */
	private long rows;
	private long used;
	private long mappings;
	private long outside;
	private long lost;
	private String tool;
	private long directions;
	private long withoutAddress;
	private long firstNs = Long.MAX_VALUE;
	private long lastNs = Long.MIN_VALUE;
	private boolean armEvents;

	/**
	 * @param recording a trace directory of the same run, null for none
	 * @param scratch an empty folder, which the caller removes
	 */
	public PerfScript(TraceDirectory recording, Path scratch, SkipCounter skips) {
		this.recording = recording;
		this.scratch = scratch;
		this.skips = skips;
		pageSizeBytes = recording == null ? PAGE_SIZE : recording.pageSizeBytes();
	}

	/** Whether the beginning of a file is of {@code perf script}, with addresses of data. */
	public static boolean isOne(String head) {
		return look(head, true);
	}

	/** Whether the beginning of a file is of {@code perf script}, with events of any kind. */
	static boolean hasEvents(String head) {
		return look(head, false);
	}

	private static boolean look(String head, boolean samples) {
		PerfLine line = new PerfLine();
		int bad = 0;
		boolean event = false;
		boolean mapping = false;
		for (String text : head.lines().toList()) {
			PerfLine.Kind kind = line.parse(text);
			if (kind == PerfLine.Kind.SAMPLE || kind == PerfLine.Kind.EVENT && !samples
					|| kind == PerfLine.Kind.FRAME && event && line.address != 0) {
				return true;
			}
			event = kind == PerfLine.Kind.EVENT;
			mapping |= kind == PerfLine.Kind.MAPPING;
			bad += kind == PerfLine.Kind.BAD ? 1 : 0;
			if (bad > 3) {
				return false;
			}
		}
		return samples && mapping && !event; // so many mappings that no sample is in the head
	}

	/** Whether all samples that there were have no address: they are events like any others. */
	boolean hasNoAddresses() {
		return rows > 0 && withoutAddress == rows;
	}

	/** Samples that are not in the directory. */
	public long unused() {
		return rows - used;
	}

	/**
	 * Reads the files and writes the directory.
	 *
	 * @param shown the path that the user gave
	 * @return the directory, with the path that the user gave
	 */
	public TraceDirectory read(List<InputFile> files, Path shown, String name, Progress progress) throws MemtraceException, IOException {
		begin("perf");
		for (InputFile file : files) {
			read(file, progress);
		}
		return end(files.get(0).name(), shown, name);
	}

	/**
	 * Begins with samples that another reader has: {@link #pageFault} for each, then {@link #end}.
	 *
	 * @param recorder what recorded them: the backend of the trace
	 */
	public void begin(String recorder) throws IOException {
		tool = recorder;
		if (recording != null) {
			openRecording();
		}
	}

	/**
	 * A page fault as another tracer tells it. It is counted, and used as a sample would be.
	 *
	 * @param row number in the file
	 * @param timeNs in the clock of the recording, when there is one
	 * @param write null when it is not known
	 * @param ip 0 when it is not known
	 */
	public void pageFault(String file, long row, Thread thread, long timeNs, long address, long ip, Boolean write)
			throws MemtraceException, IOException {
		PerfLine line = new PerfLine();
		line.process = thread.process;
		line.thread = thread.id;
		line.cpu = thread.cpu;
		line.command = thread.command;
		line.timeNs = timeNs;
		line.event = "page-faults";
		line.symbol = "";
		line.symbolObject = "";
		line.function = "";
		line.object = "";
		line.address = address;
		line.ip = ip;
		line.dataSource = DataSource.ofDirection(write);
		rows++;
		if (isUsed(line, file, row)) {
			sample(line);
		}
	}

	/** A row of another reader that cannot be used. */
	public void unused(String file, long row, String reason) throws MemtraceException {
		rows++;
		skips.skip(file, row, reason);
	}

	/** Who makes a page fault. @param cpu -1 when it is not known */
	public record Thread(int process, int id, int cpu, String command) {
	}

	/** Events that the tracer knows to have lost. */
	public void lost(long events) {
		lost += events;
	}

	/**
	 * Writes the directory of what was read.
	 *
	 * @param file for a message
	 */
	public TraceDirectory end(String file, Path shown, String name) throws MemtraceException, IOException {
		if (used == 0) {
			throw new TraceFormatException(file, 0, "has no sample that can be used" + why());
		}
		finish(name);
		return TraceDirectory.openCopy(scratch, shown, notes());
	}

	private String why() {
		if (outside > 0 && outside == rows) {
			return ": all " + rows + " are outside the time of the recording; record with 'perf record -k CLOCK_MONOTONIC'";
		}
		return skips.byReason().entrySet().stream().map(e -> e.getValue() + " " + e.getKey()).collect(Collectors.joining(", ", ": ", ""));
	}

	private List<String> notes() {
		List<String> notes = new ArrayList<>();
		if (recording == null && mappings == 0) {
			notes.add("the samples have no mappings, so that memory has no names"
					+ (tool.equals("perf") ? "; make the text with 'perf script --show-mmap-events'" : ""));
		}
		if (recording != null && recording.images().stream().anyMatch(i -> !i.chunks().isEmpty())) {
			notes.add("the accesses of the recording itself are left out: they are page faults, and those of " + tool + " are samples");
		}
		return notes;
	}

	private void read(InputFile file, Progress progress) throws MemtraceException, IOException {
		PerfChains<IOException> chains = new PerfChains<>(new Samples(file.name()));
		long told = 0;
		try (CountedInput in = file.open()) {
			ByteLines lines = new ByteLines(in.stream());
			while (lines.next()) {
				if (lines.line() % 4096 == 0) {
					progress.worked(in.bytes() - told);
					told = in.bytes();
				}
				if (lines.tooLong()) {
					rows++;
					skips.skip(file.name(), lines.line(), ByteLines.TOO_LONG);
				} else {
					chains.line(lines.buffer(), lines.start, lines.end, lines.line());
				}
			}
			if (lines.incomplete()) {
				rows++;
				skips.incomplete(file.name(), lines.line() + 1);
			}
			progress.worked(in.bytes() - told);
		} catch (java.util.zip.ZipException | java.io.EOFException e) {
			skips.problem(file.name(), "is damaged: " + e.getMessage());
		}
		chains.finish();
		progress.check();
	}

	/** What the lines of a file say. */
	private final class Samples implements PerfChains.Receiver<IOException> {
		private final String file;

		Samples(String file) {
			this.file = file;
		}

		@Override
		public void event(PerfLine line, long number) throws MemtraceException, IOException {
			rows++;
			if (isUsed(line, file, number)) {
				sample(line);
			}
		}

		@Override
		public void other(PerfLine.Kind kind, PerfLine line, long number) throws MemtraceException {
			if (kind == PerfLine.Kind.BAD) {
				rows++;
				skips.skip(file, number, "not a line of perf script");
			} else if (kind == PerfLine.Kind.LOST) {
				lost(line.lost);
			} else if (kind == PerfLine.Kind.MAPPING && recording == null) {
				mappings++;
				image(line.process).mapped(line);
			} else if (kind == PerfLine.Kind.EXEC && recording == null && line.process > 0) {
				image(line.process).executed(line);
			}
		}
	}

	/** Whether a sample can be used; counts it if not. */
	private boolean isUsed(PerfLine line, String file, long number) throws MemtraceException {
		if (line.process < 0) {
			line.process = recording != null && recording.images().size() == 1
					? (int) recording.images().get(0).json().number("pid", 0) : 1;
		}
		// perf tells one sample of Arm's SPE as several events; "memory" is the one of all of them
		if (line.event.equals("memory")) {
			armEvents = true;
		} else if (armEvents && line.event.matches("(l1d|llc|tlb|branch|remote)-(miss|access)")) {
			skips.skip(file, number, "told again by the event memory");
			return false;
		}
		withoutAddress += line.address == 0 ? 1 : 0;
		String reason = line.process == 0 ? "of no process" : line.address == 0 ? NO_ADDRESS
				: Long.compareUnsigned(line.address, KERNEL) >= 0 ? "an address of the kernel" : null;
		if (reason == null && recording != null) {
			if (!images.containsKey(line.process)) {
				reason = "of a process that was not recorded";
			} else if (isOutside(line.timeNs)) {
				reason = "outside the time of the recording";
				outside++;
			}
		}
		if (reason == null && line.dataSource == 0 && line.ip == 0) {
			reason = "one address, which may be of data or of code (perf script -F addr,ip tells both)";
		}
		if (reason != null) {
			skips.skip(file, number, reason);
		}
		return reason == null;
	}

	private boolean isOutside(long timeNs) {
		return timeNs < recordedFromNs || timeNs > recordedToNs;
	}

	private void sample(PerfLine line) throws IOException {
		long start = Math.floorDiv(line.timeNs, INTERVAL_NS) * INTERVAL_NS;
		imageAt(line).add(line, start, start + INTERVAL_NS, pageSizeBytes);
		commands.putIfAbsent(line.process, line.command);
		used++;
		directions += PerfImage.isDirectionKnown(line) ? 1 : 0;
		firstNs = Math.min(firstNs, line.timeNs);
		lastNs = Math.max(lastNs, line.timeNs + 1);
	}

	private PerfImage image(int process) {
		return images.computeIfAbsent(process,
				p -> List.of(new PerfImage(scratch.resolve(String.format(Locale.ROOT, "p%04d", images.size())), p, true))).get(0);
	}

	/** A process of a recording has several images when it ran several programs. */
	private PerfImage imageAt(PerfLine line) {
		if (recording == null) {
			return image(line.process);
		}
		List<PerfImage> ofProcess = images.get(line.process);
		List<Long> from = begins.get(line.process);
		int i = ofProcess.size() - 1;
		while (i > 0 && from.get(i) > line.timeNs) {
			i--;
		}
		return ofProcess.get(i);
	}

	/** Takes everything of a recording but its accesses. */
	private void openRecording() throws IOException {
		Json clock = recording.manifest().object("clock");
		recordedFromNs = clock.number("start_ns", Long.MIN_VALUE + SLACK_NS) - SLACK_NS;
		recordedToNs = clock.number("end_ns", Long.MAX_VALUE - SLACK_NS) + SLACK_NS;
		copyFiles(recording.path(), scratch);
		for (TraceDirectory.Image image : recording.images()) {
			Path copy = scratch.resolve(image.directory().getFileName());
			Files.createDirectories(copy);
			copyFiles(image.directory(), copy);
			int process = (int) image.json().number("pid", -1);
			images.computeIfAbsent(process, p -> new ArrayList<>()).add(new PerfImage(copy, process, false));
			begins.computeIfAbsent(process, p -> new ArrayList<>()).add(image.json().number("start_ns", Long.MIN_VALUE));
		}
	}

	private static void copyFiles(Path from, Path to) throws IOException {
		try (DirectoryStream<Path> files = Files.newDirectoryStream(from, Files::isRegularFile)) {
			for (Path file : files) {
				String name = file.getFileName().toString();
				boolean raw = name.startsWith("accesses-") || name.equals("context.log") || name.equals("intervals.csv");
				if (!raw) {
					Files.copy(file, to.resolve(name));
				}
			}
		}
	}

	private void finish(String name) throws MemtraceException, IOException {
		JsonObject manifest = new JsonObject();
		if (recording != null) {
			manifest = Json.read(scratch.resolve("manifest.json"), "manifest.json").object();
		} else {
			manifest.addProperty("format", "memtrace");
			manifest.addProperty("format_version", 1);
			manifest.addProperty("name", name);
			JsonObject clock = new JsonObject();
			clock.addProperty("start_ns", firstNs);
			clock.addProperty("end_ns", lastNs);
			manifest.add("clock", clock);
			manifest.add("command", new JsonArray());
			if (!commands.isEmpty()) {
				manifest.addProperty("executable", commands.values().iterator().next());
			}
		}
		JsonObject guarantee = new JsonObject();
		guarantee.addProperty("granularity_bytes", 1);
		guarantee.addProperty("pages", "sampled");
		guarantee.addProperty("threads", "all");
		guarantee.addProperty("writes", directions == 0 ? "none" : "decoded");
		guarantee.addProperty("kernel_accesses", "none");
		guarantee.addProperty("counts", "sampled");
		JsonObject backend = new JsonObject();
		backend.addProperty("name", tool);
		backend.add("guarantee", guarantee);
		manifest.add("backend", backend);
		manifest.remove("losses");
		if (lost > 0) {
			JsonObject losses = new JsonObject();
			losses.addProperty("total", lost);
			manifest.add("losses", losses);
		}
		manifest.remove("late");
		manifest.remove("unlisted");
		manifest.remove("unseen");
		manifest.remove("windows");
		manifest.remove("parameters");
		Files.writeString(scratch.resolve("manifest.json"), manifest.toString());
		for (Map.Entry<Integer, List<PerfImage>> ofProcess : images.entrySet()) {
			JsonObject image = new JsonObject();
			image.addProperty("pid", ofProcess.getKey());
			image.addProperty("executable", commands.getOrDefault(ofProcess.getKey(), ""));
			image.addProperty("page_size_bytes", pageSizeBytes);
			for (PerfImage part : ofProcess.getValue()) {
				if (part.hasRows()) {
					part.finish(image.toString());
				}
			}
		}
	}
}
