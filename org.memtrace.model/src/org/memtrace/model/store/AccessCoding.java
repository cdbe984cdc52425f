// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

import java.nio.file.Path;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/**
 * Codes the accesses of some pages as a store does that has all of them, so that they can be coded on several machines and be added to
 * a trace as they are: {@link TraceWriter#coded}. What is coded together depends only on how many accesses each leaf of the tree has.
 */
public interface AccessCoding {
	/** Gets what was coded, in order. */
	interface Sink {
		void coded(byte[] bytes) throws MemtraceException;
	}

	/** Takes accesses as {@link TraceWriter#accesses} does, and codes them in the end. Used by one thread. */
	interface Coder extends AutoCloseable {
		void accesses(AccessBatch batch) throws MemtraceException;

		/** No more accesses come. */
		void finish(Sink sink, Progress progress) throws MemtraceException;

		@Override
		void close();
	}

	/**
	 * Where accesses can be divided.
	 *
	 * @param accesses of each leaf
	 * @return ascending: the first leaves of what is coded together; the first is 0
	 */
	int[] borders(int[] accesses);

	/**
	 * Codes the accesses between two borders.
	 *
	 * @param leafOfCell leaf of each cell
	 * @param leaves number after the largest leaf
	 * @param scratch directory for temporary data
	 */
	Coder coder(int[] leafOfCell, int leaves, Path scratch);
}
