// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.analysis.filter.FilterSet;

/**
 * What all views of one trace look at: one step of the history. Immutable.
 *
 * @param fromNs start of the time window
 * @param toNs end of the time window, after {@code fromNs}
 * @param producer event producer whose subtree is shown, or {@link #ALL_PRODUCERS}
 * @param viewpoint what the colours stand for
 * @param p level of detail in [0, 1], or {@link #AUTOMATIC_P} to let each picture choose
 * @param filters which accesses are looked at at all
 * @param machine another machine than that of the recording, a file or a description as of {@code GivenMachine}; empty for none
 */
public record ViewState(long fromNs, long toNs, int producer, Dimension viewpoint, double p, FilterSet filters, String machine) {
	/** {@link #producer} when everything is shown and the trace has several roots. */
	public static final int ALL_PRODUCERS = ModelRequest.WHOLE_TREE;
	/** The picture chooses its level of detail by itself. */
	public static final double AUTOMATIC_P = Double.NaN;

	public ViewState {
		if (fromNs >= toNs) {
			throw new IllegalArgumentException("empty time window [" + fromNs + ", " + toNs + ")");
		}
		if (p < 0 || p > 1) {
			throw new IllegalArgumentException("p = " + p + " is not in [0, 1]");
		}
	}

	/** On the machine of the recording. */
	public ViewState(long fromNs, long toNs, int producer, Dimension viewpoint, double p, FilterSet filters) {
		this(fromNs, toNs, producer, viewpoint, p, filters, "");
	}

	/** Everything that is there, without filters. */
	public ViewState(long fromNs, long toNs, int producer, Dimension viewpoint, double p) {
		this(fromNs, toNs, producer, viewpoint, p, FilterSet.NONE);
	}

	public boolean isAutomaticP() {
		return Double.isNaN(p);
	}

	public long durationNs() {
		return toNs - fromNs;
	}

	/** Whether the other state shows the same accesses: equal window, producer and filters. */
	public boolean sameAccesses(ViewState o) {
		return o != null && fromNs == o.fromNs && toNs == o.toNs && producer == o.producer && filters.equals(o.filters);
	}

	/** Whether the other state needs the same microscopic model: everything equal but p. */
	public boolean sameModel(ViewState o) {
		return sameAccesses(o) && viewpoint == o.viewpoint && machine.equals(o.machine);
	}

	public ViewState withWindow(long from, long to) {
		return new ViewState(from, to, producer, viewpoint, p, filters, machine);
	}

	public ViewState withProducer(int id) {
		return new ViewState(fromNs, toNs, id, viewpoint, p, filters, machine);
	}

	public ViewState withViewpoint(Dimension v) {
		return new ViewState(fromNs, toNs, producer, v, p, filters, machine);
	}

	public ViewState withP(double newP) {
		return new ViewState(fromNs, toNs, producer, viewpoint, newP, filters, machine);
	}

	public ViewState withFilters(FilterSet now) {
		return new ViewState(fromNs, toNs, producer, viewpoint, p, now, machine);
	}

	public ViewState withMachine(String other) {
		return new ViewState(fromNs, toNs, producer, viewpoint, p, filters, other);
	}
}
