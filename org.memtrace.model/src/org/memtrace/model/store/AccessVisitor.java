// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

import org.memtrace.model.MemtraceException;

/** Receives accesses in batches, on the thread that asked for them. */
@FunctionalInterface
public interface AccessVisitor {
	void visit(AccessBatch batch) throws MemtraceException;

	/** Whether it would rather have the first rows soon than all of them as fast as can be: it stops after a few, or shows them. */
	default boolean early() {
		return false;
	}

	/** A visitor that wants the first rows soon. */
	static AccessVisitor early(AccessVisitor visitor) {
		return new AccessVisitor() {
			@Override
			public void visit(AccessBatch batch) throws MemtraceException {
				visitor.visit(batch);
			}

			@Override
			public boolean early() {
				return true;
			}
		};
	}
}
