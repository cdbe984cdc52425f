// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

import org.memtrace.analysis.text.JsonText;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.tree.ProducerTree;

/**
 * What one person looks at, to be sent to another one who has the same trace: as a link of one line, or as a small JSON file. A trace is
 * the same when it was recorded at the same time on the same host and lasts as long; its name and number may be others. Immutable.
 *
 * @param trace name of the trace, for a person
 * @param host on which it was recorded
 * @param recordedAt when it was recorded
 * @param startNs of the trace
 * @param endNs of the trace
 * @param state as {@link StateText} writes it
 * @param marks names of the marked producers
 * @param front which view is in front, such as {@code gantt}; empty: not known
 */
public record SharedView(String trace, String host, Instant recordedAt, long startNs, long endNs, AddressSpace space,
		Map<String, String> state, List<String> marks, String front) {
	/** End of the names of files. */
	public static final String ENDING = ".memtrace-view";
	/** Begin of links. */
	public static final String LINK = "memtrace:view?";
	private static final String FORMAT = "memtrace.view/1";
	/** More marks are not kept: a link must stay short. */
	private static final int MOST_MARKS = 20;
	private static final String STATE = "s.";

	public SharedView {
		state = Map.copyOf(state);
		marks = List.copyOf(marks);
	}

	/** What a trace is looked at now. */
	public static SharedView of(SelectedTrace trace, AddressSpace space, String front) {
		TraceInfo i = trace.info();
		return new SharedView(trace.name(), i.host(), i.recordedAt(), i.startNs(), i.endNs(), space,
				StateText.of(trace, trace.selection().state()),
				Arrays.stream(trace.selection().marks()).limit(MOST_MARKS).mapToObj(trace.producers()::name).toList(), front);
	}

	/** Whether a text is a link, or the name of a file of these. */
	public static boolean isNamed(String text) {
		return text.startsWith(LINK) || text.endsWith(ENDING);
	}

	/** Whether it is about a trace. */
	public boolean isOf(TraceInfo t) {
		return t.host().equals(host) && t.startNs() == startNs && t.endNs() == endNs
				&& t.recordedAt().getEpochSecond() == recordedAt.getEpochSecond();
	}

	/** The trace for a person who has to find it. */
	public String describeTrace() {
		return trace + ", recorded " + recordedAt.toString().replace('T', ' ').replaceFirst("(\\.\\d+)?Z$", " UTC")
				+ (host.isEmpty() ? "" : " on " + host);
	}

	/** The state in the trace; errors say what the trace has not. */
	public ViewState state(SelectedTrace in) throws MemtraceException {
		JsonObject o = new JsonObject();
		state.forEach(o::addProperty);
		try {
			return StateText.read(o, in, in.selection().initial());
		} catch (RuntimeException e) {
			throw new MemtraceException("the view is not understood: " + e.getMessage(), e);
		}
	}

	/** Numbers of the marked producers that are there. */
	public int[] marks(SelectedTrace in) {
		ProducerTree tree = in.producers();
		List<Integer> ids = new ArrayList<>();
		if (!marks.isEmpty()) {
			for (int i = 0; i < tree.size(); i++) {
				if (marks.contains(tree.name(i))) {
					ids.add(i);
				}
			}
		}
		return ids.stream().mapToInt(i -> i).toArray();
	}

	/** One line that can be pasted into a mail. */
	public String toLink() {
		StringBuilder text = new StringBuilder(LINK);
		add(text, "trace", trace);
		add(text, "host", host);
		add(text, "recorded", recordedAt.toString());
		add(text, "start_ns", Long.toString(startNs));
		add(text, "end_ns", Long.toString(endNs));
		add(text, "space", space.name());
		add(text, "front", front);
		new TreeMap<>(state).forEach((k, v) -> add(text, STATE + k, v));
		marks.forEach(m -> add(text, "mark", m));
		return text.toString();
	}

	private static void add(StringBuilder text, String key, String value) {
		if (!value.isEmpty()) {
			text.append(text.length() == LINK.length() ? "" : "&").append(key).append('=').append(URLEncoder.encode(value, StandardCharsets.UTF_8));
		}
	}

	/** A file. */
	public String toJson() {
		JsonObject o = new JsonObject();
		o.addProperty("format", FORMAT);
		JsonObject t = new JsonObject();
		t.addProperty("name", trace);
		t.addProperty("host", host);
		t.addProperty("recorded", recordedAt.toString());
		t.addProperty("start_ns", startNs);
		t.addProperty("end_ns", endNs);
		o.add("trace", t);
		o.addProperty("space", space.name());
		o.addProperty("front", front);
		JsonObject s = new JsonObject();
		new TreeMap<>(state).forEach(s::addProperty);
		o.add("state", s);
		JsonArray m = new JsonArray();
		marks.forEach(m::add);
		o.add("marks", m);
		return JsonText.PRETTY.toJson(o) + "\n";
	}

	/** Reads {@link #toLink} or {@link #toJson}; errors say what is wrong with it. */
	public static SharedView parse(String text) throws MemtraceException {
		String t = text.strip();
		try {
			return t.startsWith(LINK) ? link(t.substring(LINK.length())) : json(t);
		} catch (JsonParseException | DateTimeException | IllegalArgumentException | IllegalStateException | NullPointerException
				| ClassCastException | UnsupportedOperationException e) {
			throw new MemtraceException("this is no link to a view, nor a file of one: " + e.getMessage(), e);
		}
	}

	private static SharedView link(String query) throws MemtraceException {
		Map<String, String> one = new TreeMap<>();
		Map<String, String> state = new TreeMap<>();
		List<String> marks = new ArrayList<>();
		for (String pair : query.split("&")) {
			int at = pair.indexOf('=');
			if (at < 0) {
				throw new MemtraceException("the link is not whole: '" + pair + "' has no value");
			}
			String key = pair.substring(0, at);
			String value = URLDecoder.decode(pair.substring(at + 1), StandardCharsets.UTF_8);
			if (key.startsWith(STATE)) {
				state.put(key.substring(STATE.length()), value);
			} else if (key.equals("mark")) {
				marks.add(value);
			} else {
				one.put(key, value);
			}
		}
		for (String needed : new String[] { "trace", "recorded", "start_ns", "end_ns", "space" }) {
			if (!one.containsKey(needed)) {
				throw new MemtraceException("the link is not whole: it has no " + needed);
			}
		}
		return new SharedView(one.get("trace"), one.getOrDefault("host", ""), Instant.parse(one.get("recorded")),
				Long.parseLong(one.get("start_ns")), Long.parseLong(one.get("end_ns")), AddressSpace.valueOf(one.get("space")), state, marks,
				one.getOrDefault("front", ""));
	}

	private static SharedView json(String text) throws MemtraceException {
		JsonObject o = JsonParser.parseString(text).getAsJsonObject();
		if (!o.has("format") || !o.get("format").getAsString().equals(FORMAT)) {
			throw new MemtraceException("this is no view of this version (" + FORMAT + ")");
		}
		JsonObject t = o.getAsJsonObject("trace");
		Map<String, String> state = new TreeMap<>();
		o.getAsJsonObject("state").entrySet().forEach(e -> state.put(e.getKey(), e.getValue().getAsString()));
		List<String> marks = new ArrayList<>();
		o.getAsJsonArray("marks").forEach(m -> marks.add(m.getAsString()));
		return new SharedView(t.get("name").getAsString(), t.get("host").getAsString(), Instant.parse(t.get("recorded").getAsString()),
				t.get("start_ns").getAsLong(), t.get("end_ns").getAsLong(), AddressSpace.valueOf(o.get("space").getAsString()), state, marks,
				o.get("front").getAsString());
	}
}
