// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.chrome;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

import com.google.gson.JsonParseException;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;

import org.memtrace.importer.input.CountedInput;
import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

/**
 * Traces as JSON of Chrome's trace viewer, which Perfetto opens, too: PyTorch, clang -ftime-trace, ROCm, Score-P's converter and many
 * others write them. An array of events, or an object with such an array; the end of the array may be missing, as the format allows.
 */
public final class ChromeReader implements InputReader {
	private static final String KIND = "Chrome trace (JSON)";
	/** Of arrays and objects in each other: what makes texts of them goes down by calls. */
	private static final int DEEPEST = 255;
	private static final Pattern OBJECT = Pattern.compile("\\s*\\{.*\"traceEvents\"\\s*:.*", Pattern.DOTALL);
	private static final Pattern ARRAY = Pattern.compile("\\s*\\[\\s*\\{.*\"ph\"\\s*:.*", Pattern.DOTALL);
	/** Members of the object that say nothing about events. */
	private static final Set<String> NO_EVENTS = Set.of("displayTimeUnit", "otherData", "metadata", "schemaVersion", "deviceProperties",
			"traceName", "beginningOfTime", "baseTimeNanoseconds", "systemTraceEvents");

	@Override
	public String id() {
		return "chrome-json";
	}

	@Override
	public String description() {
		return "JSON of Chrome's trace viewer and Perfetto: PyTorch, clang -ftime-trace, ROCm";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("trace.json, trace.json.gz", "Chrome's trace viewer, Perfetto (JSON)"));
	}

	@Override
	public Optional<ImportSource> look(Input input) throws MemtraceException, IOException {
		if (input.isFolder()) {
			return Optional.empty();
		}
		InputFile file = input.files().get(0);
		String head = file.head();
		if (!OBJECT.matcher(head).matches() && !ARRAY.matcher(head).matches()) {
			return Optional.empty();
		}
		if (input.files().size() > 1) {
			throw new TraceFormatException(file.name(), 0, "is a Chrome trace; import it alone");
		}
		return Optional.of(ImportSource.ofEvents(id(), KIND, input));
	}

	@Override
	public ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException, IOException {
		InputFile file = input.files().get(0);
		progress.beginBytes("Reading events", file.size());
		try (EventSink sink = new EventSink(input, request, progress)) {
			ChromeEvents events = new ChromeEvents(sink, file.name());
			try (CountedInput in = file.open();
					JsonReader json = new JsonReader(new BoundedText(new InputStreamReader(in.stream(), StandardCharsets.UTF_8), progress))) {
				json.setStrictness(Strictness.LENIENT); // values such as NaN
				json.setNestingLimit(DEEPEST);
				read(json, in, events, sink, file.name(), progress);
			} catch (BoundedText.Stopped e) {
				throw e.why();
			} catch (IOException | IllegalStateException | JsonParseException e) {
				String why = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
				sink.skips().problem(file.name(), "is damaged after event " + events.number() + ": " + (why.contains("Nesting limit")
						? "arrays and objects are in each other, more than " + DEEPEST + " deep" : why)); // what came before it counts
			}
			events.finish(progress);
			return sink.commit("Chrome JSON", id());
		}
	}

	private static void read(JsonReader json, CountedInput in, ChromeEvents events, EventSink sink, String name, Progress progress)
			throws MemtraceException, IOException {
		if (json.peek() == JsonToken.BEGIN_ARRAY) {
			array(json, in, events, progress);
			return;
		}
		json.beginObject();
		while (json.hasNext()) {
			String member = json.nextName();
			if (member.equals("traceEvents")) {
				array(json, in, events, progress);
			} else {
				if (!NO_EVENTS.contains(member)) {
					sink.skips().warn(name + ": what is in \"" + (member.length() > 40 ? member.substring(0, 40) : member) + "\" is not read");
				}
				json.skipValue();
			}
		}
	}

	private static void array(JsonReader json, CountedInput in, ChromeEvents events, Progress progress) throws MemtraceException, IOException {
		long told = 0;
		json.beginArray();
		while (true) {
			try {
				if (!json.hasNext()) {
					json.endArray();
					return;
				}
				if (json.peek() == JsonToken.END_DOCUMENT) {
					return;
				}
			} catch (EOFException e) {
				return; // the format lets a writer leave out the end
			}
			if (json.peek() == JsonToken.BEGIN_OBJECT) {
				events.event(json);
			} else {
				json.skipValue(); // nothing behind a last comma
			}
			progress.worked(in.bytes() - told);
			told = in.bytes();
		}
	}
}
