// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import java.nio.file.Path;
import java.util.List;

/**
 * A directory of trace databases with its System DB (FrameSoc's catalogue). Several processes may have the same
 * catalogue open.
 */
public interface TraceCatalogue extends AutoCloseable {
	/** Where it is; null for a catalogue in memory. */
	Path directory();

	/** All traces, by id. */
	List<TraceInfo> list() throws MemtraceException;

	/**
	 * Starts a new trace.
	 *
	 * @param databaseName wanted name of the trace database; made unique by the catalogue
	 */
	TraceWriter create(String databaseName) throws MemtraceException;

	/** Opens a trace for reading. */
	TraceStore open(int traceId) throws MemtraceException;

	void delete(int traceId) throws MemtraceException;

	/** Changes the display name. */
	void rename(int traceId, String alias) throws MemtraceException;

	/** Finds a trace by number, database name or unique display name. */
	TraceInfo find(String nameOrId) throws MemtraceException;

	@Override
	void close();
}
