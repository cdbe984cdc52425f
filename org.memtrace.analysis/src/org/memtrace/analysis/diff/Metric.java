// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.Arrays;
import java.util.function.ToDoubleFunction;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.model.memory.StructureKind;

/**
 * What is compared, of the whole run and of each structure. A value that does not exist is not a number. Of shares the difference counts in
 * percentage points, of all others relative to what it was.
 */
public enum Metric {
	TIME("time", "time of the run, or in a region", Kind.NS, true, t -> t.info().durationNs(), null),
	CPU("cpu", "CPU time of all threads", Kind.NS, true, Metric::cpu, null),
	IMBALANCE("imbalance", "busiest thread of the team divided by the mean, by CPU time", Kind.NUMBER, true, Metric::imbalance, null),
	HANDED_ON("handed-on", "pages that another thread uses than touched them first", Kind.SHARE, true,
			t -> ratio(t, g -> g.otherUser, g -> g.touchedParts), g -> share(g.otherUser, g.touchedParts)),
	SHARED("shared", "(page, interval) pairs that are shared and written", Kind.SHARE, true, t -> ratio(t, g -> g.sharedPairs, g -> g.pairs),
			g -> share(g.sharedPairs, g.pairs)),
	LINES("lines", "cache lines with several threads, of those with samples", Kind.SHARE, true,
			t -> t.hasOffsets() ? ratio(t, g -> g.sharedLines, g -> g.lines) : Double.NaN, g -> g.lines < 16 ? Double.NaN
			: share(g.sharedLines, g.lines)),
	FIRST_TOUCH("first-touch", "pages that one thread touches first", Kind.SHARE, false, t -> Double.NaN,
			g -> g.parts == 0 ? Double.NaN : g.firstTouchShare()),
	PAGES("pages", "pages that were touched, of each block", Kind.NUMBER, false, t -> t.parts(), g -> g.parts),
	READS("reads", "reads that were counted", Kind.NUMBER, false, t -> sum(t, g -> g.accesses - g.writes), g -> g.accesses - g.writes),
	WRITES("writes", "writes that were counted", Kind.NUMBER, false, t -> sum(t, g -> g.writes), g -> g.writes),
	/** Of regions only, as those below. */
	TIMES("times", "times that a region was entered", Kind.NUMBER, false, t -> Double.NaN, null),
	ACCESSES("accesses", "accesses in a region, of all accesses of the run", Kind.SHARE, false, t -> Double.NaN, null),
	NEW_PAGES("new-pages", "pages that were touched first in a region", Kind.NUMBER, false, t -> Double.NaN, null);

	/** How a value is written, and its difference. */
	public enum Kind {
		/** Nanoseconds. */
		NS,
		/** 0 to 1. */
		SHARE,
		/** Anything else. */
		NUMBER
	}

	private final String id;
	private final String title;
	private final Kind kind;
	private final boolean cost;
	private final ToDoubleFunction<TraceFacts> ofRun;
	private final ToDoubleFunction<GroupFacts> ofGroup;

	Metric(String id, String title, Kind kind, boolean cost, ToDoubleFunction<TraceFacts> ofRun, ToDoubleFunction<GroupFacts> ofGroup) {
		this.id = id;
		this.title = title;
		this.kind = kind;
		this.cost = cost;
		this.ofRun = ofRun;
		this.ofGroup = ofGroup;
	}

	/** Name for options and programs. */
	public String id() {
		return id;
	}

	/** What is counted. */
	public String title() {
		return title;
	}

	public Kind kind() {
		return kind;
	}

	/** Whether more of it is worse. */
	public boolean isCost() {
		return cost;
	}

	/** Whether it is a number of accesses, or of what stands for them ({@link org.memtrace.model.CountUnit}). */
	public boolean isCount() {
		return this == READS || this == WRITES;
	}

	/** Value of a whole run. */
	double of(TraceFacts t) {
		return ofRun.applyAsDouble(t);
	}

	/** Value of a structure; not a number for what only runs have. */
	double of(GroupFacts g) {
		return ofGroup == null ? Double.NaN : ofGroup.applyAsDouble(g);
	}

	/** Value of a region in a run, or of a structure in it. */
	double of(RegionUse run, RegionUse.Region region, RegionUse.Cell c) {
		boolean whole = c == region.data;
		return switch (this) {
		case TIME -> whole ? region.timeNs : Double.NaN;
		case TIMES -> whole ? region.times : Double.NaN;
		case ACCESSES -> run.accesses() == 0 ? Double.NaN : (whole ? region.accesses : c.reads + c.writes) / run.accesses();
		case HANDED_ON -> share(c.handedOn, c.latePages);
		case SHARED -> share(c.sharedPairs, c.pairs);
		case FIRST_TOUCH -> c.firstTouchShare();
		case NEW_PAGES -> c.touchedFirst();
		case PAGES -> c.pages;
		case READS -> c.reads;
		case WRITES -> c.writes;
		case CPU, IMBALANCE, LINES -> Double.NaN;
		};
	}

	/** Difference from a to b: percentage points of a share as 0 to 1, else relative to a; 0 when both are 0. */
	public double change(double a, double b) {
		return kind == Kind.SHARE ? b - a : a == b ? 0 : (b - a) / Math.abs(a);
	}

	private static double share(double n, double of) {
		return of == 0 ? Double.NaN : n / of;
	}

	/** Of the data of the program: not of its stacks and libraries. */
	private static double ratio(TraceFacts t, ToDoubleFunction<GroupFacts> n, ToDoubleFunction<GroupFacts> of) {
		double a = 0;
		double b = 0;
		for (GroupFacts g : t.groups()) {
			if (!g.library && g.kind != StructureKind.STACK) {
				a += n.applyAsDouble(g);
				b += of.applyAsDouble(g);
			}
		}
		return share(a, b);
	}

	private static double sum(TraceFacts t, ToDoubleFunction<GroupFacts> n) {
		return t.groups().stream().mapToDouble(n).sum();
	}

	private static double cpu(TraceFacts t) {
		double sum = 0;
		boolean known = false;
		for (int i = 0; i < t.threads().size(); i++) {
			sum += Math.max(0, t.cpu().total(i));
			known |= t.cpu().total(i) >= 0;
		}
		return known ? sum : Double.NaN;
	}

	private static double imbalance(TraceFacts t) {
		double[] cpu = Arrays.stream(t.team()).mapToDouble(i -> t.cpu().total(i)).toArray();
		double sum = Arrays.stream(cpu).sum();
		return cpu.length < 2 || Arrays.stream(cpu).anyMatch(c -> c < 0) || sum == 0 ? Double.NaN
				: Arrays.stream(cpu).max().getAsDouble() * cpu.length / sum;
	}
}
