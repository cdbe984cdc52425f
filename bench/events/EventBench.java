// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

import org.memtrace.aggregation.events.EventTable;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.storage.Stores;

/**
 * Events other than accesses in the store: bytes, events per second of CPU time for writing, for streaming and for opening
 * (EventTable), and the same events in FrameSoc's plain tables with its index of time, as its own importers write them. Arguments: DIR
 * EVENTS ROUNDS; run.sh compiles and runs it. Results are in docs/measured/import.md.
 *
 * <p>The events are those of a parallel program: 4 processes with 4 threads; states nest up to three levels and are written when they
 * end, as a reader of enter and leave records knows them; one event in 20 is a message to another thread (with a size, every fourth a
 * tag), one in 50 an instant, one in 50 a variable. Lengths are random, between 1 µs and some ms; the seed is fixed.
 */
public final class EventBench {
	private static final long SEED = 20261122;
	private static final int PROCESSES = 4;
	private static final int THREADS = 4;
	private static final List<EventType> TYPES = List.of(new EventType(0, EventCategory.STATE, "parallel region"),
			new EventType(1, EventCategory.STATE, "loop"), new EventType(2, EventCategory.STATE, "wait"),
			new EventType(3, EventCategory.LINK, "message"), new EventType(4, EventCategory.PUNCTUAL, "mark"),
			new EventType(5, EventCategory.VARIABLE, "load"));

	private EventBench() {
	}

	private interface Sink {
		void events(EventBatch batch) throws Exception;

		int parameters(int type, Map<String, String> values) throws Exception;
	}

	private static void generate(long events, Sink to) throws Exception {
		Random random = new Random(SEED);
		EventBatch batch = new EventBatch(8192);
		int threads = PROCESSES * THREADS;
		long[] now = new long[threads];
		long[] regionStart = new long[threads];
		java.util.Arrays.fill(now, 1L << 46);
		java.util.Arrays.fill(regionStart, 1L << 46);
		for (long n = 0; n < events;) {
			int thread = random.nextInt(threads);
			int producer = 2 + thread / THREADS * (THREADS + 1) + thread % THREADS;
			long start = now[thread] + random.nextInt(300);
			long length = 1000L << random.nextInt(8);
			if (batch.count > batch.id.length - 8) {
				to.events(batch);
				batch.count = 0;
			}
			batch.add(0, 2, producer, start + length / 4, start + length / 2, 2, 0);
			batch.add(0, 1, producer, start, start + length, 1, 0);
			n += 2;
			if (random.nextInt(8) == 0) {
				batch.add(0, 0, producer, regionStart[thread], start + length, 0, 0);
				regionStart[thread] = start + length;
				n++;
			}
			int other = random.nextInt(10);
			if (other == 0) {
				int to2 = 2 + random.nextInt(PROCESSES) * (THREADS + 1) + random.nextInt(THREADS);
				batch.add(0, 3, producer, start, start + 2000 + random.nextInt(5000), to2, 0);
				batch.setParameters(random.nextInt(4) == 0 ? to.parameters(3,
						Map.of("size", "" + (64 << random.nextInt(12)), "tag", "" + random.nextInt(50)))
						: to.parameters(3, Map.of("size", "" + (64 << random.nextInt(12)))));
				n++;
			} else if (random.nextInt(12) == 0) {
				batch.add(0, 4, producer, start, start, 0, 0);
				batch.add(0, 5, producer, start, start + length, random.nextInt(2) == 0 ? random.nextInt(100) : random.nextDouble(), 0);
				n += 2;
			}
			now[thread] = start + length;
		}
		to.events(batch);
	}

	private static org.memtrace.model.tree.ProducerTree tree() {
		ProducerTreeBuilder b = new ProducerTreeBuilder(0);
		b.begin(ProducerKind.ROOT, "node", 0, 0, -1);
		for (int p = 0; p < PROCESSES; p++) {
			b.begin(ProducerKind.OTHER, "rank " + p, 0, 0, -1);
			for (int t = 0; t < THREADS; t++) {
				b.leaf(ProducerKind.OTHER, "thread " + p + "." + t, 0, 0, -1);
			}
			b.end();
		}
		b.end();
		return b.build();
	}

	private static double cpu() {
		return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e9;
	}

	private static void print(String what, long events, double seconds, long bytes) {
		System.out.printf(Locale.ROOT, "%-28s %8.2f CPU-s %9.0f events/CPU-s%s%n", what, seconds, events / seconds,
				bytes < 0 ? "" : String.format(Locale.ROOT, " %6.1f bytes/event", (double) bytes / events));
	}

	public static void main(String[] args) throws Exception {
		Path directory = Path.of(args[0]);
		long events = Long.parseLong(args[1]);
		Path ours = directory.resolve("ours.db");
		Path plain = directory.resolve("plain.db");
		for (int round = 0; round < Integer.parseInt(args[2]); round++) {
			Files.deleteIfExists(ours);
			Files.deleteIfExists(plain);
			double start = cpu();
			generate(events, new Sink() {
				@Override
				public void events(EventBatch batch) {
					// only generated: taken off below
				}

				@Override
				public int parameters(int type, Map<String, String> values) {
					return 0;
				}
			});
			double generated = cpu() - start;
			start = cpu();
			long written = write(ours, events);
			print("store, written", written, cpu() - start - generated, Files.size(ours));
			start = cpu();
			plain(plain, events);
			print("plain FrameSoc, written", written, cpu() - start - generated, Files.size(plain));
			for (Path file : List.of(ours, plain)) {
				String name = file == ours ? "store" : "plain FrameSoc";
				try (TraceStore store = Stores.openFile(file)) {
					start = cpu();
					long[] seen = { 0 };
					store.visitEvents(AccessQuery.ALL, b -> seen[0] += b.count, Progress.NONE);
					if (seen[0] != written) {
						throw new IllegalStateException(seen[0] + " of " + written);
					}
					print(name + ", streamed", written, cpu() - start, -1);
					start = cpu();
					EventTable.load(store, Progress.NONE);
					print(name + ", opened", written, cpu() - start, -1);
				}
				try (Connection db = DriverManager.getConnection("jdbc:sqlite:" + file); Statement s = db.createStatement()) {
					start = cpu();
					try (var rows = s.executeQuery("SELECT COUNT(*) FROM EVENT WHERE TIMESTAMP >= '" + (1L << 46) + "' AND TIMESTAMP < '"
							+ ((1L << 46) + 10_000_000) + "'")) {
						rows.next();
						System.out.printf(Locale.ROOT, "%-28s %8.3f CPU-s (%d events)%n", name + ", a window in SQL", cpu() - start,
								rows.getLong(1));
					}
				}
			}
		}
		Files.deleteIfExists(ours);
		Files.deleteIfExists(plain);
	}

	private static long write(Path file, long events) throws Exception {
		try (TraceWriter writer = Stores.createFile(file, n -> {
		})) {
			writer.eventTypes(TYPES);
			writer.producers(tree());
			generate(events, new Sink() {
				@Override
				public void events(EventBatch batch) throws MemtraceException {
					writer.events(batch);
				}

				@Override
				public int parameters(int type, Map<String, String> values) throws MemtraceException {
					return writer.parameters(type, values);
				}
			});
			return writer.commit(new TraceInfo(-1, "bench", "", "bench", "", "", "", 0, 0, 0, Long.MAX_VALUE, 0, Instant.EPOCH, 0, "",
					Map.of()), null, Progress.NONE).events();
		}
	}

	/** As FrameSoc's importers do, but with rows in batches and without a journal. */
	private static void plain(Path file, long events) throws Exception {
		try (Connection db = DriverManager.getConnection("jdbc:sqlite:" + file); Statement s = db.createStatement()) {
			s.execute("PRAGMA journal_mode = OFF");
			s.execute("PRAGMA synchronous = OFF");
			s.execute("CREATE TABLE EVENT_TYPE(ID INTEGER PRIMARY KEY, CATEGORY INTEGER, NAME VARCHAR(128) UNIQUE)");
			s.execute("CREATE TABLE EVENT_PRODUCER(ID INTEGER PRIMARY KEY, TYPE VARCHAR(128), LOCAL_ID VARCHAR(128), NAME TEXT,"
					+ " PARENT_ID INTEGER)");
			s.execute("CREATE TABLE EVENT(ID INTEGER PRIMARY KEY, EVENT_TYPE_ID INTEGER, EVENT_PRODUCER_ID INTEGER, TIMESTAMP BIGINT,"
					+ " CPU INTEGER, PAGE INTEGER, CATEGORY INTEGER, LPAR BIGINT, DPAR DOUBLE)");
			s.execute("CREATE TABLE EVENT_PARAM(ID INTEGER PRIMARY KEY, EVENT_ID INTEGER, EVENT_PARAM_TYPE_ID INTEGER, VALUE TEXT)");
			db.setAutoCommit(false);
			for (EventType t : TYPES) {
				s.execute("INSERT INTO EVENT_TYPE VALUES(" + t.id() + "," + t.category().ordinal() + ",'" + t.name() + "')");
			}
			var tree = tree();
			for (int id = 0; id < tree.size(); id++) {
				s.execute("INSERT INTO EVENT_PRODUCER VALUES(" + id + ",'thread','" + id + "','" + tree.name(id) + "'," + tree.parent(id) + ")");
			}
			try (PreparedStatement insert = db.prepareStatement("INSERT INTO EVENT VALUES(?,?,?,?,?,?,?,?,?)");
					PreparedStatement param = db.prepareStatement("INSERT INTO EVENT_PARAM VALUES(?,?,?,?)")) {
				long[] id = { 0, 0 };
				List<Map<String, String>> sets = new java.util.ArrayList<>();
				generate(events, new Sink() {
					@Override
					public void events(EventBatch b) throws Exception {
						for (int i = 0; i < b.count; i++) {
							insert.setLong(1, id[0]);
							insert.setInt(2, b.type[i]);
							insert.setInt(3, b.producer[i]);
							insert.setLong(4, b.startNs[i]);
							insert.setInt(5, 0);
							insert.setLong(6, id[0] / 20_000);
							insert.setInt(7, TYPES.get(b.type[i]).category().ordinal());
							insert.setLong(8, b.endNs[i]);
							insert.setDouble(9, b.value[i]);
							insert.executeUpdate();
							int set = b.parameters(i);
							if (set > 0) {
								int slot = 0;
								for (Map.Entry<String, String> e : sets.get(set - 1).entrySet()) {
									param.setLong(1, id[1]++);
									param.setLong(2, id[0]);
									param.setInt(3, slot++);
									param.setString(4, e.getValue());
									param.executeUpdate();
								}
							}
							id[0]++;
						}
						sets.clear();
					}

					@Override
					public int parameters(int type, Map<String, String> values) {
						sets.add(values);
						return sets.size();
					}
				});
			}
			s.execute("CREATE INDEX ts_index ON EVENT(TIMESTAMP)");
			db.commit();
		}
	}
}
