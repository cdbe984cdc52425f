// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.placement;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.memtrace.analysis.placement.Placement.Figures;
import org.memtrace.analysis.placement.Placement.Part;
import org.memtrace.analysis.placement.Placement.Phase;
import org.memtrace.analysis.placement.Placement.Share;
import org.memtrace.analysis.text.Lines;
import org.memtrace.analysis.text.TextColumns;
import org.memtrace.analysis.text.Units;

/** A placement for people, and as a table for programs. */
public final class PlacementText {
	private static final int NAME = 36;
	/** Nodes whose load has a column. */
	private static final int MOST_LOADS = 8;
	/** Ways that are told. */
	private static final int WAYS = 3;

	private PlacementText() {
	}

	/**
	 * Everything, for a person.
	 *
	 * @param structures number of structures that are shown
	 */
	public static String text(Placement p, int structures) {
		StringBuilder b = new StringBuilder();
		PlacementMachine m = p.machine();
		b.append(m.topology().summary()).append(" (").append(m.topology().origin()).append(")\n");
		b.append(m.rule()).append('\n');
		b.append("Cost of an access: ").append(m.costs()).append("; 1.00 is the nearest memory.\n");
		p.notes().forEach(n -> b.append(n).append('\n'));
		b.append('\n').append(p.verdict()).append("\n\n");
		policies(b, p);
		structures(b.append('\n'), p, structures);
		if (p.phases() > 1 && m.nodes() > 1) {
			phases(b.append('\n'), p);
		}
		ways(b, p);
		return b.toString();
	}

	private static void policies(StringBuilder b, Placement p) {
		int nodes = Math.min(MOST_LOADS, p.machine().nodes());
		List<String[]> rows = new ArrayList<>();
		List<String> head = new ArrayList<>(List.of("policy", "remote", "interval", "cost", "interval", "imbalance"));
		for (int n = 0; n < nodes; n++) {
			head.add("node " + p.machine().osNode(n));
		}
		head.add("width of the interval");
		rows.add(head.toArray(new String[0]));
		for (Figures f : p.policies()) {
			List<String> row = new ArrayList<>(List.of(f.policy().title(), percent(f.remote().remote()), interval(f.remote()),
					Placement.cost(f.cost()),
					Placement.cost(f.costLeast()) + " .. " + Placement.cost(f.costMost()), Placement.cost(f.imbalance())));
			for (int n = 0; n < nodes; n++) {
				row.add(percent(f.load()[n] / p.accesses()));
			}
			row.add((f.remote().most() - f.remote().least() < 5e-4 ? "-" : f.remote().basis().text())
					+ (f.extraBytes() > 0 ? "; " + Units.bytes(f.extraBytes()) + " more memory" : ""));
			rows.add(row.toArray(new String[0]));
		}
		TextColumns.columns(b, rows, "lrrrrr" + "r".repeat(nodes) + "l");
	}

	private static void structures(StringBuilder b, Placement p, int most) {
		List<String[]> rows = new ArrayList<>();
		rows.add(new String[] {"structure", "share", "pages", "first touch", "interval", "best", "remote", "interval", "imbalance", ""});
		for (Part part : p.parts().subList(0, Math.min(most, p.parts().size()))) {
			Figures now = part.of(Policy.Kind.FIRST_TOUCH);
			Figures best = part.best();
			rows.add(new String[] {TextColumns.cut(part.name(), NAME), percent(part.accesses() / p.accesses()), Long.toString(part.pages()),
				percent(now.remote().remote()), interval(now.remote()), best.policy().title(), percent(best.remote().remote()), interval(best.remote()),
				Placement.cost(best.imbalance()), part.undecided() ? "undecided" : ""});
		}
		TextColumns.columns(b, rows, "lrrrrlrrrl");
		if (p.parts().size() > most) {
			b.append(Units.plural(p.parts().size() - most, "smaller structure")).append(" not shown (--rows).\n");
		}
	}

	private static void phases(StringBuilder b, Placement p) {
		List<String[]> rows = new ArrayList<>();
		String[] head = new String[p.phases() + 1];
		head[0] = "remote (imbalance) by time";
		for (int k = 0; k < p.phases(); k++) {
			double length = (double) p.facts().info().durationNs() / p.phases();
			head[k + 1] = Units.duration(p.facts().info(), k * length) + " - " + Units.duration(p.facts().info(), (k + 1) * length);
		}
		rows.add(head);
		for (Figures f : p.policies()) {
			String[] row = new String[p.phases() + 1];
			row[0] = f.policy().title();
			for (int k = 0; k < p.phases(); k++) {
				Phase phase = f.phases().get(k);
				row[k + 1] = phase.accesses() == 0 ? "-" : percent(phase.remote()) + " (" + Placement.cost(phase.imbalance()) + ")";
			}
			rows.add(row);
		}
		TextColumns.columns(b, rows, "l" + "r".repeat(p.phases()));
	}

	private static void ways(StringBuilder b, Placement p) {
		int number = 0;
		Set<String> told = new HashSet<>();
		for (PlacementAdvice.Way way : PlacementAdvice.of(p, WAYS)) {
			Figures f = way.figures();
			b.append('\n').append(++number).append(". ").append(f.policy().title()).append(": ").append(percent(f.remote().remote()))
					.append(" remote, cost ").append(Placement.cost(f.cost())).append(", imbalance ").append(Placement.cost(f.imbalance())).append('\n');
			if (!way.command().isEmpty()) {
				b.append("   ").append(way.command()).append('\n');
			}
			for (PlacementAdvice.Step s : way.steps()) {
				b.append("   ").append(s.part().name()).append(": ").append(s.policy().title())
						.append(s.part().undecided() && f.policy().kind() == Policy.Kind.MIXTURE ? " (undecided)" : "").append('\n');
				if (told.add(s.fix())) {
					Lines.wrap(b, "      " + s.fix(), "      ");
				} else {
					b.append("      as above\n");
				}
			}
			if (way.left() > 0) {
				b.append("   ").append(Units.plural(way.left(), "structure")).append(" with less to gain.\n");
			}
		}
	}

	private static String interval(Share s) {
		return Double.isNaN(s.remote()) || s.most() - s.least() >= 5e-4 ? percent(s.least()) + " .. " + percent(s.most()) : "";
	}

	/** One decimal everywhere: these numbers stand below each other. */
	private static String percent(double share) {
		return Double.isNaN(share) ? "-" : String.format(Locale.ROOT, "%.1f %%", Math.max(0, 100 * share));
	}

	/** A row for each structure and policy, and for the whole trace, in all of the time and in each phase. */
	public static String csv(Placement p) {
		StringBuilder b = new StringBuilder(
				"structure,site,policy,best,phase,accesses,remote,remote_least,remote_most,basis,cost,cost_least,cost_most,imbalance,extra_bytes");
		for (int n = 0; n < p.machine().nodes(); n++) {
			b.append(",load_node_").append(p.machine().osNode(n));
		}
		b.append('\n');
		for (Figures f : p.policies()) {
			rows(b, "", "", p.accesses(), f, f.equals(p.ranking().get(0)));
		}
		for (Part part : p.parts()) {
			for (Figures f : part.figures()) {
				rows(b, part.name(), part.facts() == null ? "" : part.facts().site, part.accesses(), f, f.equals(part.best()));
			}
		}
		return b.toString();
	}

	private static void rows(StringBuilder b, String name, String site, double accesses, Figures f, boolean best) {
		String begin = quoted(name) + "," + quoted(site) + "," + f.policy().id() + "," + (best ? "yes" : "no") + ",";
		b.append(begin).append("all,").append(number(accesses));
		for (double v : new double[] {f.remote().remote(), f.remote().least(), f.remote().most()}) {
			b.append(',').append(number(v));
		}
		b.append(',').append(f.remote().basis().name().toLowerCase(Locale.ROOT));
		for (double v : new double[] {f.cost(), f.costLeast(), f.costMost(), f.imbalance(), f.extraBytes()}) {
			b.append(',').append(number(v));
		}
		for (double l : f.load()) {
			b.append(',').append(number(l));
		}
		b.append('\n');
		for (int k = 0; k < f.phases().size(); k++) {
			Phase phase = f.phases().get(k);
			b.append(begin).append(k);
			for (double v : new double[] {phase.accesses(), phase.remote(), phase.least(), phase.most()}) {
				b.append(',').append(number(v));
			}
			b.append(",,,,,").append(number(phase.imbalance())).append(",".repeat(1 + f.load().length)).append('\n');
		}
	}

	private static String quoted(String s) {
		return s.matches("[^\",\r\n]*") ? s : '"' + s.replace("\"", "\"\"") + '"';
	}

	/** Nothing for what is not known. */
	private static String number(double v) {
		return Double.isNaN(v) || Double.isInfinite(v) ? "" : v == Math.rint(v) && Math.abs(v) < 1e15 ? Long.toString((long) v)
				: String.format(Locale.ROOT, "%.6g", v);
	}
}
