// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

/** A trace does not tell what was asked for, and nothing is wrong: told where the answer would stand, and not logged. */
public final class NoAnswerException extends MemtraceException {
	private static final long serialVersionUID = 1L;

	public NoAnswerException(String message) {
		super(message);
	}
}
