// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.util.List;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.findings.AdviceText;
import org.memtrace.analysis.findings.Advisor;
import org.memtrace.analysis.findings.EventSummary;
import org.memtrace.analysis.findings.TraceSummary;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.analysis.pattern.PatternText;
import org.memtrace.analysis.pattern.Patterns;
import org.memtrace.analysis.table.StructureTable;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.options.AccessOptions;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.model.store.TraceStore;

/** {@code memtrace summary TRACE}. */
public final class SummaryCommand implements Command {
	/** As many findings are told. */
	private static final int FINDINGS = 3;

	@Override
	public int run(CommandLine args, Console console) throws Exception {
		try (TraceStore opened = TraceArgument.open(args.argument(0), console)) {
			TraceStore store = TraceArgument.tree(opened, args);
			boolean csv = args.get("format").equals("csv");
			if (store.accessCount() == 0) {
				EventSummary events = EventSummary.of(AccessOptions.events(args, store, console), console.progress());
				console.out().print(args.isJson() ? Json.text(Json.of("memtrace.event-summary/1", events.toJson())) + "\n"
						: csv ? events.toCsv() : events.text());
				return ExitCode.OK;
			}
			AccessTable table = AccessOptions.table(args, store, console);
			StructureTable structures = StructureTable.of(table, store.structures(), console.progress());
			if (csv) {
				console.out().print(structures.toCsv());
				return ExitCode.OK;
			}
			Patterns.Pass patterns = args.isJson() ? null : new Patterns.Pass(table);
			Advisor advisor = args.get("filter") == null && store == opened
					? Advisor.of(store, store.accessSource(console.progress()), Thresholds.STANDARD, console.progress(),
							patterns == null ? List.of() : List.of(patterns)) : null;
			if (args.isJson()) {
				console.out().println(Json.text(Json.of("memtrace.summary/1", new TraceSummary(structures).toJson(advisor))));
				return ExitCode.OK;
			}
			console.out().print(new TraceSummary(structures).text(advisor));
			if (advisor != null) {
				console.out().print(PatternText.brief(table, patterns.patterns()));
				console.out().print(AdviceText.brief(advisor, FINDINGS));
			}
		}
		return ExitCode.OK;
	}
}
