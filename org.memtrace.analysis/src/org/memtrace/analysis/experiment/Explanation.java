// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.experiment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.RegularFile;

/**
 * The seven questions that an experiment must answer from its folder alone: what, with which software, expecting what, when, where, in
 * which files,
 * analysed how. They are those of {@code memtrace info --explain} for a trace.
 */
public final class Explanation {
	private final List<String> missing = new ArrayList<>();
	private final StringBuilder text = new StringBuilder();
	private int question;

	/** @throws MemtraceException when the folder is of no experiment, or cannot be read */
	public Explanation(Path folder) throws MemtraceException {
		ExperimentPlan plan = ExperimentPlan.read(folder.resolve("plan.toml"));
		JsonObject all;
		try {
			all = JsonParser.parseString(RegularFile.text(folder.resolve("experiment.json"))).getAsJsonObject();
		} catch (IOException | JsonParseException | IllegalStateException e) {
			throw new MemtraceException(folder.resolve("experiment.json") + " cannot be read: " + e.getMessage());
		}
		List<RunResult> done = new ExperimentRunner(plan, folder, null, s -> {
		}).done();
		JsonObject machine = object(all, "machine");
		JsonObject sources = object(all, "sources");

		ask("What was run?", String.join(" ", plan.command()) + "\n" + plan.factors() + ", " + plan.repetitions() + " repetitions, seed "
				+ plan.seed() + "\nin " + value(all, "working_directory"));
		need(!value(all, "working_directory").isEmpty() && !value(all, "path").isEmpty(), "no working directory or PATH");

		String system = Stream.of("os", "kernel", "kernel_version").map(k -> value(machine, k)).filter(v -> !v.isEmpty())
				.collect(Collectors.joining(", "));
		String modified = value(sources, "modified_files");
		boolean diff = Files.isRegularFile(folder.resolve("sources.diff"));
		ask("With which software?", system + "\n" + value(all, "memtrace") + "\n"
				+ (sources.isEmpty() ? "sources: in no git repository, or not known" : "sources: commit " + value(sources, "commit") + ", branch "
						+ value(sources, "branch") + ", " + modified + " files modified" + (diff ? ": sources.diff" : "")));
		need(!value(machine, "kernel").isEmpty(), "no kernel");
		need(sources.isEmpty() || modified.equals("0") || diff, "the sources were modified, and sources.diff is not here");

		ask("What was expected?", plan.purpose());
		need(!plan.purpose().isBlank(), "no purpose");

		int runs = plan.configurations().size() * plan.repetitions();
		ask("When?", value(all, "began") + ", the last run at "
				+ done.stream().map(RunResult::start).max(String::compareTo).orElse("(none)") + "; " + done.size()
				+ " of " + runs + " runs are done");
		need(!value(all, "began").isEmpty() && done.size() == runs,
				"it has not ended: " + (runs - done.size()) + " runs are left");

		JsonObject settings = object(machine, "settings");
		ask("On which machine, by whom?", value(machine, "name") + ": " + value(machine, "cpu_model") + ", " + value(machine, "cpus_online")
				+ " CPUs; user "
				+ value(all, "user") + "\n"
				+ settings.keySet().stream().map(k -> k + " = " + value(settings, k)).collect(Collectors.joining("\n")));
		need(!value(machine, "name").isEmpty() && !value(all, "user").isEmpty(), "no name of the machine or user");
		need(!settings.isEmpty(), "no settings of the kernel");
		need(done.stream().map(RunResult::environment).distinct().count() <= 1, "not all runs had the same machine and settings");

		ask("How are the files organised, and how complete are they?", "README.md describes them; " + done.stream()
				.filter(RunResult::isValid).count() + " of " + done.size() + " runs count");
		need(Files.isRegularFile(folder.resolve("README.md")) && Files.isRegularFile(folder.resolve("results.csv")),
				"no README.md or results.csv");
		for (String file : plan.files()) {
			need(Files.isRegularFile(folder.resolve("files").resolve(Path.of(file).getFileName())), "files/ has no " + file);
		}

		ask("How is it analysed?", "analyse.py and analyse.R make summary.csv from filtered.csv");
		for (String file : List.of("analyse.py", "analyse.R", "filtered.csv")) {
			need(Files.isRegularFile(folder.resolve(file)), "no " + file);
		}
	}

	private void ask(String what, String answer) {
		question++;
		text.append(question).append(". ").append(what).append('\n');
		answer.lines().filter(l -> !l.isBlank()).forEach(l -> text.append("   ").append(l).append('\n'));
	}

	private void need(boolean there, String why) {
		if (!there) {
			missing.add("question " + question + " has no complete answer: " + why);
		}
	}

	private static JsonObject object(JsonObject in, String key) {
		return in.get(key) instanceof JsonObject o ? o : new JsonObject();
	}

	private static String value(JsonObject in, String key) {
		JsonElement e = in.get(key);
		return e != null && e.isJsonPrimitive() ? e.getAsString() : "";
	}

	/** Questions and answers, for a person. */
	public String text() {
		return text.toString();
	}

	/** A sentence for each thing that is missing. */
	public List<String> missing() {
		return List.copyOf(missing);
	}
}
