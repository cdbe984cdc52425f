// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.memtrace.analysis.experiment.ExperimentPlan;
import org.memtrace.analysis.experiment.ExperimentRunner;
import org.memtrace.analysis.experiment.Explanation;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.importer.record.Installation;

/** {@code memtrace experiment}. */
public final class ExperimentCommand implements Command {
	/** With --explain: a question has no complete answer, as of {@code memtrace info --explain}. */
	private static final int UNANSWERED = 1;

	@Override
	public int run(CommandLine args, Console console) throws Exception {
		Path given = TraceArgument.path(args.argument(0));
		if (given == null) {
			throw new UsageException("'" + args.argument(0) + "' cannot be the name of a file");
		}
		boolean begun = Files.isDirectory(given);
		if (args.has("explain")) {
			Explanation explanation = new Explanation(given);
			console.out().print(explanation.text());
			explanation.missing().forEach(m -> console.err().println("memtrace experiment: " + m));
			return explanation.missing().isEmpty() ? ExitCode.OK : UNANSWERED;
		}
		Path file = begun ? given.resolve("plan.toml") : given;
		ExperimentPlan plan = ExperimentPlan.read(file);
		if (args.has("dry-run")) {
			List<Map<String, String>> configurations = plan.configurations();
			for (ExperimentPlan.Run run : plan.schedule()) {
				console.out().println(run.number() + "\t" + ExperimentPlan.label(configurations.get(run.configuration())) + "\trepetition "
						+ run.repetition());
			}
			return ExitCode.OK;
		}
		if (begun && !args.has("report")) {
			throw new UsageException(given + " is a folder: give the plan to go on, or --report to make its report again");
		}
		Path folder = args.has("output") ? args.getPath("output") : begun ? given : Path.of(plan.name() + ".experiment");
		ExperimentRunner runner = new ExperimentRunner(plan, folder, Installation.find("").launcher(), console::hint);
		if (args.has("report")) {
			if (!Files.isDirectory(folder.resolve("runs"))) {
				throw new UsageException(folder + " is not the folder of an experiment");
			}
			runner.report();
			console.hint("wrote " + folder.resolve("report.html"));
			return ExitCode.OK;
		}
		runner.prepare(file);
		int left = runner.run(args.has("runs") ? (int) args.getInt("runs") : Integer.MAX_VALUE, console.progress());
		console.hint(left > 0 ? left + " runs are left; the same command goes on" : "all runs are done");
		console.hint("report: " + folder.resolve("report.html"));
		return ExitCode.OK;
	}
}
