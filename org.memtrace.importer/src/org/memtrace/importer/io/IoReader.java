// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.io;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;

import com.google.gson.JsonElement;

import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.input.Json;
import org.memtrace.importer.io.OpenFiles.Inode;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.RegularFile;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.store.EventCategory;

/** The folder {@code io} of a trace directory, which {@code memtrace record --io} writes. docs/howto/io.md describes it. */
public final class IoReader implements InputReader {
	/** In {@code io.json}. */
	static final String SCHEMA = "memtrace.io/1";
	private static final String FILE = "io.json";

	@Override
	public String id() {
		return "io";
	}

	@Override
	public String description() {
		return "what a program read and wrote, by level, of memtrace record --io";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("app.memtrace/io/", "what the program read and wrote (record --io)"));
	}

	private static Json head(Input input) throws MemtraceException {
		return Json.read(input.first().resolve(FILE), input.first().resolve(FILE).toString());
	}

	@Override
	public Optional<ImportSource> look(Input input) throws MemtraceException, IOException {
		if (!input.isFolder() || !Files.isRegularFile(input.first().resolve(FILE))) {
			return Optional.empty();
		}
		if (!InputFile.of(input.first().resolve(FILE), FILE).head().contains("\"" + SCHEMA + "\"")) {
			return Optional.empty();
		}
		List<ImportSource.File> files = new ArrayList<>();
		long bytes = 0;
		for (InputFile file : input.files()) {
			if (file.path().toString().endsWith(".raw") || file.path().toString().endsWith(".csv")) {
				files.add(ImportSource.File.of(file, "events of I/O"));
				bytes += file.size();
			}
		}
		String sentence = head(input).text("sentence");
		return Optional.of(new ImportSource(id(), "I/O by level", name(input), "I/O by level", files, bytes, "ns",
				sentence.isEmpty() ? List.of() : List.of(sentence), Set.of()));
	}

	/** {@code app} of {@code app.memtrace/io}. */
	private static String name(Input input) {
		Path parent = input.first().toAbsolutePath().normalize().getParent();
		return parent == null || parent.getFileName() == null ? input.name()
				: parent.getFileName().toString().replaceFirst("\\.memtrace", "") + " io";
	}

	@Override
	public ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException, IOException {
		Json head = head(input);
		if (!head.text("schema").equals(SCHEMA)) {
			throw new TraceFormatException(input.first().resolve(FILE).toString(), 0, "is not of the schema " + SCHEMA);
		}
		ImportRequest named = request.name().isEmpty() ? new ImportRequest(request.target(), name(input), request.strict(),
				request.scratchDirectory(), request.rules(), request.fanout(), request.mocaFramesoc(), request.incomplete()) : request;
		try (EventSink sink = new EventSink(input, named, progress)) {
			sink.property("io_source", head.text("source"));
			sink.property("io_sentence", head.text("sentence"));
			sink.property("io_kernel", head.text("kernel"));
			sink.property("io_directory", head.text("trace_directory"));
			sink.property("io_missing", String.join(", ", head.texts("missing")));
			Map<Integer, String> names = Map.of();
			if (head.text("source").equals("tracefs")) {
				names = new Events(input, head, sink, progress).read();
			}
			Path counters = input.first().resolve("counters.csv");
			if (Files.isRegularFile(counters)) {
				new ProcessCounters(sink, names).read(InputFile.of(counters, input.first() + "/counters.csv"));
			}
			Path manifest = input.first().toAbsolutePath().normalize().getParent();
			if (manifest != null && Files.isRegularFile(manifest.resolve("manifest.json"))) {
				Json outer = Json.read(manifest.resolve("manifest.json"), manifest.resolve("manifest.json").toString());
				sink.application(outer.text("executable"));
				try {
					sink.recordedAt(Instant.parse(outer.object("clock").text("start_realtime")));
				} catch (java.time.DateTimeException e) {
					// it is not known
				}
			}
			return sink.commit("io", id());
		}
	}

	/** The files of the ring buffers: two passes. */
	private static final class Events {
		private final Input input;
		private final Json head;
		private final EventSink sink;
		private final Progress progress;
		private final List<Json> buffers = new ArrayList<>();
		private final Map<Long, String> devices = new HashMap<>();
		private final Map<Long, IoEvents.Partition> partitions = new HashMap<>();
		private final List<Look> looks;
		private final OpenFiles files = new OpenFiles();

		Events(Input input, Json head, EventSink sink, Progress progress) throws MemtraceException, IOException {
			this.input = input;
			this.head = head;
			this.sink = sink;
			this.progress = progress;
			buffers.addAll(objects(head, "buffers"));
			for (Json d : objects(head, "devices")) {
				long device = device(d.number("major", 0), d.number("minor", 0));
				devices.put(device, d.text("name"));
				long disk = d.number("disk_major", -1);
				if (disk >= 0) {
					partitions.put(device, new IoEvents.Partition(device(disk, d.number("disk_minor", 0)), d.number("start_sector", 0)));
				}
			}
			looks = Look.read(input.first().resolve("files.csv"), sink);
		}

		private static List<Json> objects(Json of, String key) {
			List<Json> all = new ArrayList<>();
			JsonElement element = of.object().get(key);
			if (element != null && element.isJsonArray()) {
				element.getAsJsonArray().forEach(e -> {
					if (e.isJsonObject()) {
						all.add(new Json(e.getAsJsonObject()));
					}
				});
			}
			return all;
		}

		private static long device(long major, long minor) {
			return major << 20 | minor;
		}

		/** Names of threads by their ids. */
		Map<Integer, String> read() throws MemtraceException, IOException {
			Path path = input.first().resolve("formats");
			EventFormats formats = EventFormats.parse(RegularFile.text(path, StandardCharsets.ISO_8859_1), path.toString());
			long pageBytes = head.number("page_bytes", 4096);
			int page = pageBytes >= 512 && pageBytes <= 1 << 20 ? (int) pageBytes : 4096;
			IoEvents events = new IoEvents(files, partitions, head.text("trace_directory"), page);
			int pid = (int) head.number("pid", 0);
			long bytes = 0;
			for (Json buffer : buffers) {
				bytes += Files.size(file(buffer));
			}
			progress.beginBytes("Reading events", 2 * bytes);
			events.begin(new Learning(), pid, false);
			pass(events, formats, false);
			Sink out = new Sink(sink, events, devices);
			events.begin(out, pid, true);
			pass(events, formats, true);
			events.end();
			long lost = 0;
			for (Json b : buffers) {
				lost += b.number("overrun", 0) + b.number("commit_overrun", 0) + b.number("dropped", 0);
			}
			sink.lost(lost);
			sink.property("io_requests_of_others", Long.toString(events.foreignRequests()));
			sink.property("io_calls_of_the_recorder", Long.toString(events.ownCalls()));
			return events.names();
		}

		private Path file(Json buffer) throws TraceFormatException {
			String name = buffer.text("file");
			if (!name.matches("[a-z]+-\\d+\\.raw")) {
				throw new TraceFormatException(input.first().resolve(FILE).toString(), 0, "names a buffer '" + name + "'");
			}
			return input.first().resolve(name);
		}

		/** All events in the order of time, and what was seen of open files between them. */
		private void pass(IoEvents events, EventFormats formats, boolean isLast) throws MemtraceException, IOException {
			List<InputStream> open = new ArrayList<>();
			PriorityQueue<RingFile> next = new PriorityQueue<>(Comparator.comparingLong(RingFile::timeNs));
			List<RingFile> all = new ArrayList<>();
			long earliest = Math.max(0, head.number("start_ns", 0));
			long latest = head.number("end_ns", Long.MAX_VALUE / 2);
			try {
				for (Json buffer : buffers) {
					InputStream in = new BufferedInputStream(RegularFile.open(file(buffer)), 1 << 18);
					open.add(in);
					RingFile ring = new RingFile(in, (int) buffer.number("cpu", 0), formats);
					all.add(ring);
					if (ring.next()) {
						next.add(ring);
					}
				}
				int look = 0;
				long rows = 0;
				for (RingFile ring = next.poll(); ring != null; ring = next.poll()) {
					while (look < looks.size() && looks.get(look).timeNs() <= ring.timeNs()) {
						looks.get(look++).tell(files);
					}
					if (isLast) {
						sink.row();
					} else if (++rows % 4096 == 0) {
						progress.check();
					}
					EventFormats.Format format = ring.format();
					if (ring.timeNs() < earliest || ring.timeNs() > latest) {
						if (isLast) {
							sink.skip(input.text(), 0, "event at a time outside of the recording");
						}
					} else if (format != null) {
						progress.worked(ring.length() + 4L);
						events.event(ring, format);
					} else if (isLast) {
						sink.skip(input.text(), 0, "event of a kind that is not in the formats");
					}
					if (ring.next()) {
						next.add(ring);
					}
				}
			} finally {
				for (InputStream in : open) {
					in.close();
				}
			}
			for (RingFile ring : all) {
				if (isLast && ring.damagedBytes() > 0) {
					sink.skips().warn(String.format(java.util.Locale.ROOT, "%s: %,d bytes of the events of CPU %d are damaged or incomplete",
							input.text(), ring.damagedBytes(), ring.cpu));
				}
			}
		}
	}

	/** What was seen in /proc/PID/fd. */
	private record Look(long timeNs, int process, int fd, Inode inode, int blockBytes, String path) {
		static List<Look> read(Path file, EventSink sink) throws MemtraceException, IOException {
			List<Look> all = new ArrayList<>();
			if (!Files.isRegularFile(file)) {
				return all;
			}
			long line = 1;
			for (String text : RegularFile.text(file, StandardCharsets.ISO_8859_1).lines().skip(1).toList()) {
				line++;
				String[] p = text.split(",", 8);
				boolean numbers = p.length == 8;
				for (int i = 0; numbers && i < 7; i++) {
					numbers = p[i].matches("\\d{1,18}") || i == 5 && p[i].matches("\\d{19}");
				}
				if (!numbers) {
					sink.row();
					sink.skip(file.toString(), line, "no look at an open file");
					continue;
				}
				String path = p[7].startsWith("\"") && p[7].endsWith("\"") && p[7].length() > 1
						? p[7].substring(1, p[7].length() - 1).replace("\"\"", "\"") : p[7];
				all.add(new Look(Long.parseLong(p[0]), (int) Long.parseLong(p[1]), (int) Long.parseLong(p[2]),
						new Inode(Long.parseLong(p[3]) << 20 | Long.parseLong(p[4]), Long.parseUnsignedLong(p[5])), (int) Long.parseLong(p[6]),
						new String(path.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8)));
			}
			all.sort(Comparator.comparingLong(Look::timeNs));
			return all;
		}

		void tell(OpenFiles files) {
			files.seen(process, fd, inode, blockBytes, path);
		}
	}

	/** Of the first pass nothing is written. */
	private static final class Learning implements IoEvents.Output {
		@Override
		public void state(Level level, String operation, int tid, int nesting, int cpu, long startNs, long endNs, Map<String, String> values) {
			// only what is learnt from it
		}

		@Override
		public void instant(Level level, String operation, int tid, int cpu, long timeNs, Map<String, String> values) {
			// only what is learnt from it
		}

		@Override
		public void request(String operation, long device, int cpu, long startNs, long endNs, Map<String, String> values) {
			// only what is learnt from it
		}

		@Override
		public void skip(String reason) {
			// the second pass tells it
		}
	}

	/** Threads below their process, requests in as many lanes of the device as are under way at a time. */
	private static final class Sink implements IoEvents.Output {
		private final EventSink sink;
		private final IoEvents events;
		private final Map<Long, String> devices;
		private final Map<Integer, String> names;
		private final Map<Integer, Integer> producers = new HashMap<>();
		private final Map<String, Integer> types = new HashMap<>();
		private final Map<Long, List<Long>> lanes = new LinkedHashMap<>();

		Sink(EventSink sink, IoEvents events, Map<Long, String> devices) {
			this.sink = sink;
			this.events = events;
			this.devices = devices;
			this.names = new HashMap<>(events.names());
		}

		private String named(int tid) {
			String name = names.getOrDefault(tid, "");
			return ProcessCounters.named(name, tid);
		}

		private int producer(int tid) {
			return producers.computeIfAbsent(tid, t -> sink.producer(List.of("process " + named(events.process(t)), named(t))));
		}

		private int type(EventCategory category, String name) {
			return types.computeIfAbsent(name, n -> sink.typeOf(category, n));
		}

		@Override
		public void state(Level level, String operation, int tid, int nesting, int cpu, long startNs, long endNs, Map<String, String> values)
				throws MemtraceException {
			sink.event(type(EventCategory.STATE, level.type(operation)), producer(tid), startNs, endNs, nesting, cpu, values);
		}

		@Override
		public void instant(Level level, String operation, int tid, int cpu, long timeNs, Map<String, String> values) throws MemtraceException {
			sink.event(type(EventCategory.PUNCTUAL, level.type(operation)), producer(tid), timeNs, timeNs, 0, cpu, values);
		}

		@Override
		public void request(String operation, long device, int cpu, long startNs, long endNs, Map<String, String> values)
				throws MemtraceException {
			List<Long> ends = lanes.computeIfAbsent(device, d -> new ArrayList<>());
			int lane = 0;
			while (lane < ends.size() && ends.get(lane) > startNs) {
				lane++;
			}
			if (lane == ends.size()) {
				ends.add(endNs);
			} else {
				ends.set(lane, endNs);
			}
			String name = devices.getOrDefault(device, "");
			String disk = "device " + (name.isEmpty() ? (device >> 20) + ":" + (device & 0xfffff) : name);
			sink.event(type(EventCategory.STATE, Level.BLOCK.type(operation)), sink.producer(List.of(disk, "request " + (lane + 1))), startNs, endNs,
					0, cpu, values);
		}

		@Override
		public void skip(String reason) throws MemtraceException {
			sink.skip("io", 0, reason);
		}
	}
}
