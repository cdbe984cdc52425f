// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.moca;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.google.gson.JsonObject;

import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.input.InputFormat;
import org.memtrace.importer.input.Json;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.importer.reader.Input;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceFormatException;

/**
 * Makes a trace of files of Moca and TABARNAC, or of single access files: recognises each by its content (docs/reference/input-accesses.md)
 * and decides which of them to use when they tell the same twice.
 */
public final class HistoricalFiles {
	private static final int USUAL_PAGE_SIZE = 4096;
	private static final String STREAM = "-";

	private final Map<InputFormat, List<InputFile>> files = new EnumMap<>(InputFormat.class);
	private final List<String> notes = new ArrayList<>();

	private HistoricalFiles() {
	}

	/**
	 * The files of an input; of a folder those of a known format.
	 *
	 * @throws MemtraceException one sentence, when there are no accesses among them or something else is
	 */
	public static TraceDirectory open(Input input) throws MemtraceException {
		HistoricalFiles found = new HistoricalFiles();
		for (InputFile file : input.files()) {
			try {
				found.add(file, !input.isFolder());
			} catch (IOException e) {
				throw new TraceFormatException(file.name(), 0, "cannot be read: " + e.getMessage());
			}
		}
		return found.trace(input.first().toAbsolutePath().normalize(), input.name());
	}

	/** What the files of an input are. */
	public static Set<InputFormat> formats(Input input) throws MemtraceException {
		Set<InputFormat> formats = EnumSet.noneOf(InputFormat.class);
		for (InputFile file : input.files()) {
			try {
				formats.add(InputFormat.of(file.head()));
			} catch (IOException e) {
				throw new TraceFormatException(file.name(), 0, "cannot be read: " + e.getMessage());
			}
		}
		return formats;
	}

	private void add(InputFile file, boolean given) throws IOException, MemtraceException {
		String head = file.head();
		InputFormat format = InputFormat.of(head);
		if (format == InputFormat.UNKNOWN && given) {
			if (head.startsWith("SQLite format 3\0") || head.startsWith("H:2,block:")) {
				throw new TraceFormatException(file.name(), 0, "is a database and no recording: every command takes it as it is");
			}
			throw new TraceFormatException(file.name(), 0,
					head.isEmpty() ? file.size() > 0 ? "is cut, nothing of it can be read" : "is empty"
							: "is of no format that can be imported; see 'memtrace import --help'");
		}
		if (format != InputFormat.UNKNOWN) {
			files.computeIfAbsent(format, key -> new ArrayList<>()).add(file);
		} else if (head.isEmpty() ? false : file.name().endsWith(".csv")) {
			notes.add(file.name() + " is of no known format and was not read");
		}
	}

	private List<InputFile> of(InputFormat format) {
		return files.getOrDefault(format, List.of());
	}

	private void ignore(InputFormat format, String reason) {
		for (InputFile file : of(format)) {
			notes.add(file.name() + " (" + format.description() + ") was not read: " + reason);
		}
		files.remove(format);
	}

	private TraceDirectory trace(Path path, String name) throws MemtraceException {
		String where = path.endsWith(STREAM) ? "standard input" : path.toString();
		if (!of(InputFormat.MOCA_TRACE).isEmpty()) {
			ignore(InputFormat.MOCA_FRAMESOC, "the full trace tells the same");
		}
		List<InputFormat> kinds = files.keySet().stream().filter(InputFormat::hasAccesses).toList();
		if (kinds.isEmpty()) {
			throw new TraceFormatException(where, 0, "has no accesses: " + described());
		}
		if (kinds.size() > 1) {
			throw new TraceFormatException(where, 0, "more than one trace is given: " + described());
		}
		InputFormat kind = kinds.get(0);
		if (kind == InputFormat.TABARNAC_PAGES && of(kind).size() > 1) {
			onlyTheFullPages();
		}
		int pageSize = pageSize();
		List<TraceDirectory.AccessFile> accesses = of(kind).stream()
				.map(file -> new TraceDirectory.AccessFile(file, kind)).toList();
		List<TraceDirectory.ContextFile> context = new ArrayList<>();
		for (InputFormat format : files.keySet()) {
			if (!format.hasAccesses()) {
				of(format).forEach(file -> context.add(new TraceDirectory.ContextFile(file, format)));
			}
		}
		TraceDirectory.Image image = new TraceDirectory.Image(0, null, Json.EMPTY, accesses, context);
		return new TraceDirectory(path, manifest(kind, name), List.of(image), pageSize, notes);
	}

	private String described() {
		List<String> texts = new ArrayList<>();
		files.forEach((format, list) -> list.forEach(file -> texts.add(file.name() + " (" + format.description() + ")")));
		return texts.isEmpty() ? "no file is of a known format" : String.join(", ", texts);
	}

	/** TABARNAC's periodic files are cumulative: only the last one, the full one, has everything. */
	private void onlyTheFullPages() throws TraceFormatException {
		List<InputFile> pages = of(InputFormat.TABARNAC_PAGES);
		List<InputFile> full = pages.stream().filter(file -> file.name().contains(".full.")).toList();
		if (full.size() != 1) {
			throw new TraceFormatException(pages.get(1).name(), 0,
					"is a second file with pages of TABARNAC; their counts are cumulative, give only one of them");
		}
		for (InputFile file : pages) {
			if (file != full.get(0)) {
				notes.add(file.name() + " was not read: its counts are contained in " + full.get(0).name());
			}
		}
		files.put(InputFormat.TABARNAC_PAGES, full);
	}

	private int pageSize() throws MemtraceException {
		int pageSize = 0;
		for (InputFile file : of(InputFormat.PRODUCERS)) {
			try {
				long size = Long.parseLong(InputFormat.firstLine(file.head()));
				if (size < 512 || size > 1 << 30 || Long.bitCount(size) != 1 || pageSize != 0 && size != pageSize) {
					throw new TraceFormatException(file.name(), 1, "has the page size " + size
							+ (pageSize != 0 ? ", another file has " + pageSize : ", which no machine has"));
				}
				pageSize = (int) size;
			} catch (IOException e) {
				throw new TraceFormatException(file.name(), 0, "cannot be read: " + e.getMessage());
			}
		}
		return pageSize == 0 ? USUAL_PAGE_SIZE : pageSize;
	}

	/** What our own recorder would write into its manifest. */
	private static Json manifest(InputFormat kind, String name) {
		JsonObject manifest = new JsonObject();
		manifest.addProperty("name", name);
		boolean tabarnac = kind == InputFormat.TABARNAC_PAGES;
		if (kind != InputFormat.ACCESSES) {
			manifest.addProperty("trace_type", tabarnac ? "TABARNAC" : "Moca");
			manifest.addProperty("time_unit", tabarnac ? "none" : "tick");
			JsonObject backend = new JsonObject();
			backend.addProperty("name", tabarnac ? "TABARNAC" : "Moca");
			manifest.add("backend", backend);
		}
		return new Json(manifest);
	}
}
