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
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

import org.memtrace.model.RegularFile;

/** The machine, its settings and the sources around an experiment, as far as this system tells. What it does not tell is left out. */
final class Surroundings {
	private static final int MOST_BYTES = 16 << 20;
	private static final String CPU = "/sys/devices/system/cpu/";
	/** Settings that change how memory is placed or how fast the machine is. */
	private static final Map<String, String> SETTINGS = new TreeMap<>(Map.ofEntries(
			Map.entry("numa_balancing", "/proc/sys/kernel/numa_balancing"),
			Map.entry("randomize_va_space", "/proc/sys/kernel/randomize_va_space"),
			Map.entry("transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled"),
			Map.entry("transparent_hugepage_defrag", "/sys/kernel/mm/transparent_hugepage/defrag"),
			Map.entry("huge_pages", "/proc/sys/vm/nr_hugepages"), Map.entry("overcommit_memory", "/proc/sys/vm/overcommit_memory"),
			Map.entry("swappiness", "/proc/sys/vm/swappiness"), Map.entry("perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid"),
			Map.entry("cpu_governor", CPU + "cpu0/cpufreq/scaling_governor"), Map.entry("cpu_boost", CPU + "cpufreq/boost"),
			Map.entry("cpu_no_turbo", CPU + "intel_pstate/no_turbo"), Map.entry("smt_active", CPU + "smt/active"),
			Map.entry("cpus_online", CPU + "online"), Map.entry("isolated_cpus", CPU + "isolated")));

	private Surroundings() {
	}

	private static String line(String file) {
		try (InputStream in = RegularFile.open(Path.of(file))) {
			return new String(in.readNBytes(4096), StandardCharsets.UTF_8).lines().findFirst().orElse("").strip();
		} catch (IOException e) {
			return "";
		}
	}

	/** Settings of the kernel by name; of a choice like {@code always [madvise] never} the one in force. */
	static Map<String, String> settings() {
		Map<String, String> all = new TreeMap<>();
		SETTINGS.forEach((name, file) -> {
			Matcher chosen = Pattern.compile("\\[([^\\]]*)\\]").matcher(line(file));
			String value = chosen.find() ? chosen.group(1) : line(file);
			if (!value.isEmpty()) {
				all.put(name, value);
			}
		});
		return all;
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

	/** Machine, system, settings and who runs it. */
	static JsonObject machine() {
		JsonObject host = new JsonObject();
		String model = "";
		try {
			model = Files.readAllLines(Path.of("/proc/cpuinfo"), StandardCharsets.UTF_8).stream().filter(l -> l.startsWith("model name"))
					.map(l -> l.substring(l.indexOf(':') + 1).strip()).findFirst().orElse("");
		} catch (IOException e) {
			// no Linux, or not this kind of processor
		}
		host.addProperty("name", line("/proc/sys/kernel/hostname"));
		host.addProperty("system", line("/proc/version"));
		host.addProperty("cpu_model", model);
		host.addProperty("cpus", Runtime.getRuntime().availableProcessors());
		host.addProperty("user", System.getProperty("user.name", ""));
		JsonObject settings = new JsonObject();
		settings().forEach(settings::addProperty);
		host.add("settings", settings);
		return host;
	}

	/**
	 * The repository around a folder; empty when there is none, or no launcher. The launcher asks git, as for the manifest of a
	 * recording: in a way that starts nothing that the repository names.
	 *
	 * @param launcher the program {@code memtrace}; null when it is not known
	 */
	static JsonObject sources(Path directory, Path launcher) {
		String said = launcher == null ? null : output(directory, launcher.toString(), "sources");
		try {
			return said == null ? new JsonObject() : JsonParser.parseString(said).getAsJsonObject();
		} catch (JsonParseException | IllegalStateException e) {
			return new JsonObject(); // a launcher of another version
		}
	}

	/** How the sources differ from their commit; null when it is not known. */
	static String sourcesDiff(Path directory, Path launcher) {
		return launcher == null ? null : output(directory, launcher.toString(), "sources", "--diff");
	}

	/** The same for runs on one machine with one system and the same settings, whoever runs them: eight hexadecimal digits. */
	static String fingerprint(JsonObject whole) {
		JsonObject machine = whole.deepCopy();
		machine.remove("user");
		try {
			return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(machine.toString().getBytes(StandardCharsets.UTF_8)))
					.substring(0, 8);
		} catch (NoSuchAlgorithmException e) {
			throw new IllegalStateException(e); // every JDK has it
		}
	}
}
