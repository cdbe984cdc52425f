// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.column;

import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.memory.Lives;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.tree.ProducerTree;

/**
 * The columns of a record that are no dimensions: its times, counts, addresses and numbers. Nobody groups or colours by them; they have the
 * form of dimensions, so that a table or a file makes all its columns in one way.
 */
final class RecordFields {
	private static final EnumSet<AccessColumn> NONE = EnumSet.noneOf(AccessColumn.class);

	/** In the order of a table. */
	static final List<Dimension> ALL = List.of(
			time("start_ns", "Start", "Begin of the interval in which the access was seen, in the clock of the trace", false, false),
			time("end_ns", "End", "End of that interval, after its begin", true, false),
			time("time_ns", "Time", "Begin of the interval from the start of the trace", false, true),
			new Field("first_access_ns", "First access", Dimension.Type.NUMBER,
					"Time of the first access of the record, in the clock of the trace, if the recorder could tell",
					EnumSet.of(AccessColumn.TIME, AccessColumn.FIRST),
					t -> (c, l, r) -> c.firstNs[r] < 0 ? DimensionValues.UNKNOWN : c.beginNs(r)),
			new Field("image", "Image", Dimension.Type.NUMBER, "Number of the process image", EnumSet.of(AccessColumn.THREAD), RecordFields::image),
			new Field("producer", "Producer", Dimension.Type.NUMBER, "Number of the page in the tree of memory", NONE, t -> (c, l, r) -> c.leaf[l]),
			new Field("page_start", "Page start", Dimension.Type.ADDRESS,
					"First address of the page, or of the part of it that belongs to the structure", NONE,
					t -> (c, l, r) -> t.producers().startAddress(c.leaf[l])),
			new Field("page_index", "Page index", Dimension.Type.NUMBER, "Number of the page from the first page of the structure", NONE,
					RecordFields::pageIndex),
			new Field("address", "Address", Dimension.Type.ADDRESS,
					"First address that was read, or written if nothing was read or its address is not known",
					EnumSet.of(AccessColumn.READ_OFFSET, AccessColumn.WRITE_OFFSET), RecordFields::address),
			new Field("structure_id", "Structure number", Dimension.Type.NUMBER,
					"Number of the structure, in the table of structures: of several blocks of one name the one that lived there at that time; not known"
							+ " where merging rules made a group of several", NONE, RecordFields::structure),
			new Field("task", "Task", Dimension.Type.NUMBER, "Id that the operating system gives the thread", EnumSet.of(AccessColumn.THREAD),
					RecordFields::task),
			new Field("thread_index", "Thread number", Dimension.Type.NUMBER, "Number of the thread, in the table of threads",
					EnumSet.of(AccessColumn.THREAD), t -> (c, l, r) -> c.thread[r]),
			count("reads", "Reads", "Recorded reads", AccessColumn.READS, (c, l, r) -> c.reads[r]),
			count("writes", "Writes", "Recorded writes", AccessColumn.WRITES, (c, l, r) -> c.writes[r]),
			count("flags", "Flags", "Sum of 1: from the page table without a fault; 2: direction not known; 4: the page is not private;"
					+ " 8: the page may not have been touched, it was mapped around a read",
					AccessColumn.FLAGS, (c, l, r) -> c.flags[r] & AccessBatch.FLAGS),
			new Field("ip", "Code", Dimension.Type.ADDRESS, "Code address of one of the accesses", EnumSet.of(AccessColumn.IP),
					t -> (c, l, r) -> c.ip[r] == 0 ? DimensionValues.UNKNOWN : c.ip[r]));

	private RecordFields() {
	}

	/** Gets the number of a row; {@link DimensionValues#UNKNOWN} for what is not known. */
	private interface Get {
		long of(AccessChunk c, int leaf, int row);
	}

	/** Prepares a {@link Get} for a trace. */
	private interface Source {
		Get in(AccessTable table);
	}

	private static long image(List<Structure> structures, List<ThreadInfo> threads, int structure, int thread) {
		return structure >= 0 ? structures.get(structure).image() : thread >= 0 ? threads.get(thread).image() : DimensionValues.UNKNOWN;
	}

	private static Get image(AccessTable t) {
		ProducerTree tree = t.producers();
		return (c, l, r) -> image(t.structures(), t.threads(), tree.structure(c.leaf[l]), c.thread[r]);
	}

	/** The block that a row is of, where several of one name have lived in a page. */
	private static Get structure(AccessTable t) {
		ProducerTree tree = t.producers();
		Lives lives = Lives.of(t.structures());
		BitSet several = new BitSet(tree.size());
		for (int id = 0; id < tree.size(); id++) {
			int s = tree.structure(id);
			several.set(id, s >= 0 && s < t.structures().size() && lives.count(s) > 1 && switch (tree.kind(id)) {
			case GROUP -> true;
			case PART, PAGE -> several.get(tree.parent(id));
			default -> false;
			});
		}
		/** The blocks of a leaf. */
		record Known(int leaf, int[] blocks) {
		}
		Known[] last = {new Known(-1, new int[0])}; // threads may see an older one
		return (c, l, r) -> {
			int leaf = c.leaf[l];
			if (!several.get(leaf)) {
				return tree.structure(leaf);
			}
			Known known = last[0];
			if (known.leaf != leaf) {
				known = new Known(leaf, lives.at(tree.structure(leaf), tree.startAddress(leaf), tree.endAddress(leaf)));
				last[0] = known;
			}
			return lives.alive(known.blocks, c.startNs(r), c.endNs(r));
		};
	}

	private static Get pageIndex(AccessTable t) {
		Get structure = structure(t);
		ProducerTree tree = t.producers();
		long pageSize = Math.max(1, t.info().pageSizeBytes());
		return (c, l, r) -> {
			int s = (int) structure.of(c, l, r);
			return s < 0 ? DimensionValues.UNKNOWN : Long.divideUnsigned(tree.startAddress(c.leaf[l]), pageSize)
					- Long.divideUnsigned(t.structures().get(s).startAddress(), pageSize);
		};
	}

	private static Get address(AccessTable t) {
		long inPage = t.info().pageSizeBytes() - 1L;
		return (c, l, r) -> {
			int place = c.readOffset[r] >= 0 ? c.readOffset[r] : c.writeOffset[r];
			return place < 0 ? DimensionValues.UNKNOWN : (t.producers().startAddress(c.leaf[l]) & ~inPage) + place;
		};
	}

	private static Get task(AccessTable t) {
		return (c, l, r) -> c.thread[r] < 0 ? DimensionValues.UNKNOWN : t.threads().get(c.thread[r]).taskId();
	}

	/** A number that each record has, whichever it is. */
	private static Dimension count(String id, String title, String meaning, AccessColumn column, Get get) {
		return new Field(id, title, Dimension.Type.NUMBER, meaning, EnumSet.of(column), t -> get) {
			@Override
			boolean always() {
				return true;
			}
		};
	}

	private static Dimension time(String id, String title, String meaning, boolean end, boolean fromStart) {
		return new Field(id, title, Dimension.Type.NUMBER, meaning, EnumSet.of(AccessColumn.TIME), t -> {
			TraceInfo info = t.info();
			long origin = fromStart ? info.startNs() : 0;
			return end ? (c, l, r) -> c.endNs(r) : (c, l, r) -> c.startNs(r) - origin;
		}) {
			@Override
			boolean always() {
				return true;
			}
		};
	}

	private static class Field extends Dimension {
		private final Set<AccessColumn> columns;
		private final Source source;

		Field(String id, String title, Type type, String meaning, EnumSet<AccessColumn> columns, Source source) {
			super(id, title, title, type, meaning, Set.of(Use.COLUMN, Use.SORT));
			this.columns = columns;
			this.source = source;
		}

		/** Whether each record has it, also with the value that stands for what is not known elsewhere. */
		boolean always() {
			return false;
		}

		@Override
		public Set<AccessColumn> columns() {
			return columns.isEmpty() ? EnumSet.noneOf(AccessColumn.class) : EnumSet.copyOf(columns);
		}

		@Override
		public DimensionValues values(AccessTable table, Progress progress) {
			Get get = source.in(table);
			boolean always = always();
			boolean unsigned = type() == Type.ADDRESS;
			return new DimensionValues() {
				@Override
				public long size() throws MemtraceException {
					return -1;
				}

				@Override
				public boolean isKnown(long value) {
					return always || value != UNKNOWN;
				}

				@Override
				public String name(long value) {
					return !isKnown(value) ? "" : unsigned ? Long.toHexString(value) : Long.toString(value);
				}

				@Override
				public Object cell(long value) {
					return isKnown(value) ? (Object) value : null;
				}

				@Override
				public long order(long value) {
					return !isKnown(value) ? Long.MIN_VALUE : unsigned ? (value ^ Long.MIN_VALUE) >> 1 : value;
				}

				@Override
				public void read(AccessChunk c, int leafFrom, int leafTo, long[] out) {
					for (int l = leafFrom; l < leafTo; l++) {
						for (int row = c.leafFrom[l]; row < c.leafFrom[l + 1]; row++) {
							out[row] = get.of(c, l, row);
						}
					}
				}
			};
		}
	}
}
