// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.binding;

import java.util.Locale;

import org.memtrace.analysis.binding.BindingText.Pair;
import org.memtrace.analysis.binding.ThreadBinding.Figures;
import org.memtrace.analysis.binding.ThreadBinding.Gain;
import org.memtrace.analysis.binding.ThreadBinding.Kind;
import org.memtrace.model.ThreadInfo;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/** A binding for programs; docs/reference/json-pictures.md, memtrace.binding/1. */
public final class BindingJson {
	private BindingJson() {
	}

	/**
	 * Adds all of it to an object.
	 *
	 * @param command command of the program
	 */
	public static JsonObject addTo(JsonObject o, ThreadBinding b, String command) {
		SharingGraph graph = b.graph();
		o.addProperty("machine", b.machine().topology().summary());
		o.addProperty("origin", b.machine().topology().origin());
		o.addProperty("sharing", lower(graph.question().sharing()));
		o.addProperty("cells", lower(graph.question().cells()));
		o.addProperty("active", graph.question().active());
		o.addProperty("places", lower(b.places()));
		JsonArray levels = new JsonArray();
		for (int h = 0; h <= b.machine().largest(); h++) {
			levels.add(b.machine().name(h));
		}
		o.add("levels", levels);
		JsonArray notes = new JsonArray();
		b.notes().forEach(notes::add);
		o.add("notes", notes);
		o.addProperty("outcome", lower(b.outcome()));
		o.addProperty("verdict", b.verdict());
		o.addProperty("total", graph.total());
		o.addProperty("perhaps", graph.vague());
		o.addProperty("shared_cells", graph.cells());
		o.addProperty("proven", b.isProven());
		o.addProperty("bound", b.bound());
		o.add("gain", gain(b.gain()));
		o.add("bindings", figures(b));
		o.add("threads", threads(b));
		JsonArray unbound = new JsonArray();
		graph.rare().forEach(t -> unbound.add(t.taskId()));
		graph.others().forEach(t -> unbound.add(t.taskId()));
		o.add("unbound", unbound);
		JsonArray pairs = new JsonArray();
		for (Pair p : BindingText.pairs(graph)) {
			JsonArray row = new JsonArray();
			row.add(p.a());
			row.add(p.b());
			row.add(p.weight());
			pairs.add(row);
		}
		o.add("pairs", pairs);
		o.add("ways", ways(b, command));
		return o;
	}

	private static JsonArray ways(ThreadBinding b, String command) {
		JsonArray ways = new JsonArray();
		for (BindingPaste.Way way : BindingPaste.of(b, command)) {
			JsonObject w = new JsonObject();
			w.addProperty("process", way.image());
			w.addProperty("tool", way.tool());
			w.addProperty("text", way.text().isEmpty() ? null : way.text());
			w.addProperty("remark", way.remark());
			ways.add(w);
		}
		return ways;
	}

	private static JsonArray figures(ThreadBinding b) {
		JsonArray figures = new JsonArray();
		for (Figures f : b.figures()) {
			JsonObject k = new JsonObject();
			k.addProperty("binding", lower(f.kind()));
			add(k, "distance", f.distance());
			add(k, "least", f.least());
			add(k, "most", f.most());
			add(k, "unknown", f.unknown());
			JsonArray shares = new JsonArray();
			for (double s : f.shares()) {
				shares.add(s);
			}
			k.add("shares", shares);
			figures.add(k);
		}
		return figures;
	}

	private static JsonObject gain(Gain g) {
		JsonObject gain = new JsonObject();
		gain.addProperty("over", lower(g.over()));
		add(gain, "gain", g.gain());
		add(gain, "least", g.least());
		add(gain, "most", g.most());
		add(gain, "held_out", g.heldOut());
		return gain;
	}

	private static JsonArray threads(ThreadBinding b) {
		JsonArray list = new JsonArray();
		for (int t = 0; t < b.graph().threads().size(); t++) {
			ThreadInfo info = b.graph().threads().get(t);
			JsonObject o = new JsonObject();
			o.addProperty("thread", t);
			o.addProperty("process", info.image());
			o.addProperty("task", info.taskId());
			o.addProperty("name", info.name());
			JsonArray seen = new JsonArray();
			b.graph().seenOn(t).stream().forEach(seen::add);
			o.add("seen_on", seen);
			for (Kind kind : Kind.values()) {
				Figures f = b.of(kind);
				o.addProperty("cpu_" + lower(kind), f == null || f.cpuOf()[t] < 0 ? null : (Integer) f.cpuOf()[t]);
			}
			list.add(o);
		}
		return list;
	}

	private static String lower(Enum<?> e) {
		return e.name().toLowerCase(Locale.ROOT);
	}

	/** What is not known is null. */
	private static void add(JsonObject o, String name, double v) {
		o.addProperty(name, Double.isNaN(v) || Double.isInfinite(v) ? null : (Double) v);
	}
}
