// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.experiment;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

import org.memtrace.analysis.text.JsonText;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.RegularFile;

/**
 * Runs what a plan says, one run after the other, each a process of its own, and keeps everything in one folder
 * (docs/howto/experiments.md). A run is done when its {@code run.json} is there; so an experiment that was killed goes on where it was.
 * Used by one thread.
 */
public final class ExperimentRunner {
	private static final long TICK_NS = 10_000_000;
	private static final int POLL_MS = 50;
	/** Exit codes of a process that a terminal or a scheduler has ended, and how long it takes at most until this process knows of it. */
	private static final int SIGINT = 128 + 2;
	private static final int SIGTERM = 128 + 15;
	private static final int SIGNAL_MS = 300;

	private final ExperimentPlan plan;
	private final Path folder;
	private final Path launcher;
	private final Consumer<String> say;

	/**
	 * @param folder of the experiment; made when it is not there
	 * @param launcher the program {@code memtrace}; null when it is not known, which a plan that records needs
	 * @param say gets sentences for the user
	 */
	public ExperimentRunner(ExperimentPlan plan, Path folder, Path launcher, Consumer<String> say) {
		this.plan = plan;
		this.folder = folder.toAbsolutePath().normalize();
		this.launcher = launcher;
		this.say = say;
	}

	/**
	 * Makes the folder, or finds that it is of this plan.
	 *
	 * @param planFile the file that the plan was read from
	 * @throws MemtraceException when the folder is of another plan, or something that the plan names is not there
	 */
	public void prepare(Path planFile) throws MemtraceException {
		try {
			Path kept = folder.resolve("plan.toml");
			byte[] text = RegularFile.bytes(planFile);
			if (Files.exists(kept)) {
				if (!java.util.Arrays.equals(text, RegularFile.bytes(kept))) {
					throw new MemtraceException(folder + " is of another plan: " + kept + " and " + planFile
							+ " differ; give another folder with -o, or put the plan back");
				}
				JsonObject began = JsonParser.parseString(RegularFile.text(folder.resolve("experiment.json"))).getAsJsonObject();
				if (!began.getAsJsonObject("machine").equals(Surroundings.machine(plan.directory(), launcher))) {
					say.accept("warning: the machine or its settings are not those with which the experiment began; the column environment of the"
							+ " results tells which runs have which");
				}
				return;
			}
			if (Files.exists(folder) && !isEmpty(folder)) {
				throw new MemtraceException(folder + " is there and no experiment; give another folder with -o");
			}
			if (plan.record() && launcher == null) {
				throw new MemtraceException(planFile + " has record = true, and the program memtrace is not found here");
			}
			for (String file : plan.files()) {
				if (!Files.isRegularFile(plan.directory().resolve(file))) {
					throw new MemtraceException(planFile + " names the file " + file + ", which is not in " + plan.directory());
				}
			}
			Files.createDirectories(folder.resolve("runs"));
			for (String file : plan.files()) {
				Path to = folder.resolve("files").resolve(Path.of(file).getFileName());
				Files.createDirectories(to.getParent());
				Files.copy(plan.directory().resolve(file), to);
			}
			describe(planFile);
			write(kept, new String(text, StandardCharsets.UTF_8)); // last: with it the folder is complete
		} catch (IOException | JsonParseException | IllegalStateException e) {
			throw new MemtraceException(folder + " cannot be made or read: " + e.getMessage());
		}
	}

	private static boolean isEmpty(Path folder) throws IOException {
		try (var entries = Files.list(folder)) {
			// a preparation that was killed leaves these
			return entries.map(p -> p.getFileName().toString()).allMatch(n -> List.of("runs", "files", "experiment.json", "README.md",
					"schedule.csv", "sources.diff", "cpuinfo.txt", "topology.txt", "log.txt").contains(n) || n.startsWith("."));
		}
	}

	private void describe(Path planFile) throws IOException {
		JsonObject all = new JsonObject();
		all.addProperty("format", "memtrace.experiment");
		all.addProperty("format_version", 1);
		all.addProperty("name", plan.name());
		all.addProperty("purpose", plan.purpose());
		all.addProperty("plan", planFile.toAbsolutePath().normalize().toString());
		all.addProperty("began", Instant.now().toString());
		all.addProperty("working_directory", plan.directory().toString());
		all.addProperty("path", System.getenv().getOrDefault("PATH", ""));
		String version = launcher == null ? null : Surroundings.output(plan.directory(), launcher.toString(), "version");
		all.addProperty("memtrace", version == null ? "" : version.lines().findFirst().orElse(""));
		all.addProperty("user", System.getProperty("user.name", ""));
		all.add("machine", Surroundings.machine(plan.directory(), launcher));
		all.add("sources", Surroundings.sources(plan.directory(), launcher));
		write(folder.resolve("experiment.json"), JsonText.PRETTY.toJson(all) + "\n");
		keep("sources.diff", Surroundings.sourcesDiff(plan.directory(), launcher));
		keep("topology.txt", Surroundings.output(plan.directory(), "lstopo-no-graphics", "--of", "console"));
		keep("cpuinfo.txt", Surroundings.output(plan.directory(), "cat", "/proc/cpuinfo"));
		StringBuilder b = new StringBuilder("run,configuration,repetition," + String.join(",", plan.factors().keySet()) + "\n");
		for (ExperimentPlan.Run run : plan.schedule()) {
			b.append(run.number()).append(',').append(run.configuration() + 1).append(',').append(run.repetition());
			plan.configurations().get(run.configuration()).values().forEach(level -> b.append(',').append(RunResult.quoted(level)));
			b.append('\n');
		}
		write(folder.resolve("schedule.csv"), b.toString());
		write(folder.resolve("README.md"), """
				# %s

				%s

				| file | what it is |
				|---|---|
				| plan.toml | what was to be done |
				| experiment.json, cpuinfo.txt, topology.txt | the machine, its settings, when, by whom; the sources |
				| sources.diff | how the sources differed from the commit in experiment.json |
				| files/ | the files that the plan names |
				| schedule.csv | the order of the runs: all configurations and repetitions, shuffled with the seed of the plan |
				| runs/NNNN/ | one run: run.json, stdout.txt, stderr.txt, pre.txt, post.txt, and trace.memtrace if it was recorded |
				| log.txt | every command with its time, before it was run |
				| results.csv | a line for each run |
				| filtered.csv | those that count |
				| summary.csv | mean, standard error, confidence interval, speed-up of each configuration |
				| report.html | the same with a scatter plot |
				| analyse.py, analyse.R | make summary.csv from filtered.csv |
				""".formatted(plan.name(), plan.purpose()));
	}

	private void keep(String name, String text) throws IOException {
		if (text != null && !text.isEmpty()) {
			write(folder.resolve(name), text);
		}
	}

	/** A file that is there whole or not at all. */
	private static void write(Path file, String text) throws IOException {
		Path temporary = file.resolveSibling("." + file.getFileName() + ".tmp");
		Files.writeString(temporary, text);
		Files.move(temporary, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
	}

	private Path folderOf(ExperimentPlan.Run run) {
		return folder.resolve("runs").resolve(String.format("%04d", run.number()));
	}

	/** The runs that are done, in the order of their numbers. */
	List<RunResult> done() throws MemtraceException {
		List<RunResult> all = new ArrayList<>();
		for (ExperimentPlan.Run run : plan.schedule()) {
			Path file = folderOf(run).resolve("run.json");
			if (Files.exists(file)) {
				try {
					all.add(JsonText.PRETTY.fromJson(RegularFile.text(file), RunResult.class));
				} catch (IOException | JsonParseException e) {
					throw new MemtraceException(file + " cannot be read: " + e.getMessage());
				}
			}
		}
		return all;
	}

	/**
	 * Runs what is not done, and writes the results anew after each run.
	 *
	 * @param most how many runs at most
	 * @return how many are left
	 * @throws MemtraceException when a command before or after a run fails or does not restore the state: nothing is run then
	 */
	public int run(int most, Progress progress) throws MemtraceException {
		List<RunResult> done = done();
		java.util.Set<Integer> numbers = new java.util.HashSet<>();
		done.forEach(r -> numbers.add(r.run()));
		List<ExperimentPlan.Run> left = plan.schedule().stream().filter(r -> !numbers.contains(r.number())).toList();
		if (!done.isEmpty() && !left.isEmpty()) {
			say.accept(done.size() + " runs are done, " + left.size() + " are left");
		}
		progress.begin("Running", Math.min(most, left.size()));
		int n = 0;
		for (ExperimentPlan.Run run : left) {
			if (n == most) {
				break;
			}
			progress.check();
			done.add(one(run, progress));
			done.sort(java.util.Comparator.comparingInt(RunResult::run));
			writeResults(done);
			progress.worked(1);
			n++;
		}
		return left.size() - n;
	}

	private RunResult one(ExperimentPlan.Run run, Progress progress) throws MemtraceException {
		Path own = folderOf(run);
		Map<String, String> levels = plan.configurations().get(run.configuration());
		try {
			for (int k = 1; Files.exists(own); k++) { // a run that was killed: nothing of it is thrown away
				Path aside = own.resolveSibling(own.getFileName() + "-broken-" + k);
				if (!Files.exists(aside)) {
					Files.move(own, aside);
				}
			}
			Files.createDirectories(own);
			JsonObject machine = Surroundings.machine(plan.directory(), launcher);
			String state = state(own, "state-before.txt", levels, progress);
			aside(plan.pre(), own, "pre.txt", levels, run, progress);
			RunResult result = measured(run, own, levels, Surroundings.fingerprint(machine), progress);
			aside(plan.post(), own, "post.txt", levels, run, progress);
			String after = state(own, "state-after.txt", levels, progress);
			JsonObject now = Surroundings.machine(plan.directory(), launcher);
			if (!after.equals(state) || !now.equals(machine)) {
				throw new MemtraceException("run " + run.number() + " of " + plan.name() + " does not leave the machine as it was: "
						+ (after.equals(state) ? "kernel settings were " + machine.get("settings") + " and are " + now.get("settings")
								: "see state-before.txt and state-after.txt in " + own)
						+ "; the run does not count. Put it back and go on with the same command");
			}
			write(own.resolve("run.json"), JsonText.PRETTY.toJson(result) + "\n");
			return result;
		} catch (IOException e) {
			throw new MemtraceException("run " + run.number() + " cannot be kept in " + own + ": " + e.getMessage());
		}
	}

	private String state(Path own, String name, Map<String, String> levels, Progress progress) throws IOException, MemtraceException {
		if (plan.state().isEmpty()) {
			return "";
		}
		Path out = own.resolve(name);
		List<String> command = plan.state().stream().map(t -> ExperimentPlan.filled(t, levels, own)).toList();
		int code = start(command, out, out, Map.of(), 0, progress).code;
		return code + "\n" + RegularFile.text(out, StandardCharsets.ISO_8859_1);
	}

	private void aside(List<String> texts, Path own, String name, Map<String, String> levels, ExperimentPlan.Run run, Progress progress)
			throws IOException, MemtraceException {
		if (texts.isEmpty()) {
			return;
		}
		List<String> command = texts.stream().map(t -> ExperimentPlan.filled(t, levels, own)).toList();
		int code = start(command, own.resolve(name), own.resolve(name), environment(levels, own), 0, progress).code;
		if (code != 0) {
			throw new MemtraceException("the command " + name.replace(".txt", "") + " of run " + run.number() + " ended with " + code + ": see "
					+ own.resolve(name) + "; the run does not count");
		}
	}

	private Map<String, String> environment(Map<String, String> levels, Path own) {
		Map<String, String> all = new TreeMap<>();
		plan.environment().forEach((name, value) -> all.put(name, ExperimentPlan.filled(value, levels, own)));
		return all;
	}

	private RunResult measured(ExperimentPlan.Run run, Path own, Map<String, String> levels, String fingerprint, Progress progress)
			throws IOException, MemtraceException {
		List<String> program = plan.command().stream().map(t -> ExperimentPlan.filled(t, levels, own)).toList();
		List<String> command = new ArrayList<>();
		if (plan.record()) {
			command.addAll(List.of(launcher.toString(), "record", "-o", own.resolve("trace.memtrace").toString(), "--name",
					plan.name() + " " + ExperimentPlan.label(levels), "--purpose", plan.purpose()));
			command.addAll(plan.recordOptions());
			command.add("--");
		}
		command.addAll(program);
		String began = Instant.now().toString();
		Ended ended = start(command, own.resolve("stdout.txt"), own.resolve("stderr.txt"), environment(levels, own), plan.timeoutSeconds(),
				progress);
		String said = RegularFile.text(own.resolve("stdout.txt"), StandardCharsets.ISO_8859_1) + "\n"
				+ RegularFile.text(own.resolve("stderr.txt"), StandardCharsets.ISO_8859_1);
		List<String> whyNot = new ArrayList<>();
		if (ended.tooLong) {
			whyNot.add("it took longer than " + plan.timeoutSeconds() + " s");
		} else if (ended.code != 0) {
			whyNot.add("it ended with " + ended.code);
		}
		Map<String, Double> metrics = new TreeMap<>();
		for (Map.Entry<String, Pattern> metric : plan.metrics().entrySet()) {
			String last = null;
			for (Matcher m = metric.getValue().matcher(said); m.find();) {
				last = m.group(1);
			}
			try {
				metrics.put(metric.getKey(), Double.valueOf(last == null ? "" : last.strip()));
			} catch (NumberFormatException e) {
				whyNot.add(last == null ? "its output has no " + metric.getKey() : metric.getKey() + " is no number: " + last);
			}
		}
		long lost = -1;
		if (plan.record()) {
			lost = lost(own.resolve("trace.memtrace/manifest.json"));
			if (lost < 0) {
				whyNot.add("it was not recorded");
			} else if (start(List.of(launcher.toString(), "info", "--explain", own.resolve("trace.memtrace").toString()),
					own.resolve("explained.txt"), own.resolve("explained.txt"), Map.of(), 0, progress).code != 0) {
				say.accept("warning: the trace of run " + run.number() + " does not explain itself; see " + own.resolve("explained.txt"));
			}
		}
		return new RunResult(run.number(), run.configuration(), run.repetition(), levels, program, began, ended.wallNs, ended.cpuNs, ended.code,
				String.join("; ", whyNot), fingerprint, lost, metrics);
	}

	private static long lost(Path manifest) {
		try {
			return JsonParser.parseString(RegularFile.text(manifest)).getAsJsonObject().getAsJsonObject("losses").get("total").getAsLong();
		} catch (IOException | JsonParseException | IllegalStateException | NullPointerException | ClassCastException e) {
			return -1;
		}
	}

	private record Ended(int code, long wallNs, long cpuNs, boolean tooLong) {
	}

	/** Runs a command to its end. A cancelled one is ended, with what it started. */
	private Ended start(List<String> command, Path out, Path err, Map<String, String> variables, int seconds, Progress progress)
			throws IOException, MemtraceException {
		Files.writeString(folder.resolve("log.txt"), Instant.now() + " " + String.join(" ", command) + "\n", StandardOpenOption.CREATE,
				StandardOpenOption.APPEND);
		ProcessBuilder builder = new ProcessBuilder(command).directory(plan.directory().toFile()).redirectInput(new java.io.File("/dev/null"))
				.redirectOutput(out.toFile());
		if (out.equals(err)) {
			builder.redirectErrorStream(true);
		} else {
			builder.redirectError(err.toFile());
		}
		builder.environment().putAll(variables);
		long cpu = cpuOfChildren();
		long begin = System.nanoTime();
		Process process = builder.start();
		boolean tooLong = false;
		try {
			while (!process.waitFor(POLL_MS, TimeUnit.MILLISECONDS)) {
				progress.check();
				if (seconds > 0 && !tooLong && System.nanoTime() - begin > seconds * 1_000_000_000L) {
					tooLong = true;
					end(process);
				}
			}
			long wall = System.nanoTime() - begin;
			if (process.exitValue() == SIGINT || process.exitValue() == SIGTERM) {
				Thread.sleep(SIGNAL_MS); // sent to all of us, perhaps: then we are to stop, too, and the run is none
				progress.check();
			}
			return new Ended(process.exitValue(), wall, (cpuOfChildren() - cpu) * TICK_NS, tooLong);
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			end(process);
			throw new CancelledException();
		} catch (CancelledException e) {
			end(process);
			throw e;
		}
	}

	private static void end(Process process) {
		process.descendants().forEach(ProcessHandle::destroyForcibly);
		process.destroyForcibly();
	}

	/** User and system time of the processes that this one started and that have ended, in ticks. */
	private static long cpuOfChildren() {
		try {
			String stat = RegularFile.text(Path.of("/proc/self/stat"));
			String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
			return Long.parseLong(fields[13]) + Long.parseLong(fields[14]); // cutime and cstime, fields 16 and 17 of proc(5)
		} catch (IOException | NumberFormatException | IndexOutOfBoundsException e) {
			return 0;
		}
	}

	/** Writes the tables, the report and the scripts for the runs that are done. */
	public void report() throws MemtraceException {
		writeResults(done());
	}

	private void writeResults(List<RunResult> done) throws MemtraceException {
		try {
			StringBuilder raw = new StringBuilder(RunResult.header(plan) + "\n");
			StringBuilder filtered = new StringBuilder(raw);
			for (RunResult result : done) {
				raw.append(result.row(plan)).append('\n');
				filtered.append(result.isValid() ? result.row(plan) + "\n" : "");
			}
			write(folder.resolve("results.csv"), raw.toString());
			write(folder.resolve("filtered.csv"), filtered.toString());
			ExperimentReport report = new ExperimentReport(plan, done);
			write(folder.resolve("summary.csv"), report.summary());
			write(folder.resolve("report.html"), report.html());
			write(folder.resolve("analyse.py"), report.python());
			write(folder.resolve("analyse.R"), report.r());
		} catch (IOException e) {
			throw new MemtraceException("the results cannot be written to " + folder + ": " + e.getMessage());
		}
	}
}
