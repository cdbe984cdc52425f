// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.otf2;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.input.ReadingProcess;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.importer.record.Installation;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

/**
 * Archives of OTF2 (Score-P, EZTrace, TAU, lo2s), given by their anchor file or the folder that it is in. libotf2 reads them, in a
 * process of its own: {@code memtrace otf2-stream}.
 */
public final class Otf2Reader implements InputReader {
	/** Anchor files are smaller, except with many properties. */
	private static final long LARGEST_ANCHOR = 1 << 20;
	/** Names that each trace of a tool has: the folder tells more. */
	private static final Set<String> COMMON_NAMES = Set.of("eztrace_log", "traces");
	/** Bytes of an event that an archive has about. */
	private static final int BYTES_PER_EVENT = 12;
	/** Files that are looked at in the folders of a folder. */
	private static final int MOST_FILES = 200;
	private static final int LONGEST_MESSAGE = 2000;

	@Override
	public String id() {
		return "otf2";
	}

	@Override
	public String description() {
		return "OTF2 archives of Score-P, EZTrace, TAU: states, messages, I/O, metrics";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("NAME.otf2", "OTF2 archive of EZTrace, Score-P, TAU, lo2s"));
	}

	/** Begins with a mark of the buffer, the byte order, and the name of the format. */
	private static boolean isAnchor(InputFile file) throws IOException {
		if (file.path() != null && file.size() > LARGEST_ANCHOR) {
			return false;
		}
		String head = file.head();
		return head.startsWith("OTF2\0", 2) && head.charAt(0) == 3;
	}

	private static Optional<InputFile> anchor(Input input) throws MemtraceException, IOException {
		List<InputFile> anchors = new ArrayList<>();
		for (InputFile file : input.isFolder() && input.files().isEmpty() ? below(input.first()) : input.files()) {
			if (isAnchor(file)) {
				anchors.add(file);
			}
		}
		if (anchors.isEmpty()) {
			return Optional.empty();
		}
		if (anchors.get(0).path() == null) {
			throw new TraceFormatException(anchors.get(0).name(), 0, "is the anchor of an OTF2 archive, which is several files; give its path");
		}
		if (anchors.size() > 1) {
			throw new TraceFormatException(input.text(), 0, "holds " + anchors.size() + " OTF2 archives; import one of them, such as "
					+ anchors.get(0).name());
		}
		if (!input.isFolder() && input.files().size() > 1) {
			throw new TraceFormatException(anchors.get(0).name(), 0, "is the anchor of an OTF2 archive; import it alone");
		}
		return Optional.of(anchors.get(0));
	}

	/** EZTrace makes a folder with the name of the program in the folder that it is given. */
	private static List<InputFile> below(Path folder) throws IOException {
		List<Path> all = new ArrayList<>();
		try (DirectoryStream<Path> folders = Files.newDirectoryStream(folder, Files::isDirectory)) {
			for (Path inside : folders) {
				try (DirectoryStream<Path> files = Files.newDirectoryStream(inside, Files::isRegularFile)) {
					files.forEach(all::add);
				} catch (IOException e) {
					continue; // a folder that nobody may read is not the one
				}
				if (all.size() > MOST_FILES) {
					return List.of();
				}
			}
		}
		all.sort(null);
		return all.stream().map(file -> InputFile.of(file, file.toString())).toList();
	}

	private static String baseName(Path anchor) {
		return anchor.getFileName().toString().replaceFirst("\\.otf2$", "");
	}

	private static String name(Path anchor) {
		Path folder = anchor.toAbsolutePath().normalize().getParent();
		String name = baseName(anchor);
		return COMMON_NAMES.contains(name) && folder != null && folder.getFileName() != null ? folder.getFileName().toString() : name;
	}

	/** Sizes of the files with events, by the number of their location. */
	private static Map<Long, Long> eventFiles(Path anchor) {
		Map<Long, Long> sizes = new HashMap<>();
		try (DirectoryStream<Path> files = Files.newDirectoryStream(anchor.resolveSibling(baseName(anchor)), "*.evt")) {
			for (Path file : files) {
				String number = file.getFileName().toString().replaceFirst("\\.evt$", "");
				if (number.matches("\\d{1,18}")) {
					sizes.put(Long.parseLong(number), Files.size(file));
				}
			}
		} catch (IOException e) {
			return sizes; // another substrate, such as SION: the reading tells what is wrong
		}
		return sizes;
	}

	@Override
	public Optional<ImportSource> look(Input input) throws MemtraceException, IOException {
		Optional<InputFile> found = anchor(input);
		if (found.isEmpty()) {
			return Optional.empty();
		}
		Path anchor = found.get().path();
		Map<Long, Long> sizes = eventFiles(anchor);
		long bytes = sizes.values().stream().mapToLong(Long::longValue).sum();
		List<ImportSource.File> files = List.of(
				new ImportSource.File(anchor, anchor.getFileName().toString(), "OTF2 archive, " + sizes.size() + " locations", bytes));
		return Optional.of(new ImportSource(id(), "OTF2 archive", name(anchor), "OTF2 archive", files, bytes, "ns", List.of(), Set.of()));
	}

	@Override
	public ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException, IOException {
		Path anchor = anchor(input).orElseThrow().path();
		Installation installation = Installation.find(null);
		if (installation.launcher() == null) {
			throw new MemtraceException(anchor + ": OTF2 archives are read by the program memtrace, which is not here or not for this system; "
					+ "import on Linux, or put memtrace into PATH");
		}
		String path = anchor.toAbsolutePath().toString();
		List<String> said = new CopyOnWriteArrayList<>();
		try (ReadingProcess process = new ReadingProcess(new ProcessBuilder(installation.launcher().toString(), "otf2-stream", path), progress,
				line -> {
					if (said.isEmpty()) {
						said.add(line.length() > LONGEST_MESSAGE ? line.substring(0, LONGEST_MESSAGE) : line);
					}
				}); InputStream records = process.output()) {
			return read(records, input, anchor, request, progress, () -> ended(process, said, path));
		}
	}

	/** How the reading process ended, asked when its output has ended. */
	interface Ending {
		/** @return an empty text when all is well */
		String text() throws IOException;
	}

	/** Imports the records of an archive. */
	ImportReport read(InputStream records, Input input, Path anchor, ImportRequest request, Progress progress, Ending ending)
			throws MemtraceException, IOException {
		Otf2Stream stream = new Otf2Stream(records);
		if (!stream.begins()) {
			progress.check();
			String text = ending.text();
			throw new TraceFormatException(anchor.toString(), 0, text.isEmpty() ? "memtrace otf2-stream gave nothing" : text);
		}
		Map<Long, Long> sizes = eventFiles(anchor);
		progress.beginBytes("Reading events", sizes.values().stream().mapToLong(Long::longValue).sum());
		Otf2Events.Advance advance = (location, events) -> {
			long left = sizes.getOrDefault(location, 0L);
			long part = events < 0 ? left : Math.min(left, events * BYTES_PER_EVENT);
			sizes.put(location, left - part);
			progress.worked(part);
		};
		String name = request.name().isEmpty() ? name(anchor) : request.name();
		ImportRequest named = new ImportRequest(request.target(), name, request.strict(), request.scratchDirectory(), request.rules(),
				request.fanout(), request.mocaFramesoc(), request.incomplete());
		try (EventSink sink = new EventSink(input, named, progress)) {
			Otf2Events events = new Otf2Events(stream, sink, anchor.getFileName().toString(), advance);
			String problem = "";
			try {
				if (!events.read()) {
					progress.check();
					problem = ending.text().isEmpty() ? "the records end too early" : ending.text();
				}
			} catch (IOException e) {
				progress.check();
				String text = ending.text();
				problem = text.isEmpty() ? String.valueOf(e.getMessage()) : text;
			}
			if (!problem.isEmpty()) {
				sink.skips().problem(anchor.toString(), "what was read before is here, the rest is not: " + problem);
			}
			events.finish();
			if (sink.events() == 0 && !sink.skips().warnings().isEmpty()) {
				throw new TraceFormatException(anchor.toString(), 0, "has no events to import: " + sink.skips().warnings().get(0));
			}
			return sink.commit("OTF2", id());
		}
	}

	private static String ended(ReadingProcess process, List<String> said, String path) throws IOException {
		int code = process.exitCode();
		if (code < 0) {
			return "memtrace otf2-stream does not end";
		}
		String text = said.isEmpty() ? "" : said.get(0).strip().replaceFirst("^memtrace otf2-stream: ", "");
		text = text.startsWith(path + ": ") ? text.substring(path.length() + 2) : text;
		return code == 0 ? "" : text.isEmpty() ? "libotf2 failed with exit code " + code : text;
	}
}
