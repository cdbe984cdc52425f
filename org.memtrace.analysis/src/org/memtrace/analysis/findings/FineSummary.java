// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import java.util.Comparator;
import java.util.List;

import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.fine.FineCounts;
import org.memtrace.model.fine.FineSeries;
import org.memtrace.model.fine.FineSeries.Point;
import org.memtrace.model.store.TraceStore;

/** How many pages are in use at a time, and whether that changes, by the fine clock of a recording. */
final class FineSummary {
	private final List<FineSeries> processes;

	private FineSummary(List<FineSeries> processes) {
		this.processes = processes;
	}

	/** Of a trace; one without a fine clock has no text. */
	static FineSummary of(TraceStore store) throws MemtraceException {
		byte[] note = store.readNote(FineCounts.NOTE).orElse(null);
		return new FineSummary(note == null ? List.of() : FineSeries.of(FineCounts.parse(note)));
	}

	/** Whether there is no fine clock. */
	boolean isEmpty() {
		return processes.isEmpty();
	}

	/** Lines that begin with {@code In use}: of the process with most bins. */
	String text() {
		FineSeries s = processes.stream().max(Comparator.comparingInt((FineSeries x) -> x.points().size())
				.thenComparing(Comparator.comparingInt(FineSeries::image).reversed())).orElse(null);
		if (s == null) {
			return "";
		}
		StringBuilder b = new StringBuilder("In use     ");
		if (s.points().isEmpty()) {
			return b.append("not known: the fine clock has no bin that is\n").toString();
		}
		b.append(pages(s.mean())).append(" pages (").append(pages(s.meanLow())).append(" to ").append(pages(s.meanHigh()))
				.append(") at a time, the mean of ").append(Units.plural(s.points().size(), "bin")).append(" of the fine clock");
		if (processes.size() > 1) {
			b.append(" in the process with most of them");
		}
		if (s.notKnown() > 0) {
			b.append("; ").append(Units.plural(s.notKnown(), "bin")).append(s.notKnown() == 1 ? " is" : " are").append(" not known");
		}
		return b.append('\n').append("           ").append(course(s)).append('\n').toString();
	}

	private static String course(FineSeries s) {
		Point least = s.points().stream().min(Comparator.comparingDouble(Point::value)).orElseThrow();
		Point most = s.points().stream().max(Comparator.comparingDouble(Point::value)).orElseThrow();
		return switch (s.course()) {
		case STEADY -> "steady: nearly all bins may have the same number, within 10 %";
		case CHANGES -> "it changes: from " + interval(least) + " to " + interval(most) + " pages";
		case NOT_KNOWN -> "too few bins to say whether it changes";
		};
	}

	private static String interval(Point p) {
		String low = pages(p.low());
		String high = pages(p.high());
		return low.equals(high) ? low : low + ".." + high;
	}

	private static String pages(double pages) {
		return Units.count(Math.round(pages));
	}
}
