// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.output;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;

import org.memtrace.analysis.text.JsonText;

/** What commands print as JSON: an object whose first field is its schema. docs/reference/json.md */
public final class Json {
	private Json() {
	}

	/**
	 * An object with a schema and nothing else.
	 *
	 * @param schema name and version, such as {@code memtrace.list/1}
	 */
	public static JsonObject of(String schema) {
		JsonObject o = new JsonObject();
		o.addProperty("schema", schema);
		return o;
	}

	/** An object that begins with its schema, then has the fields of another object. */
	public static JsonObject of(String schema, JsonObject fields) {
		JsonObject o = of(schema);
		fields.entrySet().forEach(e -> o.add(e.getKey(), e.getValue()));
		return o;
	}

	/** As text, with a line for each field, without a line break at the end. */
	public static String text(JsonElement value) {
		return JsonText.PRETTY_WITH_NULLS.toJson(value);
	}
}
