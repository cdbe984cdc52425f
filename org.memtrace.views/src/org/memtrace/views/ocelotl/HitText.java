// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.ArrayList;
import java.util.List;

import org.memtrace.aggregation.AccessDetails;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.machine.MachineFilters;
import org.memtrace.analysis.overview.BlockInfo;
import org.memtrace.model.CallFrame;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.session.OpenTrace;

/** What the tooltip of a block says. Looks at the records below the block, so it is made in the background. */
final class HitText {
	private static final int MAX_FRAMES = 5;

	private HitText() {
	}

	/** Producer, time, types with shares, counts, threads; for a structure its size and call stack. */
	static String of(ShownPicture picture, ShownPicture.Hit hit, Progress progress) throws MemtraceException {
		OpenTrace trace = picture.trace();
		BlockInfo info = BlockInfo.of(picture.picture(), hit.what(), picture.names());
		AccessTable table = trace.accesses(picture.state().filters(), progress);
		if (hit.part() != null) {
			// not kept as the filters of the views are: the next block is another part
			table = MachineFilters.only(FilterSet.NONE, hit.part()).apply(table, trace.structures(), progress);
		}
		AccessDetails details = picture.rowsAreMemory()
				? BlockInfo.details(table, picture.picture(), hit.what(), hit.fromNs(), hit.toNs(), progress)
				: table.details(Math.max(0, hit.producer()), trace.producers().subtreeEnd(Math.max(0, hit.producer())), hit.fromNs(), hit.toNs(),
						progress);
		List<String> lines = new ArrayList<>(info.lines(trace.info(), details, trace.threads()));
		if (info.structure() != null && info.structure().stack() >= 0) {
			try (OpenTrace.Lease lease = trace.lease()) {
				lease.store().stack(info.structure().stack()).stream().limit(MAX_FRAMES)
						.forEach(f -> lines.add("    " + frame(f)));
			}
		}
		return String.join("\n", lines);
	}

	private static String frame(CallFrame f) {
		String function = f.function().isEmpty() ? "0x" + Long.toHexString(f.ip()) : f.function();
		String where = f.file().isEmpty() ? f.object().substring(f.object().lastIndexOf('/') + 1)
				: f.file().substring(f.file().lastIndexOf('/') + 1) + ":" + f.line();
		return where.isEmpty() ? function : function + "  " + where;
	}
}
