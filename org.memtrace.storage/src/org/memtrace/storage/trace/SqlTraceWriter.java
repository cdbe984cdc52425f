// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.trace;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

import org.memtrace.model.CallFrame;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.ThreadTimes;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.columns.DamagedChunkException;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.FrameSocRows;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.MemoryTrees;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.storage.chunks.AccessesByTime;
import org.memtrace.storage.chunks.ChunkEntry;
import org.memtrace.storage.chunks.CodedChunk;
import org.memtrace.storage.chunks.RowSorter;
import org.memtrace.storage.chunks.StoredChunks;
import org.memtrace.storage.dbms.Database;
import org.memtrace.storage.dbms.Dbms;
import org.memtrace.storage.dbms.PendingDatabase;
import org.memtrace.storage.dbms.PendingFile;
import org.memtrace.storage.dbms.Schema;
import org.memtrace.storage.dbms.Sqlite;
import org.memtrace.storage.events.ContextTable;
import org.memtrace.storage.events.EventStream;
import org.memtrace.storage.events.EventWriter;
import org.memtrace.storage.events.OtherEventTables;
import org.memtrace.storage.events.OtherEventWriter;
import org.memtrace.storage.rows.ChunkAccesses;
import org.memtrace.storage.rows.EventTypes;
import org.memtrace.storage.rows.WriterRules;
import org.memtrace.storage.tables.ChunkTables;
import org.memtrace.storage.tables.ContentStamp;
import org.memtrace.storage.tables.InfoProperties;
import org.memtrace.storage.tables.NoteChecksums;
import org.memtrace.storage.tables.TableChecksums;
import org.memtrace.storage.tables.TreeTables;

/**
 * Writes a trace database that nobody sees, and publishes it at commit.
 */
public final class SqlTraceWriter implements TraceWriter {
	/** Accesses with the same start whose rows for FrameSoc can wait for each other, some 20 MB. */
	private static final int MOST_TOGETHER = 1 << 18;

	private final Dbms dbms;
	private final PendingDatabase pending;
	private final Database database;
	private final String databaseName;
	private Connection db;
	/** Made with the first event type. */
	private OtherEventWriter otherEvents;
	/** Producers by the number that other events have for them; null when it is the same. */
	private int[] idOf;
	/** Made with the first access. */
	private RowSorter sorter;
	/** Made with the first coded chunk; null when accesses come as such. */
	private CodedChunks coded;
	private List<ThreadInfo> threads = List.of();
	private List<BitSet> cpuSets = List.of();
	private MemoryTrees trees;
	private MemoryLayout layout;
	private boolean withUnknownThread;
	private boolean sharingNotKnown;
	private boolean typesByThread;

	private FrameSocRows frameSocRows = FrameSocRows.AUTO;
	/** Accesses that were announced, -1 when none were. */
	private long expected = -1;
	/** Writes the rows of FrameSoc while the accesses come; null when they do not, or not in order. */
	private EventStream eventStream;
	private int mostTogether = MOST_TOGETHER;

	/** Reads and writes so far. */
	private long counted;
	private long indexChecksum;
	/** Of large tables, by name. */
	private final Map<String, Long> checksums = new TreeMap<>();
	private long firstNs = Long.MAX_VALUE;
	private long lastNs = Long.MIN_VALUE;
	private long longestNs;

	/** @param databaseName with the suffix of the kind of database */
	public SqlTraceWriter(Dbms dbms, Path directory, String databaseName, PendingDatabase.Publisher publisher) throws MemtraceException {
		this(PendingDatabase.of(dbms, PendingFile.begin(directory, dbms.suffix()), publisher), databaseName);
	}

	/** @param pending ends with this writer */
	public SqlTraceWriter(PendingDatabase pending, String databaseName) throws MemtraceException {
		this.pending = pending;
		this.database = pending.database();
		this.dbms = database.dbms;
		this.databaseName = databaseName;
		boolean ok = false;
		try {
			db = pending.begin();
			dbms.prepareWriting(db);
			Sqlite.execute(db, dbms.schema(Schema.TRACE_TABLES));
			ok = true;
		} catch (SQLException e) {
			throw database.explain(e);
		} finally {
			if (!ok) {
				close();
			}
		}
	}

	/** For tests: a file that grows beyond this is as if the device were full. */
	public void limitPages(int pages) throws SQLException {
		Sqlite.execute(db, "PRAGMA max_page_count = " + pages);
	}

	/** For tests: so many accesses with the same start can wait for each other. */
	public void limitTogether(int accesses) {
		mostTogether = accesses;
	}

	/** Whether the rows of FrameSoc are written while the accesses come. */
	public boolean streamsEvents() {
		return eventStream != null;
	}

	@Override
	public void threads(List<ThreadInfo> list) throws MemtraceException {
		threads = List.copyOf(list);
		insert("INSERT INTO MT_THREAD VALUES(?,?,?,?,?,?,?,?)", list, (row, t) -> {
			row.setInt(1, t.index());
			row.setInt(2, t.image());
			row.setLong(3, t.taskId());
			row.setString(4, t.name());
			row.setLong(5, t.birthNs());
			row.setLong(6, t.deathNs());
			row.setString(7, t.startRoutine());
			row.setInt(8, t.main() ? 1 : 0);
		});
	}

	@Override
	public void structures(List<Structure> list) throws MemtraceException {
		insert("INSERT INTO MT_STRUCTURE VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", list, (row, s) -> {
			row.setInt(1, s.id());
			row.setInt(2, s.image());
			row.setInt(3, s.kind().ordinal());
			row.setString(4, s.name());
			row.setLong(5, s.startAddress());
			row.setLong(6, s.endAddress());
			row.setLong(7, s.birthNs());
			row.setLong(8, s.deathNs());
			row.setLong(9, s.taskId());
			row.setInt(10, s.stack());
			row.setString(11, s.site());
			row.setString(12, s.typeName());
			row.setString(13, s.members());
			row.setLong(14, s.hugeBytes());
			row.setLong(15, s.noHugeBytes());
		});
	}

	@Override
	public void stack(int stackId, List<CallFrame> frames) throws MemtraceException {
		int[] depth = { 0 };
		insert("INSERT INTO MT_FRAME VALUES(?,?,?,?,?,?,?)", frames, (row, f) -> {
			row.setInt(1, stackId);
			row.setInt(2, depth[0]++);
			row.setLong(3, f.ip());
			row.setString(4, f.object());
			row.setString(5, f.function());
			row.setString(6, f.file());
			row.setInt(7, f.line());
		});
	}

	@Override
	public void producers(ProducerTree tree) {
		trees = MemoryTrees.of(tree); // written at commit, where there is a progress
	}

	@Override
	public void producers(ProducerTree tree, int[] producerOf) {
		trees = MemoryTrees.of(tree);
		idOf = producerOf.clone();
	}

	@Override
	public void eventTypes(List<EventType> types) throws MemtraceException {
		try {
			if (otherEvents == null) {
				otherEvents = new OtherEventWriter(db, dbms, pending.scratch());
			}
			otherEvents.types(types);
		} catch (SQLException e) {
			throw database.explain(e);
		}
	}

	@Override
	public int parameters(int eventType, Map<String, String> values) throws MemtraceException {
		try {
			return typedEvents().parameters(eventType, values);
		} catch (OtherEventWriter.Failure e) {
			throw database.explain(e.sql);
		}
	}

	@Override
	public void events(EventBatch batch) throws MemtraceException {
		typedEvents().events(batch);
	}

	private OtherEventWriter typedEvents() throws StoreException {
		if (otherEvents == null) {
			throw new StoreException("events before their types");
		}
		return otherEvents;
	}

	@Override
	public void trees(MemoryLayout madeFrom, MemoryTrees made) {
		layout = madeFrom;
		trees = made;
	}

	@Override
	public void cpuSets(List<BitSet> sets) {
		cpuSets = List.copyOf(sets);
	}

	@Override
	public void intervals(List<Interval> list) throws MemtraceException {
		int[] id = { 0 };
		insert("INSERT INTO MT_INTERVAL VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", list, (row, i) -> {
			row.setInt(1, id[0]++);
			row.setInt(2, i.image());
			row.setLong(3, i.startNs());
			row.setLong(4, i.endNs());
			row.setLong(5, i.targetNs());
			row.setLong(6, i.faults());
			row.setLong(7, i.lost());
			row.setLong(8, i.unattributed());
			row.setString(9, i.event());
			Interval.Measured m = i.measured();
			int column = 10;
			for (long value : new long[] {m.closedNs(), m.subphases(), m.records(), m.accesses(), m.residentBytes(), m.unseenSharedBytes(),
					m.unseenFileBytes(), m.programCpuNs(), m.monitorCpuNs(), m.scanNs(), m.zapNs()}) {
				row.setLong(column++, value);
			}
		});
	}

	@Override
	public void threadTimes(ThreadTimes times) throws MemtraceException {
		List<Integer> samples = IntStream.range(0, times.size()).boxed().toList();
		insert("INSERT INTO " + Schema.THREAD_TIMES + " VALUES(?,?,?)", samples, (row, i) -> {
			row.setInt(1, times.thread(i));
			row.setLong(2, times.timeNs(i));
			row.setLong(3, times.cpuNs(i));
		});
	}

	@Override
	public void note(String key, byte[] value) throws MemtraceException {
		try {
			NoteChecksums.replace(dbms, db, key, value);
		} catch (SQLException e) {
			throw database.explain(e);
		}
	}

	private interface Binder<T> {
		void bind(PreparedStatement row, T value) throws SQLException;
	}

	private <T> void insert(String sql, List<T> values, Binder<T> binder) throws MemtraceException {
		try (PreparedStatement statement = db.prepareStatement(sql)) {
			int rows = 0;
			for (T value : values) {
				binder.bind(statement, value);
				statement.addBatch();
				if (++rows % 1000 == 0) {
					statement.executeBatch();
				}
			}
			statement.executeBatch();
		} catch (SQLException e) {
			throw database.explain(e);
		}
	}

	@Override
	public void eventTypesByThread() {
		typesByThread = true;
	}

	@Override
	public void frameSocRows(FrameSocRows rows) {
		frameSocRows = rows;
	}

	@Override
	public void expect(long accesses) {
		expected = accesses;
	}

	@Override
	public void accesses(AccessBatch batch) throws MemtraceException {
		try {
			addAccesses(batch);
		} catch (SQLException e) {
			throw database.explain(e);
		}
	}

	private void addAccesses(AccessBatch batch) throws MemtraceException, SQLException {
		int cells = trees == null ? 0 : trees.virtualLeaf().length;
		for (int i = 0; i < batch.count; i++) {
			counted = WriterRules.check(batch, i, cells, threads.size(), counted);
			if (sorter == null) {
				sorter = new RowSorter(trees.virtualLeaf(), trees.virtual().size(), pending.scratch());
				if (expected >= 0 && frameSocRows.writes(expected)) {
					eventStream = new EventStream(db, trees.virtualLeaf(), trees.virtual().size(), mostTogether);
				}
			}
			sorter.add(batch, i);
			if (eventStream != null && !eventStream.add(batch, i)) {
				dropEvents();
			}
			long start = batch.startNs[i];
			long end = batch.endNs[i];
			firstNs = Math.min(firstNs, start);
			lastNs = Math.max(lastNs, end);
			longestNs = Math.max(longestNs, end - start);
			withUnknownThread |= batch.thread[i] == AccessBatch.NO_THREAD;
			sharingNotKnown |= batch.sharing[i] == AccessBatch.SHARING_NOT_KNOWN;
		}
	}

	@Override
	public void coded(byte[] bytes) throws MemtraceException {
		CodedChunk chunk = CodedChunk.of(bytes);
		try {
			if (coded == null) {
				coded = new CodedChunks(db);
			}
			coded.add(chunk, trees == null ? 0 : trees.virtualLeaf().length);
		} catch (SQLException e) {
			throw database.explain(e);
		}
		try {
			counted = Math.addExact(counted, Math.addExact(chunk.entry().reads(), chunk.entry().writes()));
		} catch (ArithmeticException e) {
			throw new StoreException("the reads and writes of all accesses together are more than " + Long.MAX_VALUE, e);
		}
		firstNs = Math.min(firstNs, chunk.entry().startNs());
		lastNs = Math.max(lastNs, chunk.entry().endNs());
		longestNs = Math.max(longestNs, chunk.longestNs());
		withUnknownThread |= chunk.unknownThread();
		sharingNotKnown |= chunk.entry().sharingNotKnown();
	}

	/** Chunks that were coded elsewhere. */
	private static final class CodedChunks implements AutoCloseable {
		private final PreparedStatement chunks;
		private final PreparedStatement columns;
		private final ChunkTables tables;
		private int count;
		private long rows;

		CodedChunks(Connection db) throws SQLException {
			chunks = db.prepareStatement(ChunkTables.INSERT_CHUNK);
			columns = db.prepareStatement(ChunkTables.INSERT_COLUMN);
			tables = new ChunkTables(chunks, columns);
		}

		void add(CodedChunk chunk, int cells) throws SQLException, StoreException {
			ChunkEntry entry = chunk.entry();
			rows += entry.rows();
			if (entry.rows() < 1 || entry.cellFrom() < 0 || entry.cellTo() > cells) {
				throw new StoreException("coded accesses are of other pages than those of the trace");
			}
			if (rows > Integer.MAX_VALUE) {
				throw new StoreException("a trace database holds at most " + Integer.MAX_VALUE + " accesses");
			}
			tables.add(count++, entry, chunk.data());
		}

		@Override
		public void close() throws SQLException {
			chunks.close();
			columns.close();
		}
	}

	@Override
	public TraceInfo commit(TraceInfo info, String reportJson, Progress progress) throws MemtraceException {
		long others = otherEvents == null ? 0 : otherEvents.count();
		long accesses = coded != null ? coded.rows : sorter == null ? 0 : sorter.rows();
		if (coded != null && sorter != null) {
			throw new StoreException("accesses came both coded and as such");
		}
		WriterRules.check(accesses, others, trees, idOf);
		if (others > 0) {
			firstNs = Math.min(firstNs, otherEvents.firstNs());
			lastNs = Math.max(lastNs, otherEvents.lastNs());
		}
		try {
			if (sorter != null) {
				writeChunks(progress);
			} else if (coded != null) {
				indexChecksum = coded.tables.checksum();
			}
			TreeTables.write(db, layout, trees, progress);
			progress.begin("Finishing the database", -1);
			int types = accesses == 0 ? 0 : writeTypes();
			writeCpus();
			long rows = 0;
			if (accesses > 0 && frameSocRows.writes(accesses)) {
				rows = writeEvents(progress);
			} else if (eventStream != null) {
				dropEvents();
			}
			if (others > 0) {
				otherEvents.write(idOf, trees.virtual().size(), rows, types, types * Schema.ACCESS_PARAMETERS, progress);
				progress.begin("Finishing the database", -1);
			}
			TraceInfo complete = WriterRules.complete(info, -1, databaseName, rows + others, trees.virtual().size(), firstNs, lastNs,
					sharingNotKnown);
			properties(complete, accesses, reportJson);
			progress.check();
			Sqlite.execute(db, dbms.schema(Schema.TRACE_INDEXES));
			Sqlite.execute(db, dbms.schema(views(accesses > 0, others > 0, types, others == 0 ? 0 : otherEvents.mostParameters())));
			if (others > 0) {
				checksums.putAll(otherEvents.checksums());
			}
			TableChecksums.write(db, checksums);
			if (dbms.countsChanges()) {
				ContentStamp.make(db, 0);
			}
			progress.check();
			return pending.publish(db, complete);
		} catch (SQLException e) {
			throw database.explain(e);
		} catch (IOException e) {
			throw new StoreException(database + " cannot be completed: " + PendingFile.reason(e), e);
		} finally {
			close();
		}
	}

	/**
	 * FrameSoc's tables of events.
	 *
	 * @param accesses whether there are any
	 * @param others whether there are events other than accesses
	 * @param accessTypes number of event types of accesses
	 * @param mostParameters that an event has which is no access
	 */
	static String[] views(boolean accesses, boolean others, int accessTypes, int mostParameters) {
		if (!others) {
			return Schema.views(Schema.SELECT_ACCESS_EVENTS, Schema.SELECT_ACCESS_PARAMETERS);
		}
		int most = Math.max(Schema.ACCESS_PARAMETERS, mostParameters);
		String parameters = OtherEventTables.selectParameters(accessTypes * Schema.ACCESS_PARAMETERS, most);
		return !accesses ? Schema.views(OtherEventTables.SELECT_EVENTS, parameters)
				: Schema.views(Schema.SELECT_ACCESS_EVENTS + " UNION ALL " + OtherEventTables.SELECT_EVENTS,
						Schema.SELECT_ACCESS_PARAMETERS + " UNION ALL " + parameters);
	}

	/** All accesses in chunks, and the index of the chunks. */
	private void writeChunks(Progress progress) throws SQLException, MemtraceException {
		try (PreparedStatement chunks = db.prepareStatement(ChunkTables.INSERT_CHUNK);
				PreparedStatement columns = db.prepareStatement(ChunkTables.INSERT_COLUMN)) {
			ChunkTables tables = new ChunkTables(chunks, columns);
			sorter.finish(progress, (number, entry, data) -> {
				try {
					tables.add(number, entry, data);
				} catch (SQLException e) {
					throw database.explain(e);
				}
			});
			indexChecksum = tables.checksum();
		}
	}

	/** What was written of FrameSoc's rows is of no use. */
	private void dropEvents() throws SQLException {
		eventStream.close();
		eventStream = null;
		Sqlite.execute(db, "DELETE FROM MT_EVENT", "DELETE FROM MT_RUN");
	}

	/** The rows of FrameSoc: those that were written while the accesses came, else from the chunks. Returns how many there are. */
	private long writeEvents(Progress progress) throws SQLException, MemtraceException {
		if (eventStream != null) {
			return finishEvents(eventStream.end());
		}
		progress.begin("Writing events of FrameSoc", coded != null ? coded.rows : sorter.rows());
		try (EventWriter writer = new EventWriter(db)) {
			List<DamagedChunkException> damaged = new ArrayList<>();
			StoredChunks chunks = new StoredChunks(databaseName, ChunkTables.index(db), ChunkTables.blobs(database, db));
			int[] cells = new int[trees.virtualLeaf().length];
			Arrays.setAll(cells, i -> i);
			try (AccessesByTime byTime = new AccessesByTime(chunks, cells, pending.scratch(), damaged::add)) {
				byTime.visit(AccessQuery.ALL, 0, cells.length, Long.MIN_VALUE, 0, Long.MAX_VALUE, Integer.MAX_VALUE, batch -> {
					try {
						synchronized (db) {
							writer.add(batch);
						}
					} catch (SQLException e) {
						throw database.explain(e);
					}
				}, progress);
			}
			if (!damaged.isEmpty()) {
				throw damaged.get(0);
			}
			progress.begin("Finishing the database", -1);
			return finishEvents(writer);
		}
	}

	private long finishEvents(EventWriter writer) throws SQLException {
		long rows = writer.finish(cpuMasks(), firstCpus(), threads, typesByThread);
		checksums.putAll(writer.checksums());
		return rows;
	}

	/** @return how many types there are */
	private int writeTypes() throws SQLException {
		List<EventType> all = EventTypes.of(threads, withUnknownThread, sharingNotKnown);
		try (PreparedStatement types = db.prepareStatement("INSERT INTO EVENT_TYPE VALUES(?,?,?)");
				PreparedStatement params = db.prepareStatement("INSERT INTO EVENT_PARAM_TYPE VALUES(?,?,?,?)")) {
			for (EventType type : all) {
				types.setInt(1, type.id());
				types.setInt(2, type.category().ordinal());
				types.setString(3, type.name());
				types.addBatch();
				for (int slot = 0; slot < 2; slot++) {
					params.setInt(1, ContextTable.paramType(type.id(), slot));
					params.setInt(2, type.id());
					params.setString(3, slot == 0 ? "CPUMask" : "Tid");
					params.setString(4, slot == 0 ? "STRING" : "INTEGER");
					params.addBatch();
				}
			}
			types.executeBatch();
			params.executeBatch();
		}
		return all.size();
	}

	private void writeCpus() throws SQLException {
		String[] masks = cpuMasks();
		try (PreparedStatement statement = db.prepareStatement("INSERT INTO MT_CPU_SET VALUES(?,?)")) {
			for (int i = 0; i < masks.length; i++) {
				statement.setInt(1, i);
				statement.setString(2, masks[i]);
				statement.addBatch();
			}
			statement.executeBatch();
		}
	}

	private String[] cpuMasks() {
		return cpuSets.stream().map(ChunkAccesses::mask).toArray(String[]::new);
	}

	private int[] firstCpus() {
		int[] first = new int[cpuSets.size()];
		Arrays.setAll(first, i -> WriterRules.cpu(cpuSets, i));
		return first;
	}

	private void properties(TraceInfo info, long accesses, String reportJson) throws SQLException, MemtraceException {
		Sqlite.update(db, "INSERT INTO MT_SCHEMA VALUES(?, 'memtrace')", Schema.VERSION);
		Map<String, String> all = new TreeMap<>(InfoProperties.of(info));
		all.put(InfoProperties.ACCESSES, Long.toString(accesses));
		all.put(InfoProperties.LONGEST_NS, Long.toString(longestNs));
		all.put(ChunkTables.CHECKSUM, Long.toString(indexChecksum));
		all.put(ChunkTables.ORDER, Long.toString(ChunkAccesses.orderOf(trees.virtualLeaf())));
		all.put(InfoProperties.TYPES_BY_THREAD, typesByThread ? "1" : "0");
		insert("INSERT INTO MT_PROPERTY VALUES(?,?)", new ArrayList<>(all.entrySet()), (row, e) -> {
			row.setString(1, e.getKey());
			row.setString(2, e.getValue());
		});
		if (reportJson != null) {
			Sqlite.update(db, "INSERT INTO MT_REPORT VALUES(0, ?)", reportJson);
		}
	}

	@Override
	public void close() {
		if (otherEvents != null) {
			otherEvents.close();
		}
		if (sorter != null) {
			sorter.close();
		}
		if (coded != null) {
			try {
				coded.close();
			} catch (SQLException e) {
				// the database is removed or complete
			}
			coded = null;
		}
		if (eventStream != null) {
			try {
				eventStream.close();
			} catch (SQLException e) {
				// the database is removed or complete
			}
			eventStream = null;
		}
		if (db != null) {
			try {
				db.close();
			} catch (SQLException e) {
				// the database is removed next
			}
			db = null;
		}
		pending.end();
	}
}
