// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.definition;

import java.util.ArrayList;
import java.util.List;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

import org.memtrace.importer.record.ToolOutput;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

/**
 * What can stand in a definition file on this machine, as {@code memtrace monitor --list} tells it. Immutable.
 *
 * @param builtIn the definitions that are used without a file
 */
public record MonitorWords(List<Field> fields, List<Source> sources, List<Reduction> reductions, List<Type> types, String builtIn) {
	/** Nothing is known: the recorder is not here. */
	public static final MonitorWords NONE = new MonitorWords(List.of(), List.of(), List.of(), List.of(), "");

	/** What stands behind a field. */
	public enum Value {
		PLACES, SOURCE, EVENTS, COUNTERS, SET_REDUCTION, SAMPLES_REDUCTION, REDUCTIONS, NUMBER, FLAG, FILE, UNKNOWN;

		static Value of(String name) {
			for (Value v : values()) {
				if (v.name().replace('_', '-').equalsIgnoreCase(name)) {
					return v;
				}
			}
			return UNKNOWN;
		}
	}

	/**
	 * A field of a monitor.
	 *
	 * @param generations years of the tools whose files have it
	 */
	public record Field(String name, String text, Value value, List<Integer> generations) {
		public Field {
			generations = List.copyOf(generations);
		}
	}

	/**
	 * An event of a source.
	 *
	 * @param places where it can be counted, empty: everywhere
	 * @param here whether it can be counted on this machine
	 * @param pattern the name stands for many
	 */
	public record Event(String name, String text, String places, boolean here, boolean pattern) {
	}

	/**
	 * Where events come from.
	 *
	 * @param ofMonitors its events are other monitors of the file
	 */
	public record Source(String name, String text, boolean ofMonitors, List<Event> events) {
		public Source {
			events = List.copyOf(events);
		}
	}

	/**
	 * A reduction by name.
	 *
	 * @param window of the events of several samples, not of values of one set
	 */
	public record Reduction(String name, String text, boolean window) {
	}

	/**
	 * A type of places.
	 *
	 * @param places number on this machine
	 */
	public record Type(String name, int places) {
	}

	public MonitorWords {
		fields = List.copyOf(fields);
		sources = List.copyOf(sources);
		reductions = List.copyOf(reductions);
		types = List.copyOf(types);
	}

	/** A field by name, null when there is none. */
	public Field field(String name) {
		return fields.stream().filter(f -> f.name().equals(name)).findFirst().orElse(null);
	}

	/** A source by name, null when there is none. */
	public Source source(String name) {
		return sources.stream().filter(s -> s.name().equalsIgnoreCase(name)).findFirst().orElse(null);
	}

	/** Asks the recorder, which tries each event; takes a moment. */
	public static MonitorWords run(String launcher, Progress progress) throws MemtraceException {
		progress.begin("Asking what can be counted here", -1);
		ToolOutput output = ToolOutput.of(List.of(launcher, "monitor", "--list", "--json"), progress);
		if (output.text().isBlank()) {
			throw new TraceFormatException(launcher + " monitor --list", 0, output.error().isBlank() ? "said nothing (exit code "
					+ output.exitCode() + ")" : "said: " + output.error().strip());
		}
		return parse(output.text());
	}

	/** @param json of {@code memtrace monitor --list --json} */
	public static MonitorWords parse(String json) throws TraceFormatException {
		try {
			JsonObject top = JsonParser.parseString(json).getAsJsonObject();
			List<Field> fields = new ArrayList<>();
			for (JsonObject f : objects(top, "fields")) {
				List<Integer> generations = new ArrayList<>();
				f.getAsJsonArray("generations").forEach(g -> generations.add(g.getAsInt()));
				fields.add(new Field(text(f, "name"), text(f, "text"), Value.of(text(f, "value")), generations));
			}
			List<Source> sources = new ArrayList<>();
			for (JsonObject s : objects(top, "sources")) {
				List<Event> events = new ArrayList<>();
				for (JsonObject e : objects(s, "events")) {
					events.add(new Event(text(e, "name"), text(e, "text"), text(e, "places"), flag(e, "here"), flag(e, "pattern")));
				}
				sources.add(new Source(text(s, "name"), text(s, "text"), flag(s, "of_monitors"), events));
			}
			List<Reduction> reductions = new ArrayList<>();
			for (JsonObject r : objects(top, "reductions")) {
				reductions.add(new Reduction(text(r, "name"), text(r, "text"), flag(r, "window")));
			}
			List<Type> types = new ArrayList<>();
			for (JsonObject t : objects(top, "types")) {
				types.add(new Type(text(t, "name"), t.get("places").getAsInt()));
			}
			return new MonitorWords(fields, sources, reductions, types, text(top, "built_in"));
		} catch (JsonParseException | IllegalStateException | UnsupportedOperationException | ClassCastException | NullPointerException
				| NumberFormatException e) {
			throw new TraceFormatException("memtrace monitor --list", 0, "gave no JSON of the kind that is expected");
		}
	}

	private static List<JsonObject> objects(JsonObject o, String key) {
		List<JsonObject> all = new ArrayList<>();
		JsonArray array = o.getAsJsonArray(key);
		for (JsonElement e : array == null ? new JsonArray() : array) {
			all.add(e.getAsJsonObject());
		}
		return all;
	}

	private static String text(JsonObject o, String key) {
		JsonElement e = o.get(key);
		return e == null || e.isJsonNull() ? "" : e.getAsString();
	}

	private static boolean flag(JsonObject o, String key) {
		JsonElement e = o.get(key);
		return e != null && e.getAsBoolean();
	}
}
