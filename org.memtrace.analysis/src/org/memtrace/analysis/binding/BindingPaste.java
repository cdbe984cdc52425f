// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.binding;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.memtrace.analysis.binding.ThreadBinding.Kind;
import org.memtrace.model.ThreadInfo;

/** Texts to paste that bind the threads as proposed. Threads are numbered in the order in which their process starts them. */
public final class BindingPaste {
	/** Tools, in the order in which they are told. */
	public static final List<String> TOOLS = List.of("openmp", "likwid-pin", "taskset");

	/**
	 * A way to bind the threads of a process.
	 *
	 * @param image process image
	 * @param tool {@code openmp}, {@code likwid-pin} or {@code taskset}
	 * @param text what to paste; empty when the tool cannot do it
	 * @param remark what to know of it
	 */
	public record Way(int image, String tool, String text, String remark) {
	}

	private BindingPaste() {
	}

	/** All ways, process by process; none when there is nothing to bind. */
	static List<Way> of(ThreadBinding b, String command) {
		List<Way> ways = new ArrayList<>();
		int[] proposed = b.of(Kind.PROPOSED).cpuOf();
		if (proposed.length < 2 || Arrays.stream(proposed).anyMatch(c -> c < 0)) {
			return ways;
		}
		String program = command.isEmpty() ? "PROGRAM" : command;
		SharingGraph graph = b.graph();
		for (int image : graph.processes()) {
			List<ThreadInfo> all = Stream.of(graph.threads(), graph.rare(), graph.others()).flatMap(List::stream).filter(t -> t.image() == image)
					.sorted(Comparator.comparing((ThreadInfo t) -> !t.main()).thenComparingLong(ThreadInfo::taskId)).toList();
			// those behind the last bound one may be anywhere
			int[] cpus = all.stream().mapToInt(t -> graph.threads().indexOf(t) < 0 ? -1 : proposed[graph.threads().indexOf(t)]).toArray();
			while (cpus[cpus.length - 1] < 0) {
				cpus = Arrays.copyOf(cpus, cpus.length - 1);
			}
			boolean gaps = Arrays.stream(cpus).anyMatch(c -> c < 0);
			boolean twice = Arrays.stream(cpus).filter(c -> c >= 0).distinct().count() < Arrays.stream(cpus).filter(c -> c >= 0).count();
			String why = gaps ? "it binds all threads, and some are not to be bound" : "two threads are on a CPU, which it cannot say for any two";
			ways.add(new Way(image, "openmp", gaps || twice ? "" : "OMP_NUM_THREADS=" + cpus.length + " OMP_PROC_BIND=close OMP_PLACES=\""
					+ list(cpus, "},{", "{", "}") + "\" " + program, gaps || twice ? why : "thread i of the team is on place i"));
			ways.add(new Way(image, "likwid-pin", gaps || twice ? "" : "likwid-pin -c " + list(cpus, ",", "", "") + " " + program,
					gaps || twice ? why : "in the order in which threads are created"));
			ways.add(new Way(image, "taskset", "set -- " + list(cpus, " ", "", "")
					+ "; for t in $(ls /proc/$PID/task | sort -n); do [ \"${1:--}\" = - ] || taskset -pc $1 $t; [ $# -eq 0 ] || shift; done",
					"when all threads of the process $PID have begun, without the recorder"));
		}
		return ways;
	}

	/** Whether there is a binding to paste: one that is better, or may be. */
	public static boolean isUseful(ThreadBinding b) {
		return b.outcome() == ThreadBinding.Outcome.BETTER || b.outcome() == ThreadBinding.Outcome.UNDECIDED;
	}

	/**
	 * What to paste for a tool: a line for each process, with the process before it where there are several. Empty when the tool cannot bind
	 * all of them, or there is nothing to bind.
	 *
	 * @param tool one of {@link #TOOLS}
	 */
	public static String text(ThreadBinding b, String command, String tool) {
		List<Way> ways = isUseful(b) ? ways(b, command, tool) : List.of();
		if (ways.stream().anyMatch(w -> w.text.isEmpty())) {
			return "";
		}
		boolean several = ways.size() > 1;
		return ways.stream().map(w -> (several ? "# process " + w.image + "\n" : "") + w.text).collect(Collectors.joining("\n"));
	}

	/** What to know of {@link #text}: its remark, or why there is none. */
	public static String remark(ThreadBinding b, String command, String tool) {
		List<Way> ways = ways(b, command, tool);
		return !isUseful(b) || ways.isEmpty() ? "There is nothing to bind" : ways.stream().filter(w -> w.text.isEmpty()).findFirst()
				.map(w -> "Not possible: " + w.remark).orElse(ways.get(0).remark);
	}

	private static List<Way> ways(ThreadBinding b, String command, String tool) {
		return of(b, command).stream().filter(w -> w.tool.equals(tool)).toList();
	}

	private static String list(int[] cpus, String between, String before, String after) {
		return Arrays.stream(cpus).mapToObj(c -> c < 0 ? "-" : Integer.toString(c)).collect(Collectors.joining(between, before, after));
	}
}
