// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve.answer;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;

/** An open trace with what was made of it for those who asked. Safe for all threads. */
public final class AskedTrace implements AutoCloseable {
	final ServedTrace trace;
	final Pictures pictures;
	final Tables tables;
	final Charts charts;
	final Sources sources;

	/** Reads the small tables; the store is closed with this. */
	public AskedTrace(TraceStore store) throws MemtraceException {
		trace = new ServedTrace(store);
		pictures = new Pictures(trace);
		tables = new Tables(trace);
		charts = new Charts(trace);
		sources = new Sources(trace);
	}

	@Override
	public void close() {
		trace.close();
	}
}
