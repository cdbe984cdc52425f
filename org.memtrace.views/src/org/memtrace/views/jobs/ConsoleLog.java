// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.jobs;

import java.io.PrintStream;
import java.nio.file.Path;

import org.eclipse.core.runtime.ILogListener;
import org.eclipse.core.runtime.IStatus;

/**
 * Tells the terminal of what goes wrong in one line each. Stack traces are for developers: they stand in the log, whose place is told once.
 * Safe for all threads.
 */
public final class ConsoleLog implements ILogListener {
	private final PrintStream out;
	private final Path log;
	private boolean toldPlace;

	/** @param log where all of it stands, null when not known */
	public ConsoleLog(PrintStream out, Path log) {
		this.out = out;
		this.log = log;
	}

	@Override
	public synchronized void logging(IStatus status, String plugin) {
		boolean ours = status.getPlugin().startsWith("org.memtrace");
		if (status.getSeverity() != IStatus.ERROR && !(ours && status.getSeverity() == IStatus.WARNING)) {
			return; // warnings of the platform are about itself
		}
		String message = status.getMessage() == null || status.getMessage().isBlank() ? "something failed" : status.getMessage().strip();
		String first = message.lines().findFirst().orElse(message);
		String details = log == null || toldPlace ? "" : " (details: " + log + ")";
		toldPlace |= log != null;
		out.println("memtrace: " + first + details);
	}
}
