// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

/** Something went wrong that a user can understand; the message is one sentence and names the file or object. */
public class MemtraceException extends Exception {
	private static final long serialVersionUID = 1L;

	public MemtraceException(String message) {
		super(message);
	}

	public MemtraceException(String message, Throwable cause) {
		super(message, cause);
	}
}
