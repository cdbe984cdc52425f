// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.definition;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

import org.memtrace.importer.record.ToolOutput;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

/**
 * What {@code memtrace monitor --check} says of a definition file.
 *
 * @param generation year of the tool whose files have these fields, 0 when that is not known yet
 * @param monitors number of definitions that were read
 * @param mistake the first one, null: there is none
 */
public record DefinitionCheck(int generation, int monitors, Mistake mistake) {
	/**
	 * What is wrong, and where.
	 *
	 * @param line from 1; 0: the file cannot be read
	 * @param column from 1, in bytes of UTF-8
	 */
	public record Mistake(int line, int column, String text) {
		/** Where that is in the text of the file: its first character, 0 to the length. */
		public int offset(String file) {
			int at = 0;
			for (int l = 1; l < line && file.indexOf('\n', at) >= 0; l++) {
				at = file.indexOf('\n', at) + 1;
			}
			int bytes = 1;
			while (at < file.length() && bytes < column && file.charAt(at) != '\n') {
				int c = file.codePointAt(at);
				bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
				at += Character.charCount(c);
			}
			return at;
		}
	}

	/** What a person reads about definitions without a mistake. */
	public String summary() {
		return monitors + (monitors == 1 ? " monitor" : " monitors") + " in the form of " + generation;
	}

	/**
	 * Has a text checked, without a file of the user.
	 *
	 * @param launcher path of {@code memtrace}
	 */
	public static DefinitionCheck run(String launcher, String text, Progress progress) throws MemtraceException {
		Path file = null;
		try {
			file = Files.createTempFile("memtrace-monitors", ".mon");
			Files.writeString(file, text, StandardCharsets.UTF_8);
			ToolOutput output = ToolOutput.of(List.of(launcher, "monitor", "--check", "--json", "-f", file.toString()), progress);
			if (output.text().isBlank()) {
				throw new TraceFormatException(launcher + " monitor --check", 0, output.error().isBlank() ? "said nothing (exit code "
						+ output.exitCode() + ")" : "said: " + output.error().strip());
			}
			return parse(output.text());
		} catch (IOException e) {
			throw new MemtraceException("The definitions cannot be checked: " + e.getMessage(), e);
		} finally {
			if (file != null && !file.toFile().delete()) {
				file.toFile().deleteOnExit();
			}
		}
	}

	/** @param json of {@code memtrace monitor --check --json} */
	public static DefinitionCheck parse(String json) throws TraceFormatException {
		try {
			JsonObject top = JsonParser.parseString(json).getAsJsonObject();
			JsonElement m = top.get("mistake");
			Mistake mistake = m == null || m.isJsonNull() ? null : new Mistake(m.getAsJsonObject().get("line").getAsInt(),
					m.getAsJsonObject().get("column").getAsInt(), m.getAsJsonObject().get("text").getAsString());
			return new DefinitionCheck(top.get("generation").getAsInt(), top.get("monitors").getAsInt(), mistake);
		} catch (JsonParseException | IllegalStateException | UnsupportedOperationException | ClassCastException | NullPointerException
				| NumberFormatException e) {
			throw new TraceFormatException("memtrace monitor --check", 0, "gave no JSON of the kind that is expected");
		}
	}
}
