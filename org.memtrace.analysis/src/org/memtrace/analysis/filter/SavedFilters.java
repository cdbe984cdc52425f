// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.filter;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;

/** Filters that a person has given a name, kept with the trace. Immutable. */
public record SavedFilters(SortedMap<String, FilterSet> byName) {
	/** Key of the note in the trace. */
	static final String NOTE = "filters";
	public static final SavedFilters NONE = new SavedFilters(new TreeMap<>());

	public SavedFilters {
		TreeMap<String, FilterSet> copy = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
		copy.putAll(byName);
		byName = Collections.unmodifiableSortedMap(copy);
	}

	/** Those of a trace. */
	public static SavedFilters of(TraceStore store) throws MemtraceException {
		byte[] note = store.readNote(NOTE).orElse(null);
		if (note == null) {
			return NONE;
		}
		try {
			JsonObject all = JsonParser.parseString(new String(note, StandardCharsets.UTF_8)).getAsJsonObject();
			TreeMap<String, FilterSet> byName = new TreeMap<>();
			for (Map.Entry<String, JsonElement> e : all.entrySet()) {
				byName.put(e.getKey(), FilterSet.parse(e.getValue().toString()));
			}
			return new SavedFilters(byName);
		} catch (JsonParseException | IllegalStateException e) {
			throw new MemtraceException("the saved filters of '" + store.info().alias() + "' cannot be read: " + e.getMessage());
		}
	}

	/** Saves them with the trace. */
	public void save(TraceStore store) throws MemtraceException {
		JsonObject all = new JsonObject();
		byName.forEach((name, set) -> all.add(name, JsonParser.parseString(set.toJson())));
		store.writeNote(NOTE, byName.isEmpty() ? null : all.toString().getBytes(StandardCharsets.UTF_8));
	}

	/** These and one more; it takes the place of another one with its name. */
	public SavedFilters with(String name, FilterSet set) {
		TreeMap<String, FilterSet> now = new TreeMap<>(byName);
		now.put(name, set);
		return new SavedFilters(now);
	}

	public SavedFilters without(String name) {
		TreeMap<String, FilterSet> now = new TreeMap<>(byName);
		now.remove(name);
		return new SavedFilters(now);
	}

	/** Whether a text is filters as JSON, not the name of some. */
	public static boolean isJson(String nameOrJson) {
		String text = nameOrJson.strip();
		return text.startsWith("[") || text.startsWith("{");
	}

	/** Filters by their name, or written as JSON; the error names those that there are. */
	public FilterSet find(String nameOrJson) throws MemtraceException {
		FilterSet named = byName.get(nameOrJson);
		if (named != null) {
			return named;
		}
		if (isJson(nameOrJson)) {
			return FilterSet.parse(nameOrJson.strip());
		}
		throw new MemtraceException("the trace has no filters that are called '" + nameOrJson + "'"
				+ (byName.isEmpty() ? "" : ", only " + String.join(", ", byName.keySet())));
	}
}
