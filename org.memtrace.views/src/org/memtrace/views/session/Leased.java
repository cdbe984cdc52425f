// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

import org.memtrace.model.CancelledException;
import org.memtrace.model.store.TraceStore;

/** A trace whose store can be kept open for a while. */
public interface Leased {
	/** Keeps the store open until it is closed. */
	interface StoreLease extends AutoCloseable {
		TraceStore store();

		@Override
		void close();
	}

	/** Cancelled when the trace is closed already. */
	StoreLease lease() throws CancelledException;
}
