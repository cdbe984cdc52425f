// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.export;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.text.Parts;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * Writes the accesses of a trace as a folder of Parquet files, one for each window of time in which accesses begin:
 * {@code window_ns=START/accesses.parquet}, as Spark, DuckDB, R arrow and pandas find partitions. The columns are those of
 * {@link TraceExport#csv}, with numbers for addresses. Errors of the output are {@link UncheckedIOException}.
 */
public final class ParquetExport {
	/** Accesses of a file, if the caller does not choose a window. */
	private static final long ACCESSES_PER_FILE = 1_000_000;
	private static final int MOST_FILES = 10_000;

	private final Path folder;
	private final long originNs;
	private final long windowNs;
	private final List<ParquetFile.Column> columns;
	private final Map<String, String> metadata;
	private ParquetFile file;
	private long fileEndNs = Long.MIN_VALUE;
	private int files;

	private ParquetExport(Path folder, long originNs, long windowNs, List<ParquetFile.Column> columns, Map<String, String> metadata) {
		this.folder = folder;
		this.originNs = originNs;
		this.windowNs = windowNs;
		this.columns = columns;
		this.metadata = metadata;
	}

	/**
	 * Writes the files.
	 *
	 * @param folder an existing empty folder
	 * @param windowNs length of a window, 0 for one that gives about a million accesses in each file
	 */
	public static void write(TraceStore store, AccessFilter filter, Path folder, long windowNs, Progress progress)
			throws MemtraceException {
		TraceInfo info = store.info();
		long origin = Math.max(info.startNs(), filter.query().fromNs());
		long end = Math.min(info.endNs(), filter.query().toNs());
		long window = windowNs > 0 ? windowNs
				: Math.max(1, Math.ceilDiv(Math.max(1, end - origin), Math.max(1, store.accessCount() / ACCESSES_PER_FILE)));
		if ((end - origin) / window >= MOST_FILES) {
			throw new MemtraceException("windows of " + window + " would give more than " + MOST_FILES + " files");
		}
		ProducerTree tree = store.producers();
		List<Structure> structures = store.structures();
		List<ThreadInfo> threads = store.threads();
		// names of structures, then those of groups of merged ones
		Parts parts = new Parts(tree, structures);
		int[] groupName = new int[parts.count()];
		List<String> names = new ArrayList<>(structures.stream().map(Structure::name).toList());
		for (int p = 0; p < parts.count(); p++) {
			if (parts.groupOf(parts.producer(p)) == p) {
				groupName[p] = names.size();
				names.add(parts.partName(p));
			}
		}
		List<ParquetFile.Column> columns = List.of(ParquetFile.Column.of("start_ns", ParquetFile.Kind.INT64),
				ParquetFile.Column.of("end_ns", ParquetFile.Kind.INT64), ParquetFile.Column.optional("image", ParquetFile.Kind.INT32),
				ParquetFile.Column.of("page", ParquetFile.Kind.UINT64),
				ParquetFile.Column.text("structure", names),
				ParquetFile.Column.optional("structure_id", ParquetFile.Kind.INT32),
				ParquetFile.Column.optional("task", ParquetFile.Kind.INT64),
				ParquetFile.Column.text("thread", threads.stream().map(ThreadInfo::name).toList()),
				ParquetFile.Column.text("cpus", store.cpuSets().stream().map(TraceExport::cpus).toList()),
				ParquetFile.Column.of("reads", ParquetFile.Kind.INT64), ParquetFile.Column.of("writes", ParquetFile.Kind.INT64),
				ParquetFile.Column.of("sharing", ParquetFile.Kind.INT32),
				ParquetFile.Column.optional("node", ParquetFile.Kind.INT32), ParquetFile.Column.of("flags", ParquetFile.Kind.INT32),
				ParquetFile.Column.optional("ip", ParquetFile.Kind.UINT64));
		Map<String, String> metadata = new TreeMap<>(Map.of("memtrace.trace", info.alias(), "memtrace.page_size_bytes",
				Integer.toString(info.pageSizeBytes()), "memtrace.time_unit", info.properties().getOrDefault("time_unit", "ns")));
		ParquetExport export = new ParquetExport(folder, origin, window, columns, metadata);
		try {
			filter.visit(store, b -> {
				try {
					for (int i = 0; i < b.count; i++) {
						int structure = tree.structure(b.producer[i]);
						int group = parts.groupOf(b.producer[i]);
						int thread = b.thread[i];
						int image = structure >= 0 ? structures.get(structure).image()
								: thread >= 0 ? threads.get(thread).image() : -1;
						export.file(b.startNs[i]).add(b.startNs[i], b.endNs[i], known(image), tree.startAddress(b.producer[i]),
								group >= 0 ? groupName[group] : known(structure), known(structure),
								thread < 0 ? ParquetFile.NULL : threads.get(thread).taskId(), known(thread), known(b.cpuSet[i]),
								b.reads[i], b.writes[i], b.sharing[i], known(b.node[i]), b.flags[i],
								b.ip[i] == 0 ? ParquetFile.NULL : b.ip[i]);
					}
				} catch (IOException e) {
					throw new UncheckedIOException(e);
				}
			}, progress);
			export.end();
			if (export.files == 0) { // a reader needs a schema
				export.file(origin);
				export.end();
			}
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		} finally {
			export.abandon();
		}
	}

	private static long known(int value) {
		return value < 0 ? ParquetFile.NULL : value;
	}

	/** The file of an access; those that began before the first window are in the first one. */
	private ParquetFile file(long startNs) throws IOException {
		if (file == null || startNs >= fileEndNs) {
			end();
			long start = originNs + Math.max(0, startNs - originNs) / windowNs * windowNs;
			fileEndNs = start + windowNs;
			Path partition = Files.createDirectory(folder.resolve("window_ns=" + start));
			file = new ParquetFile(new BufferedOutputStream(Files.newOutputStream(partition.resolve("accesses.parquet")), 1 << 16),
					columns, metadata);
			files++;
		}
		return file;
	}

	private void end() throws IOException {
		if (file != null) {
			file.finish();
			file.close();
			file = null;
		}
	}

	private void abandon() {
		if (file != null) {
			try {
				file.close();
			} catch (IOException e) {
				// what went wrong first is reported
			}
		}
	}
}
