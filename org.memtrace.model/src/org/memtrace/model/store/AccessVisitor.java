// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

import org.memtrace.model.MemtraceException;

/** Receives accesses in batches, on the thread that asked for them. */
@FunctionalInterface
public interface AccessVisitor {
	void visit(AccessBatch batch) throws MemtraceException;
}
