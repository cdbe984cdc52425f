// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.foreign;

import java.math.BigInteger;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.storage.dbms.Sqlite;
import org.memtrace.storage.memory.MemoryTraceStore;
import org.memtrace.storage.memory.MemoryTraceWriter;

/**
 * The accesses in a database that FrameSoc's importer of Moca's files has written: variables whose types are called
 * {@code Private_Read}, {@code Shared_Write} and so on, perhaps with the thread ({@code Private_Read_T4711}). The value is the count,
 * the parameters {@code Tid} and {@code CPUMask} are thread and CPUs. A read and a write of the same access are two events that follow
 * each other. What the database does not tell: by how many threads a page is shared (2 stands for shared), structures, pages of another
 * size than 4096.
 *
 * <p>All accesses are read into the heap, some 70 bytes each, in order of time: in the database they are in the order of the pages.
 */
public final class MocaDatabase {
	/** Size of a page where nothing tells it. */
	public static final int PAGE_BYTES = 4096;

	private static final Pattern TYPE = Pattern.compile("(Private|Shared)_(Read|Write)(?:_T(-?\\d{1,18}))?");
	private static final Pattern ADDRESS = Pattern.compile("\\d{1,20}");
	private static final BigInteger ADDRESSES = BigInteger.ONE.shiftLeft(Long.SIZE);
	private static final int BATCH = 4096;
	private static final int CHECK_EVERY = 8192;

	/** What an event type says. */
	private record Meaning(boolean shared, boolean write, Long task) {
	}

	private MocaDatabase() {
	}

	private static Map<Integer, Meaning> meanings(List<EventType> types) {
		Map<Integer, Meaning> meanings = new HashMap<>();
		for (EventType type : types) {
			Matcher m = TYPE.matcher(type.name());
			if (type.category() == EventCategory.VARIABLE && m.matches()) {
				meanings.put(type.id(), new Meaning(m.group(1).equals("Shared"), m.group(2).equals("Write"),
						m.group(3) == null ? null : Long.valueOf(m.group(3))));
			}
		}
		return meanings;
	}

	/** Whether all events are accesses, as far as their types tell. */
	public static boolean isOne(List<EventType> types) {
		return !types.isEmpty() && meanings(types).size() == types.size();
	}

	/**
	 * The tree with what its names tell: leaves are called by the decimal address of an access. Numbers and names stay the same.
	 */
	public static ProducerTree tree(ProducerTree plain) {
		int n = plain.size();
		long[] start = new long[n];
		long[] end = new long[n];
		for (int id = n - 1; id >= 0; id--) {
			if (plain.isLeaf(id) && ADDRESS.matcher(plain.name(id)).matches()) {
				start[id] = address(plain.name(id)) & -PAGE_BYTES;
				end[id] = start[id] + PAGE_BYTES;
			}
			for (int child = plain.firstChild(id); child >= 0; child = plain.nextSibling(child)) {
				if (end[child] != 0) {
					start[id] = end[id] == 0 || Long.compareUnsigned(start[child], start[id]) < 0 ? start[child] : start[id];
					end[id] = end[id] == 0 || Long.compareUnsigned(end[child], end[id]) > 0 ? end[child] : end[id];
				}
			}
		}
		ProducerTreeBuilder builder = new ProducerTreeBuilder(PAGE_BYTES, n);
		int[] open = new int[n + 1];
		int depth = 0;
		for (int id = 0; id < n; id++) {
			while (depth > 0 && plain.subtreeEnd(open[depth - 1]) <= id) {
				builder.end();
				depth--;
			}
			boolean root = plain.parent(id) == ProducerTree.NO_PARENT && !plain.isLeaf(id);
			ProducerKind kind = root ? ProducerKind.ROOT : end[id] == 0 ? ProducerKind.OTHER : plain.isLeaf(id) ? ProducerKind.PAGE
					: plain.level(id) == 1 ? ProducerKind.RANGE : ProducerKind.PART;
			builder.begin(kind, plain.name(id), root ? 0 : start[id], root ? 0 : end[id], -1);
			open[depth++] = id;
		}
		for (; depth > 0; depth--) {
			builder.end();
		}
		return builder.build();
	}

	/** Of the last 64 bits: kernel addresses are above 2^63. */
	private static long address(String decimal) {
		return new BigInteger(decimal).mod(ADDRESSES).longValue();
	}

	/** The accesses as a trace on the heap. */
	public static MemoryTraceStore read(Connection db, List<EventType> types, ForeignProducers producers, ProducerTree tree, TraceInfo info,
			Progress progress) throws SQLException, MemtraceException {
		Map<Integer, Meaning> meanings = meanings(types);
		Map<Integer, String> texts = parameterTypes(db);
		Parameters parameters = Parameters.read(db, texts, progress);
		List<MemoryTraceStore> made = new ArrayList<>();
		try (MemoryTraceWriter writer = new MemoryTraceWriter(maker -> {
			made.add(maker.apply(-1));
			return made.get(0).info();
		}, info.databaseName())) {
			writer.producers(tree);
			Threads threads = new Threads();
			// thread numbers are known when all rows are read
			List<AccessBatch> batches = rows(db, meanings, parameters, producers, threads, progress);
			writer.threads(threads.list(info.startNs()));
			writer.cpuSets(parameters.cpuSets);
			for (AccessBatch batch : batches) {
				writer.accesses(batch);
			}
			if (batches.isEmpty()) {
				throw new StoreException(info.alias() + " has event types of accesses, but none of them");
			}
			writer.commit(info, null, progress);
		}
		return made.get(0);
	}

	private static Map<Integer, String> parameterTypes(Connection db) throws SQLException {
		Map<Integer, String> names = new HashMap<>();
		try (Statement statement = db.createStatement();
				ResultSet rows = statement.executeQuery("SELECT ID, NAME FROM EVENT_PARAM_TYPE")) {
			while (rows.next()) {
				names.put(rows.getInt(1), rows.getString(2));
			}
		}
		return names;
	}

	/** Thread and CPUs of each event, by its id. */
	private static final class Parameters {
		private final Map<Integer, Long> task = new HashMap<>();
		private final Map<Integer, Integer> cpuSet = new HashMap<>();
		private final List<BitSet> cpuSets = new ArrayList<>();

		static Parameters read(Connection db, Map<Integer, String> names, Progress progress) throws SQLException, MemtraceException {
			Parameters p = new Parameters();
			Map<String, Integer> known = new HashMap<>();
			progress.begin("Reading threads and CPUs", -1);
			try (Statement statement = db.createStatement(); ResultSet rows = statement
					.executeQuery("SELECT EVENT_ID, EVENT_PARAM_TYPE_ID, VALUE FROM EVENT_PARAM")) {
				for (long n = 0; rows.next(); n++) {
					if (n % CHECK_EVERY == 0) {
						progress.check();
					}
					String name = names.get(rows.getInt(2));
					String value = rows.getString(3);
					if ("Tid".equals(name) && value != null && value.matches("-?\\d{1,18}")) {
						p.task.put(rows.getInt(1), Long.valueOf(value));
					} else if ("CPUMask".equals(name) && value != null) {
						p.cpuSet.put(rows.getInt(1), known.computeIfAbsent(value, v -> p.cpus(v)));
					}
				}
			}
			return p;
		}

		/** Moca writes a mask in binary, the last digit is CPU 0. -1 for what is no mask. */
		private int cpus(String mask) {
			String digits = mask.strip();
			if (!digits.matches("[01]{1,16384}")) {
				return -1;
			}
			BitSet set = new BitSet();
			for (int i = 0; i < digits.length(); i++) {
				set.set(digits.length() - 1 - i, digits.charAt(i) == '1');
			}
			if (set.isEmpty()) {
				return -1;
			}
			cpuSets.add(set);
			return cpuSets.size() - 1;
		}
	}

	/** Threads in the order in which they are found. */
	private static final class Threads {
		private final Map<Long, Integer> numbers = new LinkedHashMap<>();

		int number(Long task) {
			return task == null || task < 0 ? AccessBatch.NO_THREAD : numbers.computeIfAbsent(task, t -> numbers.size());
		}

		List<ThreadInfo> list(long startNs) {
			List<ThreadInfo> list = new ArrayList<>();
			numbers.forEach((task, index) -> list
					.add(new ThreadInfo(index, 0, task, "thread " + task, startNs, Long.MAX_VALUE, "", false)));
			return list;
		}
	}

	private static List<AccessBatch> rows(Connection db, Map<Integer, Meaning> meanings, Parameters parameters, ForeignProducers producers,
			Threads threads, Progress progress) throws SQLException, MemtraceException {
		List<AccessBatch> batches = new ArrayList<>();
		progress.begin("Reading accesses", Sqlite.number(db, -1, "SELECT COUNT(*) FROM EVENT"));
		try (PreparedStatement select = db.prepareStatement(
				"SELECT ID, EVENT_TYPE_ID, EVENT_PRODUCER_ID, TIMESTAMP, LPAR, DPAR FROM EVENT ORDER BY TIMESTAMP, ID");
				ResultSet rows = select.executeQuery()) {
			AccessBatch out = null;
			int previous = Integer.MIN_VALUE;
			for (long n = 1; rows.next(); n++) {
				if (n % CHECK_EVERY == 0) {
					progress.worked(CHECK_EVERY);
					progress.check();
				}
				int id = rows.getInt(1);
				Meaning meaning = meanings.get(rows.getInt(2));
				int producer = producers.number(rows.getInt(3));
				double value = rows.getDouble(6);
				long count = (long) value;
				if (meaning == null || producer < 0 || count <= 0 || count != value) {
					throw new StoreException("event " + id + " is no access: it has the type " + rows.getInt(2) + ", the event producer "
							+ rows.getInt(3) + " and the value " + value);
				}
				long start = rows.getLong(4);
				long end = Math.max(start + 1, rows.getLong(5)); // Moca's intervals are closed and may be a single tick
				Long task = parameters.task.get(id);
				int thread = threads.number(task != null ? task : meaning.task);
				int cpus = parameters.cpuSet.getOrDefault(id, -1);
				int sharing = meaning.shared ? 2 : 1;
				if (out != null && meaning.write && id == previous + 1 && joins(out, start, end, producer, thread, cpus, sharing)) {
					out.writes[out.count - 1] = count;
				} else {
					if (out == null || out.isFull()) {
						out = new AccessBatch(BATCH);
						batches.add(out);
					}
					out.add(start, end, producer, thread, cpus, meaning.write ? 0 : count, meaning.write ? count : 0, sharing, -1, 0, 0);
				}
				previous = id;
			}
		}
		return batches;
	}

	/** Whether the last access is a read without a write that a write belongs to. */
	private static boolean joins(AccessBatch out, long start, long end, int producer, int thread, int cpus, int sharing) {
		int last = out.count - 1;
		return last >= 0 && out.writes[last] == 0 && out.startNs[last] == start && out.endNs[last] == end && out.producer[last] == producer
				&& out.thread[last] == thread && out.cpuSet[last] == cpus && out.sharing[last] == sharing;
	}
}
