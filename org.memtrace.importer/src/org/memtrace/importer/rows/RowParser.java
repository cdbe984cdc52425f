// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.rows;

import java.io.IOException;
import java.io.InputStream;
import java.util.function.LongSupplier;

import org.memtrace.importer.input.InputFormat;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.model.MemtraceException;

/**
 * Makes rows of files with accesses, of one process image: what a format of accesses brings with it. docs/extend/input-format.md is the
 * guide. One thread calls it, which is not the one that takes the rows.
 */
public interface RowParser {
	/** Takes full batches and returns the next one to fill; null for the first one. */
	interface Sink {
		RowBatch accept(RowBatch full) throws MemtraceException, InterruptedException;
	}

	/**
	 * What a parser works with.
	 *
	 * @param cpuSets numbers of the sets of CPUs in the rows
	 * @param skips counts what cannot be used
	 * @param pageShift of the page size
	 * @param clockShiftNs to be added to all times
	 */
	record Context(CpuSets cpuSets, SkipCounter skips, int pageShift, long clockShiftNs, Sink sink) {
	}

	/** Makes the parser of an image. */
	@FunctionalInterface
	interface Factory {
		RowParser create(Context context) throws MemtraceException, InterruptedException;
	}

	/**
	 * Parses one file; called for each file of the image.
	 *
	 * @param name the file as the user knows it
	 * @param format what the file is
	 * @param consumed asked for the bytes of the file that were read, for the progress
	 */
	void parse(InputStream in, String name, InputFormat format, LongSupplier consumed)
			throws IOException, MemtraceException, InterruptedException;

	/** Hands on what is left; nothing is parsed after that. */
	void finish() throws MemtraceException, InterruptedException;

	/** Rows seen, used or not. */
	long rows();

	/** Rows that were not used. */
	long skipped();

	/** Rows that continue the one before in another segment of its time. */
	default long merged() {
		return 0;
	}

	/** Whether the pages of a file of segments came more than once. */
	default boolean pagesRepeated() {
		return false;
	}
}
