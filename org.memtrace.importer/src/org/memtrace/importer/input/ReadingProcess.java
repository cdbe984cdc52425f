// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.input;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.memtrace.model.Progress;

/**
 * A program that reads or writes a file for us, and gives or gets what is in it through a pipe. It is ended when the user cancels,
 * also when it
 * writes
 * nothing, and when this is closed. Its output is read by one thread.
 */
public final class ReadingProcess implements AutoCloseable {
	private static final int WATCH_MS = 100;
	private static final long TO_END_S = 10;

	private final Process process;
	private final Thread errors;

	/**
	 * Starts the program.
	 *
	 * @param said gets each line of its standard error, on a thread of its own, before {@link #exitCode} returns
	 * @throws IOException when it cannot be started
	 */
	public ReadingProcess(ProcessBuilder program, Progress progress, Consumer<String> said) throws IOException {
		this(program, false, progress, said);
	}

	/** Starts a program that writes a file for us, of what it gets: {@link #input}. @param writes false for one that reads a file */
	public ReadingProcess(ProcessBuilder program, boolean writes, Progress progress, Consumer<String> said) throws IOException {
		process = (writes ? program : program.redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))).start();
		String name = Path.of(program.command().get(0)).getFileName().toString();
		errors = start(name + " errors", () -> {
			try (BufferedReader lines = new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
				for (String line = lines.readLine(); line != null; line = lines.readLine()) {
					said.accept(line);
				}
			} catch (IOException e) {
				return; // it was ended
			}
		});
		start(name, () -> watch(progress));
	}

	private static Thread start(String name, Runnable task) {
		Thread thread = new Thread(task, name);
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	private void watch(Progress progress) {
		try {
			while (!process.waitFor(WATCH_MS, TimeUnit.MILLISECONDS)) {
				if (progress.isCancelled()) {
					process.destroyForcibly();
				}
			}
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	/** What it writes. */
	public InputStream output() {
		return process.getInputStream();
	}

	/** What it gets. */
	public OutputStream input() {
		return process.getOutputStream();
	}

	/** How it ended, asked when its output has ended; -1 when it does not end. */
	public int exitCode() throws IOException {
		try {
			if (!process.waitFor(TO_END_S, TimeUnit.SECONDS)) {
				return -1;
			}
			errors.join(TimeUnit.SECONDS.toMillis(TO_END_S));
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			throw new IOException("interrupted", e);
		}
		return process.exitValue();
	}

	@Override
	public void close() {
		process.destroyForcibly();
	}
}
