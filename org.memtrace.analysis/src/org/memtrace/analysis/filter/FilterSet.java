// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.filter;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.Structure;

/**
 * Filters that all must let an access pass ({@link Condition.Any} is one that is a choice of several); no filters let everything
 * pass. A page, and so a structure, is there as long as one of its accesses passes. Immutable, safe for all threads; two are equal
 * when they have the same filters in the same order.
 *
 * <p>Counts and shares are thresholds on what all other filters leave; their order makes no difference.
 */
public record FilterSet(List<TraceFilter> filters) {
	/** Everything passes. */
	public static final FilterSet NONE = new FilterSet(List.of());

	public FilterSet {
		filters = List.copyOf(filters);
	}

	public static FilterSet of(TraceFilter... filters) {
		return new FilterSet(List.of(filters));
	}

	public boolean isEmpty() {
		return filters.isEmpty();
	}

	/** Whether there is something that can hide anything. */
	public boolean isActive() {
		return filters.stream().anyMatch(TraceFilter::enabled);
	}

	/** These and one more; the same when it is there already. */
	public FilterSet with(TraceFilter f) {
		if (filters.contains(f)) {
			return this;
		}
		List<TraceFilter> now = new ArrayList<>(filters);
		now.add(f);
		return new FilterSet(now);
	}

	/** These without one. */
	public FilterSet without(TraceFilter f) {
		return new FilterSet(filters.stream().filter(g -> !g.equals(f)).toList());
	}

	/** Another filter at the place of one. */
	public FilterSet replaced(TraceFilter old, TraceFilter now) {
		return new FilterSet(filters.stream().map(g -> g.equals(old) ? now : g).distinct().toList());
	}

	/** One of two is enough; what they become is at the place of the first of them. */
	public FilterSet joined(TraceFilter one, TraceFilter other) {
		int a = filters.indexOf(one);
		int b = filters.indexOf(other);
		TraceFilter first = filters.get(Math.min(a, b));
		TraceFilter second = filters.get(Math.max(a, b));
		return without(second).replaced(first, TraceFilter.any(first, second));
	}

	/** One of all that are not switched off is enough. */
	public FilterSet any() {
		List<TraceFilter> on = filters.stream().filter(TraceFilter::enabled).toList();
		FilterSet now = this;
		for (TraceFilter f : on.isEmpty() ? on : on.subList(1, on.size())) {
			now = now.joined(now.filters().stream().filter(TraceFilter::enabled).findFirst().orElseThrow(), f);
		}
		return now;
	}

	/** All that one filter has a choice of, at its place. */
	public FilterSet separated(TraceFilter any) {
		return new FilterSet(filters.stream().flatMap(f -> f.equals(any)
				? f.alternatives().stream().map(a -> a.withEnabled(a.enabled() && f.enabled())) : Stream.of(f)).distinct().toList());
	}

	/** The accesses that pass; the table itself when all do. */
	public AccessTable apply(AccessTable table, List<Structure> structures, Progress progress) throws MemtraceException {
		return isActive() ? table.filtered(FilterMask.of(this, table, structures, progress)) : table;
	}

	/**
	 * Applies to the events of a trace that has no accesses: filters by name, subtree, level, event type, CPU, and by count or
	 * share of the events of a producer. What is only known of memory hides nothing.
	 */
	public EventTable apply(EventTable table, Progress progress) throws CancelledException {
		return isActive() ? FilterMask.events(this, table, progress) : table;
	}

	/** As text that {@link #parse} reads. */
	public String toJson() {
		return FilterJson.write(this);
	}

	/** Reads {@link #toJson}; errors say what is wrong with it. */
	public static FilterSet parse(String json) throws MemtraceException {
		return FilterJson.read(json);
	}
}
