// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.record;

import java.io.IOException;
import java.io.InputStreamReader;
import java.io.InputStream;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.RegularFile;

/**
 * A run of {@code memtrace record}, or of {@code memtrace monitor}, as a child process. Its output is handed on as it comes; {@link #stop}
 * ends it the way Ctrl-C does, so that the trace is valid. When this process dies, the recorder and the program go on.
 */
public final class Recording {
	/** Gets the output; called on threads of the recording. */
	@FunctionalInterface
	public interface Console {
		/** @param error of standard error, where the recorder writes its own messages too */
		void text(String text, boolean error);
	}

	/**
	 * How it ended.
	 *
	 * @param exitCode of the program; 128 + signal when one ended it
	 * @param trace the trace directory, null when there is none because the program could not be started
	 * @param message the last thing that the recorder said about the reason, one sentence, when there is no trace
	 * @param killed whether the recorder itself was killed, so that it could not complete the trace; the program may go on, and its code is
	 *            not known
	 */
	public record Result(int exitCode, Path trace, String message, boolean killed) {
	}

	private static final String OURS = "memtrace";
	/** System property: variables, divided by commas, that what started this process has set for it alone. Programs run without them. */
	private static final String OWN_VARIABLES = "memtrace.own_variables";
	private static final int SIGINT = 2;
	private static final int READ_CHARS = 8192;
	private static final int KEPT_CHARS = 16384;

	private final Process process;
	private final Path trace;
	private final Thread[] readers = new Thread[2];
	private final StringBuilder lastErrors = new StringBuilder();
	private int stops;

	/**
	 * Starts the recorder.
	 *
	 * @param launcher path of {@code memtrace}
	 * @param settings with an output directory
	 */
	public static Recording start(String launcher, RecordSettings settings, Console console) throws MemtraceException {
		if (settings.output().isEmpty()) {
			throw new IllegalArgumentException("the trace directory must be known");
		}
		Path directory = Path.of(settings.directory()).toAbsolutePath();
		return start(settings.command(launcher), directory, settings.environment(), directory.resolve(settings.output()), console);
	}

	/**
	 * Starts monitors. There is no trace directory: {@link #trace} is the file of the settings, and {@link #result} has none.
	 *
	 * @param launcher path of {@code memtrace}
	 * @param settings with an output
	 */
	public static Recording start(String launcher, MonitorSettings settings, Console console) throws MemtraceException {
		Path output = Path.of(settings.output()).toAbsolutePath();
		return start(settings.command(launcher), output.getParent(), Map.of(), output, console);
	}

	private static Recording start(List<String> command, Path directory, Map<String, String> environment, Path trace, Console console)
			throws MemtraceException {
		Path parent = trace.getParent();
		try {
			Files.createDirectories(parent);
		} catch (IOException e) {
			throw new MemtraceException(parent + ", in which the trace was to be, cannot be made: " + e.getMessage(), e);
		}
		ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile())
				.redirectInput(Path.of("/dev/null").toFile());
		for (String own : System.getProperty(OWN_VARIABLES, "").split(",")) {
			builder.environment().remove(own);
		}
		builder.environment().putAll(environment);
		try {
			return new Recording(builder.start(), trace, console);
		} catch (IOException e) {
			throw new MemtraceException(command.get(0) + " cannot be run: " + e.getMessage(), e);
		}
	}

	private Recording(Process process, Path trace, Console console) {
		this.process = process;
		this.trace = trace;
		readers[0] = read(process.getInputStream(), console, false);
		readers[1] = read(process.getErrorStream(), console, true);
	}

	private Thread read(InputStream stream, Console console, boolean error) {
		Thread thread = new Thread(() -> {
			char[] chars = new char[READ_CHARS];
			try (Reader in = new InputStreamReader(stream, StandardCharsets.UTF_8)) {
				for (int n; (n = in.read(chars)) >= 0;) {
					String text = new String(chars, 0, n);
					if (error) {
						remember(text);
					}
					console.text(text, error);
				}
			} catch (IOException e) {
				// the stream was closed because the recording is over
			}
		}, "output of the recorder");
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	private void remember(String text) {
		synchronized (lastErrors) {
			lastErrors.append(text);
			if (lastErrors.length() > KEPT_CHARS) {
				lastErrors.delete(0, lastErrors.length() - KEPT_CHARS);
			}
		}
	}

	/** Where the trace is, or will be. */
	public Path trace() {
		return trace;
	}

	/** Process number of the recorder. */
	public long pid() {
		return process.pid();
	}

	public boolean isRunning() {
		return process.isAlive();
	}

	/**
	 * Asks to end: the first time as Ctrl-C does (by SIGTERM when the program ignores that, as all do that a shell has started in the
	 * background), then by SIGTERM, then the program is killed. The recorder lives on to complete the trace. Returns at once.
	 */
	public synchronized void stop() {
		int how = stops++;
		if (how == 0 && ignoresInterrupt()) {
			how = stops++;
		}
		if (how == 0) {
			signal("INT", process.pid());
		} else if (how == 1) {
			signal("TERM", process.pid());
		} else {
			process.children().forEach(ProcessHandle::destroyForcibly);
		}
	}

	/** Whether somebody has asked to stop. */
	public synchronized boolean isStopping() {
		return stops > 0;
	}

	private boolean ignoresInterrupt() {
		return process.children().anyMatch(child -> {
			try (Stream<String> lines = Files.lines(Path.of("/proc/" + child.pid() + "/status"))) {
				return lines.filter(l -> l.startsWith("SigIgn:"))
						.anyMatch(l -> (Long.parseUnsignedLong(l.substring(7).strip(), 16) >> SIGINT - 1 & 1) != 0);
			} catch (IOException | UncheckedIOException | NumberFormatException e) {
				return false; // it has just ended
			}
		});
	}

	/** Java has no way to send SIGINT. */
	private static void signal(String name, long pid) {
		try {
			new ProcessBuilder("kill", "-" + name, Long.toString(pid)).redirectErrorStream(true)
					.redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
		} catch (IOException e) {
			ProcessHandle.of(pid).ifPresent(ProcessHandle::destroy);
		}
	}

	/** Waits for the end; true when it has come. */
	public boolean waitFor(long milliseconds) throws InterruptedException {
		return process.waitFor(milliseconds, TimeUnit.MILLISECONDS);
	}

	/** How it ended; after the end. Descendants of the program may hold its output open: they are not waited for. */
	public Result result() throws InterruptedException {
		for (Thread reader : readers) {
			reader.join(500);
		}
		boolean there = Files.exists(trace.resolve("manifest.json"));
		return new Result(there ? programCode() : process.exitValue(), there ? trace : null, there ? "" : reason(), there && wasKilled());
	}

	/** A recorder that has ended and says that it runs. */
	private boolean wasKilled() {
		try {
			JsonElement status = JsonParser.parseString(RegularFile.text(trace.resolve("manifest.json"))).getAsJsonObject().get("status");
			return status instanceof JsonObject o && o.has("state") && o.get("state").getAsString().equals("running");
		} catch (IOException | RuntimeException e) {
			return false;	// the import says what is wrong with the manifest
		}
	}

	/** The recorder has a code of its own when the program ended with 0 and a part of the trace could not be written. */
	private int programCode() {
		try {
			JsonElement status = JsonParser.parseString(RegularFile.text(trace.resolve("manifest.json"))).getAsJsonObject().get("status");
			JsonElement code = status instanceof JsonObject o && o.has("incomplete") ? o.get("exit_code") : null;
			return code != null && code.isJsonPrimitive() ? code.getAsInt() : process.exitValue();
		} catch (IOException | RuntimeException e) {
			return process.exitValue();	// the import says what is wrong with the manifest
		}
	}

	/** The last line that the recorder itself wrote. */
	private String reason() {
		String text;
		synchronized (lastErrors) {
			text = lastErrors.toString();
		}
		List<String> lines = text.lines().filter(l -> !l.isBlank()).toList();
		for (int i = lines.size() - 1; i >= 0; i--) {
			if (lines.get(i).startsWith(OURS + ":") || lines.get(i).startsWith(OURS + " record:")) {
				return sentence(lines.get(i).substring(lines.get(i).indexOf(':') + 1).strip());
			}
		}
		return lines.isEmpty() ? "The recorder ended with code " + process.exitValue() + " and said nothing."
				: sentence(lines.get(lines.size() - 1));
	}

	private static String sentence(String text) {
		String s = text.isEmpty() ? "The recorder gave no reason" : text;
		return s.endsWith(".") ? s : s + ".";
	}
}
