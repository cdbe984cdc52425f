// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.analysis.source.TickShares;
import org.memtrace.analysis.text.Lines;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.ThreadTimes;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Ticks.Mode;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.RankNames;

/** The lines that a summary and a report begin with: what ran, where its time went, the first finding, its place, what is not known. */
public final class FirstLines {
	private static final int STRUCTURES = 2;
	private static final double SMALLEST = 0.01;
	private static final String INDENT = "           ";

	private final Advisor advisor;
	private final TraceInfo info;
	private final TickShares shares;
	private final RankNames names;
	private final String losses;

	/** What a line is about, and what it says. */
	public record Line(String head, String text) {
	}

	/**
	 * Those of a trace.
	 *
	 * @param losses what makes it less than exact, a sentence; empty without
	 */
	public static List<Line> of(TraceStore store, Advisor advisor, String losses) throws MemtraceException {
		return new FirstLines(advisor, TickShares.of(store), RankNames.of(store.producers(), store.structures()), losses).lines();
	}

	FirstLines(Advisor advisor, TickShares shares, RankNames names, String losses) {
		this.names = names;
		this.losses = losses;
		this.advisor = advisor;
		this.shares = shares;
		info = advisor.facts().info();
	}

	private List<Line> lines() {
		return List.of(new Line("Ran", ran()), new Line("Spent", spent()), new Line("First", first()), new Line("Where", where()),
				new Line("Not known", unknown()));
	}

	String text() {
		StringBuilder b = new StringBuilder();
		for (Line l : lines()) {
			Lines.wrap(b, String.format("%-11s", l.head()) + l.text(), INDENT);
		}
		return b.append('\n').toString();
	}

	private String ran() {
		ThreadTimes cpu = advisor.facts().cpu();
		long used = 0;
		int known = 0;
		int threads = advisor.facts().threads().size();
		for (int i = 0; i < threads; i++) {
			used += Math.max(0, cpu.total(i));
			known += cpu.total(i) >= 0 ? 1 : 0;
		}
		return info.alias() + " for " + Units.duration(info, info.durationNs()) + " with " + Words.count(threads, "thread")
				+ (known == 0 ? "" : "; " + (known == threads ? "they" : known + " of them") + " used "
						+ Units.duration(info, used) + " of CPU time, with the recorder's part");
	}

	/** The same numbers as in the section "Time". */
	private String spent() {
		if (shares.userTicks() < TickShares.ENOUGH) {
			return "not known where its time went: " + (shares.isEmpty() ? "there are no ticks" : "there are too few ticks");
		}
		List<String> parts = new ArrayList<>();
		shares.structures().stream().filter(s -> s.cpuNs() > SMALLEST * shares.userNs()).limit(STRUCTURES)
				.forEach(s -> parts.add(shares.share(s.ticks(), s.cpuNs()) + " at accesses to " + names.shown(s.structure())));
		if (shares.withoutMemoryNs() > 0) {
			parts.add(Units.percent(100.0 * shares.withoutMemoryNs() / shares.userNs()) + " computing");
		}
		return Units.duration(info, shares.userNs()) + " in its own code" + (parts.isEmpty() ? "" : " (" + String.join(", ", parts) + ")") + "; "
				+ Units.duration(info, shares.kernelNs(Mode.FAULT)) + " in page faults, with those of the recorder; "
				+ Units.duration(info, shares.kernelNs(Mode.CALL)) + " in system calls";
	}

	private String first() {
		if (!advisor.findings().isEmpty()) {
			Finding f = advisor.findings().get(0);
			return f.name() + ": " + f.title() + ", " + f.worth();
		}
		return advisor.small().isEmpty() ? "no rule holds" : "nothing costs 1 % of the run or more here; "
				+ Words.count(advisor.small().size(), "finding") + " would be small: memtrace advise --all";
	}

	/** The place of the first finding; without one the place that needs most time. */
	private String where() {
		Finding f = advisor.findings().isEmpty() ? null : advisor.findings().get(0);
		TickShares.Share share = shares.userTicks() < TickShares.ENOUGH ? null : shares.structures().stream()
				.filter(s -> s.cpuNs() > 0 && (f == null || f.structures().contains(s.structure().id()))).findFirst().orElse(null);
		String hottest = share == null || share.hottest() == null ? "" : share.hottest().where();
		if (f == null) {
			return hottest.isEmpty() ? "no place is known" : hottest + " needs most time at one structure, " + names.shown(share.structure());
		}
		List<String> places = new ArrayList<>();
		String most = !hottest.isEmpty() ? hottest : f.used() == null ? "" : f.used().toString();
		String does = hottest.isEmpty() ? " uses it most" : " needs most of the time at it";
		String writes = f.firstWritten() == null ? "" : f.firstWritten().toString();
		if (!most.isEmpty()) {
			places.add(most + does + (line(most).equals(line(writes)) ? " and writes it first" : ""));
		}
		if (!writes.isEmpty() && !line(most).equals(line(writes))) {
			places.add(writes + " writes it first");
		}
		advisor.facts().groups().stream().filter(g -> places.isEmpty() && !g.site.isEmpty() && f.structures().contains(g.structures.get(0)))
				.findFirst().ifPresent(g -> places.add("it is made at " + g.site));
		return places.isEmpty() ? "the place in the source is not known (was it compiled with -g?)" : String.join("; ", places);
	}

	/** Of a place its file and line, since ticks have the whole name of a function and accesses a short one. */
	private static String line(String place) {
		return place.endsWith(")") ? place.substring(place.lastIndexOf('(')) : place;
	}

	/** Threads that live and use no CPU time wait; a trace does not tell for what. */
	private String waited() {
		long lived = 0;
		long used = 0;
		for (int i = 0; i < advisor.facts().threads().size(); i++) {
			ThreadInfo t = advisor.facts().threads().get(i);
			long cpu = advisor.facts().cpu().total(i);
			if (cpu < 0) {
				return "how long threads waited for locks, files or a CPU";
			}
			used += cpu;
			long end = Math.min(t.deathNs(), advisor.facts().numbers().endNs(t.image()));
			lived += Math.max(0, Math.min(end, info.endNs()) - Math.max(t.birthNs(), info.startNs()));
		}
		return lived <= used ? "" : "for what threads waited (locks, files, a CPU) in the other " + Units.duration(info, lived - used)
				+ " that they lived, summed";
	}

	private String unknown() {
		List<String> all = new ArrayList<>();
		if (!advisor.notPriced().isEmpty()) {
			all.add("what findings cost: " + advisor.notPriced());
		} else if (!advisor.findings().isEmpty() && !advisor.findings().get(0).price().isKnown()) {
			all.add("what the first finding costs: " + advisor.findings().get(0).price().why());
		}
		all.add(waited());
		all.add(losses);
		String text = all.stream().filter(t -> !t.isEmpty()).collect(Collectors.joining("; "));
		return text.isEmpty() ? "nothing that it could tell" : text;
	}
}
