// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.columns;

import java.util.BitSet;
import java.util.List;
import java.util.Set;

import org.memtrace.model.MemtraceException;

/**
 * The accesses of a trace whose other tables are elsewhere, by their number: rows are in the order of
 * {@link org.memtrace.model.store.AccessBatch#id}. All methods may be called from any thread.
 */
public interface AccessRows extends AutoCloseable {
	/** Where they are, for messages. */
	String name();

	/** Number of rows. */
	long rows();

	/** The sets of CPUs of the trace; told before the first {@link #read}. */
	void cpuSets(List<BitSet> sets);

	/**
	 * Reads columns of some rows that follow each other. The places of first read and first write come together: of a row that reads, the one
	 * address that is known is that of the read.
	 *
	 * @param from number of the first row
	 * @param wanted columns to be filled in
	 * @param into has room for the rows and as many times; gets nothing but these columns and, with {@link AccessColumn#TIME}, the times
	 */
	void read(long from, int count, Set<AccessColumn> wanted, AccessChunk into) throws MemtraceException;

	@Override
	void close();
}
