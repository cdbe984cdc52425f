// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.binding;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.memtrace.analysis.binding.SharingGraph.Cells;
import org.memtrace.analysis.binding.SharingGraph.Sharing;
import org.memtrace.analysis.binding.ThreadBinding.Figures;
import org.memtrace.analysis.binding.ThreadBinding.Kind;
import org.memtrace.analysis.text.Csv;
import org.memtrace.analysis.text.TextColumns;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.ThreadInfo;

/** A binding for people, its sharing graph as a table for programs, and as a graph for Graphviz. */
public final class BindingText {
	/** Processes whose ways are told. */
	private static final int WAYS = 9;

	/** Two threads with what they share. */
	record Pair(int a, int b, long weight) {
	}

	private BindingText() {
	}

	/** Pairs that share something, those that share most first. */
	static List<Pair> pairs(SharingGraph graph) {
		List<Pair> pairs = new ArrayList<>();
		for (int a = 0; a < graph.threads().size(); a++) {
			for (int b = a + 1; b < graph.threads().size(); b++) {
				long weight = graph.weight(a, b);
				if (weight > 0) {
					pairs.add(new Pair(a, b, weight));
				}
			}
		}
		pairs.sort((p, q) -> p.weight != q.weight ? Long.compare(q.weight, p.weight) : p.a != q.a ? Integer.compare(p.a, q.a)
				: Integer.compare(p.b, q.b));
		return pairs;
	}

	/** What a weight counts, for a person. */
	static String unit(SharingGraph graph) {
		String pages = graph.question().cells() == Cells.INTERVALS ? "pages in an interval" : "pages";
		return pages + " that both used" + (graph.question().sharing() == Sharing.WRITTEN ? " and one of them wrote" : "");
	}

	/**
	 * Everything, for a person.
	 *
	 * @param rows pairs and threads that are shown at most
	 * @param command command of the program
	 */
	public static String text(ThreadBinding binding, int rows, String command) {
		SharingGraph graph = binding.graph();
		StringBuilder b = new StringBuilder();
		notes(binding).forEach(n -> b.append(n).append('\n'));
		b.append('\n').append(binding.verdict()).append("\n\n");
		if (graph.total() == 0) {
			return b.toString();
		}
		bindings(b, binding);
		pairs(b.append('\n'), binding, rows);
		threads(b.append('\n'), binding, rows);
		if (BindingPaste.isUseful(binding)) {
			ways(b.append('\n'), binding, command);
		}
		return b.toString();
	}

	private static void bindings(StringBuilder b, ThreadBinding binding) {
		List<String[]> table = new ArrayList<>();
		List<String> head = new ArrayList<>(List.of("binding", "mean distance", "interval"));
		for (int h = 0; h <= binding.machine().largest(); h++) {
			head.add("same " + binding.machine().name(h));
		}
		table.add(head.toArray(new String[0]));
		for (Figures f : binding.figures()) {
			List<String> row = new ArrayList<>(List.of(f.kind().title(), ThreadBinding.number(f.distance()),
					f.most() - f.least() < 5e-3 ? "" : ThreadBinding.number(f.least()) + " .. " + ThreadBinding.number(f.most())));
			for (double share : f.shares()) {
				row.add(Double.isNaN(f.distance()) ? "-" : String.format(Locale.ROOT, "%.1f %%", 100 * share));
			}
			table.add(row.toArray(new String[0]));
		}
		TextColumns.columns(b, table, "lrr" + "r".repeat(binding.machine().largest() + 1));
		b.append(bound(binding)).append('\n');
	}

	private static void pairs(StringBuilder b, ThreadBinding binding, int most) {
		SharingGraph graph = binding.graph();
		List<Pair> pairs = pairs(graph);
		double total = graph.total();
		List<String[]> table = new ArrayList<>();
		table.add(new String[] {"threads that share most", "", "sharing", "share", "in order", "proposed"});
		for (Pair p : pairs.subList(0, Math.min(most, pairs.size()))) {
			table.add(new String[] {BindingNames.name(graph, p.a), BindingNames.name(graph, p.b), Long.toString(p.weight),
				String.format(Locale.ROOT, "%.1f %%", 100 * p.weight / total), same(binding, Kind.ORDER, p), same(binding, Kind.PROPOSED, p)});
		}
		TextColumns.columns(b, table, "llrrll");
		if (pairs.size() > most) {
			b.append(Units.plural(pairs.size() - most, "pair")).append(" with less not shown (--rows).\n");
		}
	}

	/** What of the machine two threads have in common in a binding. */
	static String same(ThreadBinding binding, Kind kind, Pair p) {
		return "same " + binding.machine().name(distance(binding, kind, p));
	}

	/** Distance of two threads in a binding, -1 when the CPU of one is not known. */
	static int distance(ThreadBinding binding, Kind kind, Pair p) {
		Figures f = binding.of(kind);
		int a = f == null ? -1 : binding.machine().cpu(f.cpuOf()[p.a]);
		int b = f == null ? -1 : binding.machine().cpu(f.cpuOf()[p.b]);
		return a < 0 || b < 0 ? -1 : binding.machine().between(a, b);
	}

	private static void threads(StringBuilder b, ThreadBinding binding, int most) {
		SharingGraph graph = binding.graph();
		int n = graph.threads().size();
		List<String[]> table = new ArrayList<>();
		table.add(BindingTable.PRINTED.stream().map(BindingTable.Column::title).toArray(String[]::new));
		for (int t = 0; t < Math.min(most, n); t++) {
			int thread = t;
			table.add(BindingTable.PRINTED.stream().map(c -> c.text(binding, thread)).toArray(String[]::new));
		}
		TextColumns.columns(b, table, "lrlll");
		if (n > most) {
			b.append(Units.plural(n - most, "thread")).append(" not shown (--rows).\n");
		}
	}

	private static void ways(StringBuilder b, ThreadBinding binding, String command) {
		List<BindingPaste.Way> ways = BindingPaste.of(binding, command);
		int image = -1;
		int told = 0;
		for (BindingPaste.Way way : ways) {
			if (told++ == WAYS) {
				b.append("Other processes not shown; --format json has all.\n");
				break;
			}
			if (binding.graph().processes().size() > 1 && way.image() != image) {
				image = way.image();
				b.append("process ").append(image).append(":\n");
			}
			b.append(way.tool()).append(way.text().isEmpty() ? ": not possible: " : " (").append(way.remark())
					.append(way.text().isEmpty() ? ".\n" : "):\n   " + way.text() + "\n");
		}
	}

	/** The figures of all bindings in one line: the mean distance of sharing, with its interval where it has one. */
	public static String figures(ThreadBinding binding) {
		return "Mean distance of sharing: " + binding.figures().stream().map(f -> f.kind().title() + " " + ThreadBinding.number(f.distance())
				+ (f.most() - f.least() < 5e-3 ? "" : " (" + ThreadBinding.number(f.least()) + " .. " + ThreadBinding.number(f.most()) + ")"))
				.collect(Collectors.joining(", ")) + ". " + bound(binding);
	}

	private static String bound(ThreadBinding binding) {
		return binding.isProven() ? "No binding on these CPUs has a smaller mean distance than the proposed one."
				: "The proposed one was found by a heuristic; no binding on these CPUs is below " + ThreadBinding.number(binding.bound()) + ".";
	}

	/** What the numbers are of, and what to know of them, a sentence each. */
	public static List<String> notes(ThreadBinding binding) {
		SharingGraph graph = binding.graph();
		List<String> notes = new ArrayList<>();
		notes.add(binding.machine().topology().summary() + " (" + binding.machine().topology().origin() + ")");
		notes.add("Sharing: " + unit(graph) + "; " + Units.count(graph.total()) + " in all pairs of "
				+ Units.plural(graph.threads().size(), "thread") + ".");
		notes.add("Distance: " + binding.machine().legend() + ".");
		notes.add(binding.rule());
		notes.addAll(binding.notes());
		return notes;
	}

	/** A row for each two threads that share something. */
	public static String csv(ThreadBinding binding) {
		SharingGraph graph = binding.graph();
		StringBuilder b = new StringBuilder("thread_a,task_a,name_a,thread_b,task_b,name_b,sharing,share,distance_recorded,distance_in_order,"
				+ "distance_proposed,cpu_a_proposed,cpu_b_proposed\n");
		double total = graph.total();
		int[] proposed = binding.of(Kind.PROPOSED).cpuOf();
		for (Pair p : pairs(graph)) {
			ThreadInfo x = graph.threads().get(p.a);
			ThreadInfo y = graph.threads().get(p.b);
			b.append(p.a).append(',').append(x.taskId()).append(',').append(Csv.cell(x.name())).append(',').append(p.b).append(',')
					.append(y.taskId()).append(',').append(Csv.cell(y.name())).append(',').append(p.weight).append(',')
					.append(Csv.number(p.weight / total));
			for (Kind kind : Kind.values()) {
				int d = distance(binding, kind, p);
				b.append(',').append(d < 0 ? "" : Integer.toString(d));
			}
			b.append(',').append(proposed[p.a]).append(',').append(proposed[p.b]).append('\n');
		}
		return b.toString();
	}

	/** The sharing graph for Graphviz: wide edges share much; boxes are the groups of the proposed binding below the whole machine. */
	public static String dot(ThreadBinding binding) {
		SharingGraph graph = binding.graph();
		CpuDistances machine = binding.machine();
		int[] proposed = binding.of(Kind.PROPOSED).cpuOf();
		StringBuilder b = new StringBuilder("graph sharing {\n\tnode [shape=box];\n");
		List<Integer> all = new ArrayList<>();
		for (int t = 0; t < proposed.length; t++) {
			all.add(t);
		}
		cluster(b, binding, all, machine.largest(), "\t");
		List<Pair> pairs = pairs(graph);
		double most = pairs.isEmpty() ? 1 : pairs.get(0).weight;
		for (Pair p : pairs) {
			b.append(String.format(Locale.ROOT, "\tt%d -- t%d [weight=%d, penwidth=%.2f, label=\"%d\"];\n", p.a, p.b,
					1 + Math.round(99 * p.weight / most), 0.3 + 4.7 * p.weight / most, p.weight));
		}
		return b.append("}\n").toString();
	}

	private static void cluster(StringBuilder b, ThreadBinding binding, List<Integer> threads, int level, String indent) {
		CpuDistances machine = binding.machine();
		int[] proposed = binding.of(Kind.PROPOSED).cpuOf();
		if (level <= 0) {
			for (int t : threads) {
				b.append(indent).append('t').append(t).append(" [label=\"")
						.append(BindingNames.name(binding.graph(), t).replace("\\", "\\\\").replace("\"", "\\\""))
						.append("\\nCPU ").append(proposed[t]).append("\"];\n");
			}
			return;
		}
		Map<Integer, List<Integer>> groups = threads.stream().collect(
				Collectors.groupingBy(t -> machine.group(level - 1, machine.cpu(proposed[t])), TreeMap::new, Collectors.toList()));
		groups.forEach((g, part) -> {
			boolean box = level > 1 && part.size() > 1 && groups.size() > 1;
			if (box) {
				b.append(indent).append("subgraph cluster_").append(level).append('_').append(g).append(" {\n").append(indent)
						.append("\tlabel=\"").append(machine.name(level - 1)).append("\";\n");
			}
			cluster(b, binding, part, level - 1, box ? indent + "\t" : indent);
			if (box) {
				b.append(indent).append("}\n");
			}
		});
	}
}
