// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntFunction;

import org.memtrace.aggregation.ModelType.Role;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;

/** The properties that are columns of a record. */
final class BasicDimensions {
	private BasicDimensions() {
	}

	/** Private or shared, read or write. */
	static final Dimension SHARING = new Dimension() {
		private final List<ModelType> types = List.of(new ModelType("Private_Read", Role.PRIVATE_READ, 0),
				new ModelType("Private_Write", Role.PRIVATE_WRITE, 0), new ModelType("Shared_Read", Role.SHARED_READ, 0),
				new ModelType("Shared_Write", Role.SHARED_WRITE, 0));

		@Override
		public Set<AccessColumn> columns() {
			return EnumSet.of(AccessColumn.SHARING);
		}

		@Override
		public DimensionValues values(AccessTable table, Progress progress) {
			return new Directions(types) {
				@Override
				public void read(AccessChunk chunk, int leafFrom, int leafTo, long[] out) {
					int to = chunk.leafFrom[leafTo];
					for (int row = chunk.leafFrom[leafFrom]; row < to; row++) {
						out[row] = chunk.sharing[row] > 1 ? 2 : 0;
					}
				}
			};
		}
	};

	/** Read or write. */
	static final Dimension READ_WRITE = new Dimension() {
		private final List<ModelType> types = List.of(new ModelType("Read", Role.READ, 0), new ModelType("Write", Role.WRITE, 0));

		@Override
		public Set<AccessColumn> columns() {
			return EnumSet.noneOf(AccessColumn.class);
		}

		@Override
		public DimensionValues values(AccessTable table, Progress progress) {
			return new Directions(types) {
				@Override
				public void read(AccessChunk chunk, int leafFrom, int leafTo, long[] out) {
					Arrays.fill(out, chunk.leafFrom[leafFrom], chunk.leafFrom[leafTo], 0);
				}
			};
		}
	};

	/** A few types; the writes are of the type after that of the reads. */
	private abstract static class Directions extends DimensionValues {
		private final List<ModelType> types;

		Directions(List<ModelType> types) {
			this.types = types;
		}

		@Override
		public Kind kind() {
			return Kind.BY_DIRECTION;
		}

		@Override
		public long size() {
			return types.size();
		}

		@Override
		public String name(long value) {
			return types.get((int) value).name();
		}

		@Override
		public ModelType type(long value) {
			return types.get((int) value);
		}
	}

	/** Numbers of a column, from 0 to a limit; others are not known. */
	private static final class Numbers extends DimensionValues {
		private final int size;
		private final IntFunction<ModelType> type;
		private final Function<AccessChunk, int[]> column;

		Numbers(int size, IntFunction<ModelType> type, Function<AccessChunk, int[]> column) {
			this.size = size;
			this.type = type;
			this.column = column;
		}

		@Override
		public long size() {
			return size;
		}

		@Override
		public String name(long value) {
			return value == UNKNOWN ? "" : type((int) value).name();
		}

		@Override
		public ModelType type(long value) {
			return value == UNKNOWN ? unknownType() : type.apply((int) value);
		}

		@Override
		public void read(AccessChunk chunk, int leafFrom, int leafTo, long[] out) {
			int[] in = column.apply(chunk);
			int to = chunk.leafFrom[leafTo];
			for (int row = chunk.leafFrom[leafFrom]; row < to; row++) {
				out[row] = in[row] < size ? in[row] : UNKNOWN;
			}
		}
	}

	/** The thread that made the access. */
	static final Dimension THREAD = new Dimension() {
		@Override
		public Set<AccessColumn> columns() {
			return EnumSet.of(AccessColumn.THREAD);
		}

		@Override
		public DimensionValues values(AccessTable table, Progress progress) {
			return new Numbers(table.threads().size(), t -> ModelType.thread(table.threads().get(t)), c -> c.thread);
		}
	};

	/** The NUMA node of the page. */
	static final Dimension NODE = new Dimension() {
		@Override
		public Set<AccessColumn> columns() {
			return EnumSet.of(AccessColumn.NODE);
		}

		@Override
		public DimensionValues values(AccessTable table, Progress progress) throws MemtraceException {
			return new Numbers(table.maxNode(progress) + 1, ModelType::node, c -> c.node);
		}
	};

	/** The CPUs; an access that saw several is divided equally among them. */
	static final Dimension CPU = new Dimension() {
		@Override
		public Set<AccessColumn> columns() {
			return EnumSet.of(AccessColumn.CPU_SET);
		}

		@Override
		public DimensionValues values(AccessTable table, Progress progress) {
			int size = table.maxCpu() + 1;
			return new DimensionValues() {
				@Override
				public Kind kind() {
					return Kind.SHARES;
				}

				@Override
				public long size() {
					return size;
				}

				@Override
				public String name(long value) {
					return value == UNKNOWN ? "" : ModelType.cpu((int) value).name();
				}

				@Override
				public ModelType type(long value) {
					return value == UNKNOWN ? unknownType() : ModelType.cpu((int) value);
				}

				@Override
				public int[] members(long value) {
					return table.cpus((int) value);
				}

				@Override
				public void read(AccessChunk chunk, int leafFrom, int leafTo, long[] out) {
					int to = chunk.leafFrom[leafTo];
					for (int row = chunk.leafFrom[leafFrom]; row < to; row++) {
						out[row] = chunk.cpuSet[row];
					}
				}
			};
		}
	};

	/** What colours by a viewpoint of accesses. */
	static Dimension of(Viewpoint viewpoint) {
		return switch (viewpoint) {
		case SHARING -> SHARING;
		case THREAD -> THREAD;
		case READ_WRITE -> READ_WRITE;
		case CPU -> CPU;
		case NODE -> NODE;
		case TYPE -> throw new IllegalArgumentException("viewpoint " + viewpoint);
		};
	}
}
