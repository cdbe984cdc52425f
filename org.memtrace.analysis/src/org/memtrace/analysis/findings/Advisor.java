// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.analysis.findings.facts.FactsCollector;
import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.analysis.findings.price.Price;
import org.memtrace.analysis.findings.price.Priced;
import org.memtrace.analysis.findings.price.Prices;
import org.memtrace.analysis.findings.rules.Check;
import org.memtrace.analysis.findings.rules.Fix;
import org.memtrace.analysis.findings.rules.Rule;
import org.memtrace.analysis.findings.rules.Rules;
import org.memtrace.analysis.findings.rules.Severity;
import org.memtrace.analysis.findings.rules.Statement;
import org.memtrace.analysis.findings.rules.Threshold;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.store.TraceStore;

/** Finds problems: facts, then rules, then findings in order of importance. Immutable; any thread may use it. */
public final class Advisor {
	private static final int SURE_INTERVALS = 10;
	private static final int FEW_INTERVALS = 5;
	private static final int MANY_BRIEF = 8;
	private static final double PART_OF_RUN = 0.6;
	/** As many groups with the same cause are folded into one finding. */
	private static final int FOLD = 2;
	/** Groups with so much of what is relevant can be relevant together. */
	private static final double TOGETHER = 0.1;

	/** What one rule found about one group. */
	public record Verdict(Rule rule, GroupFacts group, List<Check> checks) {
		/** Whether all conditions hold. */
		public boolean holds() {
			return checks.stream().allMatch(Check::holds);
		}
	}

	private final TraceFacts facts;
	private final Thresholds thresholds;
	private final List<Rule> rules;
	private final List<Finding> findings;
	private final List<Finding> small;
	private final Prices prices;

	/** This advice with what costs little here among its findings, behind all others. */
	public Advisor withSmall() {
		List<Finding> all = new ArrayList<>(findings);
		all.addAll(small);
		return new Advisor(this, all, List.of());
	}

	/** This advice with the findings of one rule only. */
	public Advisor only(String rule) {
		return new Advisor(this, findings.stream().filter(f -> f.rule().equals(rule)).toList(),
				small.stream().filter(f -> f.rule().equals(rule)).toList());
	}

	private Advisor(Advisor of, List<Finding> findings, List<Finding> small) {
		facts = of.facts;
		thresholds = of.thresholds;
		rules = of.rules;
		prices = of.prices;
		this.findings = List.copyOf(findings);
		this.small = List.copyOf(small);
	}

	private Advisor(TraceFacts facts, Thresholds thresholds, List<Rule> rules, Prices prices) {
		this.facts = facts;
		this.thresholds = thresholds;
		this.rules = List.copyOf(rules);
		this.prices = prices;
		List<Finding> all = find();
		findings = all.stream().filter(f -> !f.price().isSmall()).toList();
		small = all.stream().filter(f -> f.price().isSmall()).toList();
	}

	/** Looks at a trace with all known rules. */
	public static Advisor of(TraceStore store, AccessSource source, Thresholds thresholds, Progress progress) throws MemtraceException {
		return of(store, source, thresholds, progress, List.of());
	}

	/**
	 * Looks at a trace with all known rules.
	 *
	 * @param others questions that share the reading of the accesses
	 */
	public static Advisor of(TraceStore store, AccessSource source, Thresholds thresholds, Progress progress,
			List<? extends AccessScan.Pass<?>> others) throws MemtraceException {
		return new Advisor(FactsCollector.of(store, source, progress, others), thresholds, Rules.all(), Prices.of(store));
	}

	/** The advice that follows from these facts with other thresholds. */
	public Advisor with(Thresholds others) {
		return new Advisor(facts, others, rules, prices);
	}

	/** The facts that the findings are made from. */
	public TraceFacts facts() {
		return facts;
	}

	/** The rules that were asked, in order. */
	public List<Rule> rules() {
		return rules;
	}

	/** What is known to cost less than 1 % of the run here, and is no finding therefore. */
	public List<Finding> small() {
		return small;
	}

	/** Why no finding has a price; empty when prices can be known. */
	public String notPriced() {
		return prices.missing();
	}

	/**
	 * Findings, the one that costs most here first, where that is not known by severity; of a structure with several the first one is the
	 * main one, see {@link #mainOf}.
	 */
	public List<Finding> findings() {
		return findings;
	}

	/** Share of all accesses that are to memory of programs that the user did not write, which no rule is asked about; 0 to 1. */
	public double notJudged() {
		return facts.accesses() == 0 ? 0
				: facts.groups().stream().filter(g -> g.others && !asked(g)).mapToDouble(g -> g.accesses + g.passedOver).sum()
						/ facts.accesses();
	}

	/** Each condition of a rule for each relevant group that it is asked about, whether the rule holds or not. */
	public List<Verdict> explain(Rule rule) {
		List<Verdict> all = new ArrayList<>();
		for (GroupFacts g : facts.groups()) {
			if (asked(g) && rule.concerns(g, facts, thresholds)) {
				all.add(new Verdict(rule, g, rule.checks(g, facts, thresholds)));
			}
		}
		all.sort(Comparator.comparingDouble((Verdict v) -> -v.group().weight).thenComparing(v -> v.group().label));
		return all;
	}

	/** Whether rules are asked about programs that the user did not write. */
	boolean judgesOthers() {
		return thresholds.get(Threshold.OTHERS) > 0;
	}

	private boolean asked(GroupFacts g) {
		return !g.library && (!g.others || judgesOthers());
	}

	private record Found(Rule rule, GroupFacts group, Statement statement, List<Check> checks) {
		/** What statements that become one have in common; null for one that stands for itself. */
		String cause() {
			return rule.folds() ? rule.id() + " " + statement.key : null;
		}
	}

	/** Those of some rules that hold for a group, without those that another one of them covers. */
	private List<Found> found(GroupFacts g, List<Rule> some, Thresholds limits) {
		Map<Rule, List<Check>> holding = new LinkedHashMap<>();
		for (Rule rule : some) {
			if (rule.concerns(g, facts, limits)) {
				List<Check> checks = rule.checks(g, facts, limits);
				if (checks.stream().allMatch(Check::holds)) {
					holding.put(rule, checks);
				}
			}
		}
		Set<String> covered = new HashSet<>();
		holding.keySet().forEach(r -> covered.addAll(Rules.covered(r, holding.keySet())));
		List<Found> told = new ArrayList<>();
		holding.forEach((rule, checks) -> {
			if (!covered.contains(rule.id())) {
				told.add(new Found(rule, g, rule.state(g, facts, limits), checks));
			}
		});
		return told;
	}

	/** The finding before this one about one of its structures, which is the main one of these; null for a main one. */
	public Finding mainOf(Finding also) {
		Set<Integer> its = new HashSet<>(also.structures());
		for (Finding f : findings) {
			if (f == also) {
				return null;
			}
			if (f.structures().stream().anyMatch(its::contains)) {
				return f;
			}
		}
		return null;
	}

	private List<Finding> find() {
		Map<String, List<Found>> byCause = new LinkedHashMap<>();
		List<GroupFacts> order = new ArrayList<>(facts.groups());
		order.sort(Comparator.comparingDouble((GroupFacts g) -> -g.weight).thenComparing(g -> g.label).thenComparing(g -> g.site));
		List<GroupFacts> rest = new ArrayList<>();
		int number = 0;
		for (GroupFacts g : order) {
			if (!asked(g)) {
				continue;
			}
			List<Found> its = found(g, rules, thresholds);
			for (Found f : its) {
				byCause.computeIfAbsent(f.cause() == null ? "#" + number++ : f.cause(), k -> new ArrayList<>()).add(f);
			}
			if (its.isEmpty()) {
				rest.add(g);
			}
		}
		together(rest).forEach((cause, some) -> byCause.computeIfAbsent(cause, k -> new ArrayList<>()).addAll(some));
		List<Finding> list = new ArrayList<>();
		for (List<Found> same : byCause.values()) {
			if (same.size() > FOLD) {
				List<Finding> all = same.stream().map(f -> finding(f.rule(), f.group(), f.statement(), f.checks())).toList();
				list.add(folded(all));
			} else {
				same.forEach(f -> list.add(finding(f.rule(), f.group(), f.statement(), f.checks())));
			}
		}
		list.replaceAll(f -> f.with(prices.of(new Priced(f.rule(), f.structures(), f.figures()), facts)));
		list.sort(Comparator.comparingDouble((Finding f) -> -f.price().order())
				.thenComparingDouble(f -> -(f.severity().ordinal() + 1 + Math.min(1, f.weight()))).thenComparing(Finding::name));
		return list;
	}

	/** Of groups that are each too small to matter: those that matter together, because they have the same cause. */
	private Map<String, List<Found>> together(List<GroupFacts> small) {
		double relevant = thresholds.get(Threshold.RELEVANT);
		Thresholds limits = thresholds.with(Threshold.RELEVANT, TOGETHER * relevant);
		List<Rule> folding = rules.stream().filter(Rule::folds).toList();
		Map<String, List<Found>> byCause = new LinkedHashMap<>();
		for (GroupFacts g : small) {
			for (Found f : g.weight >= relevant ? List.<Found>of() : found(g, folding, limits)) {
				byCause.computeIfAbsent(f.cause(), k -> new ArrayList<>()).add(f);
			}
		}
		byCause.values().removeIf(some -> some.size() <= FOLD || some.stream().mapToDouble(f -> f.group().weight).sum() < relevant);
		return byCause;
	}

	private Finding finding(Rule rule, GroupFacts g, Statement s, List<Check> checks) {
		long from = g.firstNs;
		long to = g.lastNs;
		String when = "";
		if (s.sharedTime && !g.sharedIntervals.isEmpty()) {
			from = facts.intervalStartNs()[g.sharedIntervals.nextSetBit(0)];
			to = facts.intervalEndNs()[g.sharedIntervals.length() - 1];
			if (to - from < PART_OF_RUN * (facts.info().endNs() - facts.info().startNs())) {
				when = "; only from " + Words.time(facts, from) + " to " + Words.time(facts, to);
			}
		}
		List<String> notes = new ArrayList<>();
		if (facts.lost() > 0) {
			notes.add(Words.count(facts.lost(), facts.info().counts().noun()) + " of the run were lost");
		}
		if (!facts.info().windows().isEmpty()) {
			notes.add(facts.info().windows());
		}
		if (facts.intervals(g) < FEW_INTERVALS) {
			notes.add("the run has only " + Words.count(facts.intervals(g), "interval") + ": record longer, or with a shorter --interval");
		}
		if (facts.property("guarantee_threads").equals("none")) {
			notes.add("threads are not known in this recording");
		}
		long brief = facts.briefThreads();
		if (brief >= MANY_BRIEF && 2 * brief > facts.threads().size()) {
			notes.add(brief + " of " + facts.threads().size() + " threads lived for less than two intervals, and each counts as a user of its own,"
					+ " also where it goes on with the work of one before: keep the threads (a pool) to see who uses which pages");
		}
		if (g.isSmallBlocks()) {
			notes.add("blocks below the --min-alloc of the recording are judged together, and only by what code of the program does with them");
		}
		return new Finding(rule.id(), rule.title(), List.of(g.label), List.copyOf(g.structures), List.copyOf(s.threads), from, to,
				s.leaves.isEmpty() ? g.leafFrom : s.leaves.first(), s.leaves.isEmpty() ? g.leafTo : s.leaves.last() + 1,
				List.copyOf(s.leaves), Map.copyOf(s.figures), s.evidence + where(g) + when,
				s.advice, g.isSmallBlocks() ? Fix.nameBlocks(g, facts) : s.fix, "record it again after the change, then: memtrace diff BEFORE.memtrace AFTER.memtrace", notes,
				s.severity == null ? rule.severity() : s.severity, confidence(g, s, checks), Math.min(1, g.weight), s.view, g.firstWritten, g.used,
				Price.notKnown(""));
	}

	/** Which code writes the group first and which one uses it, as far as it is known. */
	private static String where(GroupFacts g) {
		if (g.firstWritten == null || g.used == null) {
			return g.firstWritten != null ? "; first written in " + g.firstWritten : g.used != null ? "; used in " + g.used : "";
		}
		return g.firstWritten.equals(g.used) ? "; first written and used in " + g.used
				: "; first written in " + g.firstWritten + ", used in " + g.used;
	}

	private Confidence confidence(GroupFacts g, Statement s, List<Check> checks) {
		if (facts.intervals(g) < FEW_INTERVALS || facts.property("guarantee_threads").equals("none")) {
			return Confidence.LOW;
		}
		boolean sure = facts.intervals(g) >= SURE_INTERVALS && facts.lost() == 0 && checks.stream().allMatch(Check::holdsByFar)
				&& !s.atMostMedium;
		return sure ? Confidence.HIGH : Confidence.MEDIUM;
	}

	/** One finding of several with the same cause: the heaviest one speaks, the others are counted. */
	private Finding folded(List<Finding> all) {
		Finding first = all.get(0);
		List<String> names = new ArrayList<>();
		List<Integer> structures = new ArrayList<>();
		TreeSet<Integer> threads = new TreeSet<>();
		double weight = 0;
		long from = Long.MAX_VALUE;
		long to = Long.MIN_VALUE;
		int leafFrom = Integer.MAX_VALUE;
		int leafTo = 0;
		Confidence confidence = Confidence.HIGH;
		Severity severity = Severity.LOW;
		for (Finding f : all) {
			names.addAll(f.names());
			structures.addAll(f.structures());
			threads.addAll(f.threads());
			weight += f.weight();
			from = Math.min(from, f.fromNs());
			to = Math.max(to, f.toNs());
			leafFrom = Math.min(leafFrom, f.leafFrom());
			leafTo = Math.max(leafTo, f.leafTo());
			confidence = f.confidence().compareTo(confidence) < 0 ? f.confidence() : confidence;
			severity = f.severity().compareTo(severity) > 0 ? f.severity() : severity;
		}
		return new Finding(first.rule(), first.title(), names, structures, List.copyOf(threads), from, to, leafFrom, leafTo, List.of(),
				first.figures(), "the same is true of " + names.size() + " structures with " + Words.percent(Math.min(1, weight))
						+ " of the " + facts.unit() + " or pages; of " + first.names().get(0) + ": " + first.evidence(),
				first.advice(), first.fix(), first.check(), first.notes(), severity, confidence, Math.min(1, weight), first.view(),
				first.firstWritten(), first.used(), first.price());
	}
}
