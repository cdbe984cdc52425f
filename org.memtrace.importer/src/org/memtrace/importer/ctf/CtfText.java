// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.ctf;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.importer.input.ByteLines;
import org.memtrace.importer.input.ReadingProcess;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.RegularFile;
import org.memtrace.model.TraceFormatException;

/**
 * Runs babeltrace2 on the traces of a folder and hands on the lines that it prints. Of a damaged trace it prints nothing at all, or stops
 * in
 * the middle of all streams: then the packets of each stream that can be read are found, and the traces are read once more with these.
 */
public final class CtfText {
	/** Bytes of text for one of a stream; only the progress depends on it. */
	private static final int TEXT_PER_BYTE = 8;
	private static final Pattern LOST = Pattern.compile("Tracer discarded (\\d{1,18}) (event|packet)s? ");
	private static final Pattern MAYBE_LOST = Pattern.compile("Tracer may have discarded (event|packet)s");
	private static final int LONGEST_REASON = 300;
	private static final byte[][] PACKET = { { (byte) 0xc1, 0x1f, (byte) 0xfc, (byte) 0xc1 }, { (byte) 0xc1, (byte) 0xfc, 0x1f,
			(byte) 0xc1 } };
	private static final int STEP = 1024;
	private static final int PIECE = 1 << 20;

	private final String program;
	private final boolean cycles;
	private final Progress progress;
	private final AtomicLong lostEvents = new AtomicLong();
	private final AtomicLong lostPackets = new AtomicLong();
	private final AtomicLong maybeLost = new AtomicLong();
	/** The cause that is told last, which is the first in time. */
	private final StringBuilder cause = new StringBuilder();
	private boolean inCause;

	/** Takes the lines of the text. */
	public interface Lines {
		/** A line: bytes {@code [start, end)} of a buffer that changes afterwards. @param number from 1 */
		void line(byte[] buffer, int start, int end, long number) throws MemtraceException, IOException;

		/** A line that is longer than any other is. */
		void tooLong(long number) throws MemtraceException;
	}

	/**
	 * What reads a trace from its beginning, perhaps twice.
	 *
	 * @param <T> what it makes
	 */
	@FunctionalInterface
	public interface Attempt<T> {
		/** @param text gives all lines once; what it tells afterwards goes into the skips of the attempt */
		T read(Pass text) throws MemtraceException, IOException;
	}

	/** One reading. */
	@FunctionalInterface
	public interface Pass {
		/**
		 * Hands on all lines.
		 *
		 * @throws Damaged when this was not all and another attempt is worth it
		 */
		void lines(Lines lines, SkipCounter skips) throws MemtraceException, IOException;
	}

	/** The text ended too early. */
	private static final class Damaged extends IOException {
		private static final long serialVersionUID = 1;

		Damaged(String reason) {
			super(reason);
		}
	}

	/**
	 * @param program babeltrace2, a name or a path
	 * @param cycles whether times are those of the clock, instead of since 1970
	 */
	public CtfText(String program, boolean cycles, Progress progress) {
		this.program = program;
		this.cycles = cycles;
		this.progress = progress;
	}

	/** Events that the tracer discarded, by the last attempt. */
	public long lostEvents() {
		return lostEvents.get();
	}

	/**
	 * Reads a folder.
	 *
	 * @param scratch where a second attempt may have its files; the caller removes it
	 * @param strict whether a damaged trace is an error
	 */
	public <T> T read(CtfFolder folder, Path scratch, boolean strict, Attempt<T> attempt) throws MemtraceException, IOException {
		try {
			return attempt.read((lines, skips) -> run(folder.root(), folder, lines, skips, true));
		} catch (Damaged e) {
			progress.check();
			if (strict) {
				throw new TraceFormatException(folder.root().toString(), 0, "is damaged: " + e.getMessage());
			}
			List<String> cuts = new ArrayList<>();
			Path whole = repair(folder, scratch, cuts, e.getMessage());
			return attempt.read((lines, skips) -> {
				cuts.forEach(skips::warn);
				run(whole, folder, lines, skips, false);
			});
		}
	}

	private List<String> command(Path path, String... more) {
		List<String> command = new ArrayList<>(List.of(program, "convert", path.toAbsolutePath().toString()));
		command.addAll(List.of(more));
		return command;
	}

	private ReadingProcess start(List<String> command) throws MemtraceException {
		lostEvents.set(0);
		lostPackets.set(0);
		maybeLost.set(0);
		synchronized (cause) {
			cause.setLength(0);
			inCause = false;
		}
		ProcessBuilder builder = new ProcessBuilder(command);
		builder.environment().put("LC_ALL", "C.UTF-8");
		builder.environment().put("TZ", "UTC");
		try {
			return new ReadingProcess(builder, progress, this::said);
		} catch (IOException e) {
			throw new MemtraceException("CTF traces are read by " + program
					+ ", which is not installed (Debian: apt-get install babeltrace2)");
		}
	}

	private void said(String line) {
		Matcher lost = LOST.matcher(line);
		if (lost.find()) {
			(lost.group(2).equals("event") ? lostEvents : lostPackets).addAndGet(Long.parseLong(lost.group(1)));
		} else if (MAYBE_LOST.matcher(line).find()) {
			maybeLost.incrementAndGet();
		}
		synchronized (cause) {
			if (line.startsWith("CAUSED BY ") || line.startsWith("ERROR: ")) {
				cause.setLength(0);
				inCause = true;
			} else if (inCause && line.startsWith("  ") && cause.length() < LONGEST_REASON) {
				cause.append(cause.isEmpty() ? "" : " ").append(line.strip());
			}
		}
	}

	private String cause(int code) {
		synchronized (cause) {
			return "babeltrace2 " + (cause.isEmpty() ? "failed with exit code " + code
					: "says: " + cause.toString().replaceAll(",? ?[\\w-]+-addr=\\w+", ""));
		}
	}

	private void run(Path path, CtfFolder folder, Lines lines, SkipCounter skips, boolean again) throws MemtraceException, IOException {
		progress.beginBytes("Reading events", folder.bytes());
		long left = folder.bytes();
		try (ReadingProcess process = start(command(path, cycles ? "--clock-cycles" : "--clock-seconds", "--no-delta", "--names=all",
				"--fields=trace:hostname,trace:procname,trace:vpid"));
				InputStream in = process.output()) {
			ByteLines text = new ByteLines(in);
			long told = 0;
			while (text.next()) {
				if (text.tooLong()) {
					lines.tooLong(text.line());
				} else {
					lines.line(text.buffer(), text.start, text.end, text.line());
				}
				if (text.line() % STEP == 0) {
					progress.check();
					long part = Math.min(left, text.bytes() / TEXT_PER_BYTE - told);
					told += part;
					left -= part;
					progress.worked(part);
				}
			}
			int code = process.exitCode();
			progress.check();
			if (code != 0 && again) {
				throw new Damaged(cause(code));
			}
			if (code != 0) {
				skips.problem(folder.root().toString(), "what was read before is here, the rest is not: " + cause(code));
			}
			tellLost(folder, skips);
		}
	}

	private void tellLost(CtfFolder folder, SkipCounter skips) {
		if (lostPackets.get() > 0) {
			skips.warn(folder.root() + ": the tracer discarded " + lostPackets + " packets of events");
		}
		if (maybeLost.get() > 0) {
			skips.warn(folder.root() + ": the tracer may have discarded events at " + maybeLost + " places, and did not count them");
		}
	}

	private boolean isReadable(Path trace) throws MemtraceException, IOException {
		try (ReadingProcess process = start(command(trace, "--output-format=dummy")); InputStream in = process.output()) {
			in.transferTo(OutputStream.nullOutputStream());
			int code = process.exitCode();
			progress.check();
			return code == 0;
		}
	}

	/**
	 * Makes folders with the streams that can be read, and with the beginnings of those that cannot.
	 *
	 * @param cuts gets a sentence for each stream that is not whole
	 */
	private Path repair(CtfFolder folder, Path scratch, List<String> cuts, String reason) throws MemtraceException, IOException {
		Path all = scratch.resolve("readable");
		Path alone = Files.createDirectories(scratch.resolve("alone"));
		int number = 0;
		for (CtfFolder.Trace trace : folder.traces()) {
			Path copy = Files.createDirectories(all.resolve("trace" + number++));
			Path metadata = trace.folder().resolve("metadata").toAbsolutePath();
			Files.createSymbolicLink(copy.resolve("metadata"), metadata);
			Files.deleteIfExists(alone.resolve("metadata"));
			Files.createSymbolicLink(alone.resolve("metadata"), metadata);
			if (!isReadable(alone)) {
				throw new TraceFormatException(metadata.toString(), 0, "cannot be read: " + cause(1));
			}
			for (Path stream : trace.streams()) {
				progress.check();
				Path probe = alone.resolve(stream.getFileName().toString());
				Files.createSymbolicLink(probe, stream.toAbsolutePath());
				if (isReadable(alone)) {
					Files.createSymbolicLink(copy.resolve(stream.getFileName().toString()), stream.toAbsolutePath());
				} else {
					String why = cause(1);
					long bytes = longestReadable(stream, probe, alone);
					if (bytes > 0) {
						copy(stream, copy.resolve(stream.getFileName().toString()), bytes);
					}
					cuts.add(stream + ": damaged after byte " + bytes + " of " + Files.size(stream) + "; the packets before are here, "
							+ "the rest is not: " + why.replace(alone.toAbsolutePath().toString(), trace.folder().toString()));
				}
				Files.deleteIfExists(probe);
			}
		}
		if (cuts.isEmpty()) {
			cuts.add(folder.root() + ": " + reason);
		}
		return all;
	}

	/** Bytes of the packets that can be read from the beginning on: packets begin with their number. */
	private long longestReadable(Path stream, Path probe, Path alone) throws MemtraceException, IOException {
		List<Long> packets = packets(stream);
		int good = 0; // so many packets can be read
		int bad = packets.size(); // all of them cannot
		while (bad - good > 1) {
			int middle = good + bad >>> 1;
			Files.deleteIfExists(probe);
			copy(stream, probe, packets.get(middle));
			if (isReadable(alone)) {
				good = middle;
			} else {
				bad = middle;
			}
		}
		return good == 0 ? 0 : packets.get(good);
	}

	/** Where packets begin. */
	private static List<Long> packets(Path stream) throws IOException {
		List<Long> all = new ArrayList<>();
		try (InputStream in = new java.io.BufferedInputStream(RegularFile.open(stream), PIECE)) {
			int window = 0;
			long at = 0;
			int[] numbers = new int[PACKET.length];
			for (int i = 0; i < PACKET.length; i++) {
				numbers[i] = java.nio.ByteBuffer.wrap(PACKET[i]).getInt();
			}
			for (int b = in.read(); b >= 0; b = in.read()) {
				window = window << 8 | b;
				at++;
				if (at >= 4 && (window == numbers[0] || window == numbers[1])) {
					all.add(at - 4);
				}
			}
		}
		return all;
	}

	private static void copy(Path from, Path to, long bytes) throws IOException {
		try (FileChannel in = FileChannel.open(from, StandardOpenOption.READ);
				FileChannel out = FileChannel.open(to, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
			long done = 0;
			while (done < bytes) {
				long n = in.transferTo(done, bytes - done, out);
				if (n <= 0) {
					throw new IOException(from + " became shorter while it was read");
				}
				done += n;
			}
		}
	}
}
