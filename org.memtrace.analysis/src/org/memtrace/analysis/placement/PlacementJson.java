// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.placement;

import org.memtrace.analysis.placement.Placement.Figures;
import org.memtrace.analysis.placement.Placement.Part;
import org.memtrace.analysis.placement.Placement.Phase;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/** A placement for programs; docs/reference/json-pictures.md, memtrace.placement/2. */
public final class PlacementJson {
	private static final int WAYS = 3;

	private PlacementJson() {
	}

	/** All of it, without the schema. */
	public static JsonObject json(Placement p) {
		JsonObject o = new JsonObject();
		o.addProperty("trace", p.facts().info().alias());
		o.addProperty("machine", p.machine().topology().summary());
		o.addProperty("origin", p.machine().topology().origin());
		o.addProperty("threads", p.machine().rule());
		o.addProperty("costs", p.machine().costs());
		JsonArray nodes = new JsonArray();
		for (int n = 0; n < p.machine().nodes(); n++) {
			nodes.add(p.machine().osNode(n));
		}
		o.add("nodes", nodes);
		JsonArray notes = new JsonArray();
		p.notes().forEach(notes::add);
		o.add("notes", notes);
		o.addProperty("verdict", p.verdict());
		o.addProperty("counts", p.facts().info().counts().id());
		o.addProperty("accesses", p.accesses());
		JsonArray policies = new JsonArray();
		p.policies().forEach(f -> policies.add(figures(f)));
		o.add("policies", policies);
		JsonArray structures = new JsonArray();
		for (Part part : p.parts()) {
			JsonObject s = new JsonObject();
			s.addProperty("structure", part.name());
			s.addProperty("kind", part.facts() == null ? null : part.facts().kind.name().toLowerCase(java.util.Locale.ROOT));
			s.addProperty("site", part.facts() == null || part.facts().site.isEmpty() ? null : part.facts().site);
			s.addProperty("movable", part.movable());
			s.addProperty("accesses", part.accesses());
			s.addProperty("pages", part.pages());
			s.addProperty("best", part.best().policy().id());
			s.addProperty("undecided", part.undecided());
			JsonArray list = new JsonArray();
			part.figures().forEach(f -> list.add(figures(f)));
			s.add("policies", list);
			structures.add(s);
		}
		o.add("structures", structures);
		JsonArray ways = new JsonArray();
		for (PlacementAdvice.Way way : PlacementAdvice.of(p, WAYS)) {
			JsonObject w = new JsonObject();
			w.addProperty("policy", way.figures().policy().id());
			w.addProperty("command", way.command().isEmpty() ? null : way.command());
			JsonArray steps = new JsonArray();
			for (PlacementAdvice.Step step : way.steps()) {
				JsonObject s = new JsonObject();
				s.addProperty("structure", step.part().name());
				s.addProperty("policy", step.policy().id());
				s.addProperty("saved", step.saved());
				s.addProperty("fix", step.fix());
				steps.add(s);
			}
			w.add("steps", steps);
			w.addProperty("left", way.left());
			ways.add(w);
		}
		o.add("advice", ways);
		return o;
	}

	private static JsonObject figures(Figures f) {
		JsonObject o = new JsonObject();
		o.addProperty("policy", f.policy().id());
		o.addProperty("title", f.policy().title());
		add(o, "remote", f.remote().remote());
		add(o, "remote_least", f.remote().least());
		add(o, "remote_most", f.remote().most());
		o.addProperty("basis", f.remote().basis().name().toLowerCase(java.util.Locale.ROOT));
		add(o, "cost", f.cost());
		add(o, "cost_least", f.costLeast());
		add(o, "cost_most", f.costMost());
		add(o, "imbalance", f.imbalance());
		JsonArray load = new JsonArray();
		for (double l : f.load()) {
			load.add(l);
		}
		o.add("load", load);
		o.addProperty("extra_bytes", f.extraBytes());
		JsonArray phases = new JsonArray();
		for (Phase p : f.phases()) {
			JsonObject k = new JsonObject();
			k.addProperty("accesses", p.accesses());
			add(k, "remote", p.remote());
			add(k, "remote_least", p.least());
			add(k, "remote_most", p.most());
			add(k, "imbalance", p.imbalance());
			phases.add(k);
		}
		o.add("phases", phases);
		return o;
	}

	/** What is not known is null. */
	private static void add(JsonObject o, String name, double v) {
		o.addProperty(name, Double.isNaN(v) || Double.isInfinite(v) ? null : (Double) v);
	}
}
