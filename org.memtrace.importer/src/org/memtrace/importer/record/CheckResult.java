// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.record;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

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
	/** Asks for the best backend that works. */
	public static final String AUTOMATIC = "auto";
	/** Ability: it can record a process that runs already. */
	public static final String RUNNING_PROCESS = "running-process";
	/** Ability: it can tell the first write after a read of the same page. */
	public static final String WRITE_TRACKING = "write-tracking";

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
	 * @param name of {@code --backend}
	 * @param title what it is called in a list for people; the name when an older recorder does not tell
	 * @param why what it records, or why it does not work
	 * @param fix command that makes it work, empty when there is none
	 * @param abilities what not every backend can do, {@link #RUNNING_PROCESS} say
	 */
	public record Backend(String name, String title, Works works, String why, String fix, Set<String> abilities,
			List<Facility> facilities) {
		/** Title and name: "User space (zap)". */
		public String label() {
			return title.equals(name) ? name : title + " (" + name + ")";
		}
	}

	public CheckResult {
		backends = List.copyOf(backends);
	}

	/** The backends that can do something, in the order of the recorder. */
	public List<Backend> with(String ability) {
		return backends.stream().filter(b -> b.abilities().contains(ability)).toList();
	}

	/** A backend by name, null when there is none. */
	public Backend backend(String name) {
		String wanted = name.equals(AUTOMATIC) ? automatic : name;
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
				Set<String> abilities = new LinkedHashSet<>();
				for (JsonElement a : array(o, "abilities")) {
					abilities.add(a.getAsString());
				}
				String title = text(o, "title");
				backends.add(new Backend(text(o, "name"), title.isEmpty() ? text(o, "name") : title, works(o), text(o, "why"),
						text(o, "fix"), Collections.unmodifiableSet(abilities), List.copyOf(facilities)));
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
