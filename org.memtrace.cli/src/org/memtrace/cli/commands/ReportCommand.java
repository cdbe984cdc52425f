// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

import org.memtrace.analysis.export.OutputFile;
import org.memtrace.analysis.findings.Advisor;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.analysis.pattern.Patterns;
import org.memtrace.analysis.report.Report;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.options.AccessOptions;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;

/** {@code memtrace report TRACE}. */
public final class ReportCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		try (TraceStore store = TraceArgument.open(args.argument(0), console)) {
			if (store.accessCount() == 0) {
				throw new MemtraceException(store.info().alias() + " has no memory accesses: report is about the memory of a program");
			}
			Patterns.Pass patterns = new Patterns.Pass(AccessOptions.load(store, console));
			Advisor advisor = Advisor.of(store, store.accessSource(console.progress()), Thresholds.STANDARD, console.progress(), List.of(patterns));
			TraceFacts facts = advisor.facts();
			console.watch(facts::damaged);
			String html = Report.html(store, advisor, patterns.patterns(), MachineCommand.picture(store, console), (int) args.getInt("rows"),
					console.progress());
			Path output = args.getPath("output");
			Path file = output != null ? output : Path.of(facts.info().alias().replaceAll("[^\\w.-]+", "_") + ".html");
			if (output == null) {
				OutputFile.write(file, temporary -> Files.writeString(temporary, html));
			} else {
				OutputFile.write(file, temporary -> Files.writeString(temporary, html), StandardCopyOption.REPLACE_EXISTING);
			}
			console.hint(file + ": " + advisor.findings().size() + (advisor.findings().size() == 1 ? " finding, " : " findings, ")
					+ org.memtrace.analysis.text.Units.bytes(Files.size(file)));
		}
		return ExitCode.OK;
	}
}
