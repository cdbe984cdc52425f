// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;

/**
 * A trace that can be looked at; it is opened when somebody looks.
 *
 * @param name what a person calls it
 * @param opener opens it for reading; the server closes it
 */
public record Source(String name, Opener opener) {
	/** Opens a trace, on any thread. */
	@FunctionalInterface
	public interface Opener {
		TraceStore open() throws MemtraceException;
	}
}
