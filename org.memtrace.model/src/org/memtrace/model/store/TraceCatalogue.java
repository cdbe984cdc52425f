// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;

/**
 * A directory of trace databases with its System DB (FrameSoc's catalogue), or a database of a server that has both. Several processes may
 * have the same catalogue open.
 */
public interface TraceCatalogue extends AutoCloseable {
	/** Where it is; null for a catalogue in memory or on a server. */
	Path directory();

	/** Where it is; null for a catalogue in memory. */
	default CataloguePlace place() {
		return directory() == null ? null : CataloguePlace.of(directory());
	}

	/** All traces, by id. */
	List<TraceInfo> list() throws MemtraceException;

	/**
	 * Starts a new trace.
	 *
	 * @param databaseName wanted name of the trace database; made unique by the catalogue
	 */
	TraceWriter create(String databaseName) throws MemtraceException;

	/** Starts several traces that appear together. */
	TraceGroup group() throws MemtraceException;

	/**
	 * Takes a copy of a trace database into the catalogue: one that was made without a catalogue, or came from another one or
	 * from FrameSoc. The file stays as it is.
	 */
	TraceInfo add(Path database, Progress progress) throws MemtraceException;

	/**
	 * Takes a copy of a trace of another catalogue, which may be in another kind of database, with its notes, its display name and its
	 * properties. Rows are counted and checksums compared before it becomes visible.
	 *
	 * @param trace open, of any catalogue but one in memory
	 */
	TraceInfo add(TraceStore trace, Progress progress) throws MemtraceException;

	/** Size of the database of a trace; empty when it is missing. */
	OptionalLong databaseBytes(TraceInfo trace) throws MemtraceException;

	/** Opens a trace for reading. */
	TraceStore open(int traceId) throws MemtraceException;

	void delete(int traceId) throws MemtraceException;

	/** Changes the display name. */
	void rename(int traceId, String alias) throws MemtraceException;

	/** Changes the free text about a trace. */
	void describe(int traceId, String description) throws MemtraceException;

	/**
	 * Gives a trace a property, or changes the one of that name.
	 *
	 * @param value null takes the property away
	 */
	void setProperty(int traceId, String name, String value) throws MemtraceException;

	/** Finds a trace by number, database name or unique display name. */
	TraceInfo find(String nameOrId) throws MemtraceException;

	@Override
	void close();
}
