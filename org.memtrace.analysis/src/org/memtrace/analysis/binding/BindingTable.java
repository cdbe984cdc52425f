// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.binding;

import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.Stream;

import org.memtrace.analysis.binding.ThreadBinding.Figures;
import org.memtrace.analysis.binding.ThreadBinding.Kind;
import org.memtrace.analysis.text.Units;

/** The threads of a binding as a table: where each was, would be in order, and is proposed to be. */
public final class BindingTable {
	/**
	 * A column.
	 *
	 * @param title head
	 * @param tip what it means
	 * @param number whether it is a number
	 * @param value text for the thread of this index in {@link SharingGraph#threads}
	 */
	public record Column(String title, String tip, boolean number, BiFunction<ThreadBinding, Integer, String> value) {
		/** What stands in the row of a thread. */
		public String text(ThreadBinding b, int thread) {
			return value.apply(b, thread);
		}
	}

	/** Number and name. */
	public static final Column THREAD = new Column("thread", "Number and name; threads are numbered in the order in which they are created", false,
			(b, t) -> BindingNames.name(b.graph(), t));
	/** Task number. */
	public static final Column TASK = new Column("task", "Number that the kernel gave it", true,
			(b, t) -> Long.toString(b.graph().threads().get(t).taskId()));
	private static final Column RECORDED = new Column("recorded on", "CPUs on which it was seen", false, (b, t) -> {
		Figures f = b.of(Kind.RECORDED);
		return f == null ? "-" : f.cpuOf()[t] >= 0 ? "CPU " + f.cpuOf()[t] : BindingNames.cpus(b.graph().seenOn(t));
	});
	private static final Column ORDER = new Column("in order", "CPU when threads are put on CPUs in the order of their numbers", false,
			(b, t) -> cpu(b, Kind.ORDER, t));
	private static final Column PROPOSED = new Column("proposed", "CPU that makes the mean distance of sharing small", false,
			(b, t) -> cpu(b, Kind.PROPOSED, t));
	private static final Column PARTNER = new Column("shares most with", "The thread with which it shares most, and how much of its sharing that is",
			false, BindingTable::partner);

	/** Where threads are. */
	public static final List<Column> PLACES = List.of(RECORDED, ORDER, PROPOSED);
	/** As the command prints them. */
	static final List<Column> PRINTED = Stream.concat(Stream.of(THREAD, TASK), PLACES.stream()).toList();
	/** All. */
	public static final List<Column> COLUMNS = Stream.concat(PRINTED.stream(), Stream.of(PARTNER)).toList();

	private BindingTable() {
	}

	/** A dash where there is nothing to choose. */
	private static String cpu(ThreadBinding b, Kind kind, int thread) {
		int cpu = b.of(kind).cpuOf()[thread];
		return cpu < 0 ? "-" : "CPU " + cpu;
	}

	private static String partner(ThreadBinding b, int thread) {
		SharingGraph graph = b.graph();
		int best = -1;
		long all = 0;
		for (int t = 0; t < graph.threads().size(); t++) {
			long w = t == thread ? 0 : graph.weight(thread, t);
			all += w;
			best = w > 0 && (best < 0 || w > graph.weight(thread, best)) ? t : best;
		}
		return best < 0 ? "none" : BindingNames.name(graph, best) + ", " + Units.percent(100.0 * graph.weight(thread, best) / all);
	}
}
