// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.memtrace.importer.memtrace.JobDirectory;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.importer.reader.TraceFolders;
import org.memtrace.importer.record.Installation;
import org.memtrace.importer.record.ToolOutput;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/**
 * Completes a trace directory whose recorder was killed, by {@code memtrace finish}: structures, call stacks and threads are made
 * from what the program itself has written. On the command line the native launcher does that before it starts a JVM.
 */
public final class TraceCompletion {
	private static final int EXIT_UNAVAILABLE = 4;
	private static final String STILL_RUN = "others still run";

	private TraceCompletion() {
	}

	/** Whether the recorder left something to be completed, or is not known to have ended. */
	static boolean isNeeded(Path directory) {
		try {
			List<Path> ranks = JobDirectory.ranks(directory);
			if (!ranks.isEmpty()) {
				return ranks.stream().anyMatch(TraceCompletion::isNeeded);
			}
		} catch (MemtraceException e) {
			return false; // the import says what is wrong with it
		}
		if (!TraceFolders.isTraceDirectory(directory)) {
			return false;
		}
		try {
			TraceDirectory trace = TraceDirectory.open(directory);
			return trace.manifest().object("status").text("state").equals("running")
					|| trace.images().stream().anyMatch(TraceDirectory.Image::unfinished);
		} catch (MemtraceException e) {
			return false; // the import says what is wrong with the directory
		}
	}

	/**
	 * Completes what has to be; nothing is touched of a recording that still runs.
	 *
	 * @param installation where {@code memtrace} is
	 * @return why the trace, or a part of it, is as the recorder left it, one sentence; null when it is complete
	 * @throws CancelledException as the user wished; the trace can be completed later
	 */
	public static String complete(Path directory, Installation installation, Progress progress) throws MemtraceException {
		if (!isNeeded(directory)) {
			return null;
		}
		List<Path> ranks = JobDirectory.ranks(directory);
		if (!ranks.isEmpty()) {
			String last = null;
			for (Path rank : ranks) {
				String why = complete(rank, installation, progress);
				last = why == null ? last : rank.getFileName() + ": " + why;
			}
			return last;
		}
		if (installation.launcher() == null) {
			return "the recorder was killed and could not complete the trace here. " + installation.problem();
		}
		if (!Files.isWritable(directory)) {
			return "the recorder was killed, and the trace cannot be completed in a directory that cannot be written";
		}
		progress.begin("Completing the trace of a killed recorder", -1);
		ToolOutput output;
		try {
			output = ToolOutput.of(List.of(installation.launcher().toString(), "finish", directory.toString()), progress);
		} catch (CancelledException e) {
			throw e;
		} catch (MemtraceException e) {
			return "the recorder was killed, and the trace was not completed: " + e.getMessage();
		}
		if (output.exitCode() == EXIT_UNAVAILABLE) {
			return "it is still being recorded; this is the state of now";
		}
		if (output.exitCode() != 0) {
			String said = output.error().strip();
			return "the recorder was killed, and the trace was not completed: "
					+ (said.isEmpty() ? "memtrace finish ended with code " + output.exitCode() : said.substring(said.lastIndexOf('\n') + 1));
		}
		return output.error().strip().endsWith(STILL_RUN) ? "processes of the program still run; this is the state of now" : null;
	}
}
