// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.Arrays;
import java.util.List;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.analysis.text.JsonText;

/** A comparison as JSON; the schema is in docs/howto/diff.md. */
public final class DiffJson {
	/** Version of the schema: greater when a field changes its meaning or goes. */
	public static final String SCHEMA = "memtrace.diff/1";

	private DiffJson() {
	}

	/** All of it, with the structures that the text leaves out. */
	public static String json(TraceDiff d, List<FailIf.Outcome> outcomes) {
		JsonObject top = new JsonObject();
		top.addProperty("schema", SCHEMA);
		top.add("before", runs(d.before()));
		top.add("after", runs(d.after()));
		JsonObject verdict = new JsonObject();
		verdict.addProperty("time", Verdict.change(d.verdict().time()).id());
		verdict.addProperty("cpu", Verdict.change(d.verdict().cpu()).id());
		verdict.addProperty("tested", d.verdict().isTested());
		verdict.addProperty("slower", d.verdict().isSlower());
		verdict.addProperty("text", String.join(" ", d.verdict().sentences()));
		top.add("verdict", verdict);
		top.add("warnings", JsonText.PRETTY.toJsonTree(d.warnings()));
		top.add("roles", JsonText.PRETTY.toJsonTree(d.roles()));
		JsonArray findings = new JsonArray();
		for (FindingDiff f : d.findings()) {
			JsonObject o = new JsonObject();
			o.addProperty("state", f.state().id());
			o.addProperty("structure", f.structure());
			o.addProperty("rule_before", f.before() == null ? null : f.before().rule());
			o.addProperty("rule_after", f.after() == null ? null : f.after().rule());
			o.addProperty("severity", f.finding().severity().id());
			o.addProperty("runs_before", f.inA());
			o.addProperty("runs_after", f.inB());
			o.addProperty("conditions_gone", f.conditionsGone());
			o.addProperty("advice_worked", f.worked());
			o.addProperty("worse", f.isWorse());
			o.addProperty("text", f.text());
			findings.add(o);
		}
		top.add("findings", findings);
		top.add("metrics", comparisons(d.whole()));
		top.add("structures", structures(d.structures()));
		JsonArray regions = new JsonArray();
		for (RegionDiff r : d.regions()) {
			JsonObject o = new JsonObject();
			o.addProperty("name", r.name());
			o.addProperty("runs_before", r.inA());
			o.addProperty("runs_after", r.inB());
			o.add("metrics", comparisons(r.comparisons()));
			o.add("structures", structures(r.structures()));
			regions.add(o);
		}
		top.add("regions", regions);
		JsonArray conditions = new JsonArray();
		for (FailIf.Outcome out : outcomes) {
			JsonObject o = new JsonObject();
			o.addProperty("condition", out.condition().text());
			o.addProperty("failed", out.failed());
			o.addProperty("reason", out.reason());
			conditions.add(o);
		}
		top.add("fail_if", conditions);
		return JsonText.PRETTY.toJson(top) + "\n";
	}

	private static JsonArray structures(List<StructureDiff> all) {
		JsonArray structures = new JsonArray();
		for (StructureDiff s : all) {
			JsonObject o = new JsonObject();
			o.addProperty("name", s.name());
			o.addProperty("origin", s.origin());
			o.addProperty("matched", s.inA() == 0 || s.inB() == 0 ? "" : s.how().isEmpty() ? "by kind, name and site" : s.how());
			o.addProperty("runs_before", s.inA());
			o.addProperty("runs_after", s.inB());
			o.addProperty("weight", s.weight());
			o.add("metrics", comparisons(s.comparisons()));
			o.add("before", use(s.before()));
			o.add("after", use(s.after()));
			if (!Double.isNaN(s.movedPlaces())) {
				o.addProperty("first_touch_moved", s.movedPlaces());
			}
			structures.add(o);
		}
		return structures;
	}

	private static JsonArray runs(List<Run> runs) {
		JsonArray list = new JsonArray();
		for (Run r : runs) {
			JsonObject o = new JsonObject();
			o.addProperty("trace", r.label());
			o.addProperty("program", r.program());
			o.addProperty("command", r.facts().property("command"));
			o.addProperty("intervals", r.facts().intervals());
			o.addProperty("threads", r.facts().team().length);
			o.addProperty("counts", r.facts().info().counts().id());
			o.addProperty("accesses_lost", r.facts().lost());
			list.add(o);
		}
		return list;
	}

	private static JsonObject use(StructureDiff.Use u) {
		if (u == null) {
			return null;
		}
		JsonObject o = new JsonObject();
		o.addProperty("reads", u.reads());
		o.addProperty("writes", u.writes());
		o.add("first_touch", JsonText.PRETTY.toJsonTree(u.firstTouch()));
		o.add("main_use", JsonText.PRETTY.toJsonTree(u.mainUse()));
		o.add("first_touch_places", JsonText.PRETTY.toJsonTree(u.firstPlaces()));
		o.add("main_use_places", JsonText.PRETTY.toJsonTree(u.mainPlaces()));
		return o;
	}

	private static JsonArray comparisons(List<Comparison> comparisons) {
		JsonArray list = new JsonArray();
		for (Comparison c : comparisons) {
			JsonObject o = new JsonObject();
			o.addProperty("metric", c.metric().id());
			o.addProperty("unit", switch (c.metric().kind()) {
			case NS -> "ns";
			case SHARE -> "share";
			case NUMBER -> "";
			});
			o.add("values_before", JsonText.PRETTY.toJsonTree(c.a()));
			o.add("values_after", JsonText.PRETTY.toJsonTree(c.b()));
			o.addProperty("median_before", c.before());
			o.addProperty("median_after", c.after());
			if (Double.isFinite(c.change())) {
				o.addProperty("change", c.change());
			}
			if (c.interval() != null) {
				o.add("interval_95", JsonText.PRETTY.toJsonTree(Arrays.stream(c.interval()).boxed().toList()));
			}
			if (c.isTested()) {
				o.addProperty("p_holm", c.p());
			}
			o.addProperty("significant", c.isSignificant());
			list.add(o);
		}
		return list;
	}
}
