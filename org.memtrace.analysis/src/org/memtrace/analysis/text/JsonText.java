// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;

/** How JSON is written, by all but the report, whose JSON stands in HTML. Safe for all threads. */
public final class JsonText {
	/** On one line; what is null is left out. */
	public static final Gson LINE = new GsonBuilder().disableHtmlEscaping().create();
	/** On one line. */
	public static final Gson LINE_WITH_NULLS = new GsonBuilder().disableHtmlEscaping().serializeNulls().create();
	/** With a line for each field; what is null is left out. */
	public static final Gson PRETTY = new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();
	/** With a line for each field. */
	public static final Gson PRETTY_WITH_NULLS = new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().serializeNulls().create();

	private JsonText() {
	}
}
