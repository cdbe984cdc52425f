// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.spark;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

import org.memtrace.cli.Main;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.PartArguments;
import org.memtrace.cli.output.Console;

/**
 * Aggregates a trace on a Spark cluster: each task computes the values of some pages, as {@code memtrace model-part} does, and only these
 * go to the driver, which adds them and runs the engine of memtrace. Nothing is shuffled. docs/howto/scale.md
 *
 * <pre>spark-submit --class org.memtrace.spark.MemtraceSpark --jars … memtrace-spark.jar \
 *     [--parts N] [--pages] aggregate|render OPTIONS TRACE</pre>
 */
public final class MemtraceSpark {
	/** As many as a trace has ranges of pages. */
	private static final int MOST_PARTS = 64;
	private static final List<String> COMMANDS = List.of("aggregate", "render");
	private static final String USAGE = "usage: [--parts N] [--pages] aggregate|render [OPTIONS] TRACE";

	private MemtraceSpark() {
	}

	/** The values of one part of the pages; runs anywhere. */
	private static final class Part implements Function<Integer, byte[]> {
		private static final long serialVersionUID = 1;
		private final int count;
		private final String[] options;
		private final String trace;

		Part(int count, List<String> options, String trace) {
			this.count = count;
			this.options = options.toArray(String[]::new);
			this.trace = trace;
		}

		@Override
		public byte[] call(Integer number) throws Exception {
			Path folder = Files.createTempDirectory("memtrace-spark");
			try {
				Path file = folder.resolve("part");
				List<String> line = new ArrayList<>(List.of("model-part", "--quiet", "--range", number + "/" + count, "-o", file.toString()));
				line.addAll(Arrays.asList(options));
				line.add(trace);
				ByteArrayOutputStream said = new ByteArrayOutputStream();
				PrintStream err = new PrintStream(said, true, StandardCharsets.UTF_8);
				int code = Main.run(line.toArray(String[]::new), new Console(err, err, false, false, true));
				if (!Files.exists(file)) { // what is damaged in a trace is told by the parts themselves
					throw new IOException("part " + number + " of " + count + " ended with exit code " + code + ": "
							+ said.toString(StandardCharsets.UTF_8).strip());
				}
				return Files.readAllBytes(file);
			} finally {
				delete(folder);
			}
		}
	}

	/** What the tasks cost. */
	private static final class Cost extends SparkListener {
		private int tasks;
		private long cpuNs;
		private long shuffledBytes;
		private long resultBytes;

		@Override
		public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
			TaskMetrics m = end.taskMetrics();
			tasks++;
			if (m != null) {
				cpuNs += m.executorCpuTime() + m.executorDeserializeCpuTime();
				shuffledBytes += m.shuffleReadMetrics().totalBytesRead() + m.shuffleWriteMetrics().bytesWritten();
				resultBytes += m.resultSize();
			}
		}

		synchronized String text() {
			return String.format(Locale.ROOT, "%d tasks, %.1f s of CPU, %,d bytes shuffled, %,d bytes to the driver", tasks, cpuNs / 1e9,
					shuffledBytes, resultBytes);
		}
	}

	/**
	 * Computes the parts of a model, one task for each.
	 *
	 * @param trace a database at a path that all executors can read, or the address of a trace on a server
	 * @param options of {@code memtrace model-part}, but the range and the output
	 * @param count number of parts
	 * @return the content of the files that {@code memtrace model-part} would write
	 */
	public static List<byte[]> parts(JavaSparkContext spark, String trace, List<String> options, int count) {
		return spark.parallelize(IntStream.rangeClosed(1, count).boxed().toList(), count).map(new Part(count, options, trace)).collect();
	}

	/**
	 * Computes the parts on the cluster and runs a command with them.
	 *
	 * @param args {@code [--parts N] [--pages] aggregate|render [OPTIONS] TRACE}
	 * @return the exit code of the command; what went wrong was said on the console
	 */
	public static int run(JavaSparkContext spark, String[] args, Console console) throws Exception {
		int count = MOST_PARTS;
		boolean pages = false;
		int at = 0;
		for (; at < args.length && args[at].startsWith("--"); at++) {
			if (args[at].equals("--pages")) {
				pages = true;
			} else if (args[at].equals("--parts") && at + 1 < args.length && args[at + 1].matches("[1-9][0-9]{0,3}")) {
				count = Integer.parseInt(args[++at]);
			} else {
				throw new UsageException(args[at] + " is not known or has no number; " + USAGE);
			}
		}
		String command = at < args.length ? args[at] : "";
		if (!COMMANDS.contains(command)) {
			throw new UsageException("'" + command + "' is not one of aggregate, render; " + USAGE);
		}
		CommandLine line = CommandLine.parse(command, Arrays.copyOfRange(args, at + 1, args.length));
		List<String> ofParts = new ArrayList<>();
		List<String> ofCommand = new ArrayList<>(List.of(command));
		for (String option : line.given()) {
			// the parts tell the command what decided their values
			(PartArguments.OPTIONS.contains(option.substring(2).replaceFirst("=.*", "")) ? ofParts : ofCommand).add(option);
		}
		if (pages) {
			ofParts.add("--rows=0");
		}
		Cost cost = new Cost();
		spark.sc().addSparkListener(cost);
		Path folder = Files.createTempDirectory("memtrace-spark");
		try {
			List<byte[]> parts = parts(spark, line.argument(0), ofParts, count);
			for (int k = 0; k < parts.size(); k++) {
				Path file = folder.resolve(k + 1 + ".part");
				Files.write(file, parts.get(k));
				ofCommand.add(file.toString());
			}
			parts = null; // the files have it
			console.hint(cost.text());
			return Main.run(ofCommand.toArray(String[]::new), console);
		} finally {
			spark.sc().removeSparkListener(cost);
			delete(folder);
		}
	}

	private static void delete(Path folder) throws IOException {
		try (Stream<Path> files = Files.walk(folder)) {
			for (Path p : files.sorted(Comparator.reverseOrder()).toList()) {
				Files.delete(p);
			}
		}
	}

	/** For {@code spark-submit}, which says where the cluster is. */
	public static void main(String[] args) {
		int code;
		Console console = Console.system(false);
		try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("memtrace"))) {
			code = run(spark, args, console);
		} catch (Exception e) {
			console.err().println("memtrace-spark: " + ExitCode.sentence(e));
			code = ExitCode.of(e);
		}
		console.finish();
		System.exit(code);
	}
}
