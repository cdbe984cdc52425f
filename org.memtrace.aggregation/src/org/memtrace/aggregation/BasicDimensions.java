// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.memtrace.aggregation.Dimension.Type;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.ModelType.Role;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.EventType;

/** The properties that are columns of a record. */
public final class BasicDimensions {
	/** What stands for sharing that is not known. */
	private static final String NOT_KNOWN = "not known";

	private BasicDimensions() {
	}

	/** Private, shared, or not known which; read or write. */
	public static final Dimension TYPE = new Dimension("type", "Type", "Private and shared", Type.TEXT,
			"Private, shared or not known which, read or write", Use.ALL) {
		private static final OfEvents OF_EVENTS = new OfEvents() {
			@Override
			public String choice() {
				return "Event type";
			}

			@Override
			public long value(int type, int cpu) {
				return type;
			}

			@Override
			public String name(long value, List<String> typeNames) {
				return typeNames.get((int) value);
			}
		};
		private final List<ModelType> types = List.of(new ModelType("Private_Read", Role.PRIVATE_READ, 0),
				new ModelType("Private_Write", Role.PRIVATE_WRITE, 0), new ModelType("Shared_Read", Role.SHARED_READ, 0),
				new ModelType("Shared_Write", Role.SHARED_WRITE, 0));
		private final List<ModelType> withNotKnown = Stream.concat(types.stream(),
				Stream.of(new ModelType(EventType.NOT_KNOWN_READ, Role.NOT_KNOWN_READ, 0),
						new ModelType(EventType.NOT_KNOWN_WRITE, Role.NOT_KNOWN_WRITE, 0))).toList();

		@Override
		public Picking picking() {
			return Picking.LISTED_NAMES;
		}

		@Override
		public OfEvents ofEvents() {
			return OF_EVENTS;
		}

		@Override
		public String told(String name) {
			return name.replace("NotKnown", "Not known").replace('_', ' ');
		}

		@Override
		public boolean isOfSums() {
			return true;
		}

		@Override
		public Set<AccessColumn> columns() {
			return EnumSet.of(AccessColumn.SHARING);
		}

		@Override
		public DimensionValues values(AccessTable table, Progress progress) {
			return new Directions(table.info().isSharingKnown() ? types : withNotKnown) {
				@Override
				public void read(AccessChunk chunk, int leafFrom, int leafTo, long[] out) {
					int to = chunk.leafFrom[leafTo];
					for (int row = chunk.leafFrom[leafFrom]; row < to; row++) {
						int threads = chunk.sharing[row];
						out[row] = threads > 1 ? 2 : threads == AccessBatch.SHARING_NOT_KNOWN ? 4 : 0;
					}
				}
			};
		}
	};

	/** Read or write. */
	public static final Dimension READ_WRITE = new Dimension("rw", "Read or write", "Reads and writes", Type.TEXT, "Read or write",
			Set.of(Use.COLOUR, Use.GROUP)) {
		private final List<ModelType> types = List.of(new ModelType("Read", Role.READ, 0), new ModelType("Write", Role.WRITE, 0));

		@Override
		public boolean isOfSums() {
			return true;
		}

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

	/** Threads by their index. */
	private static final class Threads extends DimensionValues {
		private final List<ThreadInfo> threads;

		Threads(List<ThreadInfo> threads) {
			this.threads = threads;
		}

		@Override
		public long size() {
			return threads.size();
		}

		@Override
		public String name(long value) {
			return value == UNKNOWN ? "" : type(value).name();
		}

		@Override
		public String choice(long value) {
			if (value == UNKNOWN) {
				return "no thread: nobody could be found for it";
			}
			ThreadInfo t = threads.get((int) value);
			return t.name() + "  " + t.taskId() + (t.main() ? ", main thread" : "")
					+ (t.startRoutine().isEmpty() ? "" : ", " + t.startRoutine() + "()");
		}

		@Override
		public ModelType type(long value) {
			return value == UNKNOWN ? unknownType() : ModelType.thread(threads.get((int) value));
		}

		@Override
		public void read(AccessChunk chunk, int leafFrom, int leafTo, long[] out) {
			int[] in = chunk.thread;
			int size = threads.size();
			int to = chunk.leafFrom[leafTo];
			for (int row = chunk.leafFrom[leafFrom]; row < to; row++) {
				out[row] = in[row] < size ? in[row] : UNKNOWN;
			}
		}
	}

	/** The thread that made the access. */
	public static final Dimension THREAD = new Dimension("thread", "Thread", "Threads", Type.TEXT, "The thread that made the accesses",
			Use.ALL) {
		@Override
		public Picking picking() {
			return Picking.LISTED_NUMBERS;
		}

		@Override
		public String told(long number, List<ThreadInfo> threads) {
			int index = (int) number;
			return index < 0 ? "no thread" : index >= threads.size() ? "thread " + index
					: threads.get(index).name() + " (" + threads.get(index).taskId() + ")";
		}

		@Override
		public boolean isOfSums() {
			return true;
		}

		@Override
		public Set<AccessColumn> columns() {
			return EnumSet.of(AccessColumn.THREAD);
		}

		@Override
		public DimensionValues values(AccessTable table, Progress progress) {
			return new Threads(table.threads());
		}
	};

	/** The NUMA node of the page. */
	public static final Dimension NODE = new Dimension("node", "Node", "NUMA nodes", Type.NUMBER, "NUMA node of the page", Use.ALL) {
		@Override
		public Set<AccessColumn> columns() {
			return EnumSet.of(AccessColumn.NODE);
		}

		@Override
		public DimensionValues values(AccessTable table, Progress progress) {
			return new NumberValues() {
				@Override
				public long size() throws MemtraceException {
					return table.maxNode(progress) + 1;
				}

				@Override
				public ModelType type(long value) {
					return value == UNKNOWN ? unknownType() : ModelType.node((int) value);
				}

				@Override
				public void read(AccessChunk chunk, int leafFrom, int leafTo, long[] out) {
					int to = chunk.leafFrom[leafTo];
					for (int row = chunk.leafFrom[leafFrom]; row < to; row++) {
						out[row] = chunk.node[row];
					}
				}
			};
		}
	};

	/** The CPUs; an access that saw several is divided equally among them. */
	public static final Dimension CPU = new Dimension("cpu", "CPU", "CPUs", Type.TEXT,
			"CPUs on which the thread was while it made the accesses", Use.ALL) {
		private static final OfEvents OF_EVENTS = new OfEvents() {
			@Override
			public String choice() {
				return "CPU";
			}

			@Override
			public long value(int type, int cpu) {
				return cpu;
			}

			@Override
			public String name(long value, List<String> typeNames) {
				return value == DimensionValues.UNKNOWN ? "" : ModelType.cpu((int) value).name();
			}
		};

		@Override
		public Picking picking() {
			return Picking.NUMBERS;
		}

		@Override
		public OfEvents ofEvents() {
			return OF_EVENTS;
		}

		@Override
		public Set<AccessColumn> columns() {
			return EnumSet.of(AccessColumn.CPU_SET);
		}

		@Override
		public DimensionValues values(AccessTable table, Progress progress) {
			int size = table.maxCpu() + 1;
			int sets = table.cpuSets().size();
			return new DimensionValues() {
				@Override
				public int sets() {
					return sets;
				}

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
				public Object cell(long value) {
					return value == UNKNOWN ? null
							: Arrays.stream(table.cpus((int) value)).mapToObj(Integer::toString).collect(Collectors.joining(" "));
				}

				@Override
				public long order(long value) {
					int[] cpus = table.cpus((int) value);
					return cpus.length == 0 ? Long.MIN_VALUE : cpus[0];
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

	/** Number of threads that used the page at the same time; of one that was seen alone it may not be known. */
	public static final Dimension SHARING = new Dimension("sharing", "Sharing", "Number of threads on the page", Type.NUMBER,
			"Number of threads that used the page at the same time, if it is known", Use.UNCOLOURED) {
		@Override
		public Set<AccessColumn> columns() {
			return EnumSet.of(AccessColumn.SHARING);
		}

		@Override
		public DimensionValues values(AccessTable table, Progress progress) {
			return new NumberValues() {
				@Override
				public long size() throws MemtraceException {
					return table.maxSharing(Progress.NONE) + 1;
				}

				@Override
				public String label(long value) {
					return value == UNKNOWN ? NOT_KNOWN : value <= 1 ? "private" : "shared by " + value;
				}

				@Override
				public ModelType type(long value) {
					return value == UNKNOWN ? new ModelType(NOT_KNOWN, Role.UNKNOWN, 0) : value <= 1 ? new ModelType("private", Role.PRIVATE_WRITE, 0)
							: new ModelType("shared by " + value, Role.OTHER, (int) value - 1);
				}

				@Override
				public void read(AccessChunk chunk, int leafFrom, int leafTo, long[] out) {
					int to = chunk.leafFrom[leafTo];
					for (int row = chunk.leafFrom[leafFrom]; row < to; row++) {
						out[row] = chunk.sharing[row] == AccessBatch.SHARING_NOT_KNOWN ? UNKNOWN : chunk.sharing[row];
					}
				}
			};
		}
	};

	/** The type of events, of traces without accesses: an {@link EventTable} knows its values. It is in no list. */
	public static final Dimension EVENT_TYPE = new OfEventTable("event_type", "Event type", "Event types", "Type of the event",
			Set.of(Use.COLOUR, Use.GROUP));
	/** The producer of events, of such traces. It is in no list. */
	public static final Dimension EVENT_PRODUCER = new OfEventTable("producer", "Producer", "Producers", "What the event comes from",
			Set.of(Use.GROUP));

	/** A property of events that an {@link EventTable} knows. */
	private static final class OfEventTable extends Dimension {
		OfEventTable(String id, String title, String choice, String meaning, Set<Use> uses) {
			super(id, title, choice, Type.TEXT, meaning, uses);
		}

		@Override
		public Set<AccessColumn> columns() {
			return EnumSet.noneOf(AccessColumn.class);
		}

		@Override
		public DimensionValues values(AccessTable table, Progress progress) {
			throw new IllegalArgumentException("accesses have no " + label() + " of events");
		}
	}
}
