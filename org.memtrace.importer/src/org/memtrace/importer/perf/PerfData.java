// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perf;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.input.ReadingProcess;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

/**
 * Runs {@code perf script} on a file of {@code perf record} and gives its text, which {@link PerfScript} and {@link PerfEventsReader}
 * read. perf refuses fields that were not recorded, one at a time, and those that its version does not know: they are left out. Used by
 * one thread.
 */
public final class PerfData {
	/** For perf-script(1). The events have neither mappings nor names of commands between them. */
	private static final List<String> OPTIONS = List.of("--force", "--ns", "--hide-call-graph", "--show-lost-events");
	private static final List<String> MEMORY_OPTIONS = List.of("--show-mmap-events", "--show-task-events");
	private static final List<String> FIELDS = List.of("comm", "pid", "tid", "cpu", "time", "event", "addr", "data_src", "weight", "ip", "sym",
			"symoff", "dso", "phys_addr");
	private static final List<String> TRACEPOINT_FIELDS = List.of("comm", "pid", "tid", "cpu", "time", "event", "trace");
	/** Of these an old perf may not know all, the youngest first. */
	private static final List<String> YOUNG = List.of("phys_addr", "weight", "data_src", "symoff");
	/** What has no meaning without an address. */
	private static final List<String> OF_ADDRESSES = List.of("sym", "symoff", "dso");
	/** Without these there is no event. */
	private static final List<String> NEEDED = List.of("comm", "tid", "time", "event");
	private static final Pattern NOT_RECORDED = Pattern.compile("do not have \\w+ attribute set\\. Cannot print '(\\w+)' field");
	private static final String UNKNOWN = "Invalid field requested";
	private static final String NO_TRACEPOINTS = "tracepoint events do not exist";
	/** What perf says about the fields, and is no reason of anything. */
	private static final Pattern NO_REASON = Pattern.compile("'\\w+' not valid for .*|Overriding previous field request for .*|\\s*");
	private static final int LONGEST_REASON = 300;

	private final String program;
	private final Path data;
	private final String name;
	private final Progress progress;
	private final List<String> fields = new ArrayList<>(FIELDS);
	private final List<String> tracepointFields = new ArrayList<>(TRACEPOINT_FIELDS);
	private final List<String> notRecorded = new ArrayList<>();
	private final List<String> unknown = new ArrayList<>();

	/** A text of {@code perf script}; closing ends perf. */
	public static final class Text implements AutoCloseable {
		private final ReadingProcess process;
		private final InputFile file;

		private Text(ReadingProcess process, InputFile file) {
			this.process = process;
			this.file = file;
		}

		/** Can be read once. When perf fails, its end is an {@link EOFException} with the reason. */
		public InputFile file() {
			return file;
		}

		@Override
		public void close() {
			process.close();
		}
	}

	/**
	 * Describes a file.
	 *
	 * @param program perf, a name or a path
	 * @param data the file, not compressed
	 * @param name as the user knows it
	 */
	public PerfData(String program, Path data, String name, Progress progress) {
		this.program = program;
		this.data = data;
		this.name = name;
		this.progress = progress;
	}

	/** Whether the beginning of a file is of {@code perf record}, of a processor of either byte order. Also when it wrote into a pipe. */
	public static boolean isOne(String head) {
		return head.startsWith("PERFILE2") || head.startsWith("2ELIFREP");
	}

	/** Sentences about fields that the text does not have, to be asked for after {@link #open}. */
	public List<String> notes() {
		List<String> notes = new ArrayList<>();
		if (!notRecorded.isEmpty()) {
			notes.add(name + ": perf did not record " + String.join(", ", notRecorded));
		}
		if (!unknown.isEmpty()) {
			notes.add(name + ": this version of perf does not know " + String.join(", ", unknown));
		}
		return notes;
	}

	/**
	 * Starts perf.
	 *
	 * @param memory whether the text has the mappings and programs of processes, too
	 * @throws MemtraceException when perf is not installed, or fails before it printed anything
	 */
	public Text open(boolean memory) throws MemtraceException, IOException {
		for (;;) {
			List<String> said = new ArrayList<>();
			ReadingProcess process = start(memory, said);
			boolean kept = false;
			try {
				PushbackInputStream in = new PushbackInputStream(process.output());
				int first = in.read();
				if (first >= 0) {
					in.unread(first);
					Text text = new Text(process, InputFile.ofProgram(new Checked(in, process, said), name));
					kept = true;
					return text;
				}
				int code = process.exitCode();
				progress.check();
				if (code == 0) {
					throw new TraceFormatException(name, 0, "has no events");
				}
				if (!leaveOut(said)) {
					throw new TraceFormatException(name, 0, "cannot be read: " + reason(code, said));
				}
			} finally {
				if (!kept) {
					process.close();
				}
			}
		}
	}

	private ReadingProcess start(boolean memory, List<String> said) throws MemtraceException {
		List<String> command = new ArrayList<>(List.of(program, "script", "-i", data.toAbsolutePath().toString()));
		command.addAll(OPTIONS);
		if (memory) {
			command.addAll(MEMORY_OPTIONS);
		}
		command.addAll(List.of("-F", String.join(",", fields)));
		if (!tracepointFields.isEmpty()) {
			command.addAll(List.of("-F", "trace:" + String.join(",", tracepointFields)));
		}
		ProcessBuilder builder = new ProcessBuilder(command);
		builder.environment().put("LC_ALL", "C.UTF-8");
		builder.environment().put("DEBUGINFOD_URLS", ""); // or perf asks the network for symbols
		try {
			return new ReadingProcess(builder, progress, line -> {
				synchronized (said) {
					if (said.size() < FIELDS.size() && !NO_REASON.matcher(line).matches()) {
						said.add(line.length() > LONGEST_REASON ? line.substring(0, LONGEST_REASON) : line.strip());
					}
				}
			});
		} catch (IOException e) {
			throw new MemtraceException(name + ": files of perf are read by " + program
					+ ", which is not installed (Debian: apt-get install linux-perf)");
		}
	}

	/** Whether what perf said is worth another attempt, with fewer fields. */
	private boolean leaveOut(List<String> said) {
		for (String line : said) {
			Matcher m = NOT_RECORDED.matcher(line);
			if (m.find()) {
				return remove(m.group(1), notRecorded);
			}
			if (line.contains(UNKNOWN)) {
				return YOUNG.stream().filter(fields::contains).findFirst().map(field -> remove(field, unknown)).orElse(false);
			}
			if (line.contains(NO_TRACEPOINTS) && !tracepointFields.isEmpty()) {
				tracepointFields.clear();
				return true;
			}
		}
		return false;
	}

	private boolean remove(String field, List<String> reason) {
		boolean was = !NEEDED.contains(field) && (fields.remove(field) | tracepointFields.remove(field));
		if (was) {
			reason.add(field);
		}
		if (!fields.contains("addr") && !fields.contains("ip")) {
			fields.removeAll(OF_ADDRESSES);
		}
		return was;
	}

	private static String reason(int code, List<String> said) {
		synchronized (said) {
			String text = String.join(" ", said);
			return "perf script ended with exit code " + code + (text.isEmpty() ? "" : ": "
					+ (text.length() > LONGEST_REASON ? text.substring(0, LONGEST_REASON) + "..." : text));
		}
	}

	/** Ends with an exception when perf failed, so that a text that is not whole is not taken for one that is. */
	private final class Checked extends java.io.FilterInputStream {
		private final ReadingProcess process;
		private final List<String> said;

		Checked(InputStream in, ReadingProcess process, List<String> said) {
			super(in);
			this.process = process;
			this.said = said;
		}

		@Override
		public int read() throws IOException {
			int b = super.read();
			if (b < 0) {
				ended();
			}
			return b;
		}

		@Override
		public int read(byte[] buffer, int offset, int length) throws IOException {
			int n = super.read(buffer, offset, length);
			if (n < 0) {
				ended();
			}
			return n;
		}

		private void ended() throws IOException {
			int code = process.exitCode();
			try {
				progress.check();
			} catch (CancelledException e) {
				return; // perf was ended for that; whoever reads asks the progress
			}
			if (code != 0) {
				throw new EOFException(reason(code, said));
			}
		}
	}
}
