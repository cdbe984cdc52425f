// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.place.NodeTimes;
import org.memtrace.aggregation.place.NodeTimes.Place;
import org.memtrace.analysis.text.Csv;
import org.memtrace.analysis.text.TextColumns;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/**
 * The memory on each NUMA node of a machine, and the share of accesses to near and far memory, over time; as text, CSV and for
 * programs. What is local and what is unknown is said as by {@link MachineUse}. Immutable.
 */
public final class MachineTimes {
	private final MachineTopology topology;
	private final NodeTimes times;
	/** Numbers of the nodes of the machine, and of others on which pages were. */
	private final List<Integer> nodes;

	private MachineTimes(MachineTopology topology, NodeTimes times) {
		this.topology = topology;
		this.times = times;
		TreeSet<Integer> numbers = new TreeSet<>();
		topology.nodes().forEach(n -> numbers.add(Math.max(0, n.osIndex())));
		for (int node = 0; node < times.nodeCount(); node++) {
			if (most(node) > 0) {
				numbers.add(node);
			}
		}
		nodes = List.copyOf(numbers);
	}

	/**
	 * Sums up a part of a trace.
	 *
	 * @param producer event producer whose subtree is meant, negative for all
	 * @param slices number of equal parts of the window
	 */
	public static MachineTimes of(MachineTopology topology, AccessTable table, int producer, long fromNs, long toNs, int slices,
			Progress progress) throws MemtraceException {
		return new MachineTimes(topology,
				NodeTimes.of(table, (cpus, node) -> MachineUse.place(topology, cpus, node), producer, fromNs, toNs, slices, progress));
	}

	/** Largest number of bytes on a node; -1 is the unknown one. */
	private double most(int node) {
		double most = 0;
		for (int i = 0; i < times.bins(); i++) {
			most = Math.max(most, times.bytes(node, i));
		}
		return most;
	}

	public NodeTimes times() {
		return times;
	}

	/** Numbers of the NUMA nodes. */
	public List<Integer> nodes() {
		return nodes;
	}

	/** Facts that change what the numbers mean, a sentence each. */
	public List<String> notes() {
		List<String> notes = new ArrayList<>(topology.notes());
		boolean unknown = most(-1) > 0;
		if (nodes.size() <= 1) {
			notes.add("The machine has one NUMA node: all memory is on it, " + (unknown ? "also what is unknown, " : "")
					+ "and every access is local." + (unknown ? " Recorders do not ask for nodes there." : ""));
		} else if (unknown && nodes.stream().allMatch(n -> most(n) == 0)) {
			notes.add("The trace does not tell on which node any page was: all is unknown.");
		}
		return notes;
	}

	/** What the numbers are, a sentence. */
	private static final String MEANING = "Bytes of pages that were accessed, from then on while their structures live, on the node where "
			+ "they were seen last; the mean of each line.";

	/** A line for each part of the window, for a person. */
	public String text() {
		List<String[]> rows = new ArrayList<>();
		List<String> head = new ArrayList<>(List.of("from", "to"));
		nodes.forEach(n -> head.add("node " + n));
		head.addAll(List.of("unknown node", times.info().counts().plural(), "local", "remote", "unknown"));
		rows.add(head.toArray(String[]::new));
		for (int i = 0; i < times.bins(); i++) {
			List<String> row = new ArrayList<>();
			row.add(time(times.boundNs(i)));
			row.add(time(times.boundNs(i + 1)));
			for (int n : nodes) {
				row.add(Units.bytes(Math.round(times.bytes(n, i))));
			}
			row.add(Units.bytes(Math.round(times.bytes(-1, i))));
			double all = times.accesses(i);
			row.add(Csv.number(Math.rint(all)));
			for (Place place : Place.values()) {
				row.add(all > 0 ? Units.percent(Math.min(100, 100 * times.accesses(place, i) / all)) : "-");
			}
			rows.add(row.toArray(String[]::new));
		}
		StringBuilder b = new StringBuilder(topology.summary()).append('\n').append(MEANING).append('\n');
		notes().forEach(n -> b.append(n).append('\n'));
		TextColumns.columns(b.append('\n'), rows, "r".repeat(head.size()));
		return b.toString();
	}

	private String time(long ns) {
		return Units.duration(times.info(), ns - times.info().startNs());
	}

	/** A line for each part of the window; times in the clock of the trace. */
	public String toCsv() {
		StringBuilder b = new StringBuilder(times.info().timeUnit().column("from_ns") + "," + times.info().timeUnit().column("to_ns"));
		nodes.forEach(n -> b.append(",node_").append(n).append("_bytes"));
		b.append(",unknown_node_bytes,accesses,local,remote,unknown\n");
		for (int i = 0; i < times.bins(); i++) {
			b.append(times.boundNs(i)).append(',').append(times.boundNs(i + 1));
			for (int n : nodes) {
				b.append(',').append(Csv.number(times.bytes(n, i)));
			}
			b.append(',').append(Csv.number(times.bytes(-1, i))).append(',').append(Csv.number(times.accesses(i)));
			for (Place place : Place.values()) {
				b.append(',').append(Csv.number(times.accesses(place, i)));
			}
			b.append('\n');
		}
		return b.toString();
	}

	/** Adds the table, and what is said about it, to an object for programs; returns it. */
	public JsonObject addTo(JsonObject o) {
		MachineUse.addHead(o, topology, notes());
		o.addProperty("time_unit", times.info().timeUnit().id());
		JsonArray numbers = new JsonArray();
		nodes.forEach(numbers::add);
		o.add("nodes", numbers);
		JsonArray list = new JsonArray();
		for (int i = 0; i < times.bins(); i++) {
			JsonObject slice = new JsonObject();
			slice.addProperty("from", times.boundNs(i));
			slice.addProperty("to", times.boundNs(i + 1));
			JsonArray bytes = new JsonArray();
			for (int n : nodes) {
				bytes.add(times.bytes(n, i));
			}
			slice.add("bytes", bytes);
			slice.addProperty("unknown_node_bytes", times.bytes(-1, i));
			slice.addProperty("accesses", times.accesses(i));
			slice.addProperty("local", times.accesses(Place.LOCAL, i));
			slice.addProperty("remote", times.accesses(Place.REMOTE, i));
			slice.addProperty("unknown", times.accesses(Place.UNKNOWN, i));
			list.add(slice);
		}
		o.add("slices", list);
		return o;
	}
}
