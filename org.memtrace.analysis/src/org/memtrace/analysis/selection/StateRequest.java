// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.filter.SavedFilters;
import org.memtrace.analysis.text.Quantities;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.tree.ProducerTree;

/**
 * What {@code memtrace open} is asked to show of a trace, as the user typed it; each is null where nothing was said. Immutable.
 *
 * @param from start of the window, as {@link Quantities#time} reads it
 * @param to end of the window
 * @param filter name of a saved filter, or filters as JSON
 * @param view id of the dimension that gives the colours
 * @param structure name, or a part of the name, of a structure or another producer
 */
public record StateRequest(String from, String to, String filter, String view, String structure) {
	/** Nothing was said. */
	public static final StateRequest NONE = new StateRequest(null, null, null, null, null);
	/** Of names in an error. */
	private static final int NAMES = 5;

	public boolean isEmpty() {
		return equals(NONE);
	}

	/** The state in a trace. Errors name the option, what it was given, and what would do. */
	public ViewState in(SelectedTrace trace, SavedFilters saved) throws MemtraceException {
		ViewState s = trace.selection().initial();
		if (from != null || to != null) {
			long start = from == null ? s.fromNs() : time("from", from, trace);
			long end = to == null ? s.toNs() : time("to", to, trace);
			if (start >= end || start >= s.toNs() || end <= s.fromNs()) {
				throw new MemtraceException("--from " + text(from) + " and --to " + text(to) + " leave nothing of the "
						+ Units.duration(trace.info(), trace.info().durationNs()) + " of " + trace.name());
			}
			s = s.withWindow(Math.max(start, s.fromNs()), Math.min(end, s.toNs()));
		}
		if (view != null) {
			Dimension v = Dimensions.find(view, Dimension.Use.COLOUR);
			if (v == null) {
				throw new MemtraceException("--view " + view + " is no dimension that has colours; 'memtrace render --help' lists them");
			}
			s = s.withViewpoint(v);
		}
		if (structure != null) {
			s = s.withProducer(producer(trace, structure));
		}
		if (filter != null) {
			try {
				s = s.withFilters(saved.find(filter));
			} catch (MemtraceException e) {
				throw new MemtraceException("--filter: " + e.getMessage(), e);
			}
		}
		return s;
	}

	private static String text(String given) {
		return given == null ? "(not given)" : given;
	}

	private static long time(String option, String text, SelectedTrace trace) throws MemtraceException {
		try {
			return Quantities.time(text, trace.info());
		} catch (IllegalArgumentException e) {
			throw new MemtraceException("--" + option + " is '" + text + "'; " + e.getMessage(), e);
		}
	}

	/** The producer of that name, or the only structure (or what else has a row of its own) whose name has the text in it. */
	private static int producer(SelectedTrace trace, String name) throws MemtraceException {
		ProducerTree tree = trace.producers();
		List<Integer> fitting = new ArrayList<>();
		String part = name.toLowerCase(Locale.ROOT);
		for (int i = 0; i < tree.size(); i++) {
			if (tree.name(i).equals(name)) {
				return i;
			}
			if (trace.memberOf(i) == i && tree.name(i).toLowerCase(Locale.ROOT).contains(part)) {
				fitting.add(i);
			}
		}
		if (fitting.isEmpty()) {
			throw new MemtraceException(trace.name() + " has no structure with '" + name + "' in its name");
		}
		if (fitting.size() > 1) {
			throw new MemtraceException("'" + name + "' is in the names of " + fitting.size() + " structures of " + trace.name() + ": "
					+ String.join(", ", fitting.stream().limit(NAMES).map(tree::name).toList())
					+ (fitting.size() > NAMES ? ", …" : "") + "; give the whole name of one");
		}
		return fitting.get(0);
	}
}
