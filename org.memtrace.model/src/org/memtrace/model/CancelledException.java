// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

/** The user asked to stop. Not an error: callers leave everything as it was before the operation. */
public final class CancelledException extends MemtraceException {
	private static final long serialVersionUID = 1L;

	public CancelledException() {
		super("cancelled");
	}
}
