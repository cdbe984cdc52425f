// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

import java.util.List;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;

/**
 * Several new traces that become visible together or not at all, whatever happens to the process. {@link TraceWriter#commit} completes
 * one of them, {@link #publish} shows all that were completed; without it {@link #close} leaves no trace of the attempt. Used by one
 * thread.
 */
public interface TraceGroup extends AutoCloseable {
	/** Starts a new trace, as {@link TraceCatalogue#create} does. */
	TraceWriter create(String databaseName) throws MemtraceException;

	/**
	 * Opens a trace that nobody else sees yet.
	 *
	 * @param index of the completed traces
	 */
	TraceStore open(int index) throws MemtraceException;

	/**
	 * Makes the completed traces visible; every store and writer of the group has to be closed.
	 *
	 * @return the traces as the catalogue now knows them, in the order in which they were completed
	 */
	List<TraceInfo> publish() throws MemtraceException;

	@Override
	void close();
}
