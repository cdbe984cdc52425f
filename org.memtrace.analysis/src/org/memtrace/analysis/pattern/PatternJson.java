// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.pattern;

import java.util.Locale;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.findings.rules.Check;
import org.memtrace.analysis.text.JsonText;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/** Labels of structures over time as JSON; docs/reference/json-analysis.md describes it. */
public final class PatternJson {
	/** Version of the schema: greater when a field changes its meaning or goes. */
	public static final String SCHEMA = "memtrace.patterns/1";

	private PatternJson() {
	}

	/**
	 * All structures that were used.
	 *
	 * @param explain also the conditions of all labels
	 */
	public static String json(AccessTable table, Patterns patterns, boolean explain) {
		JsonObject top = new JsonObject();
		top.addProperty("schema", SCHEMA);
		top.addProperty("trace", table.info().alias());
		top.addProperty("windows", patterns.windows());
		top.addProperty("counts", table.info().counts().id());
		JsonArray structures = new JsonArray();
		for (PatternUse u : PatternUse.of(table, patterns)) {
			JsonObject o = new JsonObject();
			o.addProperty("name", u.name());
			o.addProperty("site", u.site());
			o.addProperty("blocks", u.structures().size());
			o.addProperty("accesses", u.accesses());
			JsonArray labels = new JsonArray();
			u.shares(patterns).forEach((label, share) -> {
				JsonObject l = new JsonObject();
				l.addProperty("label", label);
				l.addProperty("share", share);
				labels.add(l);
			});
			o.add("labels", labels);
			o.addProperty("structure_id", table.structures().get(u.busiest()).id());
			JsonArray spans = new JsonArray();
			patterns.spans(u.busiest()).forEach(s -> spans.add(span(table, s, explain)));
			o.add("spans", spans);
			structures.add(o);
		}
		top.add("structures", structures);
		return JsonText.PRETTY_WITH_NULLS.toJson(top) + "\n";
	}

	private static JsonObject span(AccessTable table, Patterns.Span s, boolean explain) {
		PatternReading r = s.reading();
		JsonObject o = new JsonObject();
		o.addProperty("from_ns", s.fromNs() - table.info().startNs());
		o.addProperty("to_ns", s.toNs() - table.info().startNs());
		o.addProperty("accesses", s.accesses());
		o.addProperty("pattern", r.pattern() == null ? null : id(r.pattern()));
		o.addProperty("stride_bytes", r.strideBytes() == 0 ? null : r.strideBytes());
		o.addProperty("index", r.pattern() == null ? null : r.index());
		JsonObject conditions = new JsonObject();
		r.checks().forEach((pattern, checks) -> {
			if (explain || pattern == r.pattern()) {
				conditions.add(id(pattern), Check.toJson(checks));
			}
		});
		o.add("conditions", conditions);
		return o;
	}

	private static String id(Pattern pattern) {
		return pattern.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}
}
