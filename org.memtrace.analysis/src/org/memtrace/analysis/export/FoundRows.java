// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.export;

import java.util.List;
import java.util.stream.Collectors;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.column.TraceTable;
import org.memtrace.analysis.column.TraceTable.RowVisitor;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.findings.Advisor;
import org.memtrace.analysis.findings.Finding;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.analysis.statistics.Footprint;
import org.memtrace.analysis.statistics.PageUse;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * The rows of the tables that no trace holds, but that a pass over its accesses finds: {@link TraceTable#PAGES}, {@link
 * TraceTable#FOOTPRINTS} and {@link TraceTable#FINDINGS}.
 */
public final class FoundRows {
	private FoundRows() {
	}

	/**
	 * Gives the rows of one of these tables; none for a trace without accesses.
	 *
	 * @param filter the accesses of which pages and footprints tell; findings are always about the whole trace
	 */
	public static void visit(TraceTable of, TraceStore store, AccessTable table, AccessFilter filter, RowVisitor visitor, Progress progress)
			throws MemtraceException {
		if (store.accessCount() == 0) {
			return;
		}
		if (of == TraceTable.PAGES) {
			pages(table, filter, visitor, progress);
		} else if (of == TraceTable.FOOTPRINTS) {
			Footprint.visit(table, filter, progress, (interval, s, bytes) -> visitor.row(interval.image(), interval.endNs(), s,
					known(table.structures().get(s).name()), bytes, interval.measured().residentBytes() < 0 ? null
							: interval.measured().residentBytes()));
		} else if (of == TraceTable.FINDINGS) {
			findings(Advisor.of(store, store.accessSource(progress), Thresholds.STANDARD, progress).findings(), visitor);
		} else {
			throw new IllegalArgumentException(of.name());
		}
	}

	private static void pages(AccessTable table, AccessFilter filter, RowVisitor visitor, Progress progress) throws MemtraceException {
		ProducerTree tree = table.producers();
		List<ThreadInfo> threads = table.threads();
		PageUse.visit(table, filter, progress, p -> visitor.row(p.producer(), tree.startAddress(p.producer()), tree.name(p.producer()),
				p.firstNs(), thread(threads, p.firstThread()), p.firstWriteNs() == Long.MAX_VALUE ? null : p.firstWriteNs(),
				thread(threads, p.firstWriter()), p.threads(), p.records(), p.reads(), p.writes(),
				p.sharing() == AccessBatch.SHARING_NOT_KNOWN ? null : p.sharing(), p.firstKnown() ? 1 : 0,
				p.firstWriteNs() == Long.MAX_VALUE ? null : p.firstWriteKnown() ? 1 : 0));
	}

	private static String thread(List<ThreadInfo> threads, int thread) {
		return thread < 0 ? null : ModelText.thread(threads, thread);
	}

	private static void findings(List<Finding> findings, RowVisitor visitor) throws MemtraceException {
		for (int i = 0; i < findings.size(); i++) {
			Finding f = findings.get(i);
			visitor.row(i, f.rule(), f.title(), f.severity().id(), ppm(f.price().share()), ppm(f.price().low()),
					ppm(f.price().high()), f.confidence().id(), Math.round(1e6 * f.weight()), list(f.names()),
					list(f.structures()), list(f.threads()), f.fromNs(), f.toNs(), f.leafFrom(), f.leafTo(), known(f.evidence()),
							known(f.advice()),
					known(f.fix().words()), known(f.fix().command()), known(f.fix().code()), known(f.check()), known(f.view()));
		}
	}

	private static Long ppm(double share) {
		return Double.isNaN(share) ? null : Math.round(1e6 * share);
	}

	private static String list(List<?> values) {
		return values.isEmpty() ? null : values.stream().map(Object::toString).collect(Collectors.joining(","));
	}

	private static String known(String text) {
		return text == null || text.isEmpty() ? null : text;
	}
}
