// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

import java.util.Map;
import java.util.TreeMap;

import com.google.gson.JsonObject;

import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.tree.ProducerTree;

/**
 * What all views of a trace look at, as names and texts: read again later, in the same trace or in another one that has what is
 * named. Keys: {@code from_ns}, {@code to_ns} (half-open), {@code producer} (its name, or {@code all}), {@code producer_id} (saves the
 * search where the trace is the same), {@code viewpoint}, {@code p} and {@code automatic_p}, {@code filters}, and
 * {@code machine} where it is not that of the recording.
 */
public final class StateText {
	private static final String ALL = "all";

	private StateText() {
	}

	/** The state by keys, sorted; {@code p} is left out when each picture chooses it. */
	public static Map<String, String> of(SelectedTrace trace, ViewState s) {
		Map<String, String> m = new TreeMap<>();
		boolean all = s.producer() == trace.selection().initial().producer();
		m.put("from_ns", Long.toString(s.fromNs()));
		m.put("to_ns", Long.toString(s.toNs()));
		m.put("producer", all ? ALL : trace.producers().name(s.producer()));
		if (!all) {
			m.put("producer_id", Integer.toString(s.producer()));
		}
		m.put("viewpoint", s.viewpoint().id());
		m.put("automatic_p", Boolean.toString(s.isAutomaticP()));
		if (!s.isAutomaticP()) {
			m.put("p", Double.toString(s.p()));
		}
		m.put("filters", s.filters().toJson());
		if (!s.machine().isEmpty()) {
			m.put("machine", s.machine());
		}
		return m;
	}

	/**
	 * Reads {@link #of}; what is not said stays as it is now. A viewpoint that nobody knows here stays, too.
	 *
	 * @throws MemtraceException the trace has no such time or producer, or a filter is not understood
	 * @throws RuntimeException a value is of another kind: {@code IllegalArgumentException}, {@code IllegalStateException} or
	 *         {@code UnsupportedOperationException}
	 */
	public static ViewState read(JsonObject o, SelectedTrace trace, ViewState now) throws MemtraceException {
		ViewState whole = trace.selection().initial();
		ViewState s = now;
		if (o.has("from_ns") && o.has("to_ns")) {
			long from = Math.max(whole.fromNs(), o.get("from_ns").getAsLong());
			long to = Math.min(whole.toNs(), o.get("to_ns").getAsLong());
			if (from >= to) {
				throw new MemtraceException("the saved time is not in " + trace.name());
			}
			s = s.withWindow(from, to);
		}
		if (o.has("producer")) {
			String name = o.get("producer").getAsString();
			int id = o.has("producer_id") ? o.get("producer_id").getAsInt() : -1;
			s = s.withProducer(name.equals(ALL) && id < 0 ? whole.producer() : producer(trace, name, id));
		}
		if (o.has("viewpoint")) {
			Dimension v = Dimensions.find(o.get("viewpoint").getAsString(), Dimension.Use.COLOUR);
			s = v == null ? s : s.withViewpoint(v);
		}
		if (o.has("automatic_p") && o.get("automatic_p").getAsString().equals("true")) {
			s = s.withP(ViewState.AUTOMATIC_P);
		} else if (o.has("p")) {
			s = s.withP(Math.clamp(o.get("p").getAsDouble(), 0, 1));
		}
		if (o.has("filters")) {
			s = s.withFilters(FilterSet.parse(o.get("filters").getAsString()));
		}
		if (o.has("machine")) {
			s = s.withMachine(o.get("machine").getAsString());
		}
		return s;
	}

	/** @param id where it was when it was saved, -1 if that is not known */
	private static int producer(SelectedTrace trace, String name, int id) throws MemtraceException {
		ProducerTree tree = trace.producers();
		if (id >= 0 && id < tree.size() && tree.name(id).equals(name)) {
			return id;
		}
		for (int i = 0; i < tree.size(); i++) {
			if (tree.name(i).equals(name)) {
				return i;
			}
		}
		throw new MemtraceException(trace.name() + " has no " + name);
	}
}
