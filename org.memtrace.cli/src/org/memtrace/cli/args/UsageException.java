// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.args;

import org.memtrace.model.MemtraceException;

/** The command line is wrong; ends the program with {@link ExitCode#USAGE}. */
public final class UsageException extends MemtraceException {
	private static final long serialVersionUID = 1L;

	public UsageException(String message) {
		super(message);
	}
}
