// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.live;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

import org.memtrace.importer.input.Json;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.memtrace.ContextTables;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.importer.record.ToolOutput;
import org.memtrace.importer.tree.StructureIndex;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.memory.Structure;

/**
 * The structures and threads of a program that is recorded. {@code memtrace finish --into} finds them from what the program has logged
 * until now, again and again, on a thread of this class. It takes at most a small share of the time, and less as long as nothing is new.
 */
final class LiveNames implements AutoCloseable {
	/** Time from the end of one look to the next one. */
	private static final long LEAST_PAUSE_MS = 1000;
	private static final long MOST_PAUSE_MS = 4000;
	/** A pause is so many times as long as the look before it: 2 % of the time of one CPU at most. */
	private static final long PAUSE_FACTOR = 50;
	/** Logs that are longer take too long, and too much memory, to be read again and again. */
	static final long LONGEST_LOG_BYTES = 256L << 20;

	/**
	 * What is known of one process image.
	 *
	 * @param untilNs the end of an interval: of what came before it nothing will change
	 */
	record Names(StructureIndex structures, int count, Map<Long, ThreadInfo> threads, long untilNs) {
	}

	/** What is asked: the image by its folder, and the end of its newest interval. */
	record Question(Map<Path, Long> images, long sinceNs) {
	}

	private final Path trace;
	private final Path launcher;
	private final LongSupplier clockNs;
	private Path folder;
	private final Map<Path, FileTime> read = new HashMap<>();
	private final Map<Path, Names> names = new HashMap<>();
	private Thread worker;
	private long nextMs;
	private long pauseMs = LEAST_PAUSE_MS;
	private volatile boolean closed;
	private String problem = "";

	/**
	 * Looks for nothing yet.
	 *
	 * @param launcher path of {@code memtrace}; null when it is not here: then nothing gets a name
	 * @param clockNs tells when the next look is due
	 */
	LiveNames(Path trace, Path launcher, LongSupplier clockNs) {
		this.trace = trace;
		this.clockNs = clockNs;
		this.launcher = launcher;
		problem = launcher == null ? "Structures have no names, because the program memtrace is not here." : "";
	}

	/** Why nothing new is found, one sentence, or empty. */
	synchronized String problem() {
		return problem;
	}

	/** What is known now, by folder of the image. */
	synchronized Map<Path, Names> names() {
		return Map.copyOf(names);
	}

	/** Looks again if it is time to. Returns at once. */
	synchronized void ask(Question question) {
		if (closed || worker != null || !problem.isEmpty() || question.images().isEmpty()
				|| clockNs.getAsLong() / 1_000_000 < nextMs && !names.isEmpty()) {
			return;
		}
		worker = new Thread(() -> run(question), "names of structures");
		worker.setDaemon(true);
		worker.start();
	}

	/** Waits for a look that is under way. */
	void await() throws InterruptedException {
		Thread running;
		synchronized (this) {
			running = worker;
		}
		if (running != null) {
			running.join();
		}
	}

	private void run(Question question) {
		long begin = clockNs.getAsLong();
		String failed = "";
		boolean news = false;
		try {
			news = look(question);
		} catch (CancelledException e) {
			failed = "";
		} catch (MemtraceException | IOException e) {
			failed = "The names of structures are no longer brought up to date: " + e.getMessage();
		}
		long took = (clockNs.getAsLong() - begin) / 1_000_000;
		synchronized (this) {
			worker = null;
			problem = failed;
			pauseMs = news ? LEAST_PAUSE_MS : Math.min(MOST_PAUSE_MS, pauseMs * 2);
			nextMs = clockNs.getAsLong() / 1_000_000 + Math.max(pauseMs, took * PAUSE_FACTOR);
			if (closed) {
				remove();
			}
		}
	}

	/** True when there is something new. */
	private boolean look(Question question) throws MemtraceException, IOException {
		long bytes = 0;
		for (Path image : question.images().keySet()) {
			Path log = image.resolve("context.log");
			bytes += Files.exists(log) ? Files.size(log) : 0;
		}
		if (bytes > LONGEST_LOG_BYTES) {
			throw new MemtraceException("the program has logged " + (bytes >> 20) + " MiB of allocations");
		}
		synchronized (this) {
			folder = folder == null ? Files.createTempDirectory("memtrace-live") : folder;
		}
		ToolOutput output = ToolOutput.of(List.of("nice", launcher.toString(), "finish", "--quiet", "--into", folder.toString(), "--since",
				Long.toString(Math.max(0, question.sinceNs())), trace.toString()), Progress.cancelledWhen(() -> closed));
		String said = output.error().strip();
		if (output.exitCode() != 0) {
			throw new MemtraceException(said.isEmpty() ? "memtrace finish ended with code " + output.exitCode()
					: said.substring(said.lastIndexOf('\n') + 1));
		}
		synchronized (this) {
			names.keySet().retainAll(question.images().keySet());
		}
		boolean news = false;
		for (Map.Entry<Path, Long> image : question.images().entrySet()) {
			news |= read(image.getKey(), image.getValue());
		}
		return news;
	}

	private boolean read(Path image, long untilNs) throws MemtraceException, IOException {
		Path made = folder.resolve(image.getFileName());
		if (!Files.exists(made.resolve("structures.csv"))) {
			return false;
		}
		FileTime time = Files.getLastModifiedTime(made.resolve("structures.csv"));
		Names before;
		synchronized (this) {
			before = names.get(image);
		}
		Names now;
		if (time.equals(read.put(image, time)) && before != null) {
			now = new Names(before.structures(), before.count(), before.threads(), untilNs);
		} else {
			ContextTables tables = new ContextTables(new SkipCounter(false), 0);
			List<Structure> structures = tables.read(new TraceDirectory.Image(
					Integer.parseInt(image.getFileName().toString().substring(1)), made, Json.EMPTY, List.of(), List.of()));
			Map<Long, ThreadInfo> threads = new HashMap<>();
			tables.threads().forEach(t -> threads.put(t.taskId(), t));
			now = new Names(new StructureIndex(structures), structures.size(), threads, untilNs);
		}
		synchronized (this) {
			names.put(image, now);
		}
		return before == null || before.count() != now.count() || before.threads().size() != now.threads().size();
	}

	/** Ends what is under way, waits for that, and removes the files: a process that ends next leaves none. */
	@Override
	public void close() {
		closed = true;
		try {
			await();
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();	// the worker removes them
			return;
		}
		remove();
	}

	private synchronized void remove() {
		if (folder == null) {
			return;
		}
		List<Path> files = new ArrayList<>();
		try (Stream<Path> all = Files.walk(folder)) {
			all.sorted(Comparator.reverseOrder()).forEach(files::add);
			for (Path file : files) {
				Files.deleteIfExists(file);
			}
		} catch (IOException e) {
			folder.toFile().deleteOnExit();	// a temporary folder of the system
		}
		folder = null;
	}
}
