// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import org.memtrace.model.MemtraceException;

/** A row that a table knows could not be read, where no checked exception can be thrown; its message is that of the cause. */
public final class ReadFailedException extends RuntimeException {
	private static final long serialVersionUID = 1L;

	public ReadFailedException(MemtraceException cause) {
		super(cause.getMessage(), cause);
	}
}
