// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.export;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.export.ParquetFile.Column;
import org.memtrace.analysis.export.ParquetFile.Kind;
import org.memtrace.analysis.text.Parts;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.tree.ProducerTree;

/**
 * The columns that a file of accesses has: those of a record, then all dimensions of the list that are columns. Makes rows from the rows of
 * a chunk. Immutable; a {@link Writer} is for one file and one thread.
 */
final class AccessColumns {
	/** Dimensions that a record's own columns say already. */
	private static final Set<String> OWN = Set.of("page", "structure", "thread", "cpu", "node", "sharing");

	private final AccessTable table;
	private final ProducerTree tree;
	private final List<Structure> structures;
	private final List<ThreadInfo> threads;
	private final Parts parts;
	private final int[] groupName;
	private final List<Column> own;
	private final List<Dimension> dimensions = new ArrayList<>();
	private final List<DimensionValues> values = new ArrayList<>();

	AccessColumns(AccessTable table, Progress progress) throws MemtraceException {
		this.table = table;
		tree = table.producers();
		structures = table.structures();
		threads = table.threads();
		// names of structures, then those of groups of merged ones
		parts = new Parts(tree, structures);
		groupName = new int[parts.count()];
		List<String> names = new ArrayList<>(structures.stream().map(Structure::name).toList());
		for (int p = 0; p < parts.count(); p++) {
			if (parts.groupOf(parts.producer(p)) == p) {
				groupName[p] = names.size();
				names.add(parts.partName(p));
			}
		}
		own = List.of(Column.of("start_ns", Kind.INT64).means("begin of the interval in which the access was seen, in the clock of the trace"),
				Column.of("end_ns", Kind.INT64).means("end of that interval, after its begin"),
				Column.optional("image", Kind.INT32).means("process image"),
				Column.of("page", Kind.UINT64).means("first address of the page, or of the part of it that belongs to the structure"),
				Column.text("structure", names).means("name of the structure, or of the group that merging rules made of several"),
				Column.optional("structure_id", Kind.INT32).means("structures.parquet, id"),
				Column.optional("task", Kind.INT64).means("id that the operating system gives the thread"),
				Column.text("thread", threads.stream().map(ThreadInfo::name).toList()).means("name of the thread"),
				Column.text("cpus", table.cpuSets().stream().map(AccessColumns::cpus).toList())
						.means("CPUs on which the thread was meanwhile, separated by blanks"),
				Column.of("reads", Kind.INT64).means("recorded reads"), Column.of("writes", Kind.INT64).means("recorded writes"),
				Column.of("sharing", Kind.INT32).means(meaning("sharing")),
				Column.optional("node", Kind.INT32).means(meaning("node")),
				Column.of("flags", Kind.INT32).means("1: from the page table without a fault; 2: direction not known; 4: the page is not private"),
				Column.optional("ip", Kind.UINT64).means("code address of one of the accesses"),
				Column.of("time_ns", Kind.INT64).means("start_ns from the start of the trace"),
				Column.of("leaf", Kind.INT32).means("producers.parquet, id: the page in the tree of memory"),
				Column.optional("page_index", Kind.INT32).means("number of the page from the first page of the structure"),
				Column.optional("address", Kind.UINT64).means("first address that was read, or written if nothing was read or its address is not known"),
				Column.optional("thread_index", Kind.INT32).means("threads.parquet, index"));
		for (Dimension d : Dimensions.of(Use.COLUMN)) {
			if (!OWN.contains(d.id())) {
				dimensions.add(d);
				values.add(d.values(table, progress));
			}
		}
	}

	private static String meaning(String id) {
		return Dimensions.find(id, Use.COLUMN).explanation();
	}

	/** CPUs of a set. */
	static String cpus(BitSet set) {
		return set.toString().replaceAll("[{},]", "");
	}

	/** Columns of chunks that are read. */
	Set<AccessColumn> read() {
		return EnumSet.allOf(AccessColumn.class);
	}

	/** Texts of a dimension in the order in which a file meets them. */
	private static final class Texts {
		private final List<String> texts = new ArrayList<>();
		private final Map<Long, Integer> index = new HashMap<>();
		private final Map<String, Integer> ofText = new HashMap<>();
		private long last = Long.MIN_VALUE;
		private int lastIndex;

		int of(long key, DimensionValues values, long value, boolean reads, boolean writes) {
			if (key != last) {
				last = key;
				lastIndex = index.computeIfAbsent(key, k -> {
					String text = values.text(value, reads, writes);
					return ofText.computeIfAbsent(text, t -> {
						texts.add(t);
						return texts.size() - 1;
					});
				});
			}
			return lastIndex;
		}
	}

	/** Writes rows into one file. */
	final class Writer {
		private final Texts[] texts = new Texts[dimensions.size()];
		private final long[][] value = new long[dimensions.size()][0];
		private final List<Column> columns = new ArrayList<>(own);
		private final long[] row;

		Writer() {
			for (int d = 0; d < texts.length; d++) {
				Dimension dimension = dimensions.get(d);
				if (dimension.type() == Dimension.Type.TEXT) {
					texts[d] = new Texts();
					columns.add(Column.text(dimension.id(), texts[d].texts).means(dimension.explanation()));
				} else {
					columns.add(Column.optional(dimension.id(), dimension.type() == Dimension.Type.ADDRESS ? Kind.UINT64 : Kind.INT64)
							.means(dimension.explanation()));
				}
			}
			row = new long[columns.size()];
		}

		/** Columns of the file; texts are added while rows are written. */
		List<Column> columns() {
			return columns;
		}

		/** Makes the values of some leaves. */
		void chunk(AccessChunk c, int leafFrom, int leafTo) {
			for (int d = 0; d < texts.length; d++) {
				if (value[d].length < c.rows) {
					value[d] = new long[Math.max(c.rows, 2 * value[d].length)];
				}
				values.get(d).read(c, leafFrom, leafTo, value[d]);
			}
		}

		/** The values of a row of the chunk that was given last; valid until the next one. */
		long[] row(AccessChunk c, int leaf, int r) {
			int producer = c.leaf[leaf];
			int structure = tree.structure(producer);
			int group = parts.groupOf(producer);
			int thread = c.thread[r];
			int image = structure >= 0 ? structures.get(structure).image() : thread >= 0 ? threads.get(thread).image() : -1;
			long page = tree.startAddress(producer);
			long inPage = table.info().pageSizeBytes() - 1L;
			int place = c.readOffset[r] >= 0 ? c.readOffset[r] : c.writeOffset[r];
			long pageSize = Math.max(1, table.info().pageSizeBytes());
			int n = 0;
			row[n++] = c.startNs(r);
			row[n++] = c.endNs(r);
			row[n++] = known(image);
			row[n++] = page;
			row[n++] = group >= 0 ? groupName[group] : known(structure);
			row[n++] = known(structure);
			row[n++] = thread < 0 ? ParquetFile.NULL : threads.get(thread).taskId();
			row[n++] = known(thread);
			row[n++] = known(c.cpuSet[r]);
			row[n++] = c.reads[r];
			row[n++] = c.writes[r];
			row[n++] = c.sharing[r];
			row[n++] = known(c.node[r]);
			row[n++] = c.flags[r];
			row[n++] = c.ip[r] == 0 ? ParquetFile.NULL : c.ip[r];
			row[n++] = c.startNs(r) - table.info().startNs();
			row[n++] = producer;
			row[n++] = structure < 0 ? ParquetFile.NULL
					: Long.divideUnsigned(page, pageSize) - Long.divideUnsigned(structures.get(structure).startAddress(), pageSize);
			row[n++] = place < 0 ? ParquetFile.NULL : (page & ~inPage) + place;
			row[n++] = known(thread);
			for (int d = 0; d < texts.length; d++) {
				DimensionValues v = values.get(d);
				long x = value[d][r];
				if (x == DimensionValues.UNKNOWN) {
					row[n++] = ParquetFile.NULL;
				} else if (texts[d] == null) {
					row[n++] = v.number(x);
				} else if (v.kind() == DimensionValues.Kind.BY_DIRECTION) {
					boolean reads = c.reads[r] > 0;
					boolean writes = c.writes[r] > 0;
					row[n++] = texts[d].of(x * 4 + (reads ? 1 : 0) + (writes ? 2 : 0), v, x, reads, writes);
				} else {
					row[n++] = texts[d].of(x, v, x, true, true);
				}
			}
			return row;
		}
	}

	private static long known(int value) {
		return value < 0 ? ParquetFile.NULL : value;
	}
}
