// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.memtrace;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.memtrace.importer.input.ByteLines;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.RegularFile;
import org.memtrace.model.TraceFormatException;

/** What an import does not keep of a trace directory: what it knows with the reason, what it does not know as a warning. */
final class LeftOut {
	/** Files that are read. */
	private static final Set<String> READ = Set.of("image.json", "intervals.csv", "maps-start.txt", "structures.csv", "stacks.csv",
			"threads.csv", "threadtimes.csv", "code.csv", "regions.csv", "instructions.csv", "first.csv", "ticks.csv",
			"bins.csv", "strata.csv", "panel.csv");
	/** Files that are not, and why. */
	private static final Map<String, String> FILES = Map.of("context.log", "", // structures.csv, stacks.csv and threads.csv are made of it
			"ticks.log", "", // ticks.csv is
			"windows.csv", "for what part of the run accesses were counted is kept as a sentence",
			"unseen.csv", "the sums of the manifest are kept", "unlisted.csv", "the sums are kept as a sentence",
			"overhead.csv", "the sums are kept, by how much the run took longer", "zoomcost.csv", "what the close look cost is kept as a sentence",
			"standstill.csv", "the interval with the event lost tells it", "maps-end.txt", "names of ranges are those at the start",
			"perf.map", "code.csv has the names that are needed");
	/**
	 * Columns whose value is kept in another form: a number that is given anew, a place that addresses tell, the structure of a stack. First
	 * accesses are those of records, which tell what they did. CPU time of the recorder is in the sums of the manifest.
	 */
	private static final Set<String> ELSEWHERE = Set.of("intervals.csv Interval", "structures.csv Id", "stacks.csv Depth", "stacks.csv Offset",
			"code.csv Offset", "threads.csv StackStart", "threads.csv StackEnd", "first.csv Write", "bins.csv MonitorCpuNs");

	private final SkipCounter skips;
	private final Map<String, String> reasons = new LinkedHashMap<>();

	LeftOut(SkipCounter skips) {
		this.skips = skips;
	}

	/** What is not kept, with the number of lines, and why. */
	Map<String, String> reasons() {
		return reasons;
	}

	/** Columns of a file that nobody asked for. */
	static void columns(TraceDirectory.Image image, String file, List<String> unread, SkipCounter skips) {
		for (String column : unread) {
			if (!ELSEWHERE.contains(file + " " + column)) {
				skips.warn(image.fileName(file) + ": its column " + column + " is not known to this version and not kept");
			}
		}
	}

	/** Looks at the files of an image. */
	void files(TraceDirectory.Image image) throws MemtraceException {
		List<String> names = new ArrayList<>();
		try (DirectoryStream<Path> entries = Files.newDirectoryStream(image.directory())) {
			entries.forEach(entry -> names.add(entry.getFileName().toString()));
		} catch (IOException e) {
			throw new TraceFormatException(image.fileName(""), 0, "cannot be read: " + e.getMessage());
		}
		names.sort(null);
		for (String name : names) {
			String reason = FILES.get(name);
			if (reason != null && !reason.isEmpty()) {
				reasons.put(image.fileName(name) + ", " + lines(image, name) + " lines", reason);
			} else if (name.equals("zoom.csv")) {
				reasons.put(image.fileName(name) + ", columns Ip and Cpu", "what is kept are the threads and places of each line");
			} else if (reason == null && !READ.contains(name) && !name.startsWith("accesses-") && !name.startsWith("fine-")
					&& !name.startsWith("finethreads-")) {
				skips.warn(image.fileName(name) + ": the file is not known to this version and not kept");
			}
		}
	}

	/** Without a header. */
	private static long lines(TraceDirectory.Image image, String name) throws MemtraceException {
		try (InputStream in = RegularFile.open(image.directory().resolve(name))) {
			ByteLines lines = new ByteLines(in);
			long n = name.endsWith(".csv") ? -1 : 0;
			while (lines.next()) {
				n++;
			}
			return Math.max(0, n);
		} catch (IOException e) {
			throw new TraceFormatException(image.fileName(name), 0, "cannot be read: " + e.getMessage());
		}
	}
}
