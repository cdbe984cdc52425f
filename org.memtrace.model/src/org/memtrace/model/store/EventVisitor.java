// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

import org.memtrace.model.MemtraceException;

/** Receives events in batches, on the thread that asked for them. */
@FunctionalInterface
public interface EventVisitor {
	void visit(EventBatch batch) throws MemtraceException;
}
