// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.input;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

import org.memtrace.model.RegularFile;
import org.memtrace.model.TraceFormatException;

/** A JSON object that is read without surprises: what is missing or has another type is unknown. */
public record Json(JsonObject object) {
	/** Writes on one line; what is null is left out. */
	public static final Gson LINE = new GsonBuilder().disableHtmlEscaping().create();
	/** Writes a line for each field; what is null is left out. */
	public static final Gson PRETTY = new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();
	public static final Json EMPTY = new Json(new JsonObject());

	public static Json read(Path file, String name) throws TraceFormatException {
		try {
			JsonElement element = JsonParser.parseString(RegularFile.text(file));
			if (!element.isJsonObject()) {
				throw new TraceFormatException(name, 0, "is not a JSON object");
			}
			return new Json(element.getAsJsonObject());
		} catch (JsonParseException | IllegalStateException e) {
			throw new TraceFormatException(name, 0, "is not JSON");
		} catch (IOException e) {
			throw new TraceFormatException(name, 0, "cannot be read: "
					+ (e instanceof java.nio.charset.CharacterCodingException ? "it is not UTF-8" : e.getMessage()));
		}
	}

	private static boolean isPrimitive(JsonElement element) {
		return element != null && element.isJsonPrimitive();
	}

	public String text(String key) {
		JsonElement element = object.get(key);
		return isPrimitive(element) ? element.getAsString() : "";
	}

	public long number(String key, long unknown) {
		JsonElement element = object.get(key);
		try {
			return isPrimitive(element) && element.getAsJsonPrimitive().isNumber() ? element.getAsLong() : unknown;
		} catch (NumberFormatException e) {
			return unknown;
		}
	}

	public Json object(String key) {
		JsonElement element = object.get(key);
		return element != null && element.isJsonObject() ? new Json(element.getAsJsonObject()) : EMPTY;
	}

	public List<String> texts(String key) {
		List<String> list = new ArrayList<>();
		JsonElement element = object.get(key);
		if (element != null && element.isJsonArray()) {
			for (JsonElement item : element.getAsJsonArray()) {
				if (isPrimitive(item)) {
					list.add(item.getAsString());
				}
			}
		}
		return list;
	}

	public List<Json> objects(String key) {
		List<Json> list = new ArrayList<>();
		JsonElement element = object.get(key);
		if (element != null && element.isJsonArray()) {
			for (JsonElement item : element.getAsJsonArray()) {
				if (item.isJsonObject()) {
					list.add(new Json(item.getAsJsonObject()));
				}
			}
		}
		return list;
	}

	/** Members that are numbers. */
	public Map<String, Long> numbers() {
		Map<String, Long> map = new TreeMap<>();
		for (String key : object.keySet()) {
			if (number(key, Long.MIN_VALUE) != Long.MIN_VALUE) {
				map.put(key, number(key, 0));
			}
		}
		return map;
	}

	/** Members that are texts, numbers or truth values. */
	public Map<String, String> primitives() {
		Map<String, String> map = new TreeMap<>();
		for (String key : object.keySet()) {
			if (isPrimitive(object.get(key))) {
				map.put(key, text(key));
			}
		}
		return map;
	}
}
