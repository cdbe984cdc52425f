// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/**
 * The accesses or events of a trace that pass filters, made once for all views. Only the last ones are kept: a table needs as much
 * memory as what passes. Safe for all threads.
 *
 * @param <T> the table
 * @param <X> what goes wrong while it is made
 */
final class FilteredTables<T, X extends MemtraceException> {
	/** Makes the table of what passes. */
	interface Maker<T, X extends MemtraceException> {
		T make(FilterSet filters, Progress progress) throws X, CancelledException;
	}

	/** The filters in force and those before, for going back or comparing. */
	private static final int MAX_KEPT = 2;
	private static final long ASK_EVERY_MS = 50;

	private final Maker<T, X> maker;
	private final Set<FilterSet> making = new HashSet<>();
	private final Map<FilterSet, T> kept = new LinkedHashMap<>(MAX_KEPT, 0.75f, true) {
		private static final long serialVersionUID = 1L;

		@Override
		protected boolean removeEldestEntry(Map.Entry<FilterSet, T> eldest) {
			return size() > MAX_KEPT;
		}
	};

	FilteredTables(Maker<T, X> maker) {
		this.maker = maker;
	}

	/** The table for filters; when another thread makes it already, waits for that one, and goes on when that one gives up. */
	T get(FilterSet filters, Progress progress) throws X, CancelledException {
		synchronized (this) {
			while (true) {
				T known = kept.get(filters);
				if (known != null) {
					return known;
				}
				progress.check();
				if (making.add(filters)) {
					break;
				}
				try {
					wait(ASK_EVERY_MS);
				} catch (InterruptedException e) {
					Thread.currentThread().interrupt();
					throw new CancelledException();
				}
			}
		}
		T made = null;
		try {
			made = maker.make(filters, progress);
			return made;
		} finally {
			synchronized (this) {
				making.remove(filters);
				if (made != null) {
					kept.put(filters, made);
				}
				notifyAll();
			}
		}
	}
}
