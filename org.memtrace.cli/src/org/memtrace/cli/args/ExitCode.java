// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.args;

import java.io.FileNotFoundException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.StoreException;
import org.memtrace.model.UnavailableException;

/** Exit codes by kind of error, the same as those of the native commands (collector/cli/base/exit.h). */
public final class ExitCode {
	public static final int OK = 0;
	/** A bug, no memory, disk full. */
	public static final int INTERNAL = 1;
	public static final int USAGE = 2;
	/** A file is missing or is not what it should be. */
	public static final int INPUT = 3;
	/** Not possible on this machine, or not permitted. */
	public static final int UNAVAILABLE = 4;
	public static final int CANCELLED = 5;
	/** What a shell shows for a program ended by SIGPIPE: the reader of the output went away. */
	public static final int BROKEN_PIPE = 141;

	private ExitCode() {
	}

	/** The code for what ended a command. */
	public static int of(Throwable t) {
		if (t instanceof UncheckedIOException e) {
			return of(e.getCause());
		}
		if (t instanceof UsageException) {
			return USAGE;
		}
		if (t instanceof CancelledException) {
			return CANCELLED;
		}
		if (t instanceof AccessDeniedException || t instanceof UnavailableException) {
			return UNAVAILABLE;
		}
		if (t instanceof StoreException s && s.isDeviceFull()) {
			return INTERNAL;
		}
		if (t instanceof MemtraceException || t instanceof NoSuchFileException || t instanceof FileNotFoundException
				|| t instanceof NotDirectoryException || t instanceof FileAlreadyExistsException) {
			return INPUT;
		}
		return INTERNAL;
	}

	/** One sentence for a person about what ended a command. */
	public static String sentence(Throwable t) {
		if (t instanceof UncheckedIOException e) {
			return sentence(e.getCause());
		}
		if (t instanceof NoSuchFileException e) {
			return e.getFile() + ": no such file";
		}
		if (t instanceof AccessDeniedException e) {
			return e.getFile() + ": permission denied";
		}
		if (t instanceof FileAlreadyExistsException e) {
			return e.getFile() + ": exists already";
		}
		if (t instanceof NotDirectoryException e) {
			return e.getFile() + ": not a directory";
		}
		if (t instanceof OutOfMemoryError) {
			return "not enough memory for the JVM (" + Runtime.getRuntime().maxMemory() / (1 << 20)
					+ " MiB); set MEMTRACE_VMARGS=-Xmx8g or more";
		}
		if (t instanceof MemtraceException || t instanceof java.io.IOException) {
			return t.getMessage() == null ? t.getClass().getSimpleName() : t.getMessage();
		}
		return "unexpected error, please report it: " + t + " (--stack-trace shows where)";
	}
}
