// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

import org.memtrace.analysis.findings.facts.CloseFacts;
import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;

/** Several threads write different words of one cache line. Spec: insight.md 3.2, rule 1. */
public final class FalseSharing implements Rule {
	/** Fewer words of a large structure with two samples prove nothing. */
	private static final int WORDS = 16;
	/** Threads, and bytes of each, that are named. */
	private static final int SHOWN = 4;

	@Override
	public String id() {
		return "false-sharing";
	}

	@Override
	public String title() {
		return "false sharing";
	}

	@Override
	public Severity severity() {
		return Severity.HIGH;
	}

	@Override
	public Set<String> covers() {
		// who shares the pages shares these lines; and what an element looks like follows from them
		return Set.of("page-shared", "all-to-all", "ping-pong", "small-shared", "hot-page", "column-sweep", "padding");
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t, Thresholds th) {
		return Groups.isData(g) && g.parts > 0 && (t.hasOffsets() || g.close != null);
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		if (g.close != null) {
			return List.of(Check.atLeast("lines that pass to and fro between threads that use different words, of which one writes, of the close look",
					g.close.falselySharedLines(), 1));
		}
		double lasting = Math.max(th.get(Threshold.LASTING_LEAST), th.get(Threshold.LASTING) * Math.max(1, g.intervals.cardinality()));
		double lines = g.lines == 0 ? 0 : (double) g.apartLines / g.lines;
		// a line of a large structure has few samples: there the lines together are the proof, and that no word is common
		boolean small = g.parts <= th.get(Threshold.FALSE_PAGES);
		// lists of elements that are each divided have borders anywhere: the threads are mostly elsewhere
		double records = g.lineRecords == 0 ? 0 : (double) g.apartRecords / g.lineRecords;
		boolean sure = small && g.falselySharedLines > 0;
		double words = sure || g.words == 0 ? 0 : (double) g.sharedWords / g.words;
		String borders = g.borderLines == 0 ? "" : ", but for " + g.borderLines + " at borders of parts";
		return List.of(Check.atLeast("lines that two threads or more write in different words" + (small ? ", each twice or more" : "") + borders,
				small ? g.falselySharedLines : g.apartLines, 1),
				Check.atLeast(sure ? "share of its samples that are in these lines" : "share of its lines", sure ? records : lines,
						th.get(Threshold.FALSE_LINES)),
				Check.atLeast("intervals in which it is shared and written", g.sharedIntervals.cardinality(), lasting),
				Check.atLeast("words with two samples or more (any number for a small structure)", sure ? g.words + WORDS : g.words, WORDS),
				Check.atMost("share of its words that several threads use", words, th.get(Threshold.FALSE_WORDS)).counter());
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		return g.close != null ? seenClosely(g, t) : seenInPassing(g, t);
	}

	/** What record --zoom saw: all uses of a line, not only the first ones of an interval. */
	private static Statement seenClosely(GroupFacts g, TraceFacts t) {
		CloseFacts close = g.close;
		// beside several writers readers only wait as these do
		boolean several = close.writers().size() > 1;
		String who = who(close.writers(), "writes", g, t) + (several ? "" : "; " + who(close.readers(), "reads", g, t));
		String what = several ? Words.count(close.writers().size(), "thread") + " write different words of one 64-byte line"
				: "one thread writes in a 64-byte line beside what " + (close.readers().size() == 1 ? "another one reads"
						: close.readers().size() + " others read");
		Statement s = new Statement(what + " (line 0x"
				+ Long.toHexString(close.lineOffset()) + " of " + g.label + ": " + who + "); a close look saw it go from one thread to another "
				+ String.format(Locale.ROOT, "%,d", close.handOvers()) + " times in " + Words.duration(t, close.lastedNs()) + ", a lower bound; "
				+ Words.count(close.falselySharedLines(), "such line") + " of " + close.lines() + " with samples",
				"give the data of each thread a cache line of its own")
				.fix(Fix.align(g, t, places(g, t))).view("sharing").figure("lines", close.falselySharedLines()).figure("lines_sampled", close.lines())
				.figure("line_address", g.worst.address).figure("hand_overs", close.handOvers()).figure("line_samples", g.worst.samples)
				.leaves(g.falseLeaves.stream()).sharedTime();
		close.writers().forEach(w -> s.thread(w.thread()));
		if (!several) {
			close.readers().forEach(r -> s.thread(r.thread()));
		}
		return s;
	}

	private static String who(List<CloseFacts.User> users, String how, GroupFacts g, TraceFacts t) {
		StringBuilder who = new StringBuilder();
		for (CloseFacts.User w : users.subList(0, Math.min(SHOWN, users.size()))) {
			who.append(who.isEmpty() ? "" : "; ").append(t.thread(w.thread())).append(' ').append(how)
					.append(w.offsets().size() == 1 ? " at byte " : " at bytes ")
					.append(w.offsets().stream().limit(SHOWN).map(String::valueOf).collect(Collectors.joining(", ")))
					.append(w.offsets().size() > SHOWN ? ", …" : "").append(MemberPlace.of(g, t, g.worst.address + w.offsets().get(0))
							.map(p -> ": " + p.expression()).orElse(""));
		}
		return who + (users.size() > SHOWN ? "; …" : "");
	}

	private static Statement seenInPassing(GroupFacts g, TraceFacts t) {
		GroupFacts.Line line = g.worst;
		StringBuilder who = new StringBuilder();
		Statement[] s = new Statement[1];
		int shown = 0;
		for (int w = line.writers.nextSetBit(0); w >= 0; w = line.writers.nextSetBit(w + 1)) {
			who.append(shown++ == 0 ? "" : "; ").append(t.thread(w)).append(" at byte ").append(line.offset[w])
					.append(MemberPlace.of(g, t, line.address + line.offset[w]).map(p -> ": " + p.expression()
							+ (p.member() == null ? "" : ", offset " + p.offset() + " of " + g.elementType)).orElse(""));
			if (shown == 4 && line.writers.cardinality() > 4) {
				who.append("; …");
				break;
			}
		}
		s[0] = new Statement(Words.count(line.writers.cardinality(), "thread") + " write different words of one 64-byte line (" + who + "); "
				+ Words.count(g.apartLines, "such line") + " of " + g.lines + " with samples, in " + g.sharedIntervals.cardinality() + " of "
				+ Words.count(t.intervals(g), "interval") + "; threads are seen to enter this line about " + Math.round(perSecond(g, t))
				+ " times a second while it is used, a lower bound: at most once for each thread in a part of an interval", "give the data of each thread a cache line of its own")
				.fix(Fix.align(g, t, places(g, t))).view("sharing").figure("lines", g.apartLines).figure("lines_sampled", g.lines)
				.figure("intervals", g.sharedIntervals.cardinality()).figure("line_address", line.address)
				.figure("line_records_per_second", perSecond(g, t))
				.leaves(g.falseLeaves.stream()).sharedTime();
		line.writers.stream().forEach(s[0]::thread);
		return s[0];
	}

	/** How often a thread is seen to enter the worst line, in the intervals in which the structure is used: a lower bound. */
	private static double perSecond(GroupFacts g, TraceFacts t) {
		return g.worst.records * 1e9 / Math.max(1, t.lengthNs(g.intervals));
	}

	/** What the writers of the worst line use of it, as far as it has names. */
	private static List<MemberPlace> places(GroupFacts g, TraceFacts t) {
		return g.worst.writers.stream().mapToObj(w -> MemberPlace.of(g, t, g.worst.address + g.worst.offset[w]))
				.flatMap(Optional::stream).toList();
	}
}
