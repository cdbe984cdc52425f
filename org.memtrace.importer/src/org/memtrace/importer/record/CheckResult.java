// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.record;

import java.util.ArrayList;
import java.util.List;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

/**
 * What {@code memtrace check} found: which ways of recording work on this machine.
 *
 * @param automatic backend that {@code auto} takes
 * @param reason why it does
 */
public record CheckResult(List<Backend> backends, String automatic, String reason) {
	/** How well something works. */
	public enum Works {
		YES, PARTLY, NO
	}

	/**
	 * One thing that a backend needs.
	 *
	 * @param why what it is, or why it does not work
	 */
	public record Facility(String name, Works works, String why) {
	}

	/**
	 * A way of recording.
	 *
	 * @param why what it records, or why it does not work
	 * @param fix command that makes it work, empty when there is none
	 */
	public record Backend(String name, Works works, String why, String fix, List<Facility> facilities) {
	}

	public CheckResult {
		backends = List.copyOf(backends);
	}

	/** A backend by name, null when there is none. */
	public Backend backend(String name) {
		String wanted = name.equals("auto") ? automatic : name;
		return backends.stream().filter(b -> b.name().equals(wanted)).findFirst().orElse(null);
	}

	/** Runs the check of a recorder; takes a moment. */
	public static CheckResult run(String launcher, Progress progress) throws MemtraceException {
		progress.begin("Trying what works on this machine", -1);
		ToolOutput output = ToolOutput.of(List.of(launcher, "check", "--json"), progress);
		if (output.text().isBlank()) {
			throw new TraceFormatException(launcher + " check", 0, output.error().isBlank() ? "said nothing (exit code "
					+ output.exitCode() + ")" : "said: " + output.error().strip());
		}
		return parse(output.text());
	}

	/** @param json of {@code memtrace check --json} */
	public static CheckResult parse(String json) throws TraceFormatException {
		try {
			JsonObject top = JsonParser.parseString(json).getAsJsonObject();
			List<Backend> backends = new ArrayList<>();
			for (JsonElement b : array(top, "backends")) {
				JsonObject o = b.getAsJsonObject();
				List<Facility> facilities = new ArrayList<>();
				for (JsonElement f : array(o, "facilities")) {
					JsonObject p = f.getAsJsonObject();
					facilities.add(new Facility(text(p, "name"), works(p), text(p, "why")));
				}
				backends.add(new Backend(text(o, "name"), works(o), text(o, "why"), text(o, "fix"), List.copyOf(facilities)));
			}
			return new CheckResult(backends, text(top, "auto"), text(top, "reason"));
		} catch (JsonParseException | IllegalStateException | UnsupportedOperationException | ClassCastException e) {
			throw new TraceFormatException("memtrace check", 0, "gave no JSON of the kind that is expected");
		}
	}

	private static JsonArray array(JsonObject o, String key) {
		return o.has(key) ? o.getAsJsonArray(key) : new JsonArray();
	}

	private static String text(JsonObject o, String key) {
		JsonElement e = o.get(key);
		return e == null || e.isJsonNull() ? "" : e.getAsString();
	}

	private static Works works(JsonObject o) {
		return switch (text(o, "works")) {
			case "yes" -> Works.YES;
			case "partly" -> Works.PARTLY;
			default -> Works.NO;
		};
	}
}
