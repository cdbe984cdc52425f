// Copyright memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

/** The database cannot do what was asked: not there, not ours, locked, full. */
public final class StoreException extends MemtraceException {
	private static final long serialVersionUID = 1L;

	public StoreException(String message) {
		super(message);
	}

	public StoreException(String message, Throwable cause) {
		super(message, cause);
	}
}
