// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.filter;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.PatternSyntaxException;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.text.JsonText;
import org.memtrace.model.MemtraceException;

/**
 * Filters as JSON: an array of objects with {@code by}, what belongs to it, and {@code not} and {@code off} when they are true.
 * Ends of a range that are not given are open. docs/howto/filters.md
 */
final class FilterJson {
	private FilterJson() {
	}

	static String write(FilterSet set) {
		JsonArray array = new JsonArray();
		for (TraceFilter f : set.filters()) {
			array.add(write(f));
		}
		return JsonText.LINE.toJson(array);
	}

	private static JsonObject write(TraceFilter f) {
		JsonObject o = new JsonObject();
		switch (f.condition()) {
		case Condition.Name n -> {
			by(o, "name");
			o.addProperty("pattern", n.regex());
		}
		case Condition.Subtree s -> {
			by(o, "subtree");
			JsonArray parts = new JsonArray();
			for (Condition.Part part : s.parts()) {
				JsonObject p = new JsonObject();
				p.addProperty("name", part.name());
				p.addProperty("producer", part.producer());
				parts.add(p);
			}
			o.add("parts", parts);
		}
		case Condition.Kind k -> {
			by(o, "kind");
			o.add("kinds", array(k.kinds()));
		}
		case Condition.Level l -> {
			by(o, "level");
			range(o, l.min(), l.max(), 0, Integer.MAX_VALUE);
		}
		case Condition.Count c -> {
			by(o, "count");
			o.addProperty("per", c.per().name().toLowerCase(Locale.ROOT));
			range(o, c.min(), c.max(), 0, Double.POSITIVE_INFINITY);
		}
		case Condition.Share s -> {
			by(o, "share");
			o.addProperty("per", s.per().name().toLowerCase(Locale.ROOT));
			range(o, s.minPercent(), s.maxPercent(), 0, Double.POSITIVE_INFINITY);
		}
		case Condition.Lifetime l -> limits(o, "lifetime", l.minNs(), l.maxNs());
		case Condition.Time t -> limits(o, "time", t.minNs(), t.maxNs());
		case Condition.Size s -> limits(o, "size", s.minBytes(), s.maxBytes());
		case Condition.Value v -> value(o, v);
		case Condition.Any a -> {
			by(o, "any");
			JsonArray of = new JsonArray();
			a.of().forEach(alternative -> of.add(write(alternative)));
			o.add("of", of);
		}
		}
		if (f.excludes()) {
			o.addProperty("not", true);
		}
		if (!f.enabled()) {
			o.addProperty("off", true);
		}
		return o;
	}

	private static void value(JsonObject o, Condition.Value v) {
		by(o, v.dimension());
		if (!v.values().isEmpty()) {
			o.add("values", array(v.values()));
		}
		if (!v.numbers().isEmpty()) {
			o.add("numbers", array(v.numbers()));
		}
		if (v.min() != Long.MIN_VALUE) {
			o.addProperty("min", v.min());
		}
		if (v.max() != Long.MAX_VALUE) {
			o.addProperty("max", v.max());
		}
	}

	private static void limits(JsonObject o, String what, long min, long max) {
		by(o, what);
		range(o, min, max, 0L, Long.MAX_VALUE);
	}

	private static void by(JsonObject o, String what) {
		o.addProperty("by", what);
	}

	private static void range(JsonObject o, Number min, Number max, Number least, Number most) {
		if (!min.equals(least) && min.doubleValue() != least.doubleValue()) {
			o.addProperty("min", min);
		}
		if (!max.equals(most)) {
			o.addProperty("max", max);
		}
	}

	private static JsonArray array(Collection<?> values) {
		JsonArray a = new JsonArray();
		for (Object v : values) {
			if (v instanceof Number n) {
				a.add(n);
			} else {
				a.add((String) v);
			}
		}
		return a;
	}

	static FilterSet read(String json) throws MemtraceException {
		JsonElement root;
		try {
			root = JsonParser.parseString(json);
		} catch (JsonParseException e) {
			throw new MemtraceException("the filters are not JSON: " + reason(e));
		}
		List<TraceFilter> filters = new ArrayList<>();
		try {
			if (root.isJsonArray()) {
				for (JsonElement e : root.getAsJsonArray()) {
					filters.add(read(e.getAsJsonObject()));
				}
			} else {
				filters.add(read(root.getAsJsonObject()));
			}
		} catch (PatternSyntaxException e) {
			throw new MemtraceException("'" + e.getPattern() + "' is not a regular expression: " + e.getDescription());
		} catch (IllegalStateException | ClassCastException | UnsupportedOperationException | IllegalArgumentException e) {
			throw new MemtraceException("filter " + (filters.size() + 1) + " is wrong: " + reason(e));
		}
		return new FilterSet(filters);
	}

	private static String reason(Exception e) {
		return String.valueOf(e.getMessage()).lines().findFirst().orElse("").replaceFirst("^[\\w.]+Exception: ", "");
	}

	private static TraceFilter read(JsonObject o) throws MemtraceException {
		String by = o.has("by") ? o.get("by").getAsString() : "";
		// levels of the tree have a range, levels of memory, a dimension, have names
		boolean ofTree = by.equals("level") && !o.has("values") && !o.has("numbers");
		Dimension dimension = ofTree ? null : Dimensions.find(by, Use.FILTER);
		Condition condition = dimension != null ? value(dimension, o) : switch (by) {
		case "name" -> new Condition.Name(needed(o, "pattern").getAsString());
		case "subtree" -> new Condition.Subtree(list(o, "parts", FilterJson::part));
		case "kind" -> new Condition.Kind(new TreeSet<>(list(o, "kinds", JsonElement::getAsString)));
		case "level" -> new Condition.Level(number(o, "min", 0).intValue(), number(o, "max", Integer.MAX_VALUE).intValue());
		case "count" -> new Condition.Count(per(o), number(o, "min", 0).doubleValue(),
				number(o, "max", Double.POSITIVE_INFINITY).doubleValue());
		case "share" -> new Condition.Share(per(o), number(o, "min", 0).doubleValue(),
				number(o, "max", Double.POSITIVE_INFINITY).doubleValue());
		case "lifetime" -> new Condition.Lifetime(number(o, "min", 0L).longValue(),
				number(o, "max", Long.MAX_VALUE).longValue());
		case "time" -> new Condition.Time(number(o, "min", 0L).longValue(), number(o, "max", Long.MAX_VALUE).longValue());
		case "size" -> new Condition.Size(number(o, "min", 0L).longValue(), number(o, "max", Long.MAX_VALUE).longValue());
		case "any" -> {
			List<TraceFilter> of = new ArrayList<>();
			for (JsonElement e : needed(o, "of").getAsJsonArray()) {
				of.add(read(e.getAsJsonObject()));
			}
			yield new Condition.Any(of);
		}
		default -> throw new MemtraceException("'" + by + "' is nothing to filter by; use name, subtree, kind, level, count, share,"
				+ " lifetime, time, size, any or one of the dimensions " + Dimensions.ids(Use.FILTER));
		};
		return new TraceFilter(condition, flag(o, "not"), !flag(o, "off"));
	}

	/** What filters of four dimensions had before there was one form for all: threads, CPUs and nodes by number, types by name. */
	private static final Map<String, String> OLD_KEYS = Map.of("thread", "threads", "cpu", "cpus", "node", "nodes", "type", "types");

	private static Condition value(Dimension dimension, JsonObject o) {
		String id = dimension.id();
		String old = OLD_KEYS.getOrDefault(id, "numbers");
		if (o.has("values")) {
			return Condition.Value.of(id, list(o, "values", JsonElement::getAsString));
		}
		if (old.equals("types") && o.has(old)) {
			return Condition.Value.of(id, list(o, old, JsonElement::getAsString));
		}
		if (o.has("numbers") || o.has(old)) {
			return Condition.Value.numbers(id, list(o, o.has("numbers") ? "numbers" : old, JsonElement::getAsLong));
		}
		if (!o.has("min") && !o.has("max")) {
			throw new IllegalArgumentException("it has no 'values'" + (dimension.type() == Dimension.Type.TEXT ? " or 'numbers'"
					: ", 'numbers', 'min' or 'max'"));
		}
		return Condition.Value.range(id, number(o, "min", Long.MIN_VALUE).longValue(), number(o, "max", Long.MAX_VALUE).longValue());
	}

	private static boolean flag(JsonObject o, String key) {
		return o.has(key) && o.get(key).getAsBoolean();
	}

	private static JsonElement needed(JsonObject o, String key) {
		if (!o.has(key)) {
			throw new IllegalArgumentException("it has no '" + key + "'");
		}
		return o.get(key);
	}

	private static Number number(JsonObject o, String key, Number otherwise) {
		return o.has(key) ? o.get(key).getAsNumber() : otherwise;
	}

	private static Condition.Per per(JsonObject o) {
		String per = o.has("per") ? o.get("per").getAsString() : "structure";
		return switch (per) {
		case "page" -> Condition.Per.PAGE;
		case "structure" -> Condition.Per.STRUCTURE;
		default -> throw new IllegalArgumentException("'per' is page or structure, not '" + per + "'");
		};
	}

	private static Condition.Part part(JsonElement e) {
		if (e.isJsonPrimitive()) {
			return new Condition.Part(-1, e.getAsString());
		}
		JsonObject o = e.getAsJsonObject();
		return new Condition.Part(number(o, "producer", -1).intValue(), needed(o, "name").getAsString());
	}

	private static <T> List<T> list(JsonObject o, String key, Function<JsonElement, T> read) {
		List<T> values = new ArrayList<>();
		for (JsonElement e : needed(o, key).getAsJsonArray()) {
			values.add(read.apply(e));
		}
		return values;
	}
}
