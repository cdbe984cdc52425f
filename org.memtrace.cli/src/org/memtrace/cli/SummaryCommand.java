// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.EventSummary;
import org.memtrace.analysis.StructureTable;
import org.memtrace.analysis.TraceSummary;
import org.memtrace.model.TraceStore;

/** {@code memtrace summary TRACE}. */
final class SummaryCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		try (TraceStore opened = TraceArgument.open(args.argument(0), console)) {
			TraceStore store = TraceArgument.tree(opened, args);
			boolean csv = args.get("format").equals("csv");
			if (store.accessCount() == 0) {
				EventSummary events = EventSummary.of(AccessOptions.events(args, store, console.progress()), console.progress());
				console.out().print(csv ? events.toCsv() : events.text());
				return ExitCode.OK;
			}
			AccessTable table = AccessOptions.table(args, store, console.progress());
			StructureTable structures = StructureTable.of(table, store.structures(), console.progress());
			console.out().print(csv ? structures.toCsv() : new TraceSummary(structures).text());
		}
		return ExitCode.OK;
	}
}
