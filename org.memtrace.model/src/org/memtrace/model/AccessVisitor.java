// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

/** Receives accesses in batches, on the thread that asked for them. */
@FunctionalInterface
public interface AccessVisitor {
	void visit(AccessBatch batch) throws MemtraceException;
}
