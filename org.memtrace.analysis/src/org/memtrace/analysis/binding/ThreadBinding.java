// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.binding;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/**
 * Which CPUs the threads of a trace should be bound to, so that threads that share pages are near to each other. The figure of a binding
 * is the mean distance of sharing: the sum over all pairs of threads of the weight ({@link SharingGraph}) times the distance of their
 * CPUs ({@link CpuDistances}), divided by the sum of the weights. 0: all sharing is on one CPU. Immutable. docs/how/binding.md says how it
 * is computed.
 */
public final class ThreadBinding {
	private static final int RESAMPLES = 200;
	private static final long SEED = 1;
	private static final double TAIL = 0.025;
	/** Figures that differ by less than this part are equal. */
	static final double TOLERANCE = 0.005;
	/** Part of its records that a thread has on one CPU when it is bound. */
	private static final double BOUND = 0.95;
	/** Threads on a CPU, of those that must be, from which on the recorded binding is not compared. */
	private static final double CROWDED = 1.5;

	/** On which CPUs threads are put, one on each while there are enough. */
	public enum Places {
		/** Those on which the threads were, if each had one for itself; else as {@link #SPREAD}. */
		RECORDED,
		/** In equal parts over the machine: i * P / T of P for i of T. */
		SPREAD,
		/** The first ones, in the order of the tree: i modulo P. */
		CLOSE
	}

	/** What is compared. */
	public enum Kind {
		/** Where the threads were. */
		RECORDED("as recorded"),
		/** Thread i on place i. */
		ORDER("in order"),
		/** What is proposed. */
		PROPOSED("proposed");

		private final String title;

		Kind(String title) {
			this.title = title;
		}

		/** For a person. */
		public String title() {
			return title;
		}
	}

	/**
	 * A binding with its figure.
	 *
	 * @param cpuOf CPU of each thread by the number of the operating system, -1 where it is not known or changed
	 * @param distance mean distance of sharing; NaN when no pair that shares has known CPUs
	 * @param least what it may be, as it is not known where threads were at a time
	 * @param most the same
	 * @param unknown share of the sharing whose threads were on no known CPU
	 * @param shares share of the known sharing at each distance
	 */
	public record Figures(Kind kind, int[] cpuOf, double distance, double least, double most, double unknown, double[] shares) {
	}

	/** What the figures say. */
	public enum Outcome {
		/** There is nothing to choose. */
		NOTHING,
		/** What is there is as good. */
		KEEP,
		/** The proposal is better. */
		BETTER,
		/** The trace cannot tell. */
		UNDECIDED
	}

	/**
	 * The gain of the proposal over what it is compared with: by how much its figure is smaller.
	 *
	 * @param over what it is compared with
	 * @param gain distance saved
	 * @param least smallest one: parts of the trace are drawn again, CPUs are not known, or only certain writes count
	 * @param most largest one
	 * @param heldOut what a binding that was found from half of the parts of the trace saves in the other half; NaN when one half has none
	 */
	public record Gain(Kind over, double gain, double least, double most, double heldOut) {
	}

	private final SharingGraph graph;
	private final CpuDistances machine;
	private final boolean otherMachine;
	private final Places places;
	private final int[] slots;
	private final List<Figures> figures = new ArrayList<>();
	private final List<String> notes = new ArrayList<>();
	/** Threads on the CPU with most of them as recorded, when these are clearly more than need be; else 0. */
	private final double crowd;
	private boolean proven;
	private double bound;
	private Gain gain;
	private Outcome outcome;
	private String verdict;

	/**
	 * Searches a binding.
	 *
	 * @param otherMachine whether the machine is not that of the recording, so that the recorded CPUs say nothing
	 */
	public static ThreadBinding of(SharingGraph graph, CpuDistances machine, boolean otherMachine, Places places, Progress progress)
			throws MemtraceException {
		return new ThreadBinding(graph, machine, otherMachine, places, progress);
	}

	private ThreadBinding(SharingGraph graph, CpuDistances machine, boolean otherMachine, Places wanted, Progress progress)
			throws MemtraceException {
		this.graph = graph;
		this.machine = machine;
		this.otherMachine = otherMachine;
		int n = graph.threads().size();
		progress.begin("Searching a binding", 4);
		double[][] on = new double[n][];
		for (int t = 0; t < n; t++) {
			on[t] = graph.cpus(t, machine);
			if (otherMachine) {
				Arrays.fill(on[t], 0);
				on[t][machine.cpus()] = 1;
			}
		}
		int[] bind = bound(on);
		boolean one = Arrays.stream(bind).allMatch(c -> c >= 0) && Arrays.stream(bind).distinct().count() == n;
		places = wanted == Places.RECORDED && !one ? Places.SPREAD : wanted;
		slots = slots(n, bind);
		int[][] d = new int[n][n];
		for (int a = 0; a < n; a++) {
			for (int b = 0; b < n; b++) {
				d[a][b] = machine.between(slots[a], slots[b]);
			}
		}
		double[][] w = graph.weights(true);
		int[] order = IntStream.range(0, n).toArray();
		int[] base = places == Places.RECORDED ? inOrder() : order;
		List<int[]> given = places == Places.RECORDED ? List.of(order, base) : List.of(order);
		BindingSearch.Found found = BindingSearch.search(w, d, given, progress);
		proven = found.proven();
		bound = BindingSearch.bound(w, d);
		progress.worked(1);
		double[][] recorded = new double[n][n];
		Figures now = otherMachine ? null : recorded(on, bind, w, recorded);
		if (now != null) {
			figures.add(now);
		}
		figures.add(placed(Kind.ORDER, base, w, d));
		Figures proposed = placed(Kind.PROPOSED, found.placeOf(), w, d);
		figures.add(proposed);
		progress.worked(1);
		crowd = now == null ? 0 : crowd(on);
		boolean compared = now != null && now.unknown < 0.5 && !Double.isNaN(now.distance) && crowd == 0;
		gain = gain(compared ? now : of(Kind.ORDER), compared ? recorded : distances(base, d), found.placeOf(), d, progress);
		judge();
		note();
	}

	/** The CPU on which almost all records of each thread are, -1: several. */
	private int[] bound(double[][] on) {
		int[] cpu = new int[on.length];
		for (int t = 0; t < on.length; t++) {
			double known = 1 - on[t][machine.cpus()];
			cpu[t] = -1;
			for (int c = 0; c < machine.cpus(); c++) {
				if (known > 1e-9 && on[t][c] >= BOUND * known) {
					cpu[t] = c;
				}
			}
		}
		return cpu;
	}

	/** All threads on one CPU have no distance, and take turns: that is no binding to compare with. */
	private double crowd(double[][] on) {
		double most = 0;
		for (int c = 0; c < machine.cpus(); c++) {
			int cpu = c;
			most = Math.max(most, Arrays.stream(on).mapToDouble(share -> share[cpu]).sum());
		}
		int even = (on.length + machine.cpus() - 1) / machine.cpus();
		return most > CROWDED * even ? most : 0;
	}

	private int[] slots(int n, int[] bind) {
		int cpus = machine.cpus();
		return switch (places) {
		case RECORDED -> bind;
		case SPREAD -> IntStream.range(0, n).map(i -> (int) ((long) i * cpus / n)).toArray();
		case CLOSE -> IntStream.range(0, n).map(i -> i % cpus).toArray();
		};
	}

	/** Thread i on the i-th of the recorded CPUs in the order of the tree. */
	private int[] inOrder() {
		return IntStream.range(0, slots.length).boxed().sorted((a, b) -> Integer.compare(slots[a], slots[b])).mapToInt(i -> i).toArray();
	}

	private static double[][] distances(int[] placeOf, int[][] d) {
		double[][] by = new double[placeOf.length][placeOf.length];
		for (int a = 0; a < by.length; a++) {
			for (int b = 0; b < by.length; b++) {
				by[a][b] = d[placeOf[a]][placeOf[b]];
			}
		}
		return by;
	}

	private Figures placed(Kind kind, int[] placeOf, double[][] w, int[][] d) {
		double[] shares = new double[machine.largest() + 1];
		double all = 0;
		for (int a = 0; a < w.length; a++) {
			for (int b = 0; b < a; b++) {
				shares[d[placeOf[a]][placeOf[b]]] += w[a][b];
				all += w[a][b];
			}
		}
		double mean = 0;
		for (int h = 0; h < shares.length; h++) {
			shares[h] = all == 0 ? 0 : shares[h] / all;
			mean += h * shares[h];
		}
		return new Figures(kind, Arrays.stream(placeOf).map(p -> machine.osCpu(slots[p])).toArray(), mean, mean, mean, 0, shares);
	}

	/**
	 * How often two threads are in one group of each level.
	 *
	 * @param groupsA shares of the time by level and group; not what is not known, unknownA
	 * @param near filled in: the estimate by level, without what they meet in a smaller group already
	 * @return least and most levels between them
	 */
	private double[] meet(double[][] groupsA, double[][] groupsB, double unknownA, double unknownB, double[] near) {
		double known = (1 - unknownA) * (1 - unknownB);
		double low = 0;
		double high = 0;
		double last = 0;
		for (int h = 0; h <= machine.largest(); h++) {
			double[] ofA = groupsA[h];
			double[] ofB = groupsB[h];
			double same = 0;
			double atMost = unknownA + unknownB;
			double atLeast = 0;
			for (int g = 0; g < ofA.length; g++) {
				same += ofA[g] * ofB[g];
				atMost += Math.min(ofA[g], ofB[g]);
				atLeast += Math.max(0, ofA[g] + ofB[g] - 1);
			}
			same = known < 1e-12 ? 0 : same / known;
			near[h] = same - last;
			last = same;
			if (h < machine.largest()) {
				low += 1 - Math.min(1, atMost);
				high += 1 - Math.min(1, atLeast);
			}
		}
		return new double[] { low, high };
	}

	/**
	 * Where threads had several CPUs it is not known which ones they had when they shared. The estimate takes them as independent. For the
	 * limits: two threads are in one group of a level at the same time for at most the sum of the smaller, at least the sum of what is more
	 * than one of the sum of their shares (Fréchet's bounds).
	 */
	private Figures recorded(double[][] on, int[] bind, double[][] w, double[][] distance) {
		int cpus = machine.cpus();
		double[] shares = new double[machine.largest() + 1];
		double all = 0;
		double known = 0;
		double least = 0;
		double most = 0;
		double[][][] groups = new double[w.length][machine.largest() + 1][cpus];
		for (int t = 0; t < w.length; t++) {
			for (int h = 0; h <= machine.largest(); h++) {
				for (int c = 0; c < cpus; c++) {
					groups[t][h][machine.group(h, c)] += on[t][c];
				}
			}
		}
		for (int a = 0; a < w.length; a++) {
			for (int b = 0; b < a; b++) {
				if (w[a][b] == 0) {
					continue;
				}
				double knownA = 1 - on[a][cpus];
				double knownB = 1 - on[b][cpus];
				double[] near = new double[machine.largest() + 1];
				double[] limits = meet(groups[a], groups[b], on[a][cpus], on[b][cpus], near);
				all += w[a][b];
				least += w[a][b] * limits[0];
				most += w[a][b] * limits[1];
				if (knownA * knownB < 1e-12) {
					distance[a][b] = Double.NaN;
				} else {
					known += w[a][b];
					double mean = 0;
					for (int h = 0; h < near.length; h++) {
						shares[h] += w[a][b] * near[h];
						mean += h * near[h];
					}
					distance[a][b] = mean;
				}
				distance[b][a] = distance[a][b];
			}
		}
		double mean = 0;
		for (int h = 0; h < shares.length; h++) {
			shares[h] = known == 0 ? 0 : shares[h] / known;
			mean += h * shares[h];
		}
		int[] cpuOf = Arrays.stream(bind).map(c -> c < 0 ? -1 : machine.osCpu(c)).toArray();
		return new Figures(Kind.RECORDED, cpuOf, known == 0 ? Double.NaN : mean, all == 0 ? 0 : least / all, all == 0 ? 0 : most / all,
				all == 0 ? 0 : 1 - known / all, shares);
	}

	private Gain gain(Figures over, double[][] overDistance, int[] placeOf, int[][] d, Progress progress) throws MemtraceException {
		Figures proposed = of(Kind.PROPOSED);
		int n = placeOf.length;
		double[][] mine = distances(placeOf, d);
		double[][] theirs = new double[n][n];
		for (int a = 0; a < n; a++) {
			for (int b = 0; b < n; b++) {
				// sharing whose CPUs are not known is taken to be as far as the rest
				theirs[a][b] = Double.isNaN(overDistance[a][b]) ? over.distance : overDistance[a][b];
			}
		}
		double value = over.distance - proposed.distance;
		double least = Math.min(value, over.least - proposed.distance);
		double most = Math.max(value, over.most - proposed.distance);
		double[] certain = ratio(graph.weights(false), mine, theirs);
		if (graph.vague() > 0) {
			// without what may have been written
			double v = certain == null ? 0 : certain[1] - certain[0];
			least = Math.min(least, v);
			most = Math.max(most, v);
		}
		double[][] sums = graph.sums(mine, theirs);
		SplittableRandom random = new SplittableRandom(SEED);
		double[] drawn = new double[RESAMPLES];
		for (int i = 0; i < RESAMPLES; i++) {
			double[] sum = new double[3];
			for (int k = 0; k < sums.length; k++) {
				double[] part = sums[random.nextInt(sums.length)];
				for (int j = 0; j < sum.length; j++) {
					sum[j] += part[j];
				}
			}
			drawn[i] = sum[2] == 0 ? value : (sum[1] - sum[0]) / sum[2];
		}
		Arrays.sort(drawn);
		least = Math.min(least, drawn[(int) (TAIL * RESAMPLES)]);
		most = Math.max(most, drawn[(int) ((1 - TAIL) * RESAMPLES) - 1]);
		progress.worked(1);
		double heldOut = heldOut(theirs, d, progress);
		progress.worked(1);
		return new Gain(over.kind, value, least, most, heldOut);
	}

	/** Mean distances in two tables; null without weight. */
	private static double[] ratio(double[][] w, double[][] mine, double[][] theirs) {
		double a = 0;
		double b = 0;
		double all = 0;
		for (int i = 0; i < w.length; i++) {
			for (int k = 0; k < i; k++) {
				a += w[i][k] * mine[i][k];
				b += w[i][k] * theirs[i][k];
				all += w[i][k];
			}
		}
		return all == 0 ? null : new double[] {a / all, b / all};
	}

	private double heldOut(double[][] theirs, int[][] d, Progress progress) throws MemtraceException {
		double saved = 0;
		for (int half = 0; half < 2; half++) {
			int[] here = new int[graph.blocks()];
			int[] there = new int[graph.blocks()];
			for (int k = 0; k < here.length; k++) {
				here[k] = k % 2 == half ? 1 : 0;
				there[k] = 1 - here[k];
			}
			double[][] w = graph.weights(here, true);
			int[] found = BindingSearch.search(w, d, List.of(IntStream.range(0, slots.length).toArray()), progress).placeOf();
			double[] means = ratio(graph.weights(there, true), distances(found, d), theirs);
			if (means == null || ratio(w, theirs, theirs) == null) {
				return Double.NaN;
			}
			saved += (means[1] - means[0]) / 2;
		}
		return saved;
	}

	private void judge() {
		Figures over = of(gain.over);
		Figures proposed = of(Kind.PROPOSED);
		int n = graph.threads().size();
		String what = graph.question().sharing() == SharingGraph.Sharing.WRITTEN ? "a page that one of them writes" : "a page";
		outcome = Outcome.NOTHING;
		if (n < 2) {
			verdict = "Nothing to choose: " + (n == 0 ? "no thread" : "only one thread") + " was seen"
					+ (graph.rare().isEmpty() ? "." : " often enough.");
		} else if (graph.total() == 0) {
			verdict = "Nothing to choose: no two threads were seen at " + what
					+ (graph.question().cells() == SharingGraph.Cells.INTERVALS ? " in one interval." : ".");
		} else if (machine.largest() == 0 || near(of(Kind.ORDER).distance, bound) && gain.gain < TOLERANCE) {
			outcome = machine.largest() == 0 ? Outcome.NOTHING : Outcome.KEEP;
			verdict = machine.largest() == 0 ? "Nothing to choose: the machine has one CPU."
					: "Nothing to gain: no binding on these CPUs has a mean distance below " + number(bound) + ".";
		} else if (gain.gain <= TOLERANCE * Math.max(over.distance, proposed.distance) && gain.most <= TOLERANCE) {
			outcome = Outcome.KEEP;
			verdict = "Keep the threads " + over.kind.title + ": no binding was found with a smaller mean distance than "
					+ number(over.distance) + ".";
		} else if (gain.least > TOLERANCE * over.distance && !(gain.heldOut <= 0)) {
			outcome = Outcome.BETTER;
			verdict = String.format(Locale.ROOT, "The proposed binding reduces the mean distance of sharing from %s (%s) to %s, by %s (%s .. %s).",
					number(over.distance), over.kind.title, number(proposed.distance), number(gain.gain), number(gain.least), number(gain.most));
		} else {
			outcome = Outcome.UNDECIDED;
			verdict = String.format(Locale.ROOT, "The trace cannot decide whether the proposed binding is better: mean distance %s (%s) and %s,"
					+ " a gain of %s (%s .. %s).", number(over.distance), over.kind.title, number(proposed.distance), number(gain.gain),
					number(gain.least), number(gain.most));
		}
	}

	private static boolean near(double a, double b) {
		return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a));
	}

	private void note() {
		int n = graph.threads().size();
		int cpus = machine.cpus();
		if (n > cpus) {
			notes.add(Units.plural(n, "thread") + " for " + Units.plural(cpus, "CPU") + ": several threads are on a CPU, which is distance 0.");
		}
		if (!graph.rare().isEmpty()) {
			int rare = graph.rare().size();
			notes.add(Units.plural(rare, "thread") + (rare == 1 ? " is" : " are") + " seen in less than "
					+ Units.percent(100 * graph.question().active()) + " of the time of the busiest thread and not bound (--active).");
		}
		if (!graph.others().isEmpty()) {
			int others = graph.others().size();
			notes.add(Units.plural(others, "thread") + " of the trace without accesses here " + (others == 1 ? "is" : "are") + " not bound.");
		}
		Figures now = otherMachine ? null : of(Kind.RECORDED);
		if (now != null && n > 1) {
			long moved = Arrays.stream(now.cpuOf).filter(c -> c < 0).count();
			if (moved > 0) {
				notes.add(Units.plural(moved, "thread") + " had several CPUs or no known one; where they were when they shared is within the interval.");
			}
			if (now.unknown > 0) {
				notes.add(Units.percent(100 * now.unknown) + " of the sharing is of threads whose CPU was not recorded.");
			}
		}
		if (crowd > 0 && n > 1) {
			notes.add(String.format(Locale.ROOT, "As recorded, %.1f threads were on one CPU where %d would do: a small distance, but they take turns."
					+ " So the proposal is compared with the threads in order.", crowd, (n + cpus - 1) / cpus));
		}
		if (graph.unknownThread() > 0) {
			notes.add(Units.plural(graph.unknownThread(), "record") + " without a thread not counted.");
		}
		if (graph.maybeUntouched() > 0) {
			notes.add(Units.plural(graph.maybeUntouched(), "record") + " of pages that may not have been touched not counted.");
		}
		if (graph.vague() > 0) {
			notes.add(Units.percent(100.0 * graph.vague() / graph.total()) + " of the sharing is of pages that may have been written; it is counted.");
		}
		if (outcome == Outcome.BETTER || outcome == Outcome.UNDECIDED) {
			notes.add(Double.isNaN(gain.heldOut) ? "Not checked on other parts of the trace: all sharing is in one part."
					: "Checked on other parts of the trace: a binding found from half of it saves " + number(gain.heldOut) + " in the other half.");
		}
		if (outcome == Outcome.UNDECIDED && now != null && now.least < now.most - 1e-9) {
			notes.add("It helps to record with the threads bound (OMP_PROC_BIND=true, taskset, likwid-pin), so that each has one known CPU.");
		}
	}

	/** A distance for a person. */
	static String number(double v) {
		return Double.isNaN(v) ? "-" : String.format(Locale.ROOT, "%.2f", v == 0 ? 0 : v);
	}

	public SharingGraph graph() {
		return graph;
	}

	public CpuDistances machine() {
		return machine;
	}

	/** On which CPUs threads are put. */
	public Places places() {
		return places;
	}

	/** That in words. */
	public String rule() {
		return switch (places) {
		case RECORDED -> "Threads stay on the CPUs on which they were recorded; which thread is on which one is chosen.";
		case SPREAD -> "Threads are on CPUs in equal parts of the machine (CPU i * P / T of P for i of T); which thread is on which one is chosen.";
		case CLOSE -> "Threads are on the first CPUs of the machine (CPU i of P); which thread is on which one is chosen.";
		};
	}

	/** What is compared: as recorded (unless it is another machine), in order, proposed. */
	public List<Figures> figures() {
		return List.copyOf(figures);
	}

	/** One of them; null when it is not there. */
	public Figures of(Kind kind) {
		return figures.stream().filter(f -> f.kind == kind).findFirst().orElse(null);
	}

	/** Whether no binding on these CPUs is better than the proposed one. */
	public boolean isProven() {
		return proven || near(bound, of(Kind.PROPOSED).distance);
	}

	/** A mean distance that no binding on these CPUs is below. */
	public double bound() {
		return bound;
	}

	public Gain gain() {
		return gain;
	}

	public Outcome outcome() {
		return outcome;
	}

	/** The outcome in a sentence. */
	public String verdict() {
		return verdict;
	}

	/** What to know of the numbers, a sentence each. */
	public List<String> notes() {
		return List.copyOf(notes);
	}
}
