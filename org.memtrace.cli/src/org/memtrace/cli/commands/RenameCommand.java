// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.model.store.TraceCatalogue;

/** {@code memtrace rename}. */
public final class RenameCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		try (TraceCatalogue catalogue = TraceArgument.catalogue(args, console)) {
			catalogue.rename(catalogue.find(args.argument(0)).id(), args.argument(1));
		}
		return ExitCode.OK;
	}
}
