// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.experiment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

/** Plans, runs by the shell, statistics against known values, the scripts, and archives. */
class ExperimentTest {
	private static final String HEAD = """
			name = "demo"
			purpose = "b is twice as fast as a"
			repetitions = 3
			seed = 7
			""";

	@TempDir
	Path temporary;
	private final List<String> said = new ArrayList<>();

	private Path plan(String rest) throws IOException {
		return Files.writeString(temporary.resolve("plan.toml"), HEAD + rest);
	}

	/** Null: the recorder was not built. */
	private static Path launcher() {
		Path launcher = Path.of(System.getProperty("memtrace.root")).resolve("build/collector/memtrace");
		return Files.isExecutable(launcher) ? launcher : null;
	}

	private ExperimentRunner runner(Path plan) throws MemtraceException {
		ExperimentRunner runner = new ExperimentRunner(ExperimentPlan.read(plan), folder(), launcher(), said::add);
		runner.prepare(plan);
		return runner;
	}

	private Path folder() {
		return temporary.resolve("demo.experiment");
	}

	private List<String> lines(String file) throws IOException {
		return Files.readAllLines(folder().resolve(file));
	}

	private static Map<String, Object> toml(String text) throws TraceFormatException {
		return Toml.parse("plan.toml", text);
	}

	@Test
	void tomlIsReadAsItIsMeant() throws Exception {
		assertEquals(Map.of("a", 1L, "b", -2.5, "c", true, "d", "x # \"y\"\tz\u00e9", "e", "\\n{1}", "list",
				List.of(1L, "two", List.of(false)), "t",
				Map.of("k y", "v", "n", 1_000L)), toml("""
						# comment
						a = 1     # comment
						b=-2.5
						c = true
						d = "x # \\"y\\"\\tz\\u00e9"
						e = '\\n{1}'
						list = [ 1, # one
						  "two",

						  [false], ]
						[t]
						"k y" = "v"
						n = 1_000
						"""));
		assertEquals(Map.of(), toml(""));
		assertEquals(Map.of("a", 1L), toml("a = 1\r\n"));
		assertEquals(Map.of("a", Map.of("b", List.of(Map.of("c", 16L)), "d", "x\ny")), toml("a.b = [{c = 0x10}]\na.d = \"\"\"\nx\ny\"\"\"\n"));
		assertEquals(List.of("z", "a", "m"), List.copyOf(toml("z = 1\na = 2\n[m]\n").keySet()), "the order of the file");
	}

	@ParameterizedTest
	@CsvSource(delimiter = ';', value = { "a = 1 b = 2;line 1", "\\na = ;line 2", "a = yes;line 1, column 5",
			"a = [1 2];line 1", "a = [1,;line 1",
			"a = \"x;line 1", "a = 1\\na = 2;line 2", "a = 01;line 1", "a = 99999999999999999999;line 1", "= 1;line 1", "a 1;line 1",
			"a = \"\\q\";line 1", "[a;line 1" })
	void whatIsNoTomlIsRefusedWithItsLine(String text, String expected) {
		String message = assertThrows(TraceFormatException.class, () -> toml(text.replace("\\n", "\n"))).getMessage();
		assertTrue(message.contains(expected) && message.contains("plan.toml"), message);
	}

	@ParameterizedTest
	@CsvSource(delimiter = ';', value = { "comand = [\"a\"];'comand' is nothing", "command = \"a\";must be a list", ";command is missing",
			"command = [\"{x}\"];{x}, which is no factor", "command = [\"a\"]\\n[factors]\\nx = [1, 1];a level twice",
			"command = [\"a\"]\\n[factors]\\nrun = [1];cannot be called run", "command = [\"a\"]\\n[reference]\\nx = 1;no level of a factor",
			"command = [\"a\"]\\n[metrics]\\nm = 'no group';must have one group", "command = [\"a\"]\\nhigher_is_better = [\"m\"];no metric",
			"command = [\"a\"]\\n[factors.x]\\ny = 1;factors.x must be a value",
			"command = [\"a\"]\\n[factors]\\nx = [[1], [2]];factors.x must be a value",
			"command = [\"a\"]\\nrecord_options = [\"-i\"];needs record", "command = [\"a\"]\\ntimeout_seconds = -1;whole number" })
	void aPlanThatCannotBeRunIsRefused(String rest, String expected) throws Exception {
		Path plan = plan(rest == null ? "" : rest.replace("\\n", "\n"));
		String message = assertThrows(TraceFormatException.class, () -> ExperimentPlan.read(plan)).getMessage();
		assertTrue(message.contains(expected), message);
	}

	@Test
	void theScheduleHasEachRunOnceAndDependsOnTheSeedOnly() throws Exception {
		String rest = "command = [\"{v}\", \"{n}\"]\n[factors]\nv = [\"a\", \"b\"]\nn = [1, 2, 3]\n[reference]\nv = \"b\"\n";
		ExperimentPlan plan = ExperimentPlan.read(plan(rest));
		List<ExperimentPlan.Run> schedule = plan.schedule();
		assertEquals(18, schedule.size());
		assertEquals(18, schedule.stream().map(r -> r.configuration() + " " + r.repetition()).distinct().count());
		assertEquals(schedule, ExperimentPlan.read(plan(rest)).schedule());
		assertNotEquals(schedule.stream().map(r -> r.configuration()).toList(),
				schedule.stream().map(r -> r.configuration()).sorted().toList(), "it is shuffled");
		assertNotEquals(schedule, ExperimentPlan.parse("p", (HEAD + rest).replace("seed = 7", "seed = 8"), temporary).schedule());
		assertEquals(Map.of("v", "a", "n", "2"), plan.configurations().get(1));
		assertEquals(List.of(3, 4, 5, 3, 4, 5), List.of(plan.referenceOf(0), plan.referenceOf(1), plan.referenceOf(2), plan.referenceOf(3),
				plan.referenceOf(4), plan.referenceOf(5)));
	}

	@ParameterizedTest
	@CsvSource({ "0.975,1,12.706204736432095", "0.975,2,4.302652729696142", "0.975,9,2.2621571628540993", "0.975,29,2.045229642132703",
			"0.975,1000,1.9623390808264143", "0.95,4.5,2.0655758888785" }) // R: qt(p, df)
	void quantilesOfStudentsT(double p, double freedom, double expected) {
		assertEquals(expected, Statistics.quantile(p, freedom), 1e-9);
	}

	@Test
	void meansErrorsAndSpeedups() {
		Statistics s = Statistics.of(new double[] { 2, 4, 4, 6 });
		assertEquals(4, s.mean());
		assertEquals(Math.sqrt(8.0 / 3) / 2, s.error(), 1e-15);
		assertEquals(4 - 3.182446305284263 * s.error(), s.low(), 1e-12);
		Statistics r = Statistics.of(new double[] { 8, 8, 8, 8 });
		assertEquals(2, s.speedup(r, false).ratio());
		assertEquals(0.5, s.speedup(r, true).ratio());
		assertEquals(2 * Math.exp(3.182446305284263 * s.error() / 4), s.speedup(r, false).high(), 1e-9);
		assertEquals(1, r.speedup(r, false).low(), "no variance");
		assertTrue(Double.isNaN(Statistics.of(new double[] { 0, 0 }).speedup(r, false).ratio()), "shorter than a tick");
		assertTrue(Double.isNaN(r.speedup(Statistics.of(new double[] { 0, 0 }), true).ratio()));
		Statistics one = Statistics.of(new double[] { 3 });
		assertTrue(Double.isNaN(one.error()) && Double.isNaN(one.low()) && Double.isNaN(one.speedup(r, false).low()));
	}

	private static final String SHELL = """
			command = ["sh", "-c", "echo score {n}0.5 {v}; echo more >&2"]
			files = ["plan.toml"]
			pre = ["sh", "-c", "echo up >> {run}/order"]
			post = ["sh", "-c", "echo down >> {run}/order"]
			state = ["echo", "same"]
			higher_is_better = ["score"]
			[factors]
			v = ["a", "b,c"]
			n = [1, 2]
			[reference]
			n = 1
			[metrics]
			score = 'score ([0-9.]+)'
			""";

	@Test
	void runsAreKeptAndCompared() throws Exception {
		ExperimentRunner runner = runner(plan(SHELL));
		assertEquals(7, runner.run(5, Progress.NONE));
		assertEquals(6, lines("results.csv").size());
		assertEquals(0, runner.run(100, Progress.NONE));
		assertEquals("run,configuration,repetition,v,n,start,exit_code,valid,why_not,environment,lost,wall_ns,cpu_ns,score",
				lines("results.csv").get(0));
		assertEquals(13, lines("filtered.csv").size());
		assertTrue(lines("results.csv").stream().anyMatch(l -> l.contains("\"b,c\"") && l.endsWith(",20.5")));
		assertTrue(lines("summary.csv").contains("2,a,2,score,3,20.5,0,20.5,20.5,1.9523809523809523,1.9523809523809523,1.9523809523809523"));
		assertTrue(lines("summary.csv").contains("1,a,1,score,3,10.5,0,10.5,10.5,1,,"), () -> "the reference is once itself");
		assertEquals(List.of("up", "down"), lines("runs/0001/order"));
		assertEquals("more", Files.readString(folder().resolve("runs/0012/stderr.txt")).strip());
		assertTrue(Files.exists(folder().resolve("files/plan.toml")));
		String html = Files.readString(folder().resolve("report.html"));
		assertTrue(html.contains("12 of 12 runs are done, 12 count") && html.contains("b is twice as fast as a"), html);
		assertEquals(36, html.split("<circle").length - 1, "a dot for each run and metric");
		assertFalse(html.contains("@FACTORS@") || html.contains("NaN"));
		String log = Files.readString(folder().resolve("log.txt"));
		assertEquals(60, log.lines().count(), "state, pre, the run, post, state");
	}

	/** All ways in which a repository names a program: collector/tests/unit/test_gitstate.c. */
	@Test
	void aRepositoryDoesNotNameAProgramThatIsRun() throws Exception {
		Path launcher = launcher();
		assumeTrue(launcher != null, "there is no recorder for this machine");
		assumeTrue(Surroundings.output(temporary, "git", "--version") != null, "git is not here");
		Path evil = Files.writeString(temporary.resolve("evil"), "#!/bin/sh\ntouch '" + temporary.resolve("ran") + "'\n");
		assertTrue(evil.toFile().setExecutable(true));
		Files.writeString(temporary.resolve("a"), "old\n");
		for (String[] words : new String[][] { { "init", "-q", "-b", "main" }, { "add", "a" },
				{ "-c", "user.name=x", "-c", "user.email=a@b", "commit", "-qm", "1" }, { "config", "core.fsmonitor", evil.toString() },
				{ "config", "diff.external", evil.toString() } }) {
			List<String> command = new ArrayList<>(List.of("git"));
			command.addAll(List.of(words));
			assertTrue(Surroundings.output(temporary, command.toArray(String[]::new)) != null, command.toString());
		}
		Files.deleteIfExists(temporary.resolve("ran"));
		Files.writeString(temporary.resolve("a"), "new\n");
		Path plan = plan("command = [\"true\"]\n");
		ExperimentRunner runner = new ExperimentRunner(ExperimentPlan.read(plan), folder(), launcher, said::add);
		runner.prepare(plan);
		assertFalse(Files.exists(temporary.resolve("ran")));
		JsonObject sources = JsonParser.parseString(Files.readString(folder().resolve("experiment.json"))).getAsJsonObject()
				.getAsJsonObject("sources");
		assertEquals("main", sources.get("branch").getAsString());
		assertEquals(1, sources.get("modified_files").getAsInt());
		assertTrue(Files.readString(folder().resolve("sources.diff")).contains("\n-old\n+new\n"));
	}

	/** The same as in the manifest of a recording, and nothing of who asks. */
	@Test
	void theMachineIsToldByTheLauncher() {
		Path launcher = launcher();
		assumeTrue(launcher != null, "there is no recorder for this machine");
		JsonObject machine = Surroundings.machine(temporary, launcher);
		assertEquals(Surroundings.fingerprint(machine), Surroundings.fingerprint(Surroundings.machine(temporary, launcher)));
		assertFalse(machine.get("name").getAsString().isEmpty());
		assertTrue(machine.getAsJsonObject("settings").has("transparent_hugepage"));
		assertFalse(machine.has("user"));
		machine.addProperty("cpus_online", 4711);
		assertNotEquals(Surroundings.fingerprint(machine), Surroundings.fingerprint(Surroundings.machine(temporary, launcher)));
		assertTrue(Surroundings.machine(temporary, null).get("cpus_online").getAsInt() > 0, "without a launcher");
	}

	@Test
	void theScriptMakesTheSameTable() throws Exception {
		String version = Surroundings.output(temporary, "python3", "--version");
		assumeTrue(version != null, "python3 is not here");
		runner(plan(SHELL)).run(100, Progress.NONE);
		Path out = temporary.resolve("python.csv"); // without a limit of time: the machine may be busy
		assertEquals(0, new ProcessBuilder("python3", "analyse.py").directory(folder().toFile()).redirectOutput(out.toFile())
				.redirectError(ProcessBuilder.Redirect.INHERIT).start().waitFor());
		List<String> python = Files.readAllLines(out);
		List<String> own = lines("summary.csv");
		assertEquals(own.size(), python.size());
		assertEquals(own.get(0), python.get(0));
		for (int i = 1; i < own.size(); i++) {
			String[] a = own.get(i).split(",", -1);
			String[] b = python.get(i).split(",", -1);
			assertEquals(a.length, b.length);
			for (int k = 0; k < a.length; k++) {
				if (a[k].matches("[-0-9.E]+")) {
					assertEquals(Double.parseDouble(a[k]), Double.parseDouble(b[k]), 1e-9 * Math.abs(Double.parseDouble(a[k])), own.get(i));
				} else {
					assertEquals(a[k], b[k]);
				}
			}
		}
	}

	@Test
	void anExperimentThatWasKilledGoesOn() throws Exception {
		Path plan = plan(SHELL);
		runner(plan).run(4, Progress.NONE);
		String third = Files.readString(folder().resolve("runs/0003/run.json"));
		Files.delete(folder().resolve("runs/0004/run.json")); // killed during the fourth
		assertEquals(0, runner(plan).run(100, Progress.NONE));
		assertTrue(said.contains("3 runs are done, 9 are left"), said::toString);
		assertEquals(third, Files.readString(folder().resolve("runs/0003/run.json")), "it was not run again");
		assertTrue(Files.exists(folder().resolve("runs/0004-broken-1/stdout.txt")), "nothing is thrown away");
		assertEquals(13, lines("results.csv").size());
		Path other = plan(SHELL.replace("score {n}0.5", "score {n}1.5"));
		assertTrue(assertThrows(MemtraceException.class, () -> runner(other)).getMessage().contains("is of another plan"));
	}

	@Test
	void anExperimentExplainsItselfOrSaysWhatIsMissing() throws Exception {
		assumeTrue(launcher() != null, "there is no recorder for this machine, which tells its settings");
		Path plan = plan("command = [\"true\"]\nfiles = [\"plan.toml\"]\n");
		runner(plan).run(1, Progress.NONE);
		assertEquals(List.of("question 4 has no complete answer: it has not ended: 2 runs are left"), new Explanation(folder()).missing());
		runner(plan).run(100, Progress.NONE);
		Explanation whole = new Explanation(folder());
		assertEquals(List.of(), whole.missing());
		assertEquals(7, whole.text().lines().filter(l -> l.matches("[1-7]\\. .*\\?")).count(), whole::text);
		assertTrue(whole.text().contains("b is twice as fast as a"), whole::text);
		Files.delete(folder().resolve("analyse.R"));
		Files.delete(folder().resolve("files/plan.toml"));
		Path json = folder().resolve("experiment.json");
		Files.writeString(json, Files.readString(json).replaceFirst("\"sources\": \\{\\}",
				"\"sources\": {\"commit\": \"1\", \"modified_files\": 3}"));
		assertEquals(List.of("2", "6", "7"), new Explanation(folder()).missing().stream().map(m -> m.substring(9, 10)).toList());
	}

	@Test
	void aStateThatIsNotRestoredStopsTheExperiment() throws Exception {
		Path plan = plan("""
				command = ["true"]
				pre = ["sh", "-c", "echo 1 > setting"]
				post = ["sh", "-c", "test -e repaired && echo 0 > setting || true"]
				state = ["cat", "setting"]
				""");
		Files.writeString(temporary.resolve("setting"), "0\n");
		ExperimentRunner runner = runner(plan);
		assertTrue(assertThrows(MemtraceException.class, () -> runner.run(100, Progress.NONE)).getMessage()
				.contains("run 1 of demo does not leave the machine as it was"));
		assertFalse(Files.exists(folder().resolve("runs/0001/run.json")));
		Files.writeString(temporary.resolve("setting"), "0\n");
		Files.writeString(temporary.resolve("repaired"), "");
		assertEquals(0, runner.run(100, Progress.NONE));
	}

	@Test
	void aCommandBeforeTheRunThatFailsStopsTheExperiment() throws Exception {
		ExperimentRunner runner = runner(plan("command = [\"true\"]\npre = [\"sh\", \"-c\", \"exit 3\"]\n"));
		assertTrue(assertThrows(MemtraceException.class, () -> runner.run(100, Progress.NONE)).getMessage()
				.contains("pre of run 1 ended with 3"));
	}

	@Test
	void runsThatFailOrTakeTooLongDoNotCount() throws Exception {
		ExperimentRunner runner = runner(Files.writeString(temporary.resolve("plan.toml"), HEAD.replace("repetitions = 3", "repetitions = 1") + """
				command = ["sh", "-c", "{what}"]
				timeout_seconds = 1
				[factors]
				what = ["exit 5", "sleep 60", "echo n=x", "echo n=2"]
				[metrics]
				n = 'n=(.*)'
				"""));
		runner.run(100, Progress.NONE);
		List<String> results = lines("results.csv");
		assertEquals(1, results.stream().filter(l -> l.contains("exit 5") && l.contains(",5,no,it ended with 5; its output has no n,")).count());
		assertEquals(1, results.stream().filter(l -> l.contains("sleep 60") && l.contains("it took longer than 1 s")).count());
		assertEquals(1, results.stream().filter(l -> l.contains(",no,n is no number: x,")).count());
		assertEquals(2, lines("filtered.csv").size());
		assertTrue(Files.readString(folder().resolve("report.html")).contains("1 run does not count: it took longer"));
	}

	@Test
	void cancellingEndsTheRun() throws Exception {
		ExperimentRunner runner = runner(plan("command = [\"sleep\", \"60\"]\n"));
		int[] checks = { 0 };
		long begin = System.nanoTime();
		Progress cancelled = Progress.cancelledWhen(() -> checks[0]++ > 2);
		assertThrows(CancelledException.class, () -> runner.run(100, cancelled));
		assertTrue(System.nanoTime() - begin < 50_000_000_000L, "the program was not waited for");
		assertFalse(Files.exists(folder().resolve("runs/0001/run.json")));
	}

	@Test
	void aRunThatWasEndedWithUsIsRunAgain() throws Exception {
		// in the background of a shell the signal is ignored; then it ends with the code that it would have had
		Path plan = plan("command = [\"sh\", \"-c\", \"test -e signal && exit 0; touch signal; kill -INT $$; exit 130\"]\n");
		Path signal = temporary.resolve("signal"); // as Ctrl-C, which the terminal sends to the program, too
		assertThrows(CancelledException.class, () -> runner(plan).run(100, Progress.cancelledWhen(() -> Files.exists(signal))));
		assertFalse(Files.exists(folder().resolve("runs/0001/run.json")));
		runner(plan).run(100, Progress.NONE);
		assertEquals(4, lines("filtered.csv").size());
	}

	@Test
	void aFolderOfSomethingElseIsLeftAlone() throws Exception {
		Files.createDirectories(folder());
		Files.writeString(folder().resolve("thesis.tex"), "x");
		Path plan = plan("command = [\"true\"]\n");
		assertTrue(assertThrows(MemtraceException.class, () -> runner(plan)).getMessage().contains("no experiment"));
		Path missing = plan("command = [\"true\"]\nfiles = [\"no.c\"]\n");
		Files.delete(folder().resolve("thesis.tex"));
		assertTrue(assertThrows(MemtraceException.class, () -> runner(missing)).getMessage().contains("names the file no.c"));
	}

	// archives

	private static TreeSet<String> names(Path zip) throws IOException {
		TreeSet<String> names = new TreeSet<>();
		try (ZipInputStream in = new ZipInputStream(Files.newInputStream(zip))) {
			for (ZipEntry e = in.getNextEntry(); e != null; e = in.getNextEntry()) {
				names.add(e.getName());
			}
		}
		return names;
	}

	@Test
	void theThreePlansArePackedAndCheckedWhenUnpacked() throws Exception {
		runner(plan(SHELL)).run(2, Progress.NONE);
		Path all = temporary.resolve("all.zip");
		int files = Archive.pack(folder(), Archive.Part.ANALYSIS, all, Progress.NONE);
		Path copy = Archive.unpack(all, temporary.resolve("else/where"), Progress.NONE);
		assertEquals(temporary.resolve("else/where/demo.experiment"), copy);
		try (var walk = Files.walk(folder())) {
			for (Path p : walk.filter(Files::isRegularFile).toList()) {
				assertEquals(-1, Files.mismatch(p, copy.resolve(folder().relativize(p).toString())), p.toString());
				files--;
			}
		}
		assertEquals(0, files);
		Path filtered = temporary.resolve("filtered.zip");
		Archive.pack(folder(), Archive.Part.FILTERED, filtered, Progress.NONE);
		assertTrue(names(filtered).contains("demo.experiment/filtered.csv") && !names(filtered).contains("demo.experiment/results.csv"));
		Path complete = temporary.resolve("complete.zip");
		Archive.pack(folder(), Archive.Part.COMPLETE, complete, Progress.NONE);
		assertTrue(names(complete).contains("demo.experiment/files/plan.toml"));
		assertTrue(names(complete).stream().noneMatch(n -> n.contains("runs/") || n.contains("filtered")), names(complete)::toString);
		assertTrue(assertThrows(MemtraceException.class, () -> Archive.pack(folder(), Archive.Part.ANALYSIS, all, Progress.NONE)).getMessage()
				.contains("never overwritten"));
		assertTrue(assertThrows(MemtraceException.class, () -> Archive.unpack(all, temporary.resolve("else/where"), Progress.NONE)).getMessage()
				.contains("exists"));
	}

	/** A copy of an archive with one entry changed; a content of null leaves it out. */
	private Path changed(Path zip, String name, String content, String added) throws IOException {
		Path out = Files.createTempFile(temporary, "changed", ".zip");
		try (ZipInputStream in = new ZipInputStream(Files.newInputStream(zip));
				ZipOutputStream to = new ZipOutputStream(Files.newOutputStream(out))) {
			for (ZipEntry e = in.getNextEntry(); e != null; e = in.getNextEntry()) {
				if (!e.getName().equals(name) || content != null) {
					to.putNextEntry(new ZipEntry(e.getName()));
					to.write(e.getName().equals(name) ? content.getBytes() : in.readAllBytes());
				}
			}
			if (added != null) {
				to.putNextEntry(new ZipEntry(added));
			}
		}
		return out;
	}

	@Test
	void whatIsNotWhatWasPackedIsRefusedAndLeavesNothing() throws Exception {
		Path folder = Files.createDirectories(temporary.resolve("trace/p0000")).getParent();
		Files.writeString(folder.resolve("manifest.json"), "{}");
		Files.writeString(folder.resolve("p0000/a.csv"), "1,2\n");
		Path zip = temporary.resolve("trace.zip");
		assertEquals(2, Archive.pack(folder, Archive.Part.ANALYSIS, zip, Progress.NONE));
		Map<Path, String> cases = Map.of(changed(zip, "trace/p0000/a.csv", "1,3\n", null), "p0000/a.csv has another checksum",
				changed(zip, "trace/p0000/a.csv", null, null), "p0000/a.csv is missing", changed(zip, "", null, "trace/b.csv"), "b.csv was added",
				changed(zip, "trace/SHA256SUMS", null, null), "has no SHA256SUMS", changed(zip, "", null, "trace/../../evil"),
				"it has trace/../../evil",
				changed(zip, "", null, "other/b"), "it has other/b", changed(zip, "trace/SHA256SUMS", "x\n", null), "a line that is none",
				Files.write(temporary.resolve("no.zip"), "no zip".getBytes()), "has no SHA256SUMS");
		Path target = temporary.resolve("target");
		for (Map.Entry<Path, String> c : cases.entrySet()) {
			String message = assertThrows(MemtraceException.class, () -> Archive.unpack(c.getKey(), target, Progress.NONE)).getMessage();
			assertTrue(message.contains(c.getValue()), message);
			try (var left = Files.list(target)) {
				assertEquals(0, left.count(), c.getValue());
			}
		}
		assertFalse(Files.exists(temporary.resolve("evil")));
		byte[] cut = Files.readAllBytes(zip);
		Files.write(zip, java.util.Arrays.copyOf(cut, 80));
		assertThrows(MemtraceException.class, () -> Archive.unpack(zip, target, Progress.NONE));
	}
}
