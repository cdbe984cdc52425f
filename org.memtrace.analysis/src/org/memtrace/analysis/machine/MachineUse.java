// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.aggregation.place.AccessPlaces;
import org.memtrace.aggregation.place.NodeTimes.Place;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;
import org.memtrace.analysis.text.TextColumns;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CountUnit;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/**
 * What a selection of accesses did to each part of a machine. Immutable.
 *
 * <p>A record of accesses may have several CPUs: the accesses of a thread that moved. Its accesses are divided equally among them,
 * and are counted as <em>spread</em> too. An access is <em>local</em> when all CPUs of its record are near to the node of the page,
 * <em>remote</em> when none is; otherwise, and when CPU or node are not known, that is <em>unknown</em>: nothing is divided there.
 */
public final class MachineUse {
	/**
	 * Figures of one object.
	 *
	 * @param accesses by the CPUs of the object; for a NUMA node those to its memory
	 * @param spread how many of them are parts of records with several CPUs
	 * @param local accesses to near memory
	 * @param remote accesses to memory that is not near
	 * @param unknown accesses of which that is not known
	 * @param pages pages of a NUMA node that were accessed, -1 for other objects
	 */
	public record Figures(double accesses, double spread, double local, double remote, double unknown, long pages) {
		/** Share of the accesses that are remote among those of which it is known, 0..1; NaN when there are none. */
		public double remoteShare() {
			return remote / (local + remote);
		}
	}

	private static final Figures NOTHING = new Figures(0, 0, 0, 0, 0, -1);

	/** Sums while they grow. */
	private static final class Sum {
		double accesses;
		double spread;
		double local;
		double remote;
		double unknown;

		static Sum[] several(int n) {
			Sum[] sums = new Sum[n];
			Arrays.setAll(sums, i -> new Sum());
			return sums;
		}

		static Sum of(Sum[] all, BitSet chosen) {
			Sum sum = new Sum();
			for (int i = chosen.nextSetBit(0); i >= 0; i = chosen.nextSetBit(i + 1)) {
				sum.accesses += all[i].accesses;
				sum.spread += all[i].spread;
				sum.local += all[i].local;
				sum.remote += all[i].remote;
				sum.unknown += all[i].unknown;
			}
			return sum;
		}
	}

	private final MachineTopology topology;
	private final CountUnit unit;
	private final Map<MachineObject, Figures> figures = new HashMap<>();
	private final Figures whole;
	private final double elsewhere;
	private final double hidden;
	private final double unknownCpu;
	private final long pages;
	private final long unknownPages;
	private final long otherPages;
	private final long movedPages;
	private final double mostPerCpu;
	private final long mostPages;

	private MachineUse(MachineTopology topology, AccessPlaces places) {
		this.topology = topology;
		this.unit = places.unit();
		Sum[] byCpu = Sum.several(Math.max(1, topology.root().cpus().length()));
		Sum[] byNode = Sum.several(places.nodeCount());
		Sum all = new Sum();
		double[] lost = new double[3];
		places.visit((set, node, n) -> {
			Place place = place(topology, set, node);
			add(all, n, place);
			all.spread += set.length > 1 ? n : 0;
			if (node >= 0) {
				add(byNode[node], n, place);
				byNode[node].spread += set.length > 1 ? n : 0;
			}
			if (set.length == 0) {
				lost[0] += n;
			}
			for (int cpu : set) {
				double part = n / set.length;
				if (!topology.hasCpu(cpu)) {
					lost[topology.isHidden(cpu) ? 2 : 1] += part;
					continue;
				}
				add(byCpu[cpu], part, place);
				byCpu[cpu].spread += set.length > 1 ? part : 0;
			}
		});
		unknownCpu = lost[0];
		elsewhere = lost[1];
		hidden = lost[2];
		whole = figures(all, places.pages());
		pages = places.pages();
		unknownPages = places.pages(-1);
		movedPages = places.movedPages();
		double most = 0;
		long mostOfANode = 0;
		long onNodes = 0;
		for (MachineObject o : topology.objects()) {
			Figures f;
			if (o.type() == Type.NODE) {
				int node = index(o);
				long n = places.pages(node);
				onNodes += n;
				mostOfANode = Math.max(mostOfANode, n);
				f = figures(node < byNode.length ? byNode[node] : new Sum(), n);
			} else if (o.type() == Type.MEMORY_CACHE) {
				f = NOTHING;
			} else {
				f = figures(Sum.of(byCpu, o.cpus()), -1);
				if (o.type() == Type.PU) {
					most = Math.max(most, f.accesses());
				}
			}
			figures.put(o, f);
		}
		mostPerCpu = most;
		mostPages = mostOfANode;
		otherPages = pages - unknownPages - onNodes;
	}

	/**
	 * Where the memory of a node is, seen from all of some CPUs.
	 *
	 * @param cpus CPUs on which accesses happened; empty when not known
	 * @param node node of the memory, -1 when not known
	 */
	static Place place(MachineTopology topology, int[] cpus, int node) {
		if (cpus.length == 0 || !topology.hasNode(node) || !allOf(topology, cpus)) {
			return Place.UNKNOWN;
		}
		int near = 0;
		for (int cpu : cpus) {
			near += topology.isLocal(cpu, node) ? 1 : 0;
		}
		return near == cpus.length ? Place.LOCAL : near == 0 ? Place.REMOTE : Place.UNKNOWN;
	}

	private static boolean allOf(MachineTopology topology, int[] cpus) {
		for (int cpu : cpus) {
			if (!topology.hasCpu(cpu)) {
				return false;
			}
		}
		return true;
	}

	private static int index(MachineObject node) {
		return Math.max(0, node.osIndex());
	}

	private static void add(Sum sum, double n, Place place) {
		sum.accesses += n;
		switch (place) {
		case LOCAL -> sum.local += n;
		case REMOTE -> sum.remote += n;
		case UNKNOWN -> sum.unknown += n;
		}
	}

	private static Figures figures(Sum s, long pages) {
		return new Figures(s.accesses, s.spread, s.local, s.remote, s.unknown, pages);
	}

	public static MachineUse of(MachineTopology topology, AccessPlaces places) {
		return new MachineUse(topology, places);
	}

	public MachineTopology topology() {
		return topology;
	}

	/** Figures of an object of the topology. */
	public Figures figures(MachineObject o) {
		return figures.getOrDefault(o, NOTHING);
	}

	/** All accesses of the selection and all pages, wherever they are. */
	public Figures whole() {
		return whole;
	}

	/** Accesses on CPUs that the machine does not have: it is not the recorded one. */
	public double elsewhere() {
		return elsewhere;
	}

	/** Accesses of which no CPU is known. */
	public double unknownCpu() {
		return unknownCpu;
	}

	public long pages() {
		return pages;
	}

	/** Pages of which no node is known. */
	public long unknownPages() {
		return unknownPages;
	}

	/** Pages on nodes that the machine does not have. */
	public long otherPages() {
		return otherPages;
	}

	/** Pages that were seen on more than one node; they count for the last one. */
	public long movedPages() {
		return movedPages;
	}

	/** Most accesses of one CPU. */
	public double mostPerCpu() {
		return mostPerCpu;
	}

	/** Most pages of one node. */
	public long mostPages() {
		return mostPages;
	}

	/** Local, remote and unknown with their denominator: {@code 61.2 % local, 30.1 % remote, 8.7 % unknown of 1.2 million accesses}. */
	public String locality(Figures f) {
		if (f.accesses() <= 0) {
			return "no " + unit.plural();
		}
		return percent(f.local(), f) + " local, " + percent(f.remote(), f) + " remote, " + percent(f.unknown(), f) + " unknown of "
				+ count(f.accesses());
	}

	private static String percent(double part, Figures f) {
		double percent = 100 * part / f.accesses();
		// sums of parts of a whole: what rounding leaves is not shown
		return Units.percent(percent < 1e-9 ? 0 : percent > 100 - 1e-9 ? 100 : percent);
	}

	/** What the numbers count. */
	public CountUnit unit() {
		return unit;
	}

	/** Such as {@code 1 access} or {@code 1.2 million page faults}. */
	public String count(double n) {
		return count(n, unit);
	}

	/** A count for a person, in any unit. */
	public static String count(double n, CountUnit unit) {
		double rounded = Math.rint(n);
		String count = Units.count(Math.abs(n - rounded) < 1e-6 ? rounded : n); // sums of parts of a whole
		return Units.counted(count, unit.plural());
	}

	/** Facts that change what the numbers mean, a sentence each; empty when there are none. */
	public List<String> notes() {
		List<String> notes = new ArrayList<>(topology.notes());
		notes.addAll(cpuNotes());
		if (unknownPages > 0 && pages > 0) {
			notes.add("Of " + Units.percent(100.0 * unknownPages / pages) + " of " + Units.plural(pages, "page")
					+ " the NUMA node is not known.");
		}
		if (otherPages > 0) {
			notes.add(Units.plural(otherPages, "page") + " on nodes that this machine does not have.");
		}
		if (movedPages > 0) {
			notes.add(Units.plural(movedPages, "page") + " moved between nodes and count for the last one.");
		}
		return notes;
	}

	/** Those of the {@link #notes} that say which accesses are at no CPU of the machine, or at several. */
	public List<String> cpuNotes() {
		List<String> notes = new ArrayList<>();
		double n = whole.accesses();
		if (whole.spread() > 0) {
			notes.add(share(whole.spread(), n) + " of the " + unit.plural() + " are in " + unit.row()
					+ "s of several CPUs and are divided equally among them.");
		}
		if (unknownCpu > 0) {
			notes.add(share(unknownCpu, n) + " of the " + unit.plural() + " have no CPU: the kernel made them for the program, or their event was lost.");
		}
		if (elsewhere > 0) {
			notes.add(share(elsewhere, n) + " of the " + unit.plural() + " were on CPUs that this machine does not have.");
		}
		if (hidden > 0) {
			notes.add(share(hidden, n) + " of the " + unit.plural() + " were on CPUs that filters hide: parts of " + unit.row()
					+ "s of several CPUs.");
		}
		return notes;
	}

	/** What no CPU of the machine did, in few words for a picture; empty when there is nothing. */
	public String leftOut() {
		String left = leftOutShare();
		return left.isEmpty() ? "" : left + " of the " + unit.plural() + " have no CPU here";
	}

	/** How much that is, such as {@code 0.2 %}; empty when there is nothing. */
	public String leftOutShare() {
		double left = unknownCpu + elsewhere + hidden;
		return left > 0 ? share(left, whole.accesses()) : "";
	}

	private static String share(double part, double n) {
		return Units.percent(Math.min(100, 100 * part / n));
	}

	/** A line for each object, indented as they are in one another, for a person. */
	public String text() {
		List<String[]> rows = new ArrayList<>();
		rows.add(new String[] {"object", unit.plural(), "share", "local", "remote", "unknown", "pages"});
		rows(topology.root(), "", rows);
		StringBuilder b = new StringBuilder(topology.summary()).append("\n").append(locality(whole)).append("\n");
		notes().forEach(n -> b.append(n).append('\n'));
		TextColumns.columns(b.append('\n'), rows, "lrrrrrr");
		return b.toString();
	}

	private void rows(MachineObject o, String indent, List<String[]> rows) {
		Figures f = figures(o);
		boolean any = f.accesses() > 0;
		rows.add(new String[] {indent + o.label(), any ? number(Math.round(f.accesses())) : "-",
			any ? Units.percent(Math.min(100, 100 * f.accesses() / whole.accesses())) : "", any ? percent(f.local(), f) : "",
			any ? percent(f.remote(), f) : "", any ? percent(f.unknown(), f) : "", f.pages() < 0 ? "" : Long.toString(f.pages())});
		o.memory().forEach(m -> rows(m, indent + "  ", rows));
		o.children().forEach(m -> rows(m, indent + "  ", rows));
	}

	/** A line for each object: what a picture shows, as numbers. */
	public String toCsv() {
		StringBuilder b = new StringBuilder("object,type,os_index,cpus,accesses,of_several_cpus,local,remote,unknown,pages\n");
		for (MachineObject o : topology.objects()) {
			row(b, o.label(), o.type().word(), o.osIndex(), ranges(o), figures(o));
		}
		row(b, "selection", "", -1, "", whole);
		return b.toString();
	}

	/** Adds the table, and what is said about it, to an object for programs; returns it. */
	public JsonObject addTo(JsonObject o) {
		addHead(o, topology, notes());
		JsonArray list = new JsonArray();
		for (MachineObject m : topology.objects()) {
			list.add(json(m.label(), m.type().word(), m.osIndex(), ranges(m), figures(m)));
		}
		o.add("objects", list);
		o.add("selection", json("selection", "", -1, "", whole));
		return o;
	}

	/** Which machine it is, and what is said about the numbers. */
	static void addHead(JsonObject o, MachineTopology topology, List<String> said) {
		o.addProperty("machine", topology.summary());
		JsonArray notes = new JsonArray();
		said.forEach(notes::add);
		o.add("notes", notes);
	}

	private static JsonObject json(String label, String type, int index, String cpus, Figures f) {
		JsonObject j = new JsonObject();
		j.addProperty("object", label);
		j.addProperty("type", type);
		j.addProperty("os_index", index < 0 ? null : index);
		j.addProperty("cpus", cpus);
		j.addProperty("accesses", f.accesses());
		j.addProperty("of_several_cpus", f.spread());
		j.addProperty("local", f.local());
		j.addProperty("remote", f.remote());
		j.addProperty("unknown", f.unknown());
		j.addProperty("pages", f.pages() < 0 ? null : f.pages());
		return j;
	}

	private static void row(StringBuilder b, String label, String type, int index, String cpus, Figures f) {
		b.append(quoted(label)).append(',').append(type).append(',').append(index < 0 ? "" : Integer.toString(index)).append(',')
				.append(quoted(cpus));
		for (double v : new double[] {f.accesses(), f.spread(), f.local(), f.remote(), f.unknown()}) {
			b.append(',').append(number(v));
		}
		b.append(',').append(f.pages() < 0 ? "" : Long.toString(f.pages())).append('\n');
	}

	private static String quoted(String s) {
		return s.matches("[^\",\r\n]*") ? s : '"' + s.replace("\"", "\"\"") + '"';
	}

	private static String number(double v) {
		return v == Math.rint(v) ? Long.toString((long) v) : String.format(Locale.ROOT, "%.3f", v);
	}

	/** CPUs as ranges, such as {@code 0-3,8}. */
	public static String ranges(MachineObject o) {
		StringBuilder b = new StringBuilder();
		BitSet cpus = o.cpus();
		for (int from = cpus.nextSetBit(0); from >= 0; from = cpus.nextSetBit(from)) {
			int to = cpus.nextClearBit(from) - 1;
			b.append(b.isEmpty() ? "" : ",").append(from).append(to > from ? "-" + to : "");
			from = to + 1;
		}
		return b.toString();
	}
}
