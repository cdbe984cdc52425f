// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.export;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BatchChunk;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.column.TraceTable;
import org.memtrace.analysis.export.ParquetFile.Column;
import org.memtrace.analysis.export.ParquetFile.Kind;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.text.JsonText;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.Losses;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;

/**
 * Writes a trace as a folder that needs nothing else: accesses as Parquet files, divided by memory or by time, the small tables beside
 * them, {@code topology.xml}, and {@code meta.json}, which says what is in it. docs/reference/parquet.md. Errors of the output are
 * {@link UncheckedIOException}.
 */
public final class ParquetExport {
	/** Accesses of a file, if the caller does not choose a window. */
	private static final long ACCESSES_PER_FILE = 1_000_000;
	private static final int MOST_FILES = 10_000;
	/** Rows of a group at least, but for the last one of a file: what a chunk of a database has. */
	private static final int GROUP_ROWS = 1 << 16;

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
				"memtrace.schema_version", Integer.toString(ParquetFolder.SCHEMA_VERSION)));
	}

	/**
	 * Writes the folder with a file for each range of pages, {@code accesses/first_leaf=ID/accesses.parquet}. Files are written in
	 * parallel.
	 *
	 * @param folder an existing empty folder
	 * @param table all accesses of the store
	 * @param rest whether what the tables do not have is written, too, so that the folder can stand for the trace
	 * @return whether it was written: only with all accesses, and if {@link TraceStore#writeRest} can
	 */
	public static boolean byMemory(TraceStore store, AccessTable table, AccessFilter filter, Path folder, boolean rest, Progress progress)
			throws MemtraceException {
		ParquetExport export = new ParquetExport(store, folder);
		try {
			AccessTable some = filter.select(table);
			AccessParquet all = new AccessParquet(table, progress);
			export.columns.put("accesses", all.new Writer().columns());
			export.rows.put("accesses", new AtomicLong());
			Files.createDirectory(folder.resolve("accesses"));
			some.scan().run(filter.query(), all.read(), "Writing accesses", progress, (from, to) -> export.new Range(all, filter.query()));
			if (export.rows.get("accesses").get() == 0) { // a reader needs a schema
				Range empty = export.new Range(all, filter.query());
				empty.open(0);
				empty.end();
			}
			export.rest(table, progress);
			return rest && export.rows.get("accesses").get() == store.accessCount() && store.losses().isNone()
					&& store.writeRest(folder.resolve(ParquetFolder.REST), progress);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		} finally {
			export.abandon();
		}
	}

	/**
	 * Writes one table into a folder, as a whole folder has it.
	 *
	 * @param folder an existing folder
	 * @param accesses all accesses of the store
	 */
	static void table(TraceStore store, AccessTable accesses, TraceTable table, Path folder, Progress progress)
			throws MemtraceException, IOException {
		ParquetExport export = new ParquetExport(store, folder);
		try {
			export.write(table, accesses, progress);
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
		private final AccessParquet.Writer writer;
		private final AccessQuery query;
		private int[] chosen = {};
		private ParquetFile file;

		Range(AccessParquet columns, AccessQuery query) {
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
				chosen = Arrays.copyOf(chosen, Math.max(chosen.length, c.rows));
				int n = 0;
				for (int l = leafFrom; l < leafTo; l++) {
					for (int r = c.leafFrom[l]; r < c.leafFrom[l + 1]; r++) {
						if (c.startNs(r) < query.toNs() && c.endNs(r) > query.fromNs()) {
							if (file == null) {
								open(c.leaf[l]);
							}
							chosen[n++] = r;
						}
					}
				}
				if (n > 0) {
					writer.write(c, chosen, n, file);
					if (file.rows() >= GROUP_ROWS) {
						file.endGroup(); // so that who reads a chunk of the trace reads few rows of others
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
		AccessParquet all = new AccessParquet(table, progress);
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
			export.rest(table, progress);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		} finally {
			export.abandon();
		}
	}

	/** Files of windows of time, one after the other. */
	private final class Windows {
		private final AccessParquet all;
		private final long originNs;
		private final long windowNs;
		private AccessParquet.Writer writer;
		private ParquetFile file;
		private int[] chosen = {};
		private long endNs = Long.MIN_VALUE;

		Windows(AccessParquet all, long originNs, long windowNs) {
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
			chosen = Arrays.copyOf(chosen, Math.max(chosen.length, c.rows));
			for (int r = 0; r < c.rows;) {
				if (file == null || c.startNs(r) >= endNs) {
					open(c.startNs(r));
				}
				int n = 0;
				for (; r < c.rows && c.startNs(r) < endNs; r++) {
					chosen[n++] = r;
				}
				writer.chunk(c, 0, c.leaves);
				writer.write(c, chosen, n, file);
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
			return index.computeIfAbsent(text, t -> {
				texts.add(t);
				return texts.size() - 1;
			});
		}
	}

	/** Everything beside the accesses. */
	private void rest(AccessTable table, Progress progress) throws MemtraceException, IOException {
		for (TraceTable small : TraceTable.IN_FOLDERS) {
			write(small, table, progress);
		}
		byte[] topology = store.readNote(TraceStore.NOTE_TOPOLOGY).orElse(null);
		if (topology != null) {
			Files.write(folder.resolve("topology.xml"), topology);
		}
		Files.writeString(folder.resolve("meta.json"), meta() + "\n");
	}

	private void write(TraceTable table, AccessTable accesses, Progress progress) throws MemtraceException, IOException {
		List<Column> of = new ArrayList<>();
		List<Names> names = new ArrayList<>();
		for (org.memtrace.analysis.column.Column c : table.columns()) {
			Names texts = c.type() == Dimension.Type.TEXT ? new Names() : null;
			names.add(texts);
			of.add((texts != null ? Column.text(c.id(), texts.texts)
					: Column.optional(c.id(), c.type() == Dimension.Type.ADDRESS ? Kind.UINT64 : Kind.INT64)).means(c.meaning()));
		}
		long[] row = new long[of.size()];
		AtomicLong count = new AtomicLong();
		columns.put(table.name(), of);
		rows.put(table.name(), count);
		ParquetFile file = open(folder.resolve(table.name() + ".parquet"), of);
		TraceTable.RowVisitor writer = values -> {
			for (int c = 0; c < row.length; c++) {
				row[c] = values[c] == null ? ParquetFile.NULL
						: names.get(c) != null ? names.get(c).of((String) values[c]) : ((Number) values[c]).longValue();
			}
			try {
				file.add(row);
			} catch (IOException e) {
				throw new UncheckedIOException(e);
			}
			count.incrementAndGet();
		};
		if (table.source() == null) {
			FoundRows.visit(table, store, accesses, AccessFilter.of(AccessQuery.ALL), writer, progress);
		} else {
			table.source().rows(store, AccessQuery.ALL, writer, progress);
		}
		complete(file);
	}

	private String meta() {
		JsonObject o = new JsonObject();
		o.addProperty("schema", "memtrace-export");
		o.addProperty("schema_version", ParquetFolder.SCHEMA_VERSION);
		o.addProperty("trace", info.alias());
		o.addProperty("application", info.application());
		o.addProperty("host", info.host());
		o.addProperty("start_ns", info.startNs());
		o.addProperty("end_ns", info.endNs());
		o.addProperty("time_unit", info.properties().getOrDefault("time_unit", "ns"));
		o.addProperty("page_size_bytes", info.pageSizeBytes());
		o.addProperty("counts", info.counts().id());
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
		return JsonText.PRETTY.toJson(o);
	}
}
