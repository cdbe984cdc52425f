// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.words;

import org.memtrace.model.MemtraceException;

/** Words that are wrong, or that mean nothing in a trace; the message says in a sentence what is there instead. */
public final class WordsException extends MemtraceException {
	private static final long serialVersionUID = 1L;

	WordsException(String message) {
		super(message);
	}
}
