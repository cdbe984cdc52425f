// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.samples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TimeUnit;
import org.memtrace.model.TraceFormatException;

/**
 * A trace directory that is made of samples which another tool has, for {@code AccessImport}. Used by one thread: {@link #add} for each,
 * then {@link #end}.
 */
public final class SampleDirectory {
	/** Address space of the kernel on 64 bits. */
	private static final long KERNEL = 0xffff800000000000L;
	private static final int MOST_PROCESSES = 100_000;
	private static final int MOST_CPU = 65_535;

	private final Path scratch;
	private final String tool;
	private final int pageSizeBytes;
	private final Map<Integer, SampleImage> images = new LinkedHashMap<>();
	private long used;
	private long withDirection;
	private long withThread;
	private long firstNs = Long.MAX_VALUE;
	private long lastNs = Long.MIN_VALUE;

	/**
	 * What a trace of them promises.
	 *
	 * @param isExact whether all accesses are there; else these are samples
	 * @param isTicks whether times are those of a logical clock
	 */
	public record Promise(boolean isExact, boolean isTicks) {
	}

	/**
	 * Begins a directory.
	 *
	 * @param scratch an empty folder, which the caller removes
	 * @param tool what recorded them: the backend of the trace
	 * @param pageSizeBytes a power of two
	 */
	public SampleDirectory(Path scratch, String tool, int pageSizeBytes) {
		this.scratch = scratch;
		this.tool = tool;
		this.pageSizeBytes = pageSizeBytes;
	}

	/**
	 * Adds a sample, which stays the caller's.
	 *
	 * @return why it cannot be used, or null
	 */
	public String add(Sample s) throws IOException {
		if (Long.compareUnsigned(s.address, KERNEL) >= 0) {
			return "an address of the kernel";
		}
		if (s.reads + s.writes <= 0 || s.reads < 0 || s.writes < 0) {
			return "neither a read nor a write";
		}
		if (s.cpu > MOST_CPU) {
			return "a CPU above " + MOST_CPU;
		}
		SampleImage image = images.get(s.process);
		if (image == null) {
			if (images.size() == MOST_PROCESSES) {
				return "of one of more than " + MOST_PROCESSES + " processes";
			}
			image = new SampleImage(scratch.resolve(String.format(Locale.ROOT, "p%04d", images.size())), s.process, pageSizeBytes);
			images.put(s.process, image);
		}
		image.add(s);
		used++;
		withDirection += s.isDirectionKnown ? 1 : 0;
		withThread += s.thread >= 0 ? 1 : 0;
		firstNs = Math.min(firstNs, s.startNs);
		lastNs = Math.max(lastNs, s.endNs);
		return null;
	}

	/** Samples in the directory. */
	public long used() {
		return used;
	}

	/**
	 * Writes the directory.
	 *
	 * @param file for a message
	 * @param shown the path that the user gave
	 * @param why rest of the sentence when there is no sample
	 */
	public TraceDirectory end(String file, Path shown, String name, Promise promise, List<String> notes, String why)
			throws MemtraceException, IOException {
		if (used == 0) {
			throw new TraceFormatException(file, 0, "has no access that can be used" + why);
		}
		List<String> all = new ArrayList<>(notes);
		int overlapping = 0;
		for (SampleImage image : images.values()) {
			overlapping += image.finish();
		}
		if (overlapping > 0) {
			all.add(overlapping + (overlapping == 1 ? " structure lies" : " structures lie")
					+ " between the first and the last access of another one; what is in both is of the smaller one");
		}
		JsonObject manifest = new JsonObject();
		manifest.addProperty("format", "memtrace");
		manifest.addProperty("format_version", 1);
		manifest.addProperty("name", name);
		manifest.addProperty("trace_type", tool);
		JsonObject clock = new JsonObject();
		clock.addProperty("start_ns", firstNs);
		clock.addProperty("end_ns", lastNs);
		manifest.add("clock", clock);
		manifest.add("command", new JsonArray());
		if (promise.isTicks) {
			manifest.addProperty(TimeUnit.PROPERTY, "tick");
		}
		JsonObject guarantee = new JsonObject();
		guarantee.addProperty("granularity_bytes", 1);
		guarantee.addProperty("pages", promise.isExact ? "complete" : "sampled");
		guarantee.addProperty("threads", withThread == 0 ? "none" : "all");
		guarantee.addProperty("writes", withDirection == 0 ? "none" : promise.isExact ? "exact" : "decoded");
		guarantee.addProperty("kernel_accesses", "none");
		guarantee.addProperty("counts", promise.isExact ? "exact" : "sampled");
		JsonObject backend = new JsonObject();
		backend.addProperty("name", tool);
		backend.add("guarantee", guarantee);
		manifest.add("backend", backend);
		Files.writeString(scratch.resolve("manifest.json"), manifest.toString());
		return TraceDirectory.openCopy(scratch, shown, all);
	}
}
