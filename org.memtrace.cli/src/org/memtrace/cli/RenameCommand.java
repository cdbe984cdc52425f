// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli;

import org.memtrace.model.TraceCatalogue;

/** {@code memtrace rename}. */
final class RenameCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		try (TraceCatalogue catalogue = TraceArgument.catalogue(args, console)) {
			catalogue.rename(catalogue.find(args.argument(0)).id(), args.argument(1));
		}
		return ExitCode.OK;
	}
}
