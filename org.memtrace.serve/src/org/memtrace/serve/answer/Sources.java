// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve.answer;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.analysis.selection.Kept;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.source.LineUse;
import org.memtrace.analysis.source.SourceFiles;
import org.memtrace.analysis.source.SourcePlace;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CallFrame;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.Structure;
import org.memtrace.serve.http.Query;
import org.memtrace.serve.http.Refused;

/**
 * The source of the program, with what each line did. Only files that the trace names as code are read, by their number in the list of
 * these, and only those whose names are those of sources: a trace of somebody else may name any file. Safe for all threads.
 */
final class Sources {
	private static final long MOST_BYTES = 4_000_000;
	private static final int MOST_KEPT = 4;
	private static final Pattern NAMES = Pattern.compile(".*\\.(c|cc|cpp|cxx|c\\+\\+|h|hh|hpp|hxx|inc|inl|ipp|tpp|cu|cuh|hip|f|for|f77|f90|f95|f03|f08"
			+ "|rs|go|java|kt|scala|py|pyx|jl|m|mm|swift|zig|d|pas|adb|ads|s|asm|y|l|ll|cl)", Pattern.CASE_INSENSITIVE);

	private final ServedTrace trace;
	private final List<String> files;
	private final SourceFiles here;
	private final Kept<ViewState, LineUse> uses = new Kept<>(MOST_KEPT, this::use);

	Sources(ServedTrace trace) {
		this.trace = trace;
		here = SourceFiles.of(List.of(), trace.code());
		TreeSet<String> names = new TreeSet<>();
		trace.code().frames().stream().map(CallFrame::file).filter(f -> NAMES.matcher(f).matches()).forEach(names::add);
		for (Structure s : trace.structures()) {
			for (SourcePlace p : SourcePlace.of(s, List.of(), trace.code())) {
				if (NAMES.matcher(p.file()).matches()) {
					names.add(p.file());
				}
			}
		}
		files = List.copyOf(names);
	}

	private LineUse use(ViewState s, Progress progress) throws MemtraceException {
		return LineUse.of(trace.accesses(s.filters(), progress), trace.code(), s.fromNs(), s.toNs(), s.producer(), progress);
	}

	private LineUse useOf(Query q, Progress progress) throws MemtraceException, Refused {
		return uses.get(States.of(trace, q).withP(ViewState.AUTOMATIC_P).withViewpoint(trace.selection().initial().viewpoint()), progress);
	}

	/** All files that the trace names, those with most accesses first. */
	JsonObject list(Query q, Progress progress) throws MemtraceException, Refused {
		LineUse use = useOf(q, progress);
		List<JsonObject> all = new ArrayList<>();
		for (int id = 0; id < files.size(); id++) {
			double accesses = use.of(new SourcePlace("", files.get(id), 0)).values().stream().mapToDouble(LineUse.Line::accesses).sum();
			JsonObject o = new JsonObject();
			o.addProperty("id", id);
			o.addProperty("name", files.get(id));
			o.addProperty("accesses", accesses);
			all.add(o);
		}
		all.sort(Comparator.comparingDouble((JsonObject o) -> -o.get("accesses").getAsDouble()));
		JsonArray list = new JsonArray();
		all.forEach(list::add);
		JsonObject o = new JsonObject();
		o.add("files", list);
		return o;
	}

	/** Lines of a file with what they did; where the file is not here, the lines that did something. */
	JsonObject file(Query q, Progress progress) throws MemtraceException, Refused {
		int id = q.number("id", -1, -1, Integer.MAX_VALUE);
		if (id < 0 || id >= files.size()) {
			throw Refused.missing("the trace names no file " + id);
		}
		String recorded = files.get(id);
		SortedMap<Integer, LineUse.Line> use = useOf(q, progress).of(new SourcePlace("", recorded, 0));
		JsonObject o = new JsonObject();
		o.addProperty("name", recorded);
		Path path = here.find(recorded);
		List<String> lines = path == null ? List.of() : read(path);
		o.addProperty("note", path != null ? note(path) : use.isEmpty()
				? "The file is not on this machine, and the trace knows no access of its lines." : "The file is not on this machine; these are its lines with accesses.");
		double most = use.values().stream().mapToDouble(LineUse.Line::accesses).max().orElse(0);
		JsonArray list = new JsonArray();
		int end = lines.isEmpty() ? use.isEmpty() ? 0 : use.lastKey() : lines.size();
		for (int n = 1; n <= end; n++) {
			LineUse.Line line = use.get(n);
			if (lines.isEmpty() && line == null) {
				continue;
			}
			JsonObject one = new JsonObject();
			one.addProperty("n", n);
			one.addProperty("text", lines.isEmpty() ? "" : lines.get(n - 1));
			if (line != null) {
				one.addProperty("accesses", Units.count(line.accesses()));
				one.addProperty("share", most > 0 ? line.accesses() / most : 0);
				one.addProperty("threads", line.threads());
				one.addProperty("shared", Double.isNaN(line.sharedPercent()) ? "" : Units.percent(line.sharedPercent()));
			}
			list.add(one);
		}
		o.add("lines", list);
		return o;
	}

	private String note(Path path) {
		try {
			boolean newer = Files.getLastModifiedTime(path).toInstant()
					.isAfter(trace.info().recordedAt().plus(Duration.ofNanos(trace.info().isInTicks() ? 0 : trace.info().durationNs())));
			return newer ? "The file is newer than the recording: lines may have moved." : "";
		} catch (IOException e) {
			return "";
		}
	}

	private static List<String> read(Path path) throws MemtraceException {
		try {
			if (Files.size(path) > MOST_BYTES) {
				throw new MemtraceException(path.getFileName() + " is larger than " + Units.bytes(MOST_BYTES));
			}
			String text = new String(Files.readAllBytes(path), StandardCharsets.UTF_8);
			if (text.indexOf('\0') >= 0) {
				throw new MemtraceException(path.getFileName() + " is no text");
			}
			return text.lines().toList();
		} catch (IOException e) {
			throw new MemtraceException(path.getFileName() + " cannot be read: " + e.getClass().getSimpleName());
		}
	}
}
