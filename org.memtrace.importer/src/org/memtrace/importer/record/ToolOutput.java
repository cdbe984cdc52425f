// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.record;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.RegularFile;

/** What a short-lived program said. */
public record ToolOutput(int exitCode, String text, String error) {
	private static final int POLL_MS = 50;

	/** Runs a command to its end; cancelling ends it. */
	public static ToolOutput of(List<String> command, Progress progress) throws MemtraceException {
		Path out = null;
		Path err = null;
		try {
			out = Files.createTempFile("memtrace-tool", ".out");
			err = Files.createTempFile("memtrace-tool", ".err");
			Process process = new ProcessBuilder(command).redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
					.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
			while (!process.waitFor(POLL_MS, TimeUnit.MILLISECONDS)) {
				if (progress.isCancelled()) {
					process.destroy();
					throw new CancelledException();
				}
			}
			return new ToolOutput(process.exitValue(), text(out), text(err));
		} catch (IOException e) {
			throw new MemtraceException(command.get(0) + " cannot be run: " + e.getMessage(), e);
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			throw new CancelledException();
		} finally {
			delete(out);
			delete(err);
		}
	}

	private static String text(Path file) throws IOException {
		return new String(RegularFile.bytes(file), StandardCharsets.UTF_8);
	}

	private static void delete(Path file) {
		try {
			if (file != null) {
				Files.deleteIfExists(file);
			}
		} catch (IOException e) {
			file.toFile().deleteOnExit();
		}
	}
}
