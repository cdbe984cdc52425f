// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.analysis.text.Lines;
import org.memtrace.analysis.text.Units;

/** A comparison as text for a terminal. */
public final class DiffText {
	/** Share of the pages or places from which on another first touch is told. */
	private static final double LEAST_MOVED = 0.05;
	private static final int STRIP = 32;
	private static final String DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";

	private DiffText() {
	}

	/** All of it. */
	public static String text(TraceDiff d, List<FailIf.Outcome> outcomes) {
		StringBuilder b = new StringBuilder();
		head(b, d);
		b.append("\nFindings\n");
		if (d.findings().isEmpty()) {
			b.append("  none, before and after\n");
		}
		for (FindingDiff f : d.findings()) {
			Lines.wrap(b, "  " + sentence(f, d), "    ");
		}
		b.append("\nWhole run\n");
		d.whole().forEach(c -> line(b, c, "  "));
		Lines.wrap(b, "  " + statistics(d), "  ");
		if (!counting(d).isEmpty()) {
			Lines.wrap(b, "  " + counting(d), "  ");
		}
		b.append("\nStructures\n");
		List<StructureDiff> shown = d.relevant();
		for (StructureDiff s : shown) {
			structure(b, s, d);
		}
		int rest = d.structures().size() - shown.size();
		if (rest > 0) {
			Lines.wrap(b, "  " + Words.count(rest, "small structure") + " with less than 1 % of what was recorded and of the pages: --format json has them", "  ");
		}
		if (!d.regions().isEmpty()) {
			b.append("\nRegions of the program\n");
			d.regions().forEach(r -> region(b, r));
			Lines.wrap(b, "  --by region,structure tells what each structure did in each of them.", "  ");
		}
		outcomes(b, outcomes);
		return b.toString();
	}

	/**
	 * The comparison by region.
	 *
	 * @param name the only region that is told, null: all
	 * @param structures whether the structures in each region are told, too
	 */
	public static String regions(TraceDiff d, String name, boolean structures, List<FailIf.Outcome> outcomes) {
		StringBuilder b = new StringBuilder();
		head(b, d);
		b.append("\nRegions of the program\n");
		for (RegionDiff r : d.regions()) {
			if (name != null && !r.name().equals(name)) {
				continue;
			}
			region(b, r);
			for (StructureDiff s : structures ? r.relevant() : List.<StructureDiff>of()) {
				StringBuilder of = new StringBuilder();
				structure(of, s, d);
				b.append(of.toString().replaceAll("(?m)^(?=.)", "  "));
			}
		}
		Lines.wrap(b, "  " + statistics(d), "  ");
		outcomes(b, outcomes);
		return b.toString();
	}

	private static void head(StringBuilder b, TraceDiff d) {
		Lines.wrap(b, labels(d.before()) + " (" + Words.count(d.before().size(), "run") + ") -> " + labels(d.after()) + " ("
				+ Words.count(d.after().size(), "run") + "): " + String.join(", ", TraceDiff.programs(d.after())), "  ");
		b.append('\n');
		d.verdict().sentences().forEach(s -> Lines.wrap(b, s, "  "));
		if (!d.warnings().isEmpty()) {
			b.append("\nWarnings\n");
			d.warnings().forEach(w -> Lines.wrap(b, "  * " + Character.toUpperCase(w.charAt(0)) + w.substring(1) + ".", "    "));
		}
	}

	private static void outcomes(StringBuilder b, List<FailIf.Outcome> outcomes) {
		b.append('\n');
		for (FailIf.Outcome o : outcomes) {
			Lines.wrap(b, (o.failed() ? "FAILED " : "passed ") + "--fail-if '" + o.condition().text() + "': " + o.reason() + ".", "  ");
		}
	}

	private static void region(StringBuilder b, RegionDiff r) {
		b.append("  ").append(r.name()).append(r.inA() == 0 ? ": new" : r.inB() == 0 ? ": gone" : "").append('\n');
		r.comparisons().forEach(c -> line(b, c, "    "));
	}

	/** A region in one sentence: its time, and what happened to the data of the program in it. */
	public static String sentence(RegionDiff r) {
		List<String> parts = new ArrayList<>();
		for (Comparison c : r.comparisons()) {
			parts.add(c.metric().id() + " " + value(c.metric(), c.before()) + " to " + value(c.metric(), c.after()));
		}
		return "In " + r.name() + ": " + (r.inA() == 0 ? "it is new" : r.inB() == 0 ? "it is gone" : String.join(", ", parts)) + ".";
	}

	private static String labels(List<Run> runs) {
		return runs.size() <= 2 ? runs.stream().map(Run::label).collect(Collectors.joining(", "))
				: runs.get(0).label() + " … " + runs.get(runs.size() - 1).label();
	}

	/** What became of a finding, as a sentence. */
	static String sentence(FindingDiff f, TraceDiff d) {
		String head = String.format(Locale.ROOT, "%-8s", f.state().id()) + f.structure() + ": " + f.finding().title();
		boolean several = d.before().size() > 1 || d.after().size() > 1;
		String seen = several ? " (in " + f.inA() + " of " + d.before().size() + " runs before, " + f.inB() + " of " + d.after().size()
				+ " after)" : "";
		return head + seen + ". " + (f.worked() ? "The advice worked: " : f.state() == FindingDiff.State.GONE ? "It is gone: " : "") + f.text()
				+ ".";
	}

	/**
	 * What a comparison says first, as sentences: whether time and CPU time changed, what became of the findings, and of each structure whose
	 * first touch has changed who touches it first now. At least one.
	 */
	public static List<String> sentences(TraceDiff d) {
		List<String> all = new ArrayList<>(d.verdict().sentences());
		int times = all.size();
		d.findings().forEach(f -> all.add(sentence(f, d).replaceFirst("\\s+", ": ")));
		if (all.size() == times) {
			all.add("No finding, before and after.");
		}
		for (StructureDiff s : d.relevant()) {
			String moved = firstTouch(s, d);
			if (!moved.isEmpty()) {
				all.add(moved);
			}
		}
		return all;
	}

	/** Who touches a structure first, before and after, when that is not the same; empty otherwise. */
	public static String firstTouch(StructureDiff s, TraceDiff d) {
		if (s.before() == null || s.after() == null) {
			return "";
		}
		double moved = 0;
		for (int r = 0; r < d.roles().size(); r++) {
			moved += Math.abs(s.after().firstTouch()[r] - s.before().firstTouch()[r]) / 2;
		}
		return moved < LEAST_MOVED && !(s.movedPlaces() >= LEAST_MOVED) ? "" : s.name() + ": first touched by "
				+ shares(s.before().firstTouch(), d) + " before, by " + shares(s.after().firstTouch(), d) + " now.";
	}

	/** What the numbers can say. */
	static String statistics(TraceDiff d) {
		int least = Math.min(d.before().size(), d.after().size());
		if (least == 1 && d.before().size() == d.after().size()) {
			return "One run each: how much runs differ by chance is not known, so no number is called better or worse (memtrace record --repeat 5).";
		}
		return least < Comparison.RUNS ? "Medians. Four runs on each side are needed for p < 0.05 (there are " + d.before().size() + " and "
				+ d.after().size() + "), so no number is called better or worse."
				: "Medians; 95 % intervals of their difference by bootstrap; p of the exact rank sum test, corrected for the number of comparisons (Holm).";
	}

	/** What the numbers of reads and writes are; empty where they are those of the program. */
	static String counting(TraceDiff d) {
		return d.counts() == null || d.counts().isExact() ? "" : "Reads and writes are counted " + d.counts().plural()
				+ ": how many there are depends on the number and length of the intervals, too.";
	}

	private static void structure(StringBuilder b, StructureDiff s, TraceDiff d) {
		Lines.wrap(b, "  " + s.name() + " (" + s.origin() + ")" + (s.inA() == 0 ? ": new" : s.inB() == 0 ? ": gone" : s.how().isEmpty() ? ""
				: ", matched " + s.how()), "    ");
		s.comparisons().forEach(c -> line(b, c, "    "));
		if (s.before() != null && s.after() != null) {
			Lines.wrap(b, "    first touched by  " + shares(s.before().firstTouch(), d) + "  ->  " + shares(s.after().firstTouch(), d), "        ");
			Lines.wrap(b, "    used mostly by    " + shares(s.before().mainUse(), d) + "  ->  " + shares(s.after().mainUse(), d), "        ");
			if (!Double.isNaN(s.movedPlaces())) {
				b.append("    first touch along the block  ").append(strip(s.before().firstPlaces())).append(" -> ")
						.append(strip(s.after().firstPlaces()))
						.append('\n');
				b.append("    main user along the block    ").append(strip(s.before().mainPlaces())).append(" -> ")
						.append(strip(s.after().mainPlaces())).append('\n');
			}
		}
	}

	/** Roles with their shares, the largest first. */
	static String shares(double[] shares, TraceDiff d) {
		List<Integer> order = IntStream.range(0, shares.length).boxed().filter(i -> shares[i] >= 0.005)
				.sorted(Comparator.comparingDouble((Integer i) -> -shares[i])).toList();
		List<String> parts = new ArrayList<>();
		for (int i = 0; i < Math.min(4, order.size()); i++) {
			parts.add(d.roles().get(order.get(i)) + " " + Words.percent(shares[order.get(i)]));
		}
		return parts.isEmpty() ? "nobody that is known" : String.join(", ", parts) + (order.size() > 4 ? ", …" : "");
	}

	private static String strip(int[] places) {
		StringBuilder b = new StringBuilder();
		for (int i = 0; i < STRIP; i++) {
			int role = places[i * places.length / STRIP];
			b.append(role < 0 ? '.' : role < DIGITS.length() ? DIGITS.charAt(role) : '+');
		}
		return b.toString();
	}

	private static void line(StringBuilder b, Comparison c, String indent) {
		StringBuilder end = new StringBuilder();
		if (c.interval() != null) {
			end.append("  [").append(difference(c.metric(), c.interval()[0])).append(", ").append(difference(c.metric(),
					c.interval()[1])).append(']');
		}
		if (c.isTested()) {
			end.append(String.format(Locale.ROOT, "  p %.3f%s", c.p(), c.isSignificant() ? "" : "  ~"));
		}
		b.append(String.format(Locale.ROOT, "%s%-12s %12s -> %-12s %s%s%n", indent, c.metric().id(), value(c.metric(), c.before()),
				value(c.metric(), c.after()), change(c), end));
	}

	/** A value with its unit. */
	static String value(Metric m, double v) {
		return switch (m.kind()) {
		case NS -> Units.duration(v);
		case SHARE -> Words.percent(v);
		case NUMBER -> v == Math.rint(v) ? String.format(Locale.ROOT, "%,d", (long) v) : Words.ratio(v);
		};
	}

	/** A change with its sign. */
	static String change(Comparison c) {
		return Double.isInfinite(c.change()) ? "from nothing"
				: String.format(Locale.ROOT, "%+.1f %s", 100 * c.change(), c.metric().kind() == Metric.Kind.SHARE ? "points" : "%");
	}

	static String difference(Metric m, double v) {
		String sign = v < 0 ? "-" : "+";
		return sign + (m.kind() == Metric.Kind.SHARE ? String.format(Locale.ROOT, "%.1f", 100 * Math.abs(v)) : value(m, Math.abs(v)));
	}
}
