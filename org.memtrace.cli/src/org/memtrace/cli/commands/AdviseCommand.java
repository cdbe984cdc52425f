// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.util.List;
import java.util.stream.Collectors;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.findings.AdviceJson;
import org.memtrace.analysis.findings.AdviceText;
import org.memtrace.analysis.findings.Advisor;
import org.memtrace.analysis.findings.rules.Rule;
import org.memtrace.analysis.findings.rules.Rules;
import org.memtrace.analysis.findings.rules.Threshold;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.analysis.pattern.PatternJson;
import org.memtrace.analysis.pattern.PatternText;
import org.memtrace.analysis.pattern.Patterns;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;

/** {@code memtrace advise TRACE}. */
public final class AdviseCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		if (args.has("list-thresholds")) {
			for (Threshold t : Threshold.values()) {
				console.out().printf(java.util.Locale.ROOT, "%-24s %12s  %s%n", t.id(), new java.math.BigDecimal(t.standard()).stripTrailingZeros()
						.round(new java.math.MathContext(9)).toPlainString(), t.meaning());
			}
			return ExitCode.OK;
		}
		if (args.arguments().isEmpty()) {
			throw new UsageException("advise needs a trace");
		}
		Thresholds thresholds = Thresholds.STANDARD;
		for (String assignment : args.getAll("set")) {
			thresholds = thresholds.with(assignment);
		}
		List<Rule> explained = args.has("explain") ? rules(args.get("rule")) : List.of();
		if (args.get("rule") != null) {
			rules(args.get("rule"));
		}
		boolean json = args.get("format").equals("json");
		boolean several = args.arguments().size() > 1;
		String separator = json && several ? "[" : "";
		if (args.has("patterns") && (args.get("rule") != null || !args.getAll("set").isEmpty())) {
			throw new UsageException("--patterns asks no rules, so --rule and --set do not go with it");
		}
		for (String trace : args.arguments()) {
			console.out().print(separator);
			try (TraceStore store = TraceArgument.open(trace, console)) {
				if (store.accessCount() == 0) {
					throw new MemtraceException(store.info().alias() + " has no memory accesses: advise is about the memory of a program");
				}
				if (args.has("patterns")) {
					AccessTable table = AccessTable.load(store, console.progress());
					Patterns patterns = Patterns.of(table, console.progress());
					console.out().print(json ? PatternJson.json(table, patterns, args.has("explain")).stripTrailing()
							: PatternText.text(table, patterns, args.has("explain")));
					separator = json ? ",\n" : "\n";
					continue;
				}
				Advisor advisor = Advisor.of(store, store.accessSource(console.progress()), thresholds, console.progress());
				if (args.has("all")) {
					advisor = advisor.withSmall();
				}
				if (args.get("rule") != null) {
					advisor = advisor.only(args.get("rule"));
				}
				console.out().print(json ? AdviceJson.json(advisor, explained).stripTrailing()
						: explained.isEmpty() ? AdviceText.text(advisor) : AdviceText.explain(advisor, explained));
			}
			separator = json ? ",\n" : "\n";
		}
		if (json) {
			console.out().print(several ? "]\n" : "\n");
		}
		return ExitCode.OK;
	}

	/** The rule of this name, all of them for null. */
	private static List<Rule> rules(String id) throws MemtraceException {
		List<Rule> found = Rules.all().stream().filter(r -> id == null || r.id().equals(id)).toList();
		if (found.isEmpty()) {
			throw new MemtraceException("there is no rule '" + id + "'; there are "
					+ Rules.all().stream().map(Rule::id).collect(Collectors.joining(", ")));
		}
		return found;
	}
}
