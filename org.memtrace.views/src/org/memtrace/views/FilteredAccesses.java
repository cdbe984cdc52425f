// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.FilterSet;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.model.Structure;

/**
 * The accesses of a trace that pass filters, made once for all views. Only the last ones are kept: a table needs as much memory
 * as the accesses that pass. Safe for all threads.
 */
final class FilteredAccesses {
	/** The filters in force and those before, for going back or comparing. */
	private static final int MAX_KEPT = 2;
	private static final long ASK_EVERY_MS = 50;

	private final AccessTable all;
	private final List<Structure> structures;
	private final Set<FilterSet> making = new HashSet<>();
	private final Map<FilterSet, AccessTable> kept = new LinkedHashMap<>(MAX_KEPT, 0.75f, true) {
		private static final long serialVersionUID = 1L;

		@Override
		protected boolean removeEldestEntry(Map.Entry<FilterSet, AccessTable> eldest) {
			return size() > MAX_KEPT;
		}
	};

	FilteredAccesses(AccessTable all, List<Structure> structures) {
		this.all = all;
		this.structures = structures;
	}

	/** The table for filters; when another thread makes it already, waits for that one, and goes on when that one gives up. */
	AccessTable get(FilterSet filters, Progress progress) throws CancelledException {
		synchronized (this) {
			while (true) {
				AccessTable known = kept.get(filters);
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
		AccessTable made = null;
		try {
			made = filters.apply(all, structures, progress);
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
