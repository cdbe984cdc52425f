// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.placement;

import java.util.ArrayList;
import java.util.List;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.ProgramCommand;
import org.memtrace.analysis.findings.rules.Fix;
import org.memtrace.analysis.placement.Placement.Figures;
import org.memtrace.analysis.placement.Placement.Part;

/** What to type, or to change, to get the pages where a policy has them. */
final class PlacementAdvice {
	private static final int MOST_STRUCTURES = 5;
	/** What a change saves at least, as a share of what all accesses cost near memory. */
	private static final double LEAST_GAIN = 0.005;

	/**
	 * A way to a better placement.
	 *
	 * @param figures the policy with its figures
	 * @param command how the program is started, empty when that does not change
	 * @param steps changes of the program, those that gain most first
	 * @param left structures with gains that are not among the steps
	 */
	record Way(Figures figures, String command, List<Step> steps, int left) {
	}

	/**
	 * A change for one structure.
	 *
	 * @param part the structure
	 * @param policy the policy for it
	 * @param saved cost that it saves, in accesses to near memory
	 * @param fix what to change: whole sentences
	 */
	record Step(Part part, Policy policy, double saved, String fix) {
	}

	/** How much more even the load of a structure becomes, and its share of all accesses, for a change that saves nothing else. */
	private static final double EVENS = 0.25;
	private static final double LEAST_SHARE = 0.05;

	private PlacementAdvice() {
	}

	/** The best few policies that are cheaper than what the program does; empty when there is none. */
	static List<Way> of(Placement p, int most) {
		Figures now = p.of(Policy.Kind.FIRST_TOUCH);
		List<Way> ways = new ArrayList<>();
		if (p.machine().nodes() < 2) {
			return ways;
		}
		for (Figures f : p.ranking()) {
			// the best of each structure may be the same policy for all
			boolean known = ways.stream().anyMatch(w -> Math.abs(w.figures.cost() - f.cost()) < 1e-9 && f.cost() > 0);
			if (ways.size() < most && !known && f.cost() < now.cost() * (1 - Placement.TOLERANCE)) {
				ways.add(way(p, f));
			}
		}
		return ways;
	}

	private static Way way(Placement p, Figures f) {
		Policy.Kind kind = f.policy().kind();
		String command = command(p, kind == Policy.Kind.MIXTURE ? p.rest() : f.policy());
		List<Step> steps = new ArrayList<>();
		double total = 0;
		for (Part part : p.parts()) {
			Figures chosen = kind == Policy.Kind.MIXTURE ? part.best() : part.of(kind);
			Figures now = part.of(Policy.Kind.FIRST_TOUCH);
			if (!part.movable() || chosen == null || f.policy().isForProcess()) {
				continue;
			}
			// in the mixture whatever differs from the policy of the process needs a change
			boolean asRest = kind == Policy.Kind.MIXTURE && chosen.policy().equals(p.rest());
			double saved = (now.cost() - chosen.cost()) * part.accesses();
			boolean evens = chosen.imbalance() < now.imbalance() - EVENS && part.accesses() > LEAST_SHARE * p.accesses();
			if (!asRest && chosen.policy().kind() != Policy.Kind.FIRST_TOUCH && (saved > 0 || evens)) {
				steps.add(new Step(part, chosen.policy(), saved, fix(p, part.facts(), chosen.policy())));
				total += saved;
			}
		}
		steps.sort((a, b) -> Double.compare(b.saved(), a.saved()));
		double least = Math.max(0.01 * total, LEAST_GAIN * p.accesses());
		List<Step> kept = steps.stream().filter(s -> s.saved() >= least
				|| s.part().accesses() > LEAST_SHARE * p.accesses()).limit(MOST_STRUCTURES).toList();
		return new Way(f, command, kept, steps.size() - kept.size());
	}

	private static String command(Placement p, Policy policy) {
		String threads = switch (p.machine().binding()) {
		case RECORDED -> "";
		case SPREAD -> "OMP_PROC_BIND=spread OMP_PLACES=threads";
		case CLOSE -> "OMP_PROC_BIND=close OMP_PLACES=threads";
		};
		String pages = switch (policy.kind()) {
		case INTERLEAVE -> "numactl --interleave=all";
		case BIND -> "numactl --membind=" + p.machine().osNode(policy.node());
		default -> "";
		};
		String before = (threads + " " + pages).strip();
		return before.isEmpty() ? "" : ProgramCommand.with(before, p.facts().info().properties());
	}

	/** A command is for all memory of the program, so a step has words only. */
	private static String fix(Placement p, GroupFacts g, Policy policy) {
		Fix fix = switch (policy.kind()) {
		case INTERLEAVE -> Fix.interleave(g, p.facts());
		case BIND -> Fix.bind(g, p.machine().osNode(policy.node()));
		case REPLICATE -> Fix.copies(g, p.facts());
		default -> Fix.parallelInit(g, p.facts());
		};
		return fix.words();
	}
}
