// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.placement;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.findings.facts.FactsCollector;
import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.tree.ProducerTree;

/**
 * What each placement policy would make of the accesses of a trace, for the whole trace and for each group of structures of one origin.
 * Immutable. docs/how/placement.md says how it is computed.
 */
public final class Placement {
	/** Structures that are told apart; the smaller ones are one. */
	private static final int MOST_GROUPS = 500;
	private static final int RESAMPLES = 200;
	private static final long SEED = 1;
	/** Costs of a structure that differ by less count as equal; the policy with the more even load is taken then. */
	static final double TOLERANCE = 0.005;
	private static final double TAIL = 0.025;
	/** 95 % of a normal distribution. */
	private static final double DEVIATIONS = 1.96;

	/** Why an interval is as wide as it is. */
	public enum Basis {
		/** Accesses of which it is not known whose they are. */
		UNDECIDED("users that cannot be told apart"),
		/** The share changes over time. */
		TIME("change over time"),
		/** Where single pages come to lie. */
		PAGES("chance, which page is where");

		private final String text;

		Basis(String text) {
			this.text = text;
		}

		/** For a person. */
		public String text() {
			return text;
		}
	}

	/**
	 * A share of remote accesses, 0..1.
	 *
	 * @param remote of what can be estimated; NaN when nothing can
	 * @param least smallest one
	 * @param most largest one
	 * @param basis which of the reasons has the widest interval alone
	 */
	public record Share(double remote, double least, double most, Basis basis) {
		/** Whether it is smaller than another one beyond doubt. */
		public boolean isCertainlyLessThan(Share o) {
			return most < o.least;
		}
	}

	/** A policy in a part of the time. */
	public record Phase(double accesses, double remote, double least, double most, double imbalance) {
	}

	/**
	 * What a policy makes of some memory.
	 *
	 * @param remote share of accesses to memory that is not near
	 * @param cost mean cost of an access, 1: all to near memory
	 * @param costLeast smallest mean cost
	 * @param costMost largest mean cost
	 * @param load accesses to the memory of each node
	 * @param imbalance that of the busiest node divided by the mean
	 * @param extraBytes memory that copies need
	 * @param phases equal parts of the time
	 */
	public record Figures(Policy policy, Share remote, double cost, double costLeast, double costMost, double[] load, double imbalance,
			long extraBytes, List<Phase> phases) {
	}

	/**
	 * Structures of one origin.
	 *
	 * @param facts what is known of them; null for the rest
	 * @param movable data of the program, whose place a change of the program can choose
	 * @param accesses all of them
	 * @param figures by policy, in the order of {@link Placement#policies()} without the mixture; what is not possible is missing
	 * @param best the policy that the mixture takes
	 * @param undecided whether the trace cannot tell that the best one has fewer remote accesses than first touch
	 */
	public record Part(String name, GroupFacts facts, boolean movable, double accesses, long pages, List<Figures> figures, Figures best,
			boolean undecided) {
		/** The figures of a kind of policy; null when it is not possible. */
		public Figures of(Policy.Kind kind) {
			return figures.stream().filter(f -> f.policy().kind() == kind).findFirst().orElse(null);
		}
	}

	private final PlacementMachine machine;
	private final TraceFacts facts;
	private final int phases;
	private final List<Figures> policies = new ArrayList<>();
	private final List<Part> parts = new ArrayList<>();
	private double accesses;
	private double unknownUser;
	private double severalUsers;
	private double placed;
	private long pages;
	private long unknownFirst;
	private Policy rest;

	private Placement(PlacementMachine machine, TraceFacts facts, int phases) {
		this.machine = machine;
		this.facts = facts;
		this.phases = phases;
	}

	/**
	 * Predicts. Takes two passes over the accesses.
	 *
	 * @param phases equal parts of the time that are told apart, 1 to 60
	 */
	public static Placement of(AccessTable table, PlacementMachine machine, int phases, Progress progress) throws MemtraceException {
		return of(table, machine, phases, TOLERANCE, progress);
	}

	static Placement of(AccessTable table, PlacementMachine machine, int phases, double tolerance, Progress progress)
			throws MemtraceException {
		LastWrites writes = new LastWrites(table.producers(), table.structures().size());
		TraceFacts facts = FactsCollector.of(table.store(), table.source(), progress, List.of(writes));
		Placement p = new Placement(machine, facts, phases);
		List<GroupFacts> groups = facts.groups().stream().filter(g -> g.parts > 0)
				.sorted(Comparator.comparingDouble((GroupFacts g) -> -g.accesses)).limit(MOST_GROUPS).toList();
		int[] groupOf = new int[table.structures().size()];
		Arrays.fill(groupOf, groups.size());
		boolean[] movable = new boolean[groups.size() + 1];
		long[] lastWrite = new long[groups.size() + 1];
		Arrays.fill(lastWrite, Long.MIN_VALUE);
		for (int g = 0; g < groups.size(); g++) {
			movable[g] = groups.get(g).isData();
			for (int s : groups.get(g).structures) {
				groupOf[s] = g;
				lastWrite[g] = Math.max(lastWrite[g], writes.lastNs[s]);
			}
		}
		int[] threadNode = null;
		if (!machine.isRecorded()) {
			double[] byThread = new double[table.threads().size()];
			facts.groups().forEach(g -> IntStream.range(0, byThread.length).forEach(t -> byThread[t] += g.byThread[t]));
			threadNode = machine.place(IntStream.range(0, byThread.length).filter(t -> byThread[t] > 0).boxed().toList(), byThread.length);
		}
		List<Policy> policies = Policy.all(machine);
		PlacementScan.Group[] sums = new PlacementScan(table, machine, policies, groupOf, movable, lastWrite, threadNode).run(table, progress);
		progress.begin("Comparing policies", sums.length);
		p.compare(policies, sums, groups, movable, tolerance, progress);
		return p;
	}

	/** When each structure was written last. */
	private static final class LastWrites implements AccessScan.Pass<LastWrites.Runs> {
		private final ProducerTree tree;
		final long[] lastNs;

		LastWrites(ProducerTree tree, int structures) {
			this.tree = tree;
			lastNs = new long[structures];
			Arrays.fill(lastNs, Long.MIN_VALUE);
		}

		/** Leaves of a structure follow each other: a structure, then its last write. */
		static final class Runs implements AccessScan.Part {
			private final ProducerTree tree;
			private long[] found = new long[64];
			private int n;

			Runs(ProducerTree tree) {
				this.tree = tree;
			}

			@Override
			public void chunk(AccessChunk c, int leafFrom, int leafTo) {
				for (int l = leafFrom; l < leafTo; l++) {
					int s = tree.structure(c.leaf[l]);
					for (int row = c.leafFrom[l]; s >= 0 && row < c.leafFrom[l + 1]; row++) {
						if (c.writes[row] > 0) {
							write(s, c.endNs(row));
						}
					}
				}
			}

			private void write(int structure, long ns) {
				if (n > 0 && found[n - 2] == structure) {
					found[n - 1] = Math.max(found[n - 1], ns);
					return;
				}
				if (n == found.length) {
					found = Arrays.copyOf(found, 2 * n);
				}
				found[n++] = structure;
				found[n++] = ns;
			}
		}

		@Override
		public Set<AccessColumn> columns() {
			return Set.of(AccessColumn.TIME, AccessColumn.WRITES);
		}

		@Override
		public Runs part() {
			return new Runs(tree);
		}

		@Override
		public void end(List<Runs> parts) {
			for (Runs r : parts) {
				for (int i = 0; i < r.n; i += 2) {
					lastNs[(int) r.found[i]] = Math.max(lastNs[(int) r.found[i]], r.found[i + 1]);
				}
			}
		}
	}

	private void compare(List<Policy> all, PlacementScan.Group[] sums, List<GroupFacts> groups, boolean[] movable, double tolerance,
			Progress progress) throws MemtraceException {
		PlacementSums[] whole = new PlacementSums[all.size() + 1];
		Arrays.setAll(whole, i -> new PlacementSums(machine.nodes()));
		PlacementSums[] others = new PlacementSums[all.size()]; // what only a policy for the process can place
		Arrays.setAll(others, i -> new PlacementSums(machine.nodes()));
		double[] weight = new double[PlacementSums.BLOCKS];
		long[] extra = new long[1];
		boolean copies = false;
		int replicate = all.size() - 1;
		int firstTouch = 0;
		for (int g = 0; g < sums.length; g++) {
			PlacementScan.Group s = sums[g];
			if (s == null) {
				continue;
			}
			progress.check();
			PlacementSums.add(weight, s.weight);
			unknownUser += s.unknownUser;
			severalUsers += s.severalUsers;
			placed += s.placed;
			pages += s.pages;
			unknownFirst += s.unknownFirst;
			// copies of what is written until near the end gain little, and whoever writes then would have to write all
			boolean canCopy = machine.nodes() > 1 && movable[g] && s.afterWrites >= sum(s.weight) / 2;
			if (canCopy) {
				copies = true;
				extra[0] += copyBytes(groups.get(g));
			}
			for (int p = 0; p < whole.length; p++) {
				whole[p].add(s.policies[p == replicate && !canCopy ? firstTouch : p]);
			}
			for (int p = 0; p < all.size() && !movable[g]; p++) {
				others[p].add(s.policies[p]);
			}
			List<Figures> figures = figures(all, s, movable[g], canCopy, g < groups.size() ? groups.get(g) : null);
			GroupFacts f = g < groups.size() ? groups.get(g) : null;
			parts.add(new Part(f == null ? "other memory" : f.name, f, movable[g], sum(s.weight), s.pages, figures, null, false));
			progress.worked(1);
		}
		accesses = sum(weight);
		rest = restPolicy(all, others, tolerance);
		PlacementSums mixture = new PlacementSums(machine.nodes());
		long mixtureBytes = chooseBest(all, sums, mixture, tolerance);
		parts.sort(Comparator.comparingDouble(p -> -p.accesses()));
		if (isPlaced()) {
			policies.add(figures(Policy.RECORDED, whole[all.size()], weight, 0));
		}
		for (int p = 0; p < all.size(); p++) {
			if (p != replicate || copies) {
				policies.add(figures(all.get(p), whole[p], weight, p == replicate ? extra[0] : 0));
			}
		}
		policies.add(figures(Policy.MIXTURE, mixture, weight, mixtureBytes));
	}

	/** What the policies that are possible make of a group of structures. */
	private List<Figures> figures(List<Policy> all, PlacementScan.Group s, boolean movable, boolean canCopy, GroupFacts group) {
		int replicate = all.size() - 1;
		List<Figures> figures = new ArrayList<>();
		for (int p = 0; p < all.size(); p++) {
			boolean possible = all.get(p).isForProcess() || movable && (p != replicate || canCopy);
			if (possible) {
				figures.add(figures(all.get(p), s.policies[p], s.weight, p == replicate ? copyBytes(group) : 0));
			}
		}
		if (isPlaced()) {
			figures.add(figures(Policy.RECORDED, s.policies[all.size()], s.weight, 0));
		}
		return figures;
	}

	/** Gives each part its best policy, and adds what these make of it; returns the bytes of their copies. */
	private long chooseBest(List<Policy> all, PlacementScan.Group[] sums, PlacementSums mixture, double tolerance) {
		long mixtureBytes = 0;
		List<PlacementScan.Group> present = Arrays.stream(sums).filter(s -> s != null).toList();
		for (int i = 0; i < parts.size(); i++) {
			Part p = parts.get(i);
			List<Figures> possible = p.figures().stream().filter(f -> f.policy().kind() != Policy.Kind.RECORDED).toList();
			Figures best = p.movable() ? best(possible, tolerance)
					: possible.stream().filter(f -> f.policy().equals(rest)).findFirst().orElseThrow();
			mixture.add(present.get(i).policies[all.indexOf(best.policy())]);
			mixtureBytes += best.extraBytes();
			Figures now = p.of(Policy.Kind.FIRST_TOUCH);
			boolean undecided = best.policy().kind() != Policy.Kind.FIRST_TOUCH && !best.remote().isCertainlyLessThan(now.remote());
			parts.set(i, new Part(p.name(), p.facts(), p.movable(), p.accesses(), p.pages(), p.figures(), best, undecided));
		}
		return mixtureBytes;
	}

	/** Whether nodes of pages were recorded on the machine that is asked about. */
	private boolean isPlaced() {
		return machine.isRecorded() && placed > 0;
	}

	private long copyBytes(GroupFacts g) {
		return (machine.nodes() - 1) * g.liveBytes;
	}

	/** The policy of the process, for what no structure's own policy places. */
	private Policy restPolicy(List<Policy> all, PlacementSums[] others, double tolerance) {
		List<Figures> figures = new ArrayList<>();
		for (int p = 0; p < all.size(); p++) {
			if (all.get(p).isForProcess()) {
				figures.add(figures(all.get(p), others[p], new double[PlacementSums.BLOCKS], 0, others[p].cost()));
			}
		}
		return best(figures, tolerance).policy();
	}

	/** The cheapest; of those that are as cheap the most even one, then the simplest. */
	static Figures best(List<Figures> figures, double tolerance) {
		double least = figures.stream().mapToDouble(Figures::cost).min().orElseThrow();
		Figures best = null;
		for (Figures f : figures) {
			if (f.cost() > least * (1 + tolerance) + 1e-12) {
				continue;
			}
			boolean moreEven = best != null && f.imbalance() < best.imbalance() - 0.05;
			boolean asEven = best != null && Math.abs(f.imbalance() - best.imbalance()) <= 0.05;
			if (best == null || moreEven || asEven && f.policy().kind().ordinal() < best.policy().kind().ordinal()) {
				best = f;
			}
		}
		return best;
	}

	private Figures figures(Policy policy, PlacementSums s, double[] weight, long extraBytes) {
		return figures(policy, s, weight, extraBytes, s.cost() / sum(weight));
	}

	private Figures figures(Policy policy, PlacementSums s, double[] weight, long extraBytes, double cost) {
		double all = sum(weight);
		double[] load = s.load(0, PlacementSums.BLOCKS);
		List<Phase> list = new ArrayList<>();
		for (int k = 0; k < phases; k++) {
			int from = k * PlacementSums.BLOCKS / phases;
			int to = (k + 1) * PlacementSums.BLOCKS / phases;
			double w = PlacementSums.sum(weight, from, to);
			double local = PlacementSums.sum(s.local, from, to);
			double remote = PlacementSums.sum(s.remote, from, to);
			list.add(new Phase(w, remote / (local + remote), PlacementSums.sum(s.certainRemote, from, to) / w,
					1 - PlacementSums.sum(s.certainLocal, from, to) / w, PlacementSums.imbalance(s.load(from, to))));
		}
		return new Figures(policy, share(s, weight), cost, s.costLeast / all, s.costMost / all, load, PlacementSums.imbalance(load),
				extraBytes, List.copyOf(list));
	}

	/** An interval that holds the bounds, the change over time, the chance of pages, and the estimate. */
	private static Share share(PlacementSums s, double[] weight) {
		double all = sum(weight);
		double local = sum(s.local);
		double remote = sum(s.remote);
		double point = remote / (local + remote);
		double least = all == 0 ? 0 : Math.max(0, sum(s.certainRemote) / all);
		double most = all == 0 ? 1 : Math.min(1, 1 - sum(s.certainLocal) / all);
		Basis basis = Basis.UNDECIDED;
		if (local + remote > 0) {
			double[] time = bootstrap(s);
			double chance = DEVIATIONS * Math.sqrt(s.variance) / all;
			double widest = most - least;
			if (time[1] - time[0] > widest) {
				widest = time[1] - time[0];
				basis = Basis.TIME;
			}
			if (2 * chance > widest) {
				basis = Basis.PAGES;
			}
			least = Math.min(Math.min(least, time[0]), point - chance);
			most = Math.max(Math.max(most, time[1]), point + chance);
			least = Math.max(0, least);
			most = Math.min(1, most);
		}
		return new Share(point, least, most, basis);
	}

	/** What the share is when blocks of time are drawn again, with replacement: 2.5 and 97.5 %. */
	private static double[] bootstrap(PlacementSums s) {
		int[] used = IntStream.range(0, PlacementSums.BLOCKS).filter(b -> s.local[b] + s.remote[b] > 0).toArray();
		SplittableRandom random = new SplittableRandom(SEED);
		double[] shares = new double[RESAMPLES];
		for (int r = 0; r < RESAMPLES; r++) {
			double local = 0;
			double remote = 0;
			for (int i = 0; i < used.length; i++) {
				int b = used[random.nextInt(used.length)];
				local += s.local[b];
				remote += s.remote[b];
			}
			shares[r] = remote / (local + remote);
		}
		Arrays.sort(shares);
		return new double[] {shares[(int) (TAIL * RESAMPLES)], shares[(int) Math.ceil((1 - TAIL) * RESAMPLES) - 1]};
	}

	private static double sum(double[] a) {
		return Arrays.stream(a).sum();
	}

	public PlacementMachine machine() {
		return machine;
	}

	/** Facts about the trace and its structures. */
	public TraceFacts facts() {
		return facts;
	}

	/** Figures of the whole trace: what was recorded, if it was, each policy that is possible, and the mixture. */
	public List<Figures> policies() {
		return List.copyOf(policies);
	}

	/** The figures of a kind of policy for the whole trace; null when it is not possible. */
	public Figures of(Policy.Kind kind) {
		return policies.stream().filter(f -> f.policy().kind() == kind).findFirst().orElse(null);
	}

	/** Groups of structures, those with most accesses first. */
	public List<Part> parts() {
		return List.copyOf(parts);
	}

	/** All accesses. */
	public double accesses() {
		return accesses;
	}

	/** The policy of the process in the mixture, for all that has no policy of its own. */
	public Policy rest() {
		return rest;
	}

	/** Number of equal parts of the time. */
	public int phases() {
		return phases;
	}

	/** Policies from the cheapest to the dearest, without what was recorded; first touch stands before what is not cheaper. */
	public List<Figures> ranking() {
		return policies.stream().filter(f -> f.policy().kind() != Policy.Kind.RECORDED)
				.sorted(Comparator.comparingDouble(Figures::cost).thenComparingInt(f -> f.policy().kind().ordinal())).toList();
	}

	/** What the numbers do not tell, a sentence each. */
	public List<String> notes() {
		List<String> notes = new ArrayList<>();
		if (machine.nodes() == 1) {
			notes.add("This machine has one NUMA node: all memory is near, and no placement is better than another. Ask about another machine with "
					+ "--topology, for example --topology 'pack:2 [numa] core:4 pu:1' for two packages with a node each.");
			return notes;
		}
		if (unknownUser > 0) {
			notes.add("Of " + share(unknownUser) + " of the " + facts.unit() + " the CPU is not known; they are undecided.");
		}
		if (severalUsers > 0) {
			notes.add(share(severalUsers) + " of the " + facts.unit() + (facts.info().counts().isExact()
					? " are of threads that changed the node in an interval; where they are is undecided."
					: " are to pages that several nodes used in the same interval. A page fault does not tell how often each of them used the "
							+ "page: what that changes is undecided. 'memtrace cc' counts every access."));
		}
		if (unknownFirst > 0) {
			notes.add("Of " + Units.plural(unknownFirst, "page") + " of " + Units.plural(pages, "page")
					+ " it is not known who touched them first.");
		}
		if ("none".equals(facts.property("guarantee_writes"))) {
			notes.add("The trace does not tell writes from reads: a copy for each node may be written to.");
		}
		if (facts.lost() > 0) {
			notes.add("The recorder or the store lost " + Units.plural(facts.lost(), "access") + ", which are nowhere in these numbers.");
		}
		return notes;
	}

	private String share(double part) {
		return Units.percent(Math.min(100, 100 * part / accesses));
	}

	/** What follows, in one sentence: whether another policy is better, and whether the trace can tell. */
	public String verdict() {
		Figures now = of(Policy.Kind.RECORDED) == null ? of(Policy.Kind.FIRST_TOUCH) : of(Policy.Kind.RECORDED);
		if (machine.nodes() == 1) {
			return "Nothing to choose: one NUMA node.";
		}
		Figures best = ranking().get(0);
		if (Double.isNaN(best.remote().remote())) {
			return "The trace cannot decide: of no " + facts.info().counts().noun() + " it is known on which CPU it happened.";
		}
		if (best.cost() >= now.cost() * (1 - TOLERANCE)) {
			Figures even = ranking().stream().min(Comparator.comparingDouble(Figures::imbalance)).orElse(best);
			return "Leave it as it is: no policy makes an access cheaper by " + Units.percent(100 * TOLERANCE) + " or more."
					+ (even.imbalance() < now.imbalance() - 0.25 ? " Only the load would be more even: " + says(even) + "; now " + says(now) + "." : "");
		}
		String gain = says(best) + "; " + now.policy().title() + " has " + says(now).replaceFirst("^[^:]*: ", "") + ". ";
		return best.remote().isCertainlyLessThan(now.remote()) ? "Better: " + gain + "The intervals of the remote shares do not overlap."
				: "Perhaps better, the trace cannot decide: " + gain + "The intervals of the remote shares overlap. " + undecidedAdvice();
	}

	/** A policy with its three figures: none of them says enough without the others. */
	private static String says(Figures f) {
		return f.policy().title() + ": " + Units.percent(100 * f.remote().remote()) + " remote, cost " + cost(f.cost()) + ", imbalance "
				+ cost(f.imbalance());
	}

	private String undecidedAdvice() {
		return facts.info().counts().isExact() ? "Record longer, so that phases repeat."
				: "Count every access (memtrace cc), or share fewer pages between nodes.";
	}

	/** A mean cost. */
	static String cost(double cost) {
		return String.format(java.util.Locale.ROOT, "%.2f", cost);
	}
}
