// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.monitor;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

import org.memtrace.importer.input.CountedInput;
import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.TraceStore;

/**
 * Traces of {@code memtrace monitor} and of the three generations of hierarchical monitors. Places of the machine are event producers, the
 * values of monitors are variables, each from the sample before it. docs/import.md, "Monitors", describes the formats.
 */
public final class MonitorReader implements InputReader {
	private static final String TOPOLOGY = "# topology ";
	/** Types of places in all versions of hwloc, so that a log of "host:80 200" is not taken for a trace. */
	private static final Pattern PLACE = Pattern.compile(
			"(System|Machine|Node|NUMANode|Package|Socket|Die|Cluster|Group\\d*|L\\d[iud]?(Cache)?|Cache|MemCache|Core|PU):\\d{1,9}");
	/** A machine of 10,000 CPUs needs 5 MB. */
	private static final int LARGEST_TOPOLOGY = 64 << 20;
	private static final Pattern NUMBER = Pattern.compile("\\d{1,18}");

	@Override
	public String id() {
		return "monitors";
	}

	@Override
	public String description() {
		return "traces of monitors on the places of a machine";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("monitors.txt", "monitors of a machine: PU:0 nanoseconds values..."));
	}

	@Override
	public Optional<ImportSource> look(Input input) throws MemtraceException, IOException {
		if (input.isFolder()) {
			return Optional.empty();
		}
		List<ImportSource.File> files = new ArrayList<>();
		long bytes = 0;
		for (InputFile file : input.files()) {
			if (!isMonitors(file.head())) {
				return Optional.empty();
			}
			bytes += file.size();
			files.add(ImportSource.File.of(file, "values of monitors"));
		}
		return Optional.of(new ImportSource(id(), "monitors", input.name(), "values of monitors", files, bytes, "ns", List.of(), Set.of()));
	}

	private static boolean isMonitors(String head) {
		if (isNodes(head)) {
			return true;
		}
		for (String line : head.split("\n", 1000)) {
			if (line.startsWith(TOPOLOGY + "<") || isWhere(line)) { // what follows may be more than is looked at
				return true;
			}
			String[] words = words(line);
			if (words.length > 0) {
				return isHeader(words) || at(words) >= 0;
			}
		}
		return false;
	}

	/** A comment that says where a place is: there is one for each CPU. */
	private static boolean isWhere(String line) {
		String[] words = line.split(" ");
		return words.length == 4 && line.startsWith("# at ") && PLACE.matcher(words[2]).matches() && words[3].contains(":");
	}

	/** The format of 2015, whose definitions of events have a field that nothing else has. */
	private static boolean isNodes(String head) {
		return head.startsWith("%EventDef") && Pattern.compile("\\blogscale\\b", Pattern.CASE_INSENSITIVE).matcher(head).find();
	}

	/** Words of a line that is neither blank nor a comment. */
	private static String[] words(String line) {
		String text = line.strip();
		return text.isEmpty() || text.startsWith("#") || text.startsWith("%") ? new String[0] : text.split("\\s+");
	}

	private static boolean isHeader(String[] words) {
		return words.length >= 3 && words[0].equalsIgnoreCase("Obj") && words[1].equalsIgnoreCase("Nanoseconds");
	}

	/** Which word is the place: the first one, or the second one behind the name of the monitor; -1: none. */
	private static int at(String[] words) {
		for (int i = 0; i < 2 && i + 2 < words.length; i++) {
			if (PLACE.matcher(words[i]).matches() && NUMBER.matcher(words[i + 1]).matches()) {
				return i;
			}
		}
		return -1;
	}

	@Override
	public ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException, IOException {
		long bytes = 0;
		for (InputFile file : input.files()) {
			bytes += file.size();
		}
		progress.beginBytes("Reading values of monitors", bytes);
		try (EventSink sink = new EventSink(input, request, progress)) {
			Values values = new Values(sink);
			for (InputFile file : input.files()) {
				values.begin(file.name(), isNodes(file.head()));
				try (CountedInput in = file.open()) {
					BufferedReader lines = new BufferedReader(new InputStreamReader(in.stream(), StandardCharsets.UTF_8));
					long told = 0;
					for (String line = lines.readLine(); line != null; line = lines.readLine()) {
						values.line(line);
						progress.worked(in.bytes() - told);
						told = in.bytes();
					}
				} catch (IOException e) {
					sink.skips().problem(file.name(), "cannot be read: " + e.getMessage()); // damaged: what came before it counts
				}
			}
			values.machine();
			return sink.commit("monitors", id());
		}
	}

	/** What the lines of the files say, one after the other. */
	private static final class Values {
		/** A monitor of 2015. */
		private record Node(String place, String name) {
		}

		private final EventSink sink;
		/** Where a place is: from the comments that memtrace writes. */
		private final Map<String, List<String>> paths = new HashMap<>();
		/** The time of the last sample by place and name. */
		private final Map<String, Long> last = new HashMap<>();
		/** Names whose scale was told. */
		private final Set<String> scaled = new HashSet<>();
		private final Map<String, Node> nodes = new HashMap<>();
		/** Names of the values by type of place, of 2016. */
		private final Map<String, List<String>> labels = new HashMap<>();
		/** The machine, of the first file that tells one, and of the file that is read. */
		private String machine = "";
		private final StringBuilder topology = new StringBuilder();
		private List<String> header = List.of();
		private String file = "";
		private boolean ofNodes;
		private long line;

		Values(EventSink sink) {
			this.sink = sink;
		}

		void begin(String name, boolean nodesAndValues) {
			topology.setLength(0);
			file = name;
			ofNodes = nodesAndValues;
			line = 0;
			header = List.of();
			labels.clear();
			nodes.clear();
		}

		void line(String text) throws MemtraceException {
			line++;
			if (text.startsWith(TOPOLOGY)) {
				topology(text.substring(TOPOLOGY.length()));
				return;
			}
			if (text.startsWith("# ")) {
				comment(text.substring(2).strip().split("\\s+"));
				return;
			}
			String[] words = words(text);
			if (words.length == 0) {
				return;
			}
			if (!ofNodes && isHeader(words)) {
				header = Arrays.asList(words).subList(2, words.length);
				return;
			}
			sink.row();
			String problem = ofNodes ? node(words) : sample(words);
			if (problem != null) {
				sink.skip(file, line, problem);
			}
		}

		/** A line of XML as hwloc writes it. */
		private void topology(String text) {
			if (machine.isEmpty() && topology.length() + text.length() < LARGEST_TOPOLOGY) {
				topology.append(text).append('\n');
				if (text.strip().equals("</topology>")) {
					machine = topology.toString();
				}
			}
		}

		/** Keeps the machine with the trace. */
		void machine() throws MemtraceException {
			if (!machine.isEmpty()) {
				sink.note(TraceStore.NOTE_TOPOLOGY, machine.getBytes(StandardCharsets.UTF_8));
			}
		}

		/** "at PU:3 Machine:0/Package:0", "scale NAME MIN MAX LOG" and "NAME TYPE LABEL..." */
		private void comment(String[] words) {
			if (words.length >= 2 && words[0].equals("at") && PLACE.matcher(words[1]).matches()) {
				List<String> path = new ArrayList<>(words.length > 2 ? Arrays.asList(words[2].split("/")) : List.of());
				path.add(words[1]);
				path.removeIf(String::isEmpty);
				paths.putIfAbsent(words[1], path);
			} else if (words.length == 5 && words[0].equals("scale") && words[4].matches("[01]")) {
				scaled.add(words[1]);
				sink.property(TraceInfo.PROPERTY_SCALE + words[1], words[2] + " " + words[3] + " " + words[4]);
			} else if (words.length >= 3 && PLACE.matcher(words[1] + ":0").matches()) {
				labels.put(words[1], Arrays.asList(words).subList(2, words.length));
			}
		}

		/** @return why the line is not used, or null */
		private String node(String[] words) throws MemtraceException {
			if (words[0].equals("1")) {
				if (words.length != 6 || !NUMBER.matcher(words[3]).matches() || !PLACE.matcher(words[2] + ":0").matches()) {
					return "not a monitor: 1, id, level, sibling, name, logscale";
				}
				if (words[5].equals("1") && scaled.add(words[4])) {
					sink.property(TraceInfo.PROPERTY_SCALE + words[4], "- - 1");
				}
				nodes.put(words[1], new Node(words[2] + ":" + words[3], words[4]));
				return null;
			}
			if (!words[0].equals("0") || words.length != 5 || !NUMBER.matcher(words[3]).matches()) {
				return "not a value: 0, id, phase, microseconds, value";
			}
			Node node = nodes.get(words[1]);
			if (node == null) {
				return "value of a monitor that was not defined before";
			}
			long us = Long.parseLong(words[3]);
			if (us > Long.MAX_VALUE / 1000) {
				return "time that is too large";
			}
			return value(node.place, node.name, us * 1000, words[4], words[2].equals("0") ? Map.of() : Map.of("phase", words[2]));
		}

		private String sample(String[] words) throws MemtraceException {
			int at = at(words);
			if (at < 0) {
				return "not a place, nanoseconds and values";
			}
			String place = words[at];
			List<String> names = header.isEmpty() ? labels.getOrDefault(place.substring(0, place.indexOf(':')), List.of()) : header;
			String monitor = at == 1 ? words[0] : "value";
			int n = words.length - at - 2;
			String problem = null;
			for (int k = 0; k < n; k++) {
				String name = k < names.size() ? names.get(k) : n == 1 ? monitor : monitor + " " + (k + 1);
				String p = value(place, name, Long.parseLong(words[at + 1]), words[at + 2 + k], Map.of());
				problem = problem == null ? p : problem;
			}
			return problem;
		}

		/** From the sample before to this one; the first begins with the trace. What was not counted is a gap. */
		private String value(String place, String name, long ns, String text, Map<String, String> parameters) throws MemtraceException {
			String key = place + ' ' + name;
			long before = last.getOrDefault(key, 0L);
			if (ns < before) {
				return "time before that of the sample before";
			}
			last.put(key, ns);
			if (text.equalsIgnoreCase("nan") || text.equalsIgnoreCase("-nan")) {
				return null;
			}
			double value;
			try {
				value = Double.parseDouble(text);
			} catch (NumberFormatException e) {
				return text.matches("(?i)-?inf") ? "value that is not finite" : "value that is no number";
			}
			if (!Double.isFinite(value)) {
				return "value that is not finite";
			}
			int type = sink.typeOf(EventCategory.VARIABLE, name);
			if (type < 0) {
				return "type that had another category before";
			}
			List<String> path = paths.computeIfAbsent(place, p -> List.of(p.substring(0, p.indexOf(':')), p));
			sink.event(type, sink.producer(path), before, ns, value, 0, parameters);
			return null;
		}
	}
}
