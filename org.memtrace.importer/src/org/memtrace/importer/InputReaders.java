// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

import org.memtrace.importer.access.AccessReader;
import org.memtrace.importer.access.MemtraceReader;
import org.memtrace.importer.access.MocaReader;
import org.memtrace.importer.access.TabarnacReader;
import org.memtrace.importer.chrome.ChromeReader;
import org.memtrace.importer.csv.EventCsvReader;
import org.memtrace.importer.ctf.CtfReader;
import org.memtrace.importer.damon.DamonReader;
import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.input.OtherFormat;
import org.memtrace.importer.io.IoReader;
import org.memtrace.importer.monitor.MonitorReader;
import org.memtrace.importer.otf2.Otf2Reader;
import org.memtrace.importer.paje.PajeReader;
import org.memtrace.importer.paje.PjdumpReader;
import org.memtrace.importer.paraver.ParaverReader;
import org.memtrace.importer.perf.PerfDataReader;
import org.memtrace.importer.perf.PerfEventsReader;
import org.memtrace.importer.perf.PerfReader;
import org.memtrace.importer.perfetto.PerfettoReader;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.importer.samples.AccessCsvReader;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceFormatException;

/** All readers of input formats: one line for each. Safe for all threads. */
public final class InputReaders {
	private static final CopyOnWriteArrayList<InputReader> ALL = new CopyOnWriteArrayList<>(List.of( //
			new PerfDataReader(), //
			new PerfReader(), //
			new CtfReader(), //
			new IoReader(), //
			new MemtraceReader(), //
			new MocaReader(), //
			new TabarnacReader(), //
			new Otf2Reader(), //
			new MonitorReader(), //
			new PajeReader(), //
			new PjdumpReader(), //
			new ChromeReader(), //
			new PerfettoReader(), //
			new ParaverReader(), //
			new DamonReader(), //
			new PerfEventsReader(), //
			new EventCsvReader(), //
			new AccessCsvReader()));

	/**
	 * A reader and what it recognised.
	 *
	 * @param source what would be read
	 */
	public record Found(InputReader reader, ImportSource source) {
	}

	private InputReaders() {
	}

	/** In the order in which they are asked. */
	public static List<InputReader> all() {
		return List.copyOf(ALL);
	}

	/**
	 * Adds a reader that is not part of memtrace. It is asked after the others.
	 *
	 * @throws IllegalArgumentException when there is one with this id
	 */
	public static void register(InputReader reader) {
		synchronized (ALL) {
			if (ALL.stream().anyMatch(r -> r.id().equals(reader.id()))) {
				throw new IllegalArgumentException("there is a reader " + reader.id());
			}
			ALL.add(reader);
		}
	}

	/** Removes a reader that was registered. */
	public static void unregister(InputReader reader) {
		ALL.remove(reader);
	}

	/**
	 * What an import of these paths would read.
	 *
	 * @throws MemtraceException one sentence, when it is nothing that can be imported
	 */
	public static ImportSource detect(List<Path> paths) throws MemtraceException {
		return find(new Input(paths, InputStream.nullInputStream())).source();
	}

	/**
	 * The reader that recognises an input.
	 *
	 * @throws MemtraceException one sentence, when there is none
	 */
	static Found find(Input input) throws MemtraceException {
		for (InputReader reader : ALL) {
			try {
				Optional<ImportSource> source = reader.look(input);
				if (source.isPresent()) {
					return new Found(reader, source.get());
				}
			} catch (InterruptedIOException e) {
				throw new CancelledException();
			} catch (IOException e) {
				throw new TraceFormatException(input.text(), 0, "cannot be read: " + e.getMessage());
			}
		}
		throw unknown(input);
	}

	/** Why nobody reads an input. */
	private static MemtraceException unknown(Input input) throws MemtraceException {
		try {
			if (input.isFolder()) {
				Optional<String> folder = OtherFormat.sentence(input.first());
				if (folder.isPresent()) {
					return new TraceFormatException(input.text(), 0, folder.get());
				}
			} else {
				for (InputFile file : input.files()) {
					Optional<String> sentence = OtherFormat.sentence(file.head());
					if (sentence.isPresent()) {
						return new TraceFormatException(file.name(), 0, sentence.get());
					}
				}
			}
		} catch (IOException e) {
			return new TraceFormatException(input.text(), 0, "cannot be read: " + e.getMessage());
		}
		return AccessReader.unknown(input);
	}
}
