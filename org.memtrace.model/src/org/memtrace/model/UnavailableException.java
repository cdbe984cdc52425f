// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

/** What was asked for needs something that is not on this machine, such as a library; the message says what to install. */
public final class UnavailableException extends MemtraceException {
	private static final long serialVersionUID = 1L;

	public UnavailableException(String message) {
		super(message);
	}
}
