// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.monitor;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

import org.memtrace.importer.input.ByteLines;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;

/** What the lines of traces of monitors say, one after the other: for import, and for who follows a trace that is being written. */
public final class MonitorLines {
	/** Gets it. */
	public interface Target {
		/** A line that is no comment. */
		void row() throws MemtraceException;

		/** A line that is not used, and why. */
		void skip(String file, long line, String problem) throws MemtraceException;

		/** A property of the trace: {@link TraceInfo#PROPERTY_SCALE}. */
		void property(String name, String value);

		/**
		 * A value that a place had.
		 *
		 * @param path names of the places around it, the outermost first, and of it
		 * @param fromNs of the sample before, 0 for the first one
		 * @param toNs of the sample
		 * @return why it is not used, or null
		 */
		String value(List<String> path, String variable, long fromNs, long toNs, double value, Map<String, String> parameters)
				throws MemtraceException;
	}

	static final String TOPOLOGY = "# topology ";
	/** Types of places in all versions of hwloc, so that a log of "host:80 200" is not taken for a trace. */
	static final Pattern PLACE = Pattern.compile(
			"(System|Machine|Node|NUMANode|Package|Socket|Die|Cluster|Group\\d*|L\\d[iud]?(Cache)?|Cache|MemCache|Core|PU):\\d{1,9}");
	/** A machine of 10,000 CPUs needs 5 MB. */
	private static final int LARGEST_TOPOLOGY = 64 << 20;
	private static final Pattern NUMBER = Pattern.compile("\\d{1,18}");

	/** A monitor of 2015. */
	private record Node(String place, String name) {
	}

	private final Target target;
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

	/** @param target gets what the lines say */
	public MonitorLines(Target target) {
		this.target = target;
	}

	/**
	 * The next lines are of another file.
	 *
	 * @param name for messages
	 * @param nodesAndValues whether it has the format of 2015
	 */
	public void begin(String name, boolean nodesAndValues) {
		topology.setLength(0);
		file = name;
		ofNodes = nodesAndValues;
		line = 0;
		header = List.of();
		labels.clear();
		nodes.clear();
	}

	/** The next line of the file. */
	public void line(String text) throws MemtraceException {
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
		target.row();
		String problem = ofNodes ? node(words) : sample(words);
		if (problem != null) {
			target.skip(file, line, problem);
		}
	}

	/** The next line is longer than {@link ByteLines#LONGEST}; it is skipped. */
	public void tooLong() throws MemtraceException {
		line++;
		target.row();
		target.skip(file, line, ByteLines.TOO_LONG);
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

	/** The machine of the first file that tells it completely, as hwloc writes it; empty when there is none until now. */
	public String machine() {
		return machine;
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
			target.property(TraceInfo.PROPERTY_SCALE + words[1], words[2] + " " + words[3] + " " + words[4]);
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
				target.property(TraceInfo.PROPERTY_SCALE + words[4], "- - 1");
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
		List<String> path = paths.computeIfAbsent(place, p -> List.of(p.substring(0, p.indexOf(':')), p));
		return target.value(path, name, before, ns, value, parameters);
	}

	/** Words of a line that is neither blank nor a comment. */
	static String[] words(String line) {
		String text = line.strip();
		return text.isEmpty() || text.startsWith("#") || text.startsWith("%") ? new String[0] : text.split("\\s+");
	}

	static boolean isHeader(String[] words) {
		return words.length >= 3 && words[0].equalsIgnoreCase("Obj") && words[1].equalsIgnoreCase("Nanoseconds");
	}

	/** Which word is the place: the first one, or the second one behind the name of the monitor; -1: none. */
	static int at(String[] words) {
		for (int i = 0; i < 2 && i + 2 < words.length; i++) {
			if (PLACE.matcher(words[i]).matches() && NUMBER.matcher(words[i + 1]).matches()) {
				return i;
			}
		}
		return -1;
	}
}
