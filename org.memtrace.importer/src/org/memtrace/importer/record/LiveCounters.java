// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.record;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.model.RegularFile;

/**
 * Counts what a recording has written until now, by reading on in the {@code intervals.csv} of its process images
 * (docs/reference/trace-format.md): they get a line for each monitoring interval while the program runs, whatever the backend is.
 */
public final class LiveCounters {
	private static final String[] LOSSES = { "LostRing", "LostTable", "LostUnmapped", "LostRegion", "LostWrite" };
	private static final int MAX_READ = 8 << 20;

	/**
	 * The sums until now.
	 *
	 * @param images process images
	 * @param intervals monitoring intervals of the image that has most of them
	 * @param records lines of accesses: a page, a thread, an interval
	 * @param lost accesses that were seen to be lost
	 * @param residentBytes memory of the program, where the backend tells
	 * @param targetNs length of an interval now
	 * @param spentNs CPU time that recording took
	 * @param programNs CPU time of the program
	 * @param history records of each interval since the last {@link LiveCounters#HISTORY}, in the order of their ends
	 */
	public record Counts(int images, long intervals, long records, long faults, long unattributed, long lost,
			long residentBytes, long targetNs, long spentNs, long programNs, List<Long> history) {
		/** Recording as a share of the program's CPU time, NaN when not known. */
		public double overhead() {
			return programNs > 0 ? (double) spentNs / programNs : Double.NaN;
		}
	}

	/** Intervals of which {@link Counts#history} tells. */
	public static final int HISTORY = 200;

	private static final class Image {
		private final Path file;
		private long offset;
		private final StringBuilder rest = new StringBuilder();
		private Map<String, Integer> columns;
		private long intervals;
		private long resident;

		Image(Path file) {
			this.file = file;
		}
	}

	private final Path directory;
	private final Map<Path, Image> images = new TreeMap<>();
	/** Records by end of interval: images write at the same times. */
	private final TreeMap<Long, Long> recent = new TreeMap<>();
	private long records;
	private long faults;
	private long unattributed;
	private long lost;
	private long target;
	private long spent;
	private long program;

	/** @param directory trace directory; it need not exist yet */
	public LiveCounters(Path directory) {
		this.directory = directory;
	}

	/** Reads what is new. Files that are not there yet, or no more, are no error. One thread at a time. */
	public Counts read() {
		try (DirectoryStream<Path> found = Files.newDirectoryStream(directory, "p[0-9]*")) {
			for (Path image : found) {
				images.computeIfAbsent(image, i -> new Image(i.resolve("intervals.csv")));
			}
		} catch (IOException e) {
			// not made yet, or removed because the program could not be started
		}
		long intervals = 0;
		long resident = 0;
		for (Image image : images.values()) {
			read(image);
			intervals = Math.max(intervals, image.intervals);
			resident += image.resident;
		}
		return new Counts(images.size(), intervals, records, faults, unattributed, lost, resident, target, spent, program,
				List.copyOf(recent.values()));
	}

	private void read(Image image) {
		try (RandomAccessFile file = new RandomAccessFile(RegularFile.check(image.file).toFile(), "r")) {
			int size = (int) Math.min(MAX_READ, file.length() - image.offset);
			if (size <= 0) {
				return;
			}
			byte[] bytes = new byte[size];
			file.seek(image.offset);
			file.readFully(bytes);
			image.offset += size;
			image.rest.append(new String(bytes, StandardCharsets.ISO_8859_1));
		} catch (IOException e) {
			return; // next time
		}
		int begin = 0;
		for (int end; (end = image.rest.indexOf("\n", begin)) >= 0; begin = end + 1) {
			line(image, image.rest.substring(begin, end));
		}
		image.rest.delete(0, begin);
	}

	private void line(Image image, String line) {
		List<String> fields = new ArrayList<>(Arrays.asList(line.split(",", -1)));
		if (image.columns == null) {
			image.columns = new HashMap<>();
			for (int i = 0; i < fields.size(); i++) {
				image.columns.put(fields.get(i), i);
			}
			return;
		}
		image.intervals++;
		long now = number(image, fields, "Records");
		records += now;
		faults += number(image, fields, "Faults");
		unattributed += number(image, fields, "Unattributed");
		for (String reason : LOSSES) {
			lost += number(image, fields, reason);
		}
		image.resident = number(image, fields, "Resident");
		target = number(image, fields, "TargetNs");
		spent += number(image, fields, "MonitorCpuNs");
		program += number(image, fields, "ProgramCpuNs");
		recent.merge(number(image, fields, "End"), now, Long::sum);
		while (recent.size() > HISTORY) {
			recent.pollFirstEntry();
		}
	}

	private static long number(Image image, List<String> fields, String column) {
		Integer at = image.columns.get(column);
		if (at == null || at >= fields.size()) {
			return 0;
		}
		try {
			return Long.parseLong(fields.get(at));
		} catch (NumberFormatException e) {
			return 0;
		}
	}
}
