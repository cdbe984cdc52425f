// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve.answer;

import java.util.List;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.analysis.cards.FindingCard;
import org.memtrace.analysis.cards.FindingCards;
import org.memtrace.analysis.cards.FindingPlace;
import org.memtrace.analysis.findings.Finding;
import org.memtrace.analysis.findings.facts.Place;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.serve.http.Query;
import org.memtrace.serve.http.Refused;

/** What the rules found, as the cards of the workbench show it. */
final class FindingAnswers {
	private FindingAnswers() {
	}

	/** All cards, and the rules that did not hold. */
	static JsonObject all(ServedTrace trace, Progress progress) throws MemtraceException {
		JsonObject o = new JsonObject();
		if (!trace.hasAccesses()) {
			o.addProperty("heading", "This trace has no memory accesses: findings are about the memory of a program");
			o.add("warnings", new JsonArray());
			o.add("cards", new JsonArray());
			return o;
		}
		FindingCards cards = FindingCards.of(trace.name(), trace.advisor(progress));
		o.addProperty("heading", cards.heading());
		o.add("warnings", Tables.texts(cards.warnings()));
		JsonArray list = new JsonArray();
		cards.cards().forEach(c -> list.add(card(trace, c)));
		o.add("cards", list);
		JsonArray whyNot = new JsonArray();
		for (FindingCards.WhyNot w : cards.whyNot()) {
			JsonObject one = new JsonObject();
			one.addProperty("title", w.title());
			one.addProperty("reason", w.reason());
			whyNot.add(one);
		}
		o.add("why_not", whyNot);
		return o;
	}

	private static JsonObject card(ServedTrace trace, FindingCard c) {
		Finding f = c.finding();
		JsonObject o = new JsonObject();
		o.addProperty("title", c.title());
		o.addProperty("name", c.name());
		o.addProperty("severity", c.severity().id());
		o.addProperty("label", c.label());
		o.addProperty("figures", FindingCard.figures(f));
		o.addProperty("evidence", sentence(f.evidence()));
		o.addProperty("advice", sentence(f.advice()));
		o.addProperty("fix", f.fix().words());
		o.addProperty("command", f.fix().command());
		o.addProperty("code", f.fix().code());
		o.addProperty("check", sentence(f.check()));
		o.add("notes", Tables.texts(f.notes().stream().map(FindingAnswers::sentence).toList()));
		JsonArray places = new JsonArray();
		place(trace, "First written by", f.firstWritten(), places);
		place(trace, "Used most by", f.used(), places);
		o.add("places", places);
		return o;
	}

	private static void place(ServedTrace trace, String what, Place p, JsonArray to) {
		if (p == null) {
			return;
		}
		JsonObject o = new JsonObject();
		o.addProperty("what", what);
		o.addProperty("function", p.function());
		o.addProperty("at", p.file().isEmpty() ? "" : Tables.fileName(p.file()) + (p.line() > 0 ? ":" + p.line() : ""));
		o.addProperty("line", p.line());
		to.add(o);
	}

	/** Sentences of findings have no full stop. */
	private static String sentence(String s) {
		return s.isEmpty() ? "" : Character.toUpperCase(s.charAt(0)) + s.substring(1) + (s.endsWith(".") ? "" : ".");
	}

	/** What is looked at after a click on a card: its time, memory and colours, its pages marked, and a sentence that says what changed. */
	static JsonObject open(ServedTrace trace, Query q, Progress progress) throws MemtraceException, Refused {
		List<FindingCard> cards = FindingCards.of(trace.name(), trace.advisor(progress)).cards();
		int n = q.number("n", -1, -1, Integer.MAX_VALUE);
		if (n < 0 || n >= cards.size()) {
			throw Refused.missing("there is no finding " + n);
		}
		TraceSelection selection = trace.selection();
		new FindingPlace(cards.get(n).finding(), trace.producers()).show(cards.get(n).name(), trace.info(), selection, null);
		JsonObject o = new JsonObject();
		o.add("zoom", States.json(trace, selection.state(), selection.marks()));
		o.addProperty("reason", selection.reason());
		return o;
	}
}
