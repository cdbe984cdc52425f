// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.memtrace.analysis.findings.Finding;
import org.memtrace.analysis.findings.TraceSummary;
import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.analysis.findings.rules.Check;
import org.memtrace.analysis.findings.rules.Rule;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CountUnit;
import org.memtrace.model.TraceInfo;

/** Compares recordings before a change with recordings after it. Immutable. */
public final class TraceDiff {
	private static final double OTHER_INTERVAL = 1.2;
	private static final double RELEVANT = 0.01;
	private static final int MOST_CHECKS = 2;

	private final List<Run> a;
	private final List<Run> b;
	private final Thresholds thresholds;
	private final List<String> roles;
	private final List<String> warnings = new ArrayList<>();
	/** Differs between any two recordings. */
	private static final Set<String> VARYING = Set.of(TraceInfo.PROPERTY_SETTING + "loadavg_at_start");
	private final List<Comparison> whole = new ArrayList<>();
	private final Verdict verdict;
	/** What reads and writes of all runs count; null when they count different things. */
	private final CountUnit counts;
	private final List<StructureDiff> structures = new ArrayList<>();
	private final List<FindingDiff> findings = new ArrayList<>();
	private final List<RegionDiff> regions = new ArrayList<>();
	/** The groups of each run, those before first; null where it is not there. */
	private final Map<StructureDiff, List<GroupFacts>> groups = new IdentityHashMap<>();

	/**
	 * @param a runs before, at least one
	 * @param b runs after, at least one
	 * @param thresholds with which the findings of all runs were made
	 */
	public TraceDiff(List<Run> a, List<Run> b, Thresholds thresholds) {
		this.a = List.copyOf(a);
		this.b = List.copyOf(b);
		this.thresholds = thresholds;
		List<Run> all = new ArrayList<>(a);
		all.addAll(b);
		roles = roles(all);
		Set<CountUnit> units = all.stream().map(r -> r.facts().info().counts()).collect(Collectors.toSet());
		counts = units.size() == 1 ? units.iterator().next() : null;
		warn();
		List<Matching.Slot> slots = Matching.of(all);
		for (Metric m : Metric.values()) {
			Comparison c = compare(m, a.stream().mapToDouble(r -> m.of(r.facts())).toArray(),
					b.stream().mapToDouble(r -> m.of(r.facts())).toArray());
			if (c.isKnown()) {
				whole.add(c);
			}
		}
		slots.forEach(s -> structures.add(structure(s)));
		correct();
		verdict = Verdict.of(whole, a.size(), b.size());
		findings(slots);
		regions(slots);
		for (int i = 0; i < slots.size(); i++) {
			groups.put(structures.get(i), slots.get(i).groups);
		}
		structures.sort(Comparator.comparingDouble((StructureDiff s) -> -s.weight()).thenComparing(StructureDiff::name));
	}

	/** Runs before. */
	public List<Run> before() {
		return a;
	}

	/** Runs after. */
	public List<Run> after() {
		return b;
	}

	/** The programs of both sides have the same name. */
	public boolean isSameProgram() {
		return programs(a).equals(programs(b)) && programs(a).size() == 1;
	}

	/** Names of the programs of some runs. */
	public static Set<String> programs(List<Run> runs) {
		return runs.stream().map(Run::program).collect(Collectors.toCollection(LinkedHashSet::new));
	}

	/** What makes the comparison less sure: sentences without their full stop. */
	public List<String> warnings() {
		return warnings;
	}

	/** Names of the roles of threads by number. */
	public List<String> roles() {
		return roles;
	}

	/** Whether the program takes more time than before: what is said first. */
	public Verdict verdict() {
		return verdict;
	}

	/** What reads and writes of all runs count; null when they count different things, and are not compared. */
	public CountUnit counts() {
		return counts;
	}

	/** Metrics of the whole run that both sides have. */
	public List<Comparison> whole() {
		return whole;
	}

	/** All structures of the program, the heaviest first; also those that are only on one side. */
	public List<StructureDiff> structures() {
		return structures;
	}

	/** Those with 1 % of the accesses or pages of a run, or with a finding. */
	public List<StructureDiff> relevant() {
		Set<String> named = findings.stream().map(FindingDiff::structure).collect(Collectors.toSet());
		return structures.stream().filter(s -> s.weight() >= RELEVANT || named.contains(s.name())).toList();
	}

	/** The regions that the program named, in the order of their first begin; also those that are only on one side. */
	public List<RegionDiff> regions() {
		return regions;
	}

	/** The group of a structure in a run; null when it is not there. */
	GroupFacts group(StructureDiff structure, Run run) {
		return groups.get(structure).get(all().indexOf(run));
	}

	/** What became of the findings: new ones first. */
	public List<FindingDiff> findings() {
		return findings;
	}

	private static List<String> roles(List<Run> runs) {
		List<String> longest = List.of();
		for (Run r : runs) {
			longest = r.roles().size() > longest.size() ? r.roles() : longest;
		}
		return longest;
	}

	private Comparison compare(Metric m, double[] x, double[] y) {
		return m.isCount() && counts == null ? Comparison.of(m, new double[0], new double[0]) : Comparison.of(m, x, y);
	}

	/** Corrects the p of all comparisons together for their number. */
	private void correct() {
		List<Comparison> all = new ArrayList<>(whole);
		structures.forEach(s -> all.addAll(s.comparisons()));
		Function<Comparison, Comparison> correct = correction(all);
		whole.replaceAll(correct::apply);
		structures.replaceAll(s -> corrected(s, correct));
	}

	/** What corrects these comparisons, which it must be given in this order. */
	private static Function<Comparison, Comparison> correction(List<Comparison> all) {
		// numbers of reads and writes are a question of their own: they must not make the others less sure
		double[][] corrected = new double[2][];
		for (int counts = 0; counts < 2; counts++) {
			boolean ofCounts = counts == 1;
			corrected[counts] = Samples.holm(all.stream().filter(c -> c.isTested() && c.metric().isCount() == ofCounts)
					.mapToDouble(Comparison::p).toArray());
		}
		int[] next = new int[2];
		return c -> {
			int counts = c.metric().isCount() ? 1 : 0;
			return c.isTested() ? c.corrected(corrected[counts][next[counts]++]) : c;
		};
	}

	private static StructureDiff corrected(StructureDiff s, Function<Comparison, Comparison> correct) {
		return new StructureDiff(s.name(), s.origin(), s.how(), s.inA(), s.inB(), s.weight(), s.comparisons().stream().map(correct).toList(),
				s.before(), s.after());
	}

	private StructureDiff structure(Matching.Slot slot) {
		List<GroupFacts> x = slot.groups.subList(0, a.size());
		List<GroupFacts> y = slot.groups.subList(a.size(), a.size() + b.size());
		List<Comparison> comparisons = new ArrayList<>();
		for (Metric m : Metric.values()) {
			Comparison c = compare(m, values(m, x), values(m, y));
			if (c.isKnown()) {
				comparisons.add(c);
			}
		}
		double weight = slot.groups.stream().filter(g -> g != null).mapToDouble(g -> g.weight).max().orElse(0);
		return new StructureDiff(name(slot), origin(slot), slot.how, count(x), count(y), weight, comparisons, use(a, x), use(b, y));
	}

	private static String origin(Matching.Slot slot) {
		GroupFacts any = slot.any();
		return any.kind.name().toLowerCase(Locale.ROOT) + (any.site.isEmpty() ? "" : ", " + any.site.substring(any.site.lastIndexOf('/') + 1));
	}

	private String name(Matching.Slot slot) {
		GroupFacts first = slot.any();
		GroupFacts last = slot.groups.stream().filter(g -> g != null).reduce((p, q) -> q).orElseThrow();
		return first.label.equals(last.label) ? first.label : first.label + ", now " + last.label;
	}

	private static int count(List<GroupFacts> groups) {
		return (int) groups.stream().filter(g -> g != null).count();
	}

	private static double[] values(Metric m, List<GroupFacts> groups) {
		return groups.stream().filter(g -> g != null).mapToDouble(m::of).toArray();
	}

	private StructureDiff.Use use(List<Run> runs, List<GroupFacts> groups) {
		if (count(groups) == 0) {
			return null;
		}
		int n = roles.size();
		double[] first = new double[n];
		double[] main = new double[n];
		double[][] firstAt = new double[GroupFacts.PLACES][n];
		double[][] mainAt = new double[GroupFacts.PLACES][n];
		boolean places = false;
		double reads = 0;
		double writes = 0;
		List<Integer> ids = null;
		for (int r = 0; r < runs.size(); r++) {
			GroupFacts g = groups.get(r);
			if (g == null) {
				continue;
			}
			ids = ids == null ? List.copyOf(g.structures) : ids;
			double accesses = runs.get(r).facts().accesses();
			reads += accesses == 0 ? 0 : (g.accesses - g.writes) / accesses / runs.size();
			writes += accesses == 0 ? 0 : g.writes / accesses / runs.size();
			for (int t = 0; t < g.firstTouched.length; t++) {
				int role = runs.get(r).roleNumber(t);
				first[role] += g.firstTouched[t];
				main[role] += g.mainUser[t];
				for (int p = 0; g.firstPlaces != null && p < GroupFacts.PLACES; p++) {
					places = true;
					firstAt[p][role] += g.firstPlaces[p * g.firstTouched.length + t];
					mainAt[p][role] += g.mainPlaces[p * g.firstTouched.length + t];
				}
			}
		}
		return new StructureDiff.Use(ids, reads, writes, shares(first), shares(main), places ? most(firstAt) : new int[0],
				places ? most(mainAt) : new int[0]);
	}

	private static double[] shares(double[] counts) {
		double sum = Arrays.stream(counts).sum();
		return Arrays.stream(counts).map(c -> sum == 0 ? 0 : c / sum).toArray();
	}

	private static int[] most(double[][] counts) {
		int[] best = new int[counts.length];
		for (int p = 0; p < counts.length; p++) {
			best[p] = -1;
			for (int t = 0; t < counts[p].length; t++) {
				if (counts[p][t] > 0 && (best[p] < 0 || counts[p][t] > counts[p][best[p]])) {
					best[p] = t;
				}
			}
		}
		return best;
	}

	// regions

	private void regions(List<Matching.Slot> slots) {
		Set<String> names = new LinkedHashSet<>();
		all().forEach(r -> names.addAll(r.regions().names()));
		for (String name : names) {
			List<RegionUse.Region> here = new ArrayList<>();
			all().forEach(r -> here.add(r.regions().region(name)));
			List<StructureDiff> found = new ArrayList<>();
			for (Matching.Slot slot : slots) {
				List<RegionUse.Cell> cells = new ArrayList<>();
				for (int r = 0; r < here.size(); r++) {
					GroupFacts g = slot.groups.get(r);
					cells.add(here.get(r) == null || g == null ? null : here.get(r).structures.get(g));
				}
				if (cells.stream().anyMatch(c -> c != null)) {
					found.add(inRegion(slot, here, cells));
				}
			}
			found.sort(Comparator.comparingDouble((StructureDiff s) -> -s.weight()).thenComparing(StructureDiff::name));
			List<RegionUse.Cell> data = here.stream().map(r -> r == null ? null : r.data).toList();
			warnShort(name, here);
			regions.add(new RegionDiff(name, there(here.subList(0, a.size())), there(here.subList(a.size(), here.size())),
					comparisons(here, data), found));
		}
		List<Comparison> tested = new ArrayList<>();
		regions.forEach(r -> {
			tested.addAll(r.comparisons());
			r.structures().forEach(s -> tested.addAll(s.comparisons()));
		});
		Function<Comparison, Comparison> correct = correction(tested);
		regions.replaceAll(r -> new RegionDiff(r.name(), r.inA(), r.inB(), r.comparisons().stream().map(correct).toList(),
				r.structures().stream().map(s -> corrected(s, correct)).toList()));
	}

	/** A record is in the region in the middle of its interval: of a shorter one it tells little. */
	private void warnShort(String name, List<RegionUse.Region> here) {
		for (int r = 0; r < here.size(); r++) {
			RegionUse.Region region = here.get(r);
			long interval = all().get(r).facts().intervalNs();
			if (region != null && region.timeNs / region.times < interval) {
				TraceInfo info = all().get(r).facts().info();
				warnings.add("the region " + name + " of " + all().get(r).label() + " lasts " + Units.duration(info, region.timeNs / region.times)
						+ " each time, less than an interval (" + Units.duration(info, interval) + "): only its time is reliable");
				return;
			}
		}
	}

	private static int there(List<?> values) {
		return (int) values.stream().filter(v -> v != null).count();
	}

	private List<Comparison> comparisons(List<RegionUse.Region> here, List<RegionUse.Cell> cells) {
		List<Comparison> all = new ArrayList<>();
		for (Metric m : Metric.values()) {
			double[] values = new double[cells.size()];
			for (int r = 0; r < values.length; r++) {
				values[r] = cells.get(r) == null ? Double.NaN : m.of(all().get(r).regions(), here.get(r), cells.get(r));
			}
			Comparison c = compare(m, Arrays.copyOf(values, a.size()), Arrays.copyOfRange(values, a.size(), values.length));
			if (c.isKnown()) {
				all.add(c);
			}
		}
		return all;
	}

	private StructureDiff inRegion(Matching.Slot slot, List<RegionUse.Region> here, List<RegionUse.Cell> cells) {
		double weight = 0;
		for (int r = 0; r < cells.size(); r++) {
			if (cells.get(r) != null && here.get(r).accesses > 0) {
				weight = Math.max(weight, (cells.get(r).reads + cells.get(r).writes) / here.get(r).accesses);
			}
		}
		List<RegionUse.Cell> x = cells.subList(0, a.size());
		List<RegionUse.Cell> y = cells.subList(a.size(), cells.size());
		return new StructureDiff(name(slot), origin(slot), slot.how, there(x), there(y), weight, comparisons(here, cells), use(a, x, slot, 0),
				use(b, y, slot, a.size()));
	}

	private StructureDiff.Use use(List<Run> runs, List<RegionUse.Cell> cells, Matching.Slot slot, int first) {
		if (there(cells) == 0) {
			return null;
		}
		double[] touched = new double[roles.size()];
		double[] main = new double[roles.size()];
		double reads = 0;
		double writes = 0;
		List<Integer> ids = null;
		for (int r = 0; r < runs.size(); r++) {
			RegionUse.Cell c = cells.get(r);
			if (c == null) {
				continue;
			}
			ids = ids == null ? List.copyOf(slot.groups.get(first + r).structures) : ids;
			double accesses = runs.get(r).regions().accesses();
			reads += accesses == 0 ? 0 : c.reads / accesses / runs.size();
			writes += accesses == 0 ? 0 : c.writes / accesses / runs.size();
			for (int t = 0; t < c.firstTouched.length; t++) {
				touched[runs.get(r).roleNumber(t)] += c.firstTouched[t];
				main[runs.get(r).roleNumber(t)] += c.mainUser[t];
			}
		}
		return new StructureDiff.Use(ids, reads, writes, shares(touched), shares(main), new int[0], new int[0]);
	}

	// findings

	private record About(Run run, GroupFacts group, Finding finding) {
	}

	private void findings(List<Matching.Slot> slots) {
		for (Matching.Slot slot : slots) {
			List<About> x = about(a, slot.groups.subList(0, a.size()));
			List<About> y = about(b, slot.groups.subList(a.size(), a.size() + b.size()));
			Map<String, About> before = usual(x, a.size());
			Map<String, About> after = usual(y, b.size());
			List<String> gone = new ArrayList<>(before.keySet());
			gone.removeAll(after.keySet());
			List<String> come = new ArrayList<>(after.keySet());
			come.removeAll(before.keySet());
			before.keySet().stream().filter(after::containsKey).forEach(rule -> add(slot, before.get(rule), after.get(rule), x, y));
			// one that is there in the place of another one
			for (int i = 0; i < Math.max(gone.size(), come.size()); i++) {
				add(slot, i < gone.size() ? before.get(gone.get(i)) : null, i < come.size() ? after.get(come.get(i)) : null, x, y);
			}
		}
		findings.sort(Comparator.comparing(FindingDiff::state)
				.thenComparingDouble(f -> -(f.finding().severity().ordinal() + f.finding().weight())).thenComparing(FindingDiff::structure));
	}

	private void add(Matching.Slot slot, About before, About after, List<About> inBefore, List<About> inAfter) {
		int inA = with(inBefore, before == null ? after : before);
		int inB = with(inAfter, after == null ? before : after);
		findings.add(change(slot, before, after, inAfter, inA, inB));
	}

	private static List<About> about(List<Run> runs, List<GroupFacts> groups) {
		List<About> all = new ArrayList<>();
		for (int r = 0; r < runs.size(); r++) {
			GroupFacts g = groups.get(r);
			if (g == null) {
				continue;
			}
			for (Finding f : runs.get(r).advisor().findings()) {
				if (f.structures().contains(g.structures.get(0))) {
					all.add(new About(runs.get(r), g, f));
				}
			}
		}
		return all;
	}

	/** By rule, the findings that more than half of the runs have, the main one first. */
	private static Map<String, About> usual(List<About> all, int runs) {
		Map<String, List<About>> byRule = all.stream().collect(Collectors.groupingBy(f -> f.finding().rule(), LinkedHashMap::new,
				Collectors.toList()));
		byRule.values().removeIf(l -> 2 * l.size() <= runs);
		Map<String, About> usual = new LinkedHashMap<>();
		byRule.forEach((rule, l) -> usual.put(rule, l.get(0)));
		return usual;
	}

	private static int with(List<About> all, About finding) {
		return (int) all.stream().filter(f -> f.finding().rule().equals(finding.finding().rule())).count();
	}

	private FindingDiff change(Matching.Slot slot, About before, About after, List<About> inAfter, int inA, int inB) {
		String name = name(slot);
		if (before == null) {
			return new FindingDiff(FindingDiff.State.NEW, name, null, after.finding(), inA, inB, after.finding().evidence(), false, false);
		}
		if (after == null) {
			String[] why = new String[1];
			boolean gone = whyGone(slot, before, inAfter, why);
			String but = !gone || !verdict.isSlower() ? "" : (verdict.isTested() ? "; but the program is slower: " : "; but these runs need more: ")
					+ verdict.more();
			return new FindingDiff(FindingDiff.State.GONE, name, before.finding(), null, inA, inB, why[0] + but, gone,
					gone && !verdict.isSlower());
		}
		boolean other = !before.finding().rule().equals(after.finding().rule());
		String text = other ? "was " + before.finding().title() + ", now " + after.finding().title() + ": " + after.finding().evidence()
				: after.finding().evidence();
		return new FindingDiff(other ? FindingDiff.State.CHANGED : FindingDiff.State.SAME, name, before.finding(), after.finding(), inA, inB,
				text, false, false);
	}

	/** The conditions of a rule that held before and do not hold after, with their values. */
	private boolean whyGone(Matching.Slot slot, About before, List<About> inAfter, String[] why) {
		Set<Run> still = inAfter.stream().filter(f -> f.finding().rule().equals(before.finding().rule())).map(About::run)
				.collect(Collectors.toSet());
		int r = 0;
		while (r < b.size() && (slot.groups.get(a.size() + r) == null || still.contains(b.get(r)))) {
			r++;
		}
		if (r == b.size()) {
			why[0] = "there is no such structure any more";
			return false;
		}
		TraceFacts facts = b.get(r).facts();
		GroupFacts group = slot.groups.get(a.size() + r);
		Rule rule = before.run().advisor().rules().stream().filter(x -> x.id().equals(before.finding().rule())).findAny().orElseThrow();
		if (!rule.concerns(group, facts, thresholds)) {
			why[0] = "the rule is not about it any more: it is used too little, or not after its first interval";
			return false;
		}
		List<Check> now = rule.checks(group, facts, thresholds);
		List<Check> then = rule.checks(before.group(), before.run().facts(), thresholds);
		List<String> changed = new ArrayList<>();
		for (int i = 0; i < now.size() && i < then.size(); i++) {
			if (!now.get(i).holds() && changed.size() < MOST_CHECKS) {
				changed.add(now.get(i).text() + ": " + now.get(i).shown(then.get(i).value()) + " to " + now.get(i).shown(now.get(i).value())
						+ " (the rule wants " + now.get(i).need() + ")");
			}
		}
		why[0] = changed.isEmpty() ? "another rule names the cause now" : String.join("; ", changed);
		return !changed.isEmpty();
	}

	// what is not the same

	private void warn() {
		if (!isSameProgram()) {
			warnings.add("the programs have other names: " + join(programs(a)) + " and " + join(programs(b))
					+ "; they are compared as builds of one program");
		}
		if (counts == null) {
			warnings.add("reads and writes count different things (" + join(units(a)) + " and " + join(units(b)) + ") and are not compared");
		}
		differ("machines", i -> i.host());
		differ("processors", i -> i.properties().getOrDefault("cpu_model", ""));
		differ("numbers of CPUs", i -> Integer.toString(i.cpus()));
		differ("numbers of NUMA nodes", i -> i.properties().getOrDefault("numa_nodes", ""));
		differ("operating systems", TraceInfo::operatingSystem);
		differ("page sizes", i -> Integer.toString(i.pageSizeBytes()));
		differ("backends", i -> i.properties().getOrDefault("backend", ""));
		differ("numbers of subphases", i -> i.properties().getOrDefault("parameter_subphases", ""));
		differ("arguments", i -> i.properties().getOrDefault("command", "").replaceFirst("^\\S+\\s*", ""));
		settings(TraceInfo.PROPERTY_SETTING, "kernel settings ");
		settings(TraceInfo.PROPERTY_ENVIRONMENT, "values of ");
		double x = Samples.median(a.stream().mapToDouble(r -> r.facts().intervalNs()).toArray());
		double y = Samples.median(b.stream().mapToDouble(r -> r.facts().intervalNs()).toArray());
		if (Math.max(x, y) > OTHER_INTERVAL * Math.min(x, y)) {
			TraceInfo info = a.get(0).facts().info();
			warnings.add("the intervals differ: " + Units.duration(info, x) + " and "
					+ Units.duration(info, y) + "; shares of (page, interval) pairs grow with their length");
		}
		Set<Integer> teamA = a.stream().map(r -> r.facts().team().length).collect(Collectors.toCollection(LinkedHashSet::new));
		Set<Integer> teamB = b.stream().map(r -> r.facts().team().length).collect(Collectors.toCollection(LinkedHashSet::new));
		if (!teamA.equals(teamB)) {
			warnings.add("the numbers of threads that work differ: " + join(teamA) + " and " + join(teamB));
		}
		for (Run r : all()) {
			if (r.facts().lost() > 0) {
				warnings.add(r.label() + " lost " + Words.count(r.facts().lost(), r.facts().info().counts().noun()));
			}
		}
		for (Run r : all()) {
			if (!r.facts().info().windows().isEmpty()) {
				warnings.add(r.label() + ": " + r.facts().info().windows());
			}
		}
		for (Run r : all()) {
			if (!TraceSummary.unseen(r.facts().info()).isEmpty()) {
				warnings.add(r.label() + ": " + TraceSummary.unseen(r.facts().info()));
			}
			if (!TraceSummary.unreached(r.facts().info()).isEmpty()) {
				warnings.add(r.label() + ": " + TraceSummary.unreached(r.facts().info()));
			}
		}
		for (Run r : all()) {
			if (r.facts().numbers().most() < 5) {
				warnings.add(r.label() + " has only " + Words.count(r.facts().numbers().most(), "interval"));
			}
		}
	}

	/** What properties with a common begin say; one that is not there is told, too, if the other side says anything of its kind. */
	private void settings(String begin, String what) {
		Set<String> keys = new TreeSet<>();
		all().forEach(r -> r.facts().info().properties().keySet().stream().filter(k -> k.startsWith(begin) && !VARYING.contains(k))
				.forEach(keys::add));
		boolean environment = begin.equals(TraceInfo.PROPERTY_ENVIRONMENT);
		for (String key : keys) {
			differ(what + key.substring(begin.length()), i -> i.properties().getOrDefault(key,
					environment && i.properties().keySet().stream().anyMatch(k -> k.startsWith(TraceInfo.PROPERTY_SETTING)) ? "(not set)" : ""));
		}
	}

	private List<Run> all() {
		List<Run> all = new ArrayList<>(a);
		all.addAll(b);
		return all;
	}

	private static Set<String> units(List<Run> runs) {
		return runs.stream().map(r -> r.facts().info().counts().plural()).collect(Collectors.toCollection(LinkedHashSet::new));
	}

	private static String join(Set<?> values) {
		return values.stream().map(Object::toString).collect(Collectors.joining(", "));
	}

	private void differ(String what, Function<TraceInfo, String> of) {
		Set<String> x = a.stream().map(r -> of.apply(r.facts().info())).filter(s ->
				!s.isEmpty()).collect(Collectors.toCollection(LinkedHashSet::new));
		Set<String> y = b.stream().map(r -> of.apply(r.facts().info())).filter(s ->
				!s.isEmpty()).collect(Collectors.toCollection(LinkedHashSet::new));
		if (!x.equals(y) && !x.isEmpty() && !y.isEmpty()) {
			warnings.add("the " + what + " differ: " + join(x) + " and " + join(y));
		}
	}
}
