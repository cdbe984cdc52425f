// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve.answer;

import java.util.ArrayList;
import java.util.List;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.serve.http.Query;
import org.memtrace.serve.http.Refused;

/**
 * What is looked at, as values of an address: {@code from} and {@code to}, half-open, from the start of the trace in ns (or ticks);
 * {@code in}, number of the producer; {@code by}, what colours mean; {@code p}; {@code f}, filters as JSON; {@code m}, marked producers.
 * What is not there is the whole, or is chosen by the picture.
 */
final class States {
	private static final int MOST_MARKS = 50;

	private States() {
	}

	/** Reads the values. */
	static ViewState of(ServedTrace trace, Query q) throws Refused {
		TraceSelection selection = trace.selection();
		ViewState whole = selection.initial();
		long length = whole.durationNs();
		long from = q.number("from", 0, 0, length);
		long to = q.number("to", length, 0, length);
		if (from >= to) {
			throw Refused.bad("the window is empty: from " + from + " to " + to);
		}
		ViewState s = selection.clip(whole.fromNs() + from, whole.fromNs() + to);
		s = s.withProducer(q.number("in", whole.producer(), whole.producer(), trace.producers().size() - 1));
		if (q.has("by")) {
			Dimension by = Dimensions.find(q.text("by"), Dimension.Use.COLOUR);
			if (by == null) {
				throw Refused.bad("by is none of " + Dimensions.ids(Dimension.Use.COLOUR));
			}
			s = s.withViewpoint(by);
		}
		s = s.withP(q.real("p", ViewState.AUTOMATIC_P, 0, 1));
		try {
			return q.has("f") ? s.withFilters(FilterSet.parse(q.text("f"))) : s;
		} catch (MemtraceException | RuntimeException e) {
			throw Refused.bad("the filters are not understood: " + e.getMessage());
		}
	}

	/** The marked producers, in any order. */
	static int[] marks(ServedTrace trace, Query q) throws Refused {
		String text = q.text("m");
		if (text.isEmpty()) {
			return new int[0];
		}
		if (!text.matches("\\d{1,9}(,\\d{1,9})*")) {
			throw Refused.bad("m is no list of numbers");
		}
		List<Integer> ids = new ArrayList<>();
		for (String one : text.split(",", MOST_MARKS + 1)) {
			int id = ids.size() < MOST_MARKS ? Integer.parseInt(one) : -1;
			if (id < 0 || id >= trace.producers().size()) {
				throw Refused.bad("m has more than " + MOST_MARKS + " numbers, or one that the trace does not have");
			}
			ids.add(id);
		}
		return ids.stream().mapToInt(i -> i).toArray();
	}

	/** The values of a state; what is the whole is left out. */
	static JsonObject json(ServedTrace trace, ViewState s, int[] marks) {
		ViewState whole = trace.selection().initial();
		JsonObject o = new JsonObject();
		if (s.fromNs() != whole.fromNs() || s.toNs() != whole.toNs()) {
			o.addProperty("from", s.fromNs() - whole.fromNs());
			o.addProperty("to", s.toNs() - whole.fromNs());
		}
		if (s.producer() != whole.producer()) {
			o.addProperty("in", s.producer());
		}
		if (s.viewpoint() != whole.viewpoint()) {
			o.addProperty("by", s.viewpoint().id());
		}
		if (!s.isAutomaticP()) {
			o.addProperty("p", s.p());
		}
		if (!s.filters().isEmpty()) {
			o.addProperty("f", s.filters().toJson());
		}
		if (marks.length > 0) {
			StringBuilder m = new StringBuilder();
			for (int i = 0; i < Math.min(marks.length, MOST_MARKS); i++) {
				m.append(i == 0 ? "" : ",").append(marks[i]);
			}
			o.addProperty("m", m.toString());
		}
		return o;
	}

	/** The producers from the root to the one that is shown, for a path to click on. */
	static JsonArray path(ServedTrace trace, int producer) {
		ProducerTree tree = trace.producers();
		int root = trace.selection().initial().producer();
		List<Integer> ids = new ArrayList<>();
		for (int id = producer; id != root && id >= 0; id = tree.parent(id)) {
			ids.add(0, id);
		}
		JsonArray path = new JsonArray();
		for (int id : ids) {
			JsonObject o = new JsonObject();
			o.addProperty("id", id);
			o.addProperty("name", tree.name(id));
			path.add(o);
		}
		return path;
	}
}
