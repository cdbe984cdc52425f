// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import org.memtrace.model.MemtraceException;

/** A statement that is wrong, or that cannot be answered within its limits: one sentence for the person who wrote it. */
public final class SqlException extends MemtraceException {
	private static final long serialVersionUID = 1L;

	SqlException(String sentence, Throwable cause) {
		super(sentence, cause);
	}
}
