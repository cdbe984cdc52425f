// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve.answer;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.findings.TraceSummary;
import org.memtrace.analysis.scene.SvgWriter;
import org.memtrace.analysis.text.JsonText;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.serve.http.Query;
import org.memtrace.serve.http.Refused;

/** All questions that a page can ask about a trace, by name. */
public final class Answers {
	private static final String JSON = "application/json; charset=utf-8";

	/**
	 * An answer.
	 *
	 * @param type of the content
	 * @param text content
	 * @param file name under which it is saved; empty for what is shown
	 */
	public record Answer(String type, String text, String file) {
		static Answer of(JsonObject o) {
			return new Answer(JSON, JsonText.LINE.toJson(o), "");
		}
	}

	private interface Question {
		Answer of(AskedTrace trace, Query q, Progress progress) throws MemtraceException, Refused, IOException;
	}

	private static final Map<String, Question> ALL = new TreeMap<>(Map.of(
			"trace", (t, q, p) -> Answer.of(trace(t.trace)),
			"picture", (t, q, p) -> new Answer(JSON, t.pictures.picture(q, p), ""),
			"at", (t, q, p) -> Answer.of(t.pictures.at(q, p)),
			"target", (t, q, p) -> Answer.of(t.pictures.target(q, p)),
			"parent", (t, q, p) -> Answer.of(t.pictures.parent(q)),
			"levels", (t, q, p) -> Answer.of(t.pictures.levels(q, q.number("all", 0, 0, 1) == 1, p)),
			"structures", (t, q, p) -> Answer.of(t.tables.structures(q, p)),
			"findings", (t, q, p) -> Answer.of(FindingAnswers.all(t.trace, p)),
			"finding", (t, q, p) -> Answer.of(FindingAnswers.open(t.trace, q, p))));
	static {
		ALL.put("structures.csv", (t, q, p) -> new Answer("text/csv; charset=utf-8", t.tables.structuresCsv(q, p), "structures.csv"));
		ALL.put("picture.svg", Answers::svg);
		ALL.put("sums", (t, q, p) -> Answer.of(Lists.sums(t.trace, q, p)));
		ALL.put("accesses", (t, q, p) -> Answer.of(Lists.accesses(t.trace, q, p)));
		ALL.put("density", (t, q, p) -> new Answer(JSON, t.charts.density(q, p), ""));
		ALL.put("gantt", (t, q, p) -> new Answer(JSON, t.charts.gantt(q, p), ""));
		ALL.put("sources", (t, q, p) -> Answer.of(t.sources.list(q, p)));
		ALL.put("source", (t, q, p) -> Answer.of(t.sources.file(q, p)));
	}

	private Answers() {
	}

	/** Whether there is such a question. */
	public static boolean has(String name) {
		return ALL.containsKey(name);
	}

	/** Answers a question. */
	public static Answer of(String name, AskedTrace trace, Query q, Progress progress) throws MemtraceException, Refused, IOException {
		return ALL.get(name).of(trace, q, progress);
	}

	private static Answer svg(AskedTrace trace, Query q, Progress progress) throws MemtraceException, Refused, IOException {
		StringBuilder out = new StringBuilder();
		SvgWriter.write(trace.pictures.forFile(q, progress).scene(), trace.trace.name(), out);
		return new Answer("image/svg+xml; charset=utf-8", out.toString(), "picture.svg");
	}

	/** What a page has to know of a trace before it asks for anything else. */
	private static JsonObject trace(ServedTrace t) {
		TraceInfo info = t.info();
		JsonObject o = new JsonObject();
		o.addProperty("name", t.name());
		o.addProperty("command", info.properties().getOrDefault("command", ""));
		o.addProperty("host", info.host());
		o.addProperty("recorded", info.recordedAt().toString());
		o.addProperty("duration", info.durationNs());
		o.addProperty("duration_text", Units.duration(info, info.durationNs()));
		o.addProperty("ticks", info.isInTicks());
		o.addProperty("threads", t.threads().size());
		o.addProperty("structures", t.structures().size());
		o.addProperty("has_accesses", t.hasAccesses());
		o.addProperty("counted", info.counts().plural());
		o.addProperty("warning", TraceSummary.lossWarning(info));
		o.addProperty("whole", t.selection().initial().producer());
		JsonArray colours = new JsonArray();
		List<Dimension> possible = t.hasAccesses() ? Dimensions.of(Dimension.Use.COLOUR) : List.of();
		for (Dimension d : possible) {
			JsonObject one = new JsonObject();
			one.addProperty("id", d.id());
			one.addProperty("title", d.choice());
			one.addProperty("meaning", d.explanation());
			colours.add(one);
		}
		o.add("colours", colours);
		return o;
	}
}
