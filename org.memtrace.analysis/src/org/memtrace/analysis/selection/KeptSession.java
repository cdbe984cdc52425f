// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.AddressSpace;

/**
 * What a workbench showed when it was left, as text: which traces in which groups of views, what was looked at in them, which groups were
 * linked, and which database files were open. Immutable.
 *
 * @param catalogue directory of the catalogue that the traces are of
 * @param shown by group
 * @param files database files in no catalogue that were open, in their order
 */
public record KeptSession(String catalogue, List<Shown> shown, List<Link> links, List<String> files) {
	/** Nothing was shown. */
	public static final KeptSession NONE = new KeptSession("", List.of(), List.of(), List.of());
	private static final String FORMAT = "memtrace.session/1";

	/**
	 * The trace of a group.
	 *
	 * @param group number of the group, from 1
	 * @param trace number in the catalogue, -1 for a file
	 * @param database its name in the catalogue: a number can become that of another trace; the path of a file
	 * @param state as {@link StateText} writes it
	 * @param marks marked producers: numbers
	 */
	public record Shown(int group, int trace, String database, AddressSpace space, Map<String, String> state, List<Integer> marks) {
		public Shown {
			state = Map.copyOf(state);
			marks = List.copyOf(marks);
		}

		public boolean isFile() {
			return trace < 0;
		}

		/** Whether it is a trace of the catalogue. */
		public boolean is(TraceInfo listed) {
			return !isFile() && listed.id() == trace && listed.databaseName().equals(database);
		}

		/**
		 * What was looked at, as far as the trace has it: of another trace in the same place only what is named alike.
		 *
		 * @return the state to go to; the whole trace where nothing of it can be understood
		 */
		public ViewState state(SelectedTrace in) {
			JsonObject o = new JsonObject();
			state.forEach(o::addProperty);
			try {
				return StateText.read(o, in, in.selection().initial());
			} catch (MemtraceException | RuntimeException e) {
				return in.selection().initial();
			}
		}
	}

	/** Two linked groups; the second follows when the link is made. */
	public record Link(int a, int b, SelectionLink.Time time) {
	}

	public KeptSession {
		shown = List.copyOf(shown);
		links = List.copyOf(links);
		files = List.copyOf(files);
	}

	public String toJson() {
		JsonObject o = new JsonObject();
		o.addProperty("format", FORMAT);
		o.addProperty("catalogue", catalogue);
		JsonArray groups = new JsonArray();
		for (Shown s : shown) {
			JsonObject g = new JsonObject();
			g.addProperty("group", s.group());
			g.addProperty("trace", s.trace());
			g.addProperty("database", s.database());
			g.addProperty("space", s.space().name());
			JsonObject state = new JsonObject();
			s.state().entrySet().stream().sorted(Map.Entry.comparingByKey()).forEach(e -> state.addProperty(e.getKey(), e.getValue()));
			g.add("state", state);
			JsonArray marks = new JsonArray();
			s.marks().forEach(marks::add);
			g.add("marks", marks);
			groups.add(g);
		}
		o.add("shown", groups);
		JsonArray all = new JsonArray();
		for (Link l : links) {
			JsonObject link = new JsonObject();
			link.addProperty("a", l.a());
			link.addProperty("b", l.b());
			link.addProperty("time", l.time().name());
			all.add(link);
		}
		o.add("links", all);
		JsonArray paths = new JsonArray();
		files.forEach(paths::add);
		o.add("files", paths);
		return o.toString();
	}

	/** Reads {@link #toJson}; errors say what is wrong with it. */
	public static KeptSession parse(String json) throws MemtraceException {
		try {
			JsonObject o = JsonParser.parseString(json).getAsJsonObject();
			if (!o.has("format") || !o.get("format").getAsString().equals(FORMAT)) {
				throw new MemtraceException("not a session of this version (" + FORMAT + ")");
			}
			List<Shown> shown = new ArrayList<>();
			for (JsonElement e : o.getAsJsonArray("shown")) {
				JsonObject g = e.getAsJsonObject();
				Map<String, String> state = new java.util.TreeMap<>();
				g.getAsJsonObject("state").entrySet().forEach(s -> state.put(s.getKey(), s.getValue().getAsString()));
				List<Integer> marks = new ArrayList<>();
				g.getAsJsonArray("marks").forEach(m -> marks.add(m.getAsInt()));
				shown.add(new Shown(g.get("group").getAsInt(), g.get("trace").getAsInt(), g.get("database").getAsString(),
						AddressSpace.valueOf(g.get("space").getAsString()), state, marks));
			}
			List<Link> links = new ArrayList<>();
			for (JsonElement e : o.getAsJsonArray("links")) {
				JsonObject l = e.getAsJsonObject();
				links.add(new Link(l.get("a").getAsInt(), l.get("b").getAsInt(), SelectionLink.Time.valueOf(l.get("time").getAsString())));
			}
			List<String> files = new ArrayList<>();
			o.getAsJsonArray("files").forEach(f -> files.add(f.getAsString()));
			return new KeptSession(o.get("catalogue").getAsString(), shown, links, files);
		} catch (JsonParseException | IllegalArgumentException | IllegalStateException | NullPointerException | ClassCastException
				| UnsupportedOperationException e) {
			throw new MemtraceException("not understood: " + e.getMessage(), e);
		}
	}
}
