// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.ctf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import org.memtrace.importer.access.AccessImport;
import org.memtrace.importer.access.ScratchFolder;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.importer.perf.PerfScript;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.ImportOption;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.importer.reader.TraceFolders;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

/**
 * Traces in the Common Trace Format (LTTng, barectf, babeltrace2), given by their folder or one above. babeltrace2 reads them, in a process
 * of its own. Page faults are memory accesses when there is nothing else, or when a trace directory of the same run is given with them.
 */
public final class CtfReader implements InputReader {
	static final String PROGRAM = "babeltrace2";
	private static final String TOO_LONG = "line longer than 1 MiB";

	private final String program;

	public CtfReader() {
		this(PROGRAM);
	}

	/** @param program babeltrace2, a name or a path */
	CtfReader(String program) {
		this.program = program;
	}

	@Override
	public String id() {
		return "ctf";
	}

	@Override
	public String description() {
		return "CTF traces of LTTng, barectf: switches, system calls, tracepoints, page faults";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("lttng-traces/SESSION", "CTF trace of LTTng, barectf"), //
				new Example("app.memtrace SESSION", "page faults of LTTng with a recording"));
	}

	/** The trace directory among what was given, null when there is none. */
	private static Path recording(Input input) {
		return input.paths().size() < 2 ? null
				: input.paths().stream().filter(TraceFolders::isTraceDirectory).findFirst().orElse(null);
	}

	/** What was given beside a recording, when it is a folder with CTF. */
	private static Optional<CtfFolder> folder(Input input) throws IOException {
		Path recording = recording(input);
		List<Path> others = input.paths().stream().filter(path -> !path.equals(recording)).toList();
		if (others.size() != 1 || !Files.isDirectory(others.get(0)) || TraceFolders.isTraceDirectory(others.get(0))) {
			return Optional.empty();
		}
		CtfFolder folder = CtfFolder.of(others.get(0));
		return folder.traces().isEmpty() ? Optional.empty() : Optional.of(folder);
	}

	private static boolean isOfAccesses(CtfFolder folder, Path recording) {
		return recording != null || CtfFaults.areAll(folder.events());
	}

	@Override
	public Optional<ImportSource> look(Input input) throws MemtraceException, IOException {
		CtfFolder folder = folder(input).orElse(null);
		if (folder == null) {
			return Optional.empty();
		}
		Path recording = recording(input);
		if (recording != null && !CtfFaults.areAmong(folder.events())) {
			throw new TraceFormatException(folder.root().toString(), 0, "has no page faults that a recording could give names to; import it alone");
		}
		if (recording != null && !folder.traces().stream().allMatch(CtfFolder.Trace::monotonic)) {
			throw new TraceFormatException(folder.root().toString(), 0,
					"has another clock than the recording, which uses the monotonic clock; import it alone");
		}
		boolean accesses = isOfAccesses(folder, recording);
		List<ImportSource.File> files = new ArrayList<>();
		for (CtfFolder.Trace trace : folder.traces()) {
			files.add(new ImportSource.File(trace.folder(), trace.folder().getFileName().toString(),
					"CTF trace, " + trace.streams().size() + " files of streams", new CtfFolder(trace.folder(), List.of(trace)).bytes()));
		}
		if (recording != null) {
			files.add(new ImportSource.File(recording, recording.getFileName().toString(), "names of structures, stacks and threads", 0));
		}
		List<String> notes = !accesses && CtfFaults.areAmong(folder.events())
				? List.of("page faults are events here, as there are others; with a recording of the same run they are accesses") : List.of();
		String kind = accesses ? "page faults in a CTF trace" : "CTF trace";
		return Optional.of(new ImportSource(id(), kind, name(folder), kind + (recording == null ? "" : ", with the names of a recording"), files,
				folder.bytes(), "ns", notes, accesses ? EnumSet.of(ImportOption.MERGE, ImportOption.FANOUT) : Set.of()));
	}

	private static String name(CtfFolder folder) {
		return String.valueOf(folder.root().toAbsolutePath().normalize().getFileName());
	}

	@Override
	public ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException, IOException {
		CtfFolder folder = folder(input).orElseThrow();
		Path recording = recording(input);
		try (ScratchFolder scratch = new ScratchFolder(request.scratchDirectory(), "memtrace-ctf")) {
			CtfText text = new CtfText(program, recording != null, progress);
			return text.read(folder, scratch.path(), request.strict(), pass -> isOfAccesses(folder, recording)
					? accesses(folder, recording, input, request, progress, text, pass)
					: events(folder, input, request, progress, text, pass));
		}
	}

	private ImportReport events(CtfFolder folder, Input input, ImportRequest request, Progress progress, CtfText text, CtfText.Pass pass)
			throws MemtraceException, IOException {
		String file = folder.root().toString();
		try (EventSink sink = new EventSink(input, request, progress)) {
			CtfEvents events = new CtfEvents(sink, file, folder.hasSeveralHosts());
			pass.lines(new CtfText.Lines() {
				@Override
				public void line(byte[] buffer, int start, int end, long number) throws MemtraceException {
					events.line(buffer, start, end, number);
				}

				@Override
				public void tooLong(long number) throws MemtraceException {
					sink.row();
					sink.skip(file, number, TOO_LONG);
				}
			}, sink.skips());
			events.finish();
			sink.lost(text.lostEvents());
			if (sink.events() == 0 && !sink.skips().warnings().isEmpty()) {
				throw new TraceFormatException(file, 0, "has no events to import: " + sink.skips().warnings().get(0));
			}
			return sink.commit("CTF", id());
		}
	}

	private ImportReport accesses(CtfFolder folder, Path recording, Input input, ImportRequest request, Progress progress, CtfText text,
			CtfText.Pass pass) throws MemtraceException, IOException {
		SkipCounter skips = new SkipCounter(request.strict());
		String file = folder.root().toString();
		try (ScratchFolder scratch = new ScratchFolder(request.scratchDirectory(), "memtrace-faults")) {
			PerfScript samples = new PerfScript(recording == null ? null : TraceDirectory.open(recording), scratch.path(), skips);
			samples.begin("ctf");
			CtfFaults faults = new CtfFaults(samples, skips, file);
			pass.lines(new CtfText.Lines() {
				@Override
				public void line(byte[] buffer, int start, int end, long number) throws MemtraceException, IOException {
					faults.line(buffer, start, end, number);
				}

				@Override
				public void tooLong(long number) throws MemtraceException {
					samples.unused(file, number, TOO_LONG);
				}
			}, skips);
			faults.finish();
			samples.lost(text.lostEvents());
			Path shown = recording == null ? folder.root() : recording;
			TraceDirectory trace = samples.end(file, shown.toAbsolutePath().normalize(), recording == null ? name(folder) : input.name());
			return new AccessImport(trace, input.text(), request, skips, samples.unused()).call(progress);
		}
	}

	@Override
	public String identity(Input input) throws MemtraceException, IOException {
		CtfFolder folder = folder(input).orElse(null);
		if (folder == null) {
			return input.identity();
		}
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			for (CtfFolder.Trace trace : folder.traces()) {
				List<Path> files = new ArrayList<>(trace.streams());
				files.add(trace.folder().resolve("metadata"));
				for (Path file : files) {
					digest.update((file + " " + Files.size(file) + " " + Files.getLastModifiedTime(file).toMillis() + "\n")
							.getBytes(java.nio.charset.StandardCharsets.UTF_8));
				}
			}
			return HexFormat.of().formatHex(digest.digest()).substring(0, 32);
		} catch (NoSuchAlgorithmException e) {
			throw new IllegalStateException(e); // every JDK has it
		}
	}
}
