// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import java.util.List;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;

import org.memtrace.analysis.findings.facts.Place;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.rules.Check;
import org.memtrace.analysis.findings.rules.Rule;
import org.memtrace.analysis.text.JsonText;

/** Findings and explanations as JSON; the schema is in docs/reference/findings.md. */
public final class AdviceJson {
	/** Version of the schema: greater when a field changes its meaning or goes. */
	public static final String SCHEMA = "memtrace.advice/2";

	private AdviceJson() {
	}

	/** All findings; with the conditions of some rules when the list is not empty. */
	public static String json(Advisor advisor, List<Rule> explained) {
		JsonObject top = new JsonObject();
		top.addProperty("schema", SCHEMA);
		top.addProperty("trace", advisor.facts().info().alias());
		top.addProperty("intervals", advisor.facts().intervals());
		top.addProperty("counts", advisor.facts().info().counts().id());
		top.addProperty("accesses_lost", advisor.facts().lost());
		top.addProperty("not_judged", advisor.notJudged());
		JsonArray findings = new JsonArray();
		advisor.findings().forEach(f -> {
			JsonObject o = finding(f, advisor.facts());
			Finding main = advisor.mainOf(f);
			if (main != null) {
				o.addProperty("also_of", advisor.findings().indexOf(main));
			}
			findings.add(o);
		});
		top.add("findings", findings);
		JsonArray small = new JsonArray();
		advisor.small().forEach(f -> small.add(finding(f, advisor.facts())));
		top.add("small", small);
		top.addProperty("not_priced", advisor.notPriced());
		if (!explained.isEmpty()) {
			JsonArray rules = new JsonArray();
			explained.forEach(r -> advisor.explain(r).forEach(v -> rules.add(verdict(v))));
			top.add("rules", rules);
		}
		return JsonText.PRETTY.toJson(top) + "\n";
	}

	private static JsonObject finding(Finding f, TraceFacts t) {
		JsonObject o = new JsonObject();
		o.addProperty("rule", f.rule());
		o.addProperty("title", f.title());
		o.add("price", f.price().toJson());
		o.addProperty("severity", f.severity().id());
		o.addProperty("confidence", f.confidence().id());
		o.addProperty("weight", f.weight());
		o.add("structures", JsonText.PRETTY.toJsonTree(f.names()));
		o.add("structure_ids", JsonText.PRETTY.toJsonTree(f.structures()));
		o.add("threads", JsonText.PRETTY.toJsonTree(f.threads()));
		o.addProperty("from_ns", f.fromNs() - t.info().startNs());
		o.addProperty("to_ns", f.toNs() - t.info().startNs());
		o.addProperty("producer_from", f.leafFrom());
		o.addProperty("producer_to", f.leafTo());
		o.addProperty("evidence", f.evidence());
		o.addProperty("advice", f.advice());
		o.addProperty("fix", f.fix().words());
		o.addProperty("command", f.fix().command());
		o.addProperty("code", f.fix().code());
		o.addProperty("code_tested", f.fix().tested());
		o.addProperty("check", f.check());
		o.add("notes", JsonText.PRETTY.toJsonTree(f.notes()));
		o.add("figures", JsonText.PRETTY.toJsonTree(new java.util.TreeMap<>(f.figures())));
		o.addProperty("view", f.view());
		o.add("first_written", place(f.firstWritten()));
		o.add("used", place(f.used()));
		return o;
	}

	private static JsonElement place(Place p) {
		if (p == null) {
			return JsonNull.INSTANCE;
		}
		JsonObject o = new JsonObject();
		o.addProperty("function", p.function());
		o.addProperty("file", p.file());
		o.addProperty("line", p.line());
		return o;
	}

	private static JsonObject verdict(Advisor.Verdict v) {
		JsonObject o = new JsonObject();
		o.addProperty("rule", v.rule().id());
		o.addProperty("structure", v.group().label);
		o.addProperty("site", v.group().site);
		o.addProperty("holds", v.holds());
		o.add("checks", Check.toJson(v.checks()));
		return o;
	}
}
