// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.record;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

import org.memtrace.model.RegularFile;

/** Processes of a recorded program that go on although their recorder is gone. They belong to nobody then. */
public final class Orphans {
	/** Of a second, in which /proc tells when a process has begun; the same on all Linux systems. */
	private static final long TICK_NS = 10_000_000;
	/** A process begins before its image does; a later one with its number is somebody else. */
	private static final long CLOCK_SLACK_NS = 1_000_000_000;
	/** Of /proc/PID/stat, after the name of the program, which may have blanks. */
	private static final int STATE = 0;
	private static final int STARTED = 19;

	private Orphans() {
	}

	/** Processes of this machine that have an image in a trace directory, and still run. */
	public static List<ProcessHandle> of(Path trace) {
		List<ProcessHandle> found = new ArrayList<>();
		try (var images = Files.newDirectoryStream(trace, "p[0-9]*")) {
			for (Path image : images) {
				JsonObject json = JsonParser.parseString(RegularFile.text(image.resolve("image.json"))).getAsJsonObject();
				long pid = json.get("pid").getAsLong();
				if (isOurs(json) && isSame(pid, json.get("start_ns").getAsLong())) {
					ProcessHandle.of(pid).ifPresent(found::add);
				}
			}
		} catch (IOException | RuntimeException e) {
			// the recorder was killed while it wrote: whoever cannot be told for certain is left alone
		}
		return List.copyOf(found);
	}

	/** Whether the numbers of its processes are those of this one. */
	private static boolean isOurs(JsonObject image) throws IOException {
		return image.has("pid_namespace") && Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString()
				.equals("pid:[" + image.get("pid_namespace").getAsLong() + "]");
	}

	private static boolean isSame(long pid, long imageStartNs) {
		String[] fields = stat(pid);
		return isRunning(fields) && Long.parseLong(fields[STARTED]) * TICK_NS <= imageStartNs + CLOCK_SLACK_NS;
	}

	/** Whether one still does something. One that nobody has waited for does not. */
	public static boolean isRunning(ProcessHandle process) {
		return isRunning(stat(process.pid()));
	}

	private static boolean isRunning(String[] fields) {
		return fields.length > STARTED && !fields[STATE].matches("[ZX]");
	}

	/** What the system tells of a process after its name; nothing when it has ended. */
	private static String[] stat(long pid) {
		try {
			String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
			return stat.substring(stat.lastIndexOf(')') + 2).split(" ");
		} catch (IOException e) {
			return new String[0];
		}
	}
}
