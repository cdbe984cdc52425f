// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.experiment;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

import org.memtrace.model.RegularFile;

/**
 * The machine, its settings and the sources around an experiment. The launcher tells them, as for the manifest of a recording; nothing of
 * them is asked for here a second time.
 */
final class Surroundings {
	private static final int MOST_BYTES = 16 << 20;

	private Surroundings() {
	}

	/** What a command prints, at most {@value #MOST_BYTES} bytes; null when it fails, is not installed or takes longer than 20 s. */
	static String output(Path directory, String... command) {
		try {
			Path file = Files.createTempFile("memtrace", ".txt");
			try {
				Process p = new ProcessBuilder(command).directory(directory.toFile()).redirectOutput(file.toFile())
						.redirectError(ProcessBuilder.Redirect.DISCARD).redirectInput(new java.io.File("/dev/null")).start();
				if (!p.waitFor(20, TimeUnit.SECONDS)) {
					p.destroyForcibly();
					return null;
				}
				try (InputStream in = RegularFile.open(file)) {
					return p.exitValue() == 0 ? new String(in.readNBytes(MOST_BYTES), StandardCharsets.UTF_8) : null;
				}
			} finally {
				Files.deleteIfExists(file);
			}
		} catch (IOException e) {
			return null;
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			return null;
		}
	}

	/**
	 * Machine, system and settings of the kernel, as the launcher tells them (the manifest of a recording has the same). Without one,
	 * what Java knows.
	 *
	 * @param launcher the program {@code memtrace}; null when it is not known
	 */
	static JsonObject machine(Path directory, Path launcher) {
		JsonObject host = told(directory, launcher, "check", "--machine");
		if (host.isEmpty()) {
			host.addProperty("os", System.getProperty("os.name", ""));
			host.addProperty("kernel", System.getProperty("os.version", ""));
			host.addProperty("cpus_online", Runtime.getRuntime().availableProcessors());
		}
		return host;
	}

	/** What the launcher prints as JSON; empty when there is none, when it fails, or is of another version. */
	private static JsonObject told(Path directory, Path launcher, String... words) {
		String said = null;
		if (launcher != null) {
			String[] command = new String[words.length + 1];
			command[0] = launcher.toString();
			System.arraycopy(words, 0, command, 1, words.length);
			said = output(directory, command);
		}
		try {
			return said == null ? new JsonObject() : JsonParser.parseString(said).getAsJsonObject();
		} catch (JsonParseException | IllegalStateException e) {
			return new JsonObject();
		}
	}

	/**
	 * The repository around a folder; empty when there is none, or no launcher. The launcher asks git, as for the manifest of a
	 * recording: in a way that starts nothing that the repository names.
	 *
	 * @param launcher the program {@code memtrace}; null when it is not known
	 */
	static JsonObject sources(Path directory, Path launcher) {
		return told(directory, launcher, "sources");
	}

	/** How the sources differ from their commit; null when it is not known. */
	static String sourcesDiff(Path directory, Path launcher) {
		return launcher == null ? null : output(directory, launcher.toString(), "sources", "--diff");
	}

	/** The same for runs on one machine with one system and the same settings: eight hexadecimal digits. */
	static String fingerprint(JsonObject machine) {
		try {
			return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(machine.toString().getBytes(StandardCharsets.UTF_8)))
					.substring(0, 8);
		} catch (NoSuchAlgorithmException e) {
			throw new IllegalStateException(e); // every JDK has it
		}
	}
}
