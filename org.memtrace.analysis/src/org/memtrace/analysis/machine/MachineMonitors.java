// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.LiveValues;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.tree.ProducerTree;

/**
 * The variables of a trace whose event producers are places of a machine ({@code PU:3}, {@code L3Cache:0}), such as an imported trace of
 * monitors: which place had which value when. Values of a sample belong to the time since the sample before. Immutable.
 */
public final class MachineMonitors {
	private static final Pattern PLACE = Pattern.compile("([A-Za-z]+\\d*[A-Za-z]*):(\\d{1,9})");

	/**
	 * How a variable is scaled by its definition.
	 *
	 * @param min smallest value, NaN when the definition does not tell
	 * @param max largest value, NaN when the definition does not tell
	 */
	public record Preset(double min, double max, boolean log) {
		static final Preset NONE = new Preset(Double.NaN, Double.NaN, false);
	}

	/** The values of a variable on one place, in the order of time. */
	private record Series(long[] start, long[] end, double[] value) {
		/** The sample that a time belongs to, -1 before the first; it may have ended. */
		int at(long ns) {
			int i = Arrays.binarySearch(end, ns);
			int at = i >= 0 ? i : -i - 1;
			return at < end.length && start[at] < ns ? at : -1;
		}
	}

	/** A variable on the objects of one kind. */
	private static final class Level {
		final String variable;
		final MachineObject example;
		final Map<MachineObject, Series> series = new LinkedHashMap<>();
		/** Ends of the samples of all objects. */
		long[] samples = {};
		double least = Double.POSITIVE_INFINITY;
		double most = Double.NEGATIVE_INFINITY;
		double leastAboveZero = Double.POSITIVE_INFINITY;

		Level(String variable, MachineObject example) {
			this.variable = variable;
			this.example = example;
		}
	}

	private final MachineTopology topology;
	private final TraceInfo info;
	/** By kind of object, outermost first, then in the order of the trace. */
	private final List<Level> levels = new ArrayList<>();
	private final List<String> variables;
	private final Set<String> elsewhere = new LinkedHashSet<>();
	private final long[] samples;

	/** The values of a place. */
	private record Found(String place, String variable, Series series) {
	}

	/** @param order names of variables in the order of the trace */
	private MachineMonitors(MachineTopology topology, TraceInfo info, List<Found> values, List<String> order) {
		this.topology = topology;
		this.info = info;
		Map<String, MachineObject> places = new HashMap<>();
		for (MachineObject o : topology.objects()) {
			places.putIfAbsent(key(o), o);
		}
		Map<String, Level> found = new TreeMap<>();
		for (Found f : values) {
			Matcher m = PLACE.matcher(f.place);
			MachineObject o = m.matches() ? places.get(kind(m.group(1)) + ":" + Integer.parseInt(m.group(2))) : null;
			if (o == null) {
				elsewhere.add(f.place);
				continue;
			}
			Level level = found.computeIfAbsent(kind(o) + '\0' + f.variable, k -> new Level(f.variable, o));
			for (double v : f.series.value) {
				level.least = Math.min(level.least, v);
				level.most = Math.max(level.most, v);
				level.leastAboveZero = v > 0 ? Math.min(level.leastAboveZero, v) : level.leastAboveZero;
			}
			level.series.put(o, f.series);
		}
		Map<String, Integer> depth = new HashMap<>();
		for (int i = 0; i < topology.objects().size(); i++) {
			depth.putIfAbsent(kind(topology.objects().get(i)), i);
		}
		levels.addAll(found.values());
		levels.sort((a, b) -> {
			int d = Integer.compare(depth.get(kind(a.example)), depth.get(kind(b.example)));
			return d != 0 ? d : Integer.compare(order.indexOf(a.variable), order.indexOf(b.variable));
		});
		variables = levels.stream().map(l -> l.variable).distinct().toList();
		levels.forEach(l -> l.samples = l.series.values().stream().flatMapToLong(s -> Arrays.stream(s.end)).sorted().distinct().toArray());
		samples = levels.stream().flatMapToLong(l -> Arrays.stream(l.samples)).sorted().distinct().toArray();
		levels.forEach(this::limit);
	}

	private static List<Found> found(EventTable events) {
		List<Found> all = new ArrayList<>();
		ProducerTree tree = events.producers();
		for (int p = 0; p < tree.size(); p++) {
			if (PLACE.matcher(tree.name(p)).matches() && events.rowFrom(p) != events.rowTo(p)) {
				take(events, p, all);
			}
		}
		return all;
	}

	private static void take(EventTable events, int producer, List<Found> all) {
		int from = events.rowFrom(producer);
		int to = events.rowTo(producer);
		Map<Integer, List<Integer>> rows = new LinkedHashMap<>();
		for (int row = from; row < to; row++) {
			if (events.is(row, EventCategory.VARIABLE)) {
				rows.computeIfAbsent(events.type(row), t -> new ArrayList<>()).add(row);
			}
		}
		rows.forEach((type, list) -> {
			int n = list.size();
			Series s = new Series(new long[n], new long[n], new double[n]);
			for (int i = 0; i < n; i++) {
				int row = list.get(i);
				s.start[i] = events.start(row);
				s.end[i] = events.end(row);
				s.value[i] = events.value(row);
			}
			all.add(new Found(events.producers().name(producer), events.typeNames().get(type), s));
		});
	}

	/**
	 * Where all places of a variable are sampled at the same times, one without a value was not active: a value that it has later is that of
	 * the last sample only.
	 */
	private void limit(Level level) {
		int most = level.series.values().stream().mapToInt(s -> s.end.length).max().orElse(0);
		if (level.samples.length > most + most / 2) {
			for (Series s : level.series.values()) { // each place has times of its own: the last value holds for a sample more
				int last = s.end.length - 1;
				s.end[last] = Math.max(s.end[last], Math.min(info.endNs(), 2 * s.end[last] - s.start[last]));
			}
			return;
		}
		for (Series s : level.series.values()) {
			for (int i = 0; i < s.end.length; i++) {
				int sample = Arrays.binarySearch(level.samples, s.end[i]);
				if (sample > 0) {
					s.start[i] = Math.max(s.start[i], level.samples[sample - 1]);
				}
			}
		}
	}

	/** Whether a tree has places of a machine as event producers. */
	public static boolean hasPlaces(ProducerTree tree) {
		for (int p = 0; p < tree.size(); p++) {
			Matcher m = PLACE.matcher(tree.name(p));
			if (m.matches() && KINDS.contains(kind(m.group(1)))) {
				return true;
			}
		}
		return false;
	}

	private static final Set<String> KINDS = Set.of("machine", "package", "die", "group", "core", "pu", "numanode", "memcache", "l1", "l2",
			"l3", "l4", "l5", "l1i", "l2i", "l3i");

	/** The values of a trace on the places of a machine. */
	public static MachineMonitors of(MachineTopology topology, EventTable events) {
		return new MachineMonitors(topology, events.info(), found(events), events.typeNames());
	}

	/** The last values of monitors that are being written; their times begin with the monitors. */
	public static MachineMonitors of(MachineTopology topology, LiveValues live, String name) {
		TraceInfo info = new TraceInfo(-1, name, "", "monitors", "", "", "", 0, 0, 0, 0, Math.max(1, live.endNs()), Instant.EPOCH, 0, "",
				live.properties());
		List<Found> values = new ArrayList<>();
		for (LiveValues.Series s : live.series()) {
			values.add(new Found(s.place(), s.variable(), new Series(s.startNs().clone(), s.endNs().clone(), s.values())));
		}
		return new MachineMonitors(topology, info, values, values.stream().map(Found::variable).distinct().toList());
	}

	private static String key(MachineObject o) {
		return kind(o) + ":" + Math.max(0, o.logicalIndex());
	}

	private static String kind(MachineObject o) {
		return switch (o.type()) {
		case NODE -> "numanode";
		case MEMORY_CACHE -> "memcache";
		case CACHE, GROUP, OTHER -> kind(o.name());
		default -> o.type().name().toLowerCase(Locale.ROOT);
		};
	}

	/** The same for all names that versions of hwloc have for a type. */
	private static String kind(String type) {
		String t = type.toLowerCase(Locale.ROOT);
		if (t.matches("l\\d.*")) {
			return t.replaceFirst("cache$", "").replaceFirst("[du]$", "");
		}
		return switch (t) {
		case "system" -> "machine";
		case "socket" -> "package";
		case "node" -> "numanode";
		default -> t.startsWith("group") ? "group" : t;
		};
	}

	public MachineTopology topology() {
		return topology;
	}

	/** The trace. */
	public TraceInfo info() {
		return info;
	}

	/** Names of what was measured, that of the outermost places first. */
	public List<String> variables() {
		return variables;
	}

	/** Times at which something was measured, ascending. */
	public long[] samples() {
		return samples.clone();
	}

	/** The sample before a time (step -1) or after it (1); the first or last one at the ends; the time itself without samples. */
	public long next(long ns, int step) {
		if (samples.length == 0) {
			return ns;
		}
		int at = Arrays.binarySearch(samples, ns);
		int to = step > 0 ? at >= 0 ? at + 1 : -at - 1 : at >= 0 ? at - 1 : -at - 2;
		return samples[Math.max(0, Math.min(samples.length - 1, to))];
	}

	/** Places of the trace that the machine does not have. */
	public Set<String> elsewhere() {
		return Set.copyOf(elsewhere);
	}

	private Preset preset(String variable) {
		String told = info.properties().get(TraceInfo.PROPERTY_SCALE + variable);
		String[] words = told == null ? new String[0] : told.split(" ");
		return words.length != 3 ? Preset.NONE : new Preset(number(words[0]), number(words[1]), words[2].equals("1"));
	}

	private static double number(String text) {
		try {
			return text.equals("-") ? Double.NaN : Double.parseDouble(text);
		} catch (NumberFormatException e) {
			return Double.NaN;
		}
	}

	/** Which times of a trace a picture is of. */
	public enum Mode {
		/** The sample at the end of the window. */
		AT,
		/** The mean over the window, samples counting by their length. */
		MEAN
	}

	/** How values become colours. */
	public enum Law {
		/** As the definition of the monitor says, else linear. */
		AUTO, LINEAR, LOG
	}

	/** From where to where the scale goes. */
	public enum Bounds {
		/** MIN and MAX of the definition, where it has them, else observed. */
		AUTO,
		/** Smallest and largest value of the level in the whole trace; a smallest one above 0 is 0. */
		OBSERVED,
		/** Given numbers. */
		FIXED
	}

	/**
	 * What is drawn.
	 *
	 * @param variable its name; null: on each level its first one
	 * @param min with {@link Bounds#FIXED}
	 * @param max with {@link Bounds#FIXED}
	 */
	public record Show(String variable, Mode mode, Law law, Bounds bounds, double min, double max) {
		/** The first variable of each level, as its definition says. */
		public static final Show DEFAULT = new Show(null, Mode.AT, Law.AUTO, Bounds.AUTO, 0, 0);
	}

	/** The values at a time, or of a window. */
	public MonitorFrame frame(Show show, long fromNs, long toNs) {
		Map<MachineObject, MonitorFrame.Cell> cells = new HashMap<>();
		List<MonitorFrame.Scale> scales = new ArrayList<>();
		Set<String> kinds = new LinkedHashSet<>();
		for (Level level : levels) {
			if (show.variable == null ? !kinds.add(kind(level.example)) : !level.variable.equals(show.variable)) {
				continue;
			}
			MonitorFrame.Scale scale = scale(level, show);
			scales.add(scale);
			long atNs = Math.max(toNs, info.startNs() + 1);
			level.series.forEach((o, s) -> cells.put(o, show.mode == Mode.MEAN ? mean(s, fromNs, toNs, scale) : at(s, atNs, scale)));
		}
		List<String> notes = new ArrayList<>(topology.notes());
		if (!elsewhere.isEmpty()) {
			notes.add(Units.plural(elsewhere.size(), "place") + " of the trace that this machine does not have, such as "
					+ elsewhere.iterator().next() + ".");
		}
		String when = show.mode == Mode.MEAN
				? "mean from " + time(fromNs) + " to " + time(toNs) : "at " + time(toNs);
		return new MonitorFrame(topology, cells, scales, when, notes);
	}

	private String time(long ns) {
		return Units.duration(info, ns - info.startNs());
	}

	private static MonitorFrame.Cell at(Series s, long ns, MonitorFrame.Scale scale) {
		int i = s.at(ns);
		return i < 0 ? new MonitorFrame.Cell(Double.NaN, Double.NaN, scale)
				: new MonitorFrame.Cell(s.value[i], i > 0 ? s.value[i - 1] : Double.NaN, scale);
	}

	private static MonitorFrame.Cell mean(Series s, long fromNs, long toNs, MonitorFrame.Scale scale) {
		double sum = 0;
		double time = 0;
		for (int i = 0; i < s.end.length; i++) {
			double overlap = (double) Math.min(toNs, s.end[i]) - Math.max(fromNs, s.start[i]);
			if (overlap > 0) {
				sum += overlap * s.value[i];
				time += overlap;
			}
		}
		return new MonitorFrame.Cell(time > 0 ? sum / time : Double.NaN, Double.NaN, scale);
	}

	private MonitorFrame.Scale scale(Level level, Show show) {
		Preset preset = preset(level.variable);
		boolean log = show.law == Law.LOG || show.law == Law.AUTO && preset.log;
		double min = log ? level.leastAboveZero : Math.min(0, level.least);
		double max = level.most;
		if (show.bounds == Bounds.FIXED) {
			min = show.min;
			max = show.max;
		} else if (show.bounds == Bounds.AUTO) {
			min = Double.isNaN(preset.min) || log && preset.min <= 0 ? min : preset.min;
			max = Double.isNaN(preset.max) ? max : preset.max;
		}
		if (log && !(min > 0)) {
			min = Double.isInfinite(level.leastAboveZero) ? 1 : Math.min(level.leastAboveZero, max);
		}
		String place = level.example.type() == Type.MACHINE ? "Machine"
				: level.example.name() + (level.series.size() > 1 ? " (" + level.series.size() + ")" : "");
		return new MonitorFrame.Scale(level.variable, place, min, max, log);
	}
}
