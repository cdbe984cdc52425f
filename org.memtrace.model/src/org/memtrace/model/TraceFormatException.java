// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

/** An input file is not what it should be. */
public final class TraceFormatException extends MemtraceException {
	private static final long serialVersionUID = 1L;
	private final String file;
	private final long line;

	/**
	 * @param file the file as the user knows it
	 * @param line line number from 1, or 0 when the whole file is meant
	 * @param reason the rest of the sentence, without a full stop
	 */
	public TraceFormatException(String file, long line, String reason) {
		super(line > 0 ? file + ", line " + line + ": " + reason : file + ": " + reason);
		this.file = file;
		this.line = line;
	}

	public String file() {
		return file;
	}

	public long line() {
		return line;
	}
}
