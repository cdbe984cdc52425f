// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

import java.util.ArrayList;
import java.util.List;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

import org.memtrace.model.TraceInfo;

/** The traces that were shown last, the newest first. Immutable. */
public record RecentTraces(List<Recent> traces) {
	public static final RecentTraces NONE = new RecentTraces(List.of());
	/** More are forgotten. */
	public static final int MOST = 10;

	/**
	 * A trace that was shown.
	 *
	 * @param catalogue directory of the catalogue that it is of; empty: a file
	 * @param id number in the catalogue, -1 for a file
	 * @param database its name in the catalogue: a number can become that of another trace; the path of a file
	 * @param name as it was called
	 */
	public record Recent(String catalogue, int id, String database, String name) {
		public boolean isFile() {
			return id < 0;
		}

		/** Whether it is a trace of the catalogue, if that is the one. */
		public boolean is(TraceInfo listed) {
			return !isFile() && listed.id() == id && listed.databaseName().equals(database);
		}

		private boolean isSame(Recent o) {
			return id == o.id && catalogue.equals(o.catalogue) && database.equals(o.database);
		}
	}

	public RecentTraces {
		traces = List.copyOf(traces);
	}

	/** A trace is shown now. */
	public RecentTraces with(Recent shown) {
		List<Recent> now = new ArrayList<>();
		now.add(shown);
		traces.stream().filter(t -> !t.isSame(shown)).limit(MOST - 1L).forEach(now::add);
		return new RecentTraces(now);
	}

	/** A trace is not there any more. */
	public RecentTraces without(Recent gone) {
		return new RecentTraces(traces.stream().filter(t -> !t.isSame(gone)).toList());
	}

	public String toJson() {
		JsonArray a = new JsonArray();
		for (Recent t : traces) {
			JsonObject o = new JsonObject();
			o.addProperty("catalogue", t.catalogue());
			o.addProperty("id", t.id());
			o.addProperty("database", t.database());
			o.addProperty("name", t.name());
			a.add(o);
		}
		return a.toString();
	}

	/** Reads {@link #toJson}; none when it is not understood: a list of what was is not worth an error. */
	public static RecentTraces parse(String json) {
		try {
			List<Recent> traces = new ArrayList<>();
			for (JsonElement e : JsonParser.parseString(json.isEmpty() ? "[]" : json).getAsJsonArray()) {
				JsonObject o = e.getAsJsonObject();
				traces.add(new Recent(o.get("catalogue").getAsString(), o.get("id").getAsInt(), o.get("database").getAsString(),
						o.get("name").getAsString()));
			}
			return new RecentTraces(traces.subList(0, Math.min(MOST, traces.size())));
		} catch (JsonParseException | IllegalStateException | NullPointerException | NumberFormatException | UnsupportedOperationException
				| ClassCastException e) {
			return NONE;
		}
	}
}
