// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.export;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BatchChunk;
import org.memtrace.analysis.export.ParquetFile.Column;
import org.memtrace.analysis.export.ParquetFile.Kind;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.model.CallFrame;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.Losses;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * Writes a trace as a folder that needs nothing else: accesses as Parquet files, divided by memory or by time, the small tables beside
 * them, {@code topology.xml}, and {@code meta.json}, which says what is in it. docs/parquet.md. Errors of the output are
 * {@link UncheckedIOException}.
 */
public final class ParquetExport {
	/** Version of what {@code meta.json} and the tables look like; it grows when something is no longer as it was. */
	public static final int SCHEMA_VERSION = 1;
	/** Accesses of a file, if the caller does not choose a window. */
	private static final long ACCESSES_PER_FILE = 1_000_000;
	private static final int MOST_FILES = 10_000;

	private final TraceStore store;
	private final TraceInfo info;
	private final Path folder;
	private final Map<String, String> metadata;
	/** Columns and rows of each table, for meta.json. */
	private final Map<String, List<Column>> columns = new ConcurrentHashMap<>();
	private final Map<String, AtomicLong> rows = new ConcurrentHashMap<>();
	/** Files that are not complete; those of a failed export are closed in the end. */
	private final Set<ParquetFile> open = ConcurrentHashMap.newKeySet();

	private ParquetExport(TraceStore store, Path folder) {
		this.store = store;
		this.info = store.info();
		this.folder = folder;
		this.metadata = new TreeMap<>(Map.of("memtrace.trace", info.alias(), "memtrace.page_size_bytes",
				Integer.toString(info.pageSizeBytes()), "memtrace.time_unit", info.properties().getOrDefault("time_unit", "ns"),
				"memtrace.schema_version", Integer.toString(SCHEMA_VERSION)));
	}

	/**
	 * Writes the folder with a file for each range of pages, {@code accesses/first_leaf=ID/accesses.parquet}. Files are written in parallel.
	 *
	 * @param folder an existing empty folder
	 * @param table all accesses of the store
	 */
	public static void byMemory(TraceStore store, AccessTable table, AccessFilter filter, Path folder, Progress progress)
			throws MemtraceException {
		ParquetExport export = new ParquetExport(store, folder);
		try {
			AccessTable some = filter.select(table);
			AccessColumns all = new AccessColumns(table, progress);
			export.columns.put("accesses", all.new Writer().columns());
			export.rows.put("accesses", new AtomicLong());
			Files.createDirectory(folder.resolve("accesses"));
			some.scan().run(filter.query(), all.read(), "Writing accesses", progress, (from, to) -> export.new Range(all, filter.query()));
			if (export.rows.get("accesses").get() == 0) { // a reader needs a schema
				Range empty = export.new Range(all, filter.query());
				empty.open(0);
				empty.end();
			}
			export.rest(progress);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		} finally {
			export.abandon();
		}
	}

	private void abandon() {
		for (ParquetFile file : open) {
			try {
				file.close();
			} catch (IOException e) {
				// what went wrong first is reported
			}
		}
	}

	/** The pages of a run: one file. */
	private final class Range implements AccessScan.Part {
		private final AccessColumns.Writer writer;
		private final AccessQuery query;
		private ParquetFile file;

		Range(AccessColumns columns, AccessQuery query) {
			this.writer = columns.new Writer();
			this.query = query;
		}

		void open(int leaf) throws IOException {
			Path partition = Files.createDirectory(folder.resolve("accesses").resolve("first_leaf=" + leaf));
			file = ParquetExport.this.open(partition.resolve("accesses.parquet"), writer.columns());
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			try {
				writer.chunk(c, leafFrom, leafTo);
				long n = 0;
				for (int l = leafFrom; l < leafTo; l++) {
					for (int r = c.leafFrom[l]; r < c.leafFrom[l + 1]; r++) {
						if (c.startNs(r) < query.toNs() && c.endNs(r) > query.fromNs()) {
							if (file == null) {
								open(c.leaf[l]);
							}
							file.add(writer.row(c, l, r));
							n++;
						}
					}
				}
				rows.get("accesses").addAndGet(n);
			} catch (IOException e) {
				throw new UncheckedIOException(e);
			}
		}

		@Override
		public void end() {
			try {
				if (file != null) {
					complete(file);
					file = null;
				}
			} catch (IOException e) {
				throw new UncheckedIOException(e);
			}
		}
	}

	/**
	 * Writes the folder with a file for each window of time in which accesses begin, {@code accesses/window_ns=START/accesses.parquet}.
	 *
	 * @param folder an existing empty folder
	 * @param table all accesses of the store
	 * @param windowNs length of a window, 0 for one that gives about a million accesses in each file
	 */
	public static void byTime(TraceStore store, AccessTable table, AccessFilter filter, Path folder, long windowNs, Progress progress)
			throws MemtraceException {
		ParquetExport export = new ParquetExport(store, folder);
		TraceInfo info = export.info;
		long origin = Math.max(info.startNs(), filter.query().fromNs());
		long end = Math.min(info.endNs(), filter.query().toNs());
		long window = windowNs > 0 ? windowNs
				: Math.max(1, Math.ceilDiv(Math.max(1, end - origin), Math.max(1, store.accessCount() / ACCESSES_PER_FILE)));
		if ((end - origin) / window >= MOST_FILES) {
			throw new MemtraceException("windows of " + window + " would give more than " + MOST_FILES + " files");
		}
		AccessColumns all = new AccessColumns(table, progress);
		export.columns.put("accesses", all.new Writer().columns());
		export.rows.put("accesses", new AtomicLong());
		Windows windows = export.new Windows(all, origin, window);
		try {
			Files.createDirectory(folder.resolve("accesses"));
			filter.visit(store, b -> {
				try {
					AccessChunk c = BatchChunk.of(b);
					windows.chunk(c);
				} catch (IOException e) {
					throw new UncheckedIOException(e);
				}
			}, progress);
			if (export.rows.get("accesses").get() == 0) {
				windows.open(origin);
			}
			windows.end();
			export.rest(progress);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		} finally {
			export.abandon();
		}
	}

	/** Files of windows of time, one after the other. */
	private final class Windows {
		private final AccessColumns all;
		private final long originNs;
		private final long windowNs;
		private AccessColumns.Writer writer;
		private ParquetFile file;
		private long endNs = Long.MIN_VALUE;

		Windows(AccessColumns all, long originNs, long windowNs) {
			this.all = all;
			this.originNs = originNs;
			this.windowNs = windowNs;
		}

		/** Accesses that began before the first window are in the first one. */
		void open(long startNs) throws IOException {
			end();
			long start = originNs + Math.max(0, startNs - originNs) / windowNs * windowNs;
			endNs = start + windowNs;
			writer = all.new Writer();
			Path partition = Files.createDirectory(folder.resolve("accesses").resolve("window_ns=" + start));
			file = ParquetExport.this.open(partition.resolve("accesses.parquet"), writer.columns());
		}

		void chunk(AccessChunk c) throws IOException {
			boolean made = false;
			for (int r = 0; r < c.rows; r++) {
				if (file == null || c.startNs(r) >= endNs) {
					open(c.startNs(r));
					made = false;
				}
				if (!made) {
					writer.chunk(c, 0, c.leaves);
					made = true;
				}
				file.add(writer.row(c, r, r));
			}
			rows.get("accesses").addAndGet(c.rows);
		}

		void end() throws IOException {
			if (file != null) {
				complete(file);
				file = null;
			}
		}
	}

	private ParquetFile open(Path path, List<Column> of) throws IOException {
		ParquetFile file = new ParquetFile(new BufferedOutputStream(Files.newOutputStream(path), 1 << 16), of, metadata);
		open.add(file);
		return file;
	}

	private void complete(ParquetFile file) throws IOException {
		file.finish();
		file.close();
		open.remove(file);
	}

	/** Texts of one column of a small table. */
	private static final class Names {
		private final List<String> texts = new ArrayList<>();
		private final Map<String, Integer> index = new LinkedHashMap<>();

		long of(String text) {
			return text == null || text.isEmpty() ? ParquetFile.NULL : index.computeIfAbsent(text, t -> {
				texts.add(t);
				return texts.size() - 1;
			});
		}

		Column column(String name, String meaning) {
			return Column.text(name, texts).means(meaning);
		}
	}

	/** A small table that is being written. */
	private final class Table implements AutoCloseable {
		private final ParquetFile file;
		private final AtomicLong count = new AtomicLong();

		Table(String name, List<Column> of) throws IOException {
			file = open(folder.resolve(name + ".parquet"), of);
			columns.put(name, of);
			rows.put(name, count);
		}

		void add(long... row) throws IOException {
			file.add(row);
			count.incrementAndGet();
		}

		@Override
		public void close() throws IOException {
			complete(file);
		}
	}

	private static Column number(String name, String meaning) {
		return Column.optional(name, Kind.INT64).means(meaning);
	}

	private static Column address(String name, String meaning) {
		return Column.of(name, Kind.UINT64).means(meaning);
	}

	/** Everything beside the accesses. */
	private void rest(Progress progress) throws MemtraceException, IOException {
		structures();
		threads();
		intervals();
		producers(progress);
		byte[] topology = store.readNote(TraceStore.NOTE_TOPOLOGY).orElse(null);
		if (topology != null) {
			Files.write(folder.resolve("topology.xml"), topology);
		}
		Files.writeString(folder.resolve("meta.json"), meta() + "\n");
	}

	private void structures() throws MemtraceException, IOException {
		Names kind = new Names();
		Names name = new Names();
		Names site = new Names();
		TreeSet<Integer> stacks = new TreeSet<>();
		try (Table t = new Table("structures", List.of(number("id", "number of the structure"), number("image", "process image"),
				kind.column("kind", "static, heap, mmap, stack, brk or file"), name.column("name", "what a person calls it"),
				address("start", "first address"), address("end", "address after the last"), number("size_bytes", "end - start"),
				number("birth_ns", "begin of its life, in the clock of the trace"),
				number("death_ns", "end of its life; null: it lived to the end of the trace"),
				number("task", "thread that allocated it; of a stack the thread whose stack it is"),
				number("stack", "stacks.parquet, stack: where it was allocated"), site.column("site", "source line where it was allocated or defined")))) {
			for (Structure s : store.structures()) {
				if (s.stack() >= 0) {
					stacks.add(s.stack());
				}
				t.add(s.id(), s.image(), kind.of(s.kind().name().toLowerCase(Locale.ROOT)), name.of(s.name()), s.startAddress(),
						s.endAddress(), s.sizeBytes(), s.birthNs(), end(s.deathNs()), known(s.taskId()), known(s.stack()), site.of(s.site()));
			}
		}
		Names object = new Names();
		Names function = new Names();
		Names file = new Names();
		try (Table t = new Table("stacks", List.of(number("stack", "number of the call stack"), number("depth", "0 is the innermost frame"),
				address("ip", "return address"), object.column("object", "file of the code"), function.column("function", "name of the function"),
				file.column("file", "source file"), number("line", "line in the source file")))) {
			for (int stack : stacks) {
				int depth = 0;
				for (CallFrame f : store.stack(stack)) {
					t.add(stack, depth++, f.ip(), object.of(f.object()), function.of(f.function()), file.of(f.file()),
							f.line() == 0 ? ParquetFile.NULL : f.line());
				}
			}
		}
	}

	private void threads() throws MemtraceException, IOException {
		Names name = new Names();
		Names routine = new Names();
		try (Table t = new Table("threads", List.of(number("index", "number of the thread"), number("image", "process image"),
				number("task", "id that the operating system gives it"), name.column("name", "its name, or that of the program"),
				number("birth_ns", "its begin, in the clock of the trace"), number("death_ns", "its end; null: alive at the end of the trace"),
				routine.column("start_routine", "function that it began with"), number("main", "1: main thread of its image")))) {
			for (ThreadInfo i : store.threads()) {
				t.add(i.index(), i.image(), i.taskId(), name.of(i.name()), i.birthNs(), end(i.deathNs()), routine.of(i.startRoutine()),
						i.main() ? 1 : 0);
			}
		}
	}

	private void intervals() throws MemtraceException, IOException {
		Names event = new Names();
		try (Table t = new Table("intervals", List.of(number("image", "process image"), number("start_ns", "begin of the monitoring interval"),
				number("end_ns", "its end"), number("target_ns", "length that was in force"), number("faults", "accesses seen"),
				number("lost", "accesses known to be lost"), number("unattributed", "pages without a thread"),
				event.column("event", "what happened")))) {
			for (Interval i : store.intervals()) {
				t.add(i.image(), i.startNs(), i.endNs(), i.targetNs(), i.faults(), i.lost(), i.unattributed(), event.of(i.event()));
			}
		}
	}

	private void producers(Progress progress) throws MemtraceException, IOException {
		ProducerTree tree = store.producers();
		Names kind = new Names();
		Names name = new Names();
		try (Table t = new Table("producers", List.of(number("id", "number in the tree of memory; that of a child is larger"),
				number("parent", "what it is a part of; null: the root"), kind.column("kind", "root, image, structure, page, …"),
				name.column("name", "its name in pictures"), address("start", "first address"), address("end", "address after the last"),
				number("structure", "structures.parquet, id"), number("subtree_end", "id after the last one below it")))) {
			for (int id = 0; id < tree.size(); id++) {
				if ((id & 0xfff) == 0) {
					progress.check();
				}
				t.add(id, known(tree.parent(id)), kind.of(tree.kind(id).name().toLowerCase(Locale.ROOT)), name.of(tree.name(id)),
						tree.startAddress(id), tree.endAddress(id), known(tree.structure(id)), tree.subtreeEnd(id));
			}
		}
	}

	private String meta() {
		JsonObject o = new JsonObject();
		o.addProperty("schema", "memtrace-export");
		o.addProperty("schema_version", SCHEMA_VERSION);
		o.addProperty("trace", info.alias());
		o.addProperty("application", info.application());
		o.addProperty("host", info.host());
		o.addProperty("start_ns", info.startNs());
		o.addProperty("end_ns", info.endNs());
		o.addProperty("time_unit", info.properties().getOrDefault("time_unit", "ns"));
		o.addProperty("page_size_bytes", info.pageSizeBytes());
		JsonObject properties = new JsonObject();
		new TreeMap<>(info.properties()).forEach(properties::addProperty);
		o.add("properties", properties);
		Losses losses = store.losses();
		JsonObject damaged = new JsonObject();
		damaged.addProperty("chunks", losses.chunks());
		damaged.addProperty("accesses", losses.accesses());
		damaged.addProperty("reads", losses.reads());
		damaged.addProperty("writes", losses.writes());
		o.add("damaged", damaged);
		JsonObject tables = new JsonObject();
		for (String table : new TreeSet<>(columns.keySet())) {
			JsonObject t = new JsonObject();
			t.addProperty("rows", rows.get(table).get());
			JsonArray list = new JsonArray();
			for (Column c : columns.get(table)) {
				JsonObject column = new JsonObject();
				column.addProperty("name", c.name());
				column.addProperty("type", c.kind().name().toLowerCase(Locale.ROOT));
				column.addProperty("description", c.meaning());
				list.add(column);
			}
			t.add("columns", list);
			tables.add(table, t);
		}
		o.add("tables", tables);
		return new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create().toJson(o);
	}

	private static long end(long ns) {
		return ns == Long.MAX_VALUE ? ParquetFile.NULL : ns;
	}

	private static long known(long value) {
		return value < 0 ? ParquetFile.NULL : value;
	}
}
