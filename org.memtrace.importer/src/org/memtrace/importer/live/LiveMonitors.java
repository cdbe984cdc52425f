// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.live;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.importer.input.ByteLines;
import org.memtrace.importer.monitor.MonitorLines;
import org.memtrace.model.LiveValues;
import org.memtrace.model.MemtraceException;

/**
 * Follows the files that {@code memtrace monitor -o FILE} writes: FILE itself, or, with several monitors of 2017, a file for each of them
 * with its name before the ending. Safe for several threads.
 */
public final class LiveMonitors implements Closeable {
	/** Samples that are kept of each place and variable. */
	public static final int USUAL_SAMPLES = 300;

	private static final class Kept {
		private final String place;
		private final String variable;
		private long[] start = new long[16];
		private long[] end = new long[16];
		private double[] value = new double[16];
		private int count;
		private long all;

		Kept(String place, String variable) {
			this.place = place;
			this.variable = variable;
		}

		void add(long from, long to, double v, int most) {
			if (count == end.length && count >= 2 * most) { // as many again are dropped at once
				int drop = count - most;
				System.arraycopy(start, drop, start, 0, most);
				System.arraycopy(end, drop, end, 0, most);
				System.arraycopy(value, drop, value, 0, most);
				count = most;
			} else if (count == end.length) {
				int size = Math.max(count + 1, Math.min(2 * count, 2 * most));
				start = Arrays.copyOf(start, size);
				end = Arrays.copyOf(end, size);
				value = Arrays.copyOf(value, size);
			}
			start[count] = from;
			end[count] = to;
			value[count++] = v;
			all++;
		}

		LiveValues.Series last(int most) {
			int from = Math.max(0, count - most);
			return new LiveValues.Series(place, variable, Arrays.copyOfRange(start, from, count), Arrays.copyOfRange(end, from, count),
					Arrays.copyOfRange(value, from, count));
		}
	}

	/** A file of it, and what its lines say. */
	private final class Followed implements MonitorLines.Target, Closeable {
		private final GrowingFile file;
		private final MonitorLines lines = new MonitorLines(this);
		private boolean begun;
		private long passed;

		Followed(Path path) throws IOException {
			file = new GrowingFile(path);
		}

		void read(String name) throws IOException, MemtraceException {
			for (byte[] bytes; (bytes = file.lines()) != null;) {
				String[] all = new String(bytes, StandardCharsets.UTF_8).split("\n");
				if (!begun) {
					lines.begin(name, all[0].startsWith("%EventDef"));
				}
				for (; passed < file.passedLines(); passed++) { // before what came now
					lines.tooLong();
				}
				for (int i = begun ? 1 : 0; i < all.length; i++) { // the first line comes each time
					if (all[i].length() > ByteLines.LONGEST) {
						lines.tooLong();
					} else {
						lines.line(all[i]);
					}
				}
				begun = true;
			}
		}

		@Override
		public void row() {
			// all of them have values, or are skipped
		}

		@Override
		public void skip(String name, long line, String why) {
			if (skipped++ == 0) {
				problem = name + ", line " + line + ": " + why;
			}
		}

		@Override
		public void property(String name, String value) {
			properties.put(name, value);
		}

		@Override
		public String value(List<String> path, String variable, long fromNs, long toNs, double value, Map<String, String> parameters) {
			String place = path.get(path.size() - 1);
			kept.computeIfAbsent(place + ' ' + variable, k -> new Kept(place, variable)).add(fromNs, toNs, value, most);
			newestNs = Math.max(newestNs, toNs);
			return null;
		}

		@Override
		public void close() throws IOException {
			file.close();
		}
	}

	private final Path output;
	private final int most;
	private final Map<Path, Followed> files = new TreeMap<>();
	private final Map<String, Kept> kept = new LinkedHashMap<>();
	private final Map<String, String> properties = new TreeMap<>();
	private long newestNs;
	private long skipped;
	private String problem = "";
	private boolean closed;

	/**
	 * @param output what {@code -o} says; its files need not be there yet
	 * @param most samples that are kept of each place and variable, at least 2
	 */
	public LiveMonitors(Path output, int most) {
		this.output = output;
		this.most = Math.max(2, most);
	}

	/** The files that belong to an output, in the order of their names; none when there are none yet. */
	public static List<Path> files(Path output) {
		if (Files.isRegularFile(output)) {
			return List.of(output);
		}
		String name = output.getFileName() == null ? "" : output.getFileName().toString();
		int dot = name.lastIndexOf('.');
		String stem = (dot > 0 ? name.substring(0, dot) : name) + ".";
		String ending = dot > 0 ? name.substring(dot) : "";
		List<Path> found = new ArrayList<>();
		Path folder = output.toAbsolutePath().getParent();
		if (folder == null || name.isEmpty()) {
			return found;
		}
		try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
			for (Path entry : entries) {
				String file = entry.getFileName().toString();
				if (file.length() > stem.length() + ending.length() && file.startsWith(stem) && file.endsWith(ending)
						&& Files.isRegularFile(entry)) {
					found.add(entry);
				}
			}
		} catch (IOException e) {
			return List.of(); // not made yet, or not readable
		}
		found.sort(null);
		return found;
	}

	/** Reads on; after the end what was read before. */
	public synchronized LiveValues read() throws MemtraceException {
		try {
			for (Path path : closed ? List.<Path>of() : files(output)) {
				Followed file = files.get(path);
				if (file == null) {
					file = new Followed(path);
					files.put(path, file);
				}
				file.read(path.getFileName().toString());
			}
		} catch (IOException e) {
			throw new MemtraceException(output + " cannot be read: " + e.getMessage(), e);
		}
		String machine = files.values().stream().map(f -> f.lines.machine()).filter(m -> !m.isEmpty()).findFirst().orElse("");
		return new LiveValues(machine.isEmpty() ? null : machine.getBytes(StandardCharsets.UTF_8), Map.copyOf(properties),
				kept.values().stream().map(k -> k.last(most)).toList(), newestNs, kept.values().stream().mapToLong(k -> k.all).max().orElse(0),
				skipped, problem);
	}

	@Override
	public synchronized void close() {
		closed = true;
		for (Followed file : files.values()) {
			try {
				file.close();
			} catch (IOException e) {
				continue; // it was only read
			}
		}
	}
}
