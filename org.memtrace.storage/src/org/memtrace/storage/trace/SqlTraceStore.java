// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.trace;

import java.math.BigInteger;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;

import org.memtrace.model.CallFrame;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.ThreadTimes;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessRows;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.columns.DamagedChunkException;
import org.memtrace.model.columns.Losses;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.AccessVisitor;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.EventVisitor;
import org.memtrace.model.store.HeapAccessSource;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.MemoryTrees;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.storage.chunks.ChunkCells;
import org.memtrace.storage.chunks.ChunkEntry;
import org.memtrace.storage.chunks.Damage;
import org.memtrace.storage.chunks.StoredChunks;
import org.memtrace.storage.dbms.Database;
import org.memtrace.storage.dbms.Dbms;
import org.memtrace.storage.dbms.Schema;
import org.memtrace.storage.dbms.Sqlite;
import org.memtrace.storage.events.EventParameters;
import org.memtrace.storage.events.OtherEventReader;
import org.memtrace.storage.events.OtherEventTables;
import org.memtrace.storage.foreign.ForeignProducers;
import org.memtrace.storage.foreign.MocaDatabase;
import org.memtrace.storage.memory.MemoryTraceStore;
import org.memtrace.storage.rows.CellMap;
import org.memtrace.storage.rows.ChunkAccesses;
import org.memtrace.storage.rows.Spaces;
import org.memtrace.storage.tables.ChunkTables;
import org.memtrace.storage.tables.ContentStamp;
import org.memtrace.storage.tables.InfoProperties;
import org.memtrace.storage.tables.NoteChecksums;
import org.memtrace.storage.tables.PackedTree;
import org.memtrace.storage.tables.TableChecksums;
import org.memtrace.storage.tables.TreeTables;

/**
 * A trace database, ours or one that FrameSoc wrote. Small tables are read once, through one connection; a visit opens a
 * connection of its own.
 */
public final class SqlTraceStore implements TraceStore, TableCopy.Source {
	interface Loader<T> {
		T load(Connection db) throws SQLException, MemtraceException;
	}

	private interface RowReader<T> {
		T read(ResultSet row) throws SQLException;
	}

	private final Database file;
	private final Dbms dbms;
	private final Connection db;
	private final Replaced replaced;
	/** Has the accesses; null when the database has them. */
	private final AccessRows rows;
	/** The store of the same trace that was opened first; null when it is this one. */
	private final SqlTraceStore first;
	/** Whose tree this store shows. */
	private final AddressSpace space;
	/** Whether the MT_ tables are there. */
	private final boolean ours;
	private final TraceInfo info;
	private final Map<String, String> properties;
	private final TableChecksums checksums;
	/** Tables that were found to be what was written. */
	private final Set<String> checked = new HashSet<>();
	private final long accessCount;
	/** Whether there are events other than accesses. */
	private final boolean otherEvents;
	private OtherEventReader.Lookup otherLookup;
	/** Accesses of a database that FrameSoc's importer of Moca's files has written; read when they are needed. */
	private MemoryTraceStore moca;
	private final Object mocaLock = new Object();

	private List<EventType> eventTypes;
	private List<ThreadInfo> threads;
	private List<Structure> structures;
	private List<BitSet> cpuSets;
	private final Object chunksLock = new Object();
	private ChunkAccesses chunkAccesses;
	private StoredChunks chunks;
	private Damage damage;
	private Connection chunkDb;
	private ForeignProducers foreign;
	private final Object producersLock = new Object();
	private ProducerTree producers;
	private CellMap cells;
	private Set<AddressSpace> spaces;
	/** Opened by {@link #in}. */
	private final List<TraceStore> others = new ArrayList<>();

	/** Told when the number of event producers has changed. */
	public interface Replaced {
		void replaced(int producers) throws MemtraceException;
	}

	/** Opens a file that is in no catalogue. */
	public static SqlTraceStore open(Path file) throws MemtraceException {
		return new SqlTraceStore(Database.of(file), null, producers -> {
		});
	}

	/**
	 * @param registered what the catalogue knows, or null for a file that is in none
	 */
	public SqlTraceStore(Database file, TraceInfo registered, Replaced replaced) throws MemtraceException {
		this(file, null, registered, replaced, AddressSpace.VIRTUAL, null);
	}

	/**
	 * A database whose accesses are elsewhere.
	 *
	 * @param rows ends with this store
	 */
	public SqlTraceStore(Database file, AccessRows rows) throws MemtraceException {
		this(file, rows, null, producers -> {
		}, AddressSpace.VIRTUAL, null);
	}

	private SqlTraceStore(Database file, AccessRows rows, TraceInfo registered, Replaced replaced, AddressSpace space, SqlTraceStore first)
			throws MemtraceException {
		this.file = file;
		this.rows = rows;
		this.first = first;
		this.replaced = replaced;
		this.space = space;
		dbms = file.dbms;
		db = file.read();
		boolean ok = false;
		try {
			ours = dbms.hasTable(db, "MT_SCHEMA");
			if (!ours && !(dbms.hasTable(db, "EVENT") && dbms.hasTable(db, "EVENT_PRODUCER"))) {
				throw new StoreException(file + " is not a trace database");
			}
			if (!ours && dbms != Dbms.SQLITE) { // FrameSoc writes no others, and H2 loses tables without a word
				throw new StoreException(file + " is damaged: its table MT_SCHEMA is missing");
			}
			if (ours) {
				Schema.check(file, db);
			}
			properties = ours ? InfoProperties.all(db) : Map.of();
			if (ours && properties.isEmpty()) {
				throw new StoreException(file + " is damaged: it is not complete");
			}
			checksums = ours ? TableChecksums.read(file, properties) : TableChecksums.none();
			accessCount = InfoProperties.number(properties, InfoProperties.ACCESSES);
			otherEvents = ours && dbms.hasTable(db, OtherEventTables.EVENT);
			checkRows();
			for (String table : checksums.tables()) {
				boolean there = dbms.hasTable(db, table) && (otherEvents || !table.equals(OtherEventTables.SPAN));
				if (!there) { // H2 opens a damaged database and leaves tables out
					throw new StoreException(file + " is damaged: its table " + table + " is missing, or what belongs to it");
				}
			}
			String name = file.name();
			info = registered != null ? registered
					: ours ? InfoProperties.read(properties, name) : foreignInfo(db, name);
			ok = true;
		} catch (SQLException e) {
			throw file.explain(e);
		} finally {
			if (!ok) {
				close();
			}
		}
	}

	/** A store of this bundle that has a database. */
	public static SqlTraceStore stored(TraceStore store) throws StoreException {
		if (store instanceof SqlTraceStore own) {
			return own;
		}
		throw new StoreException(store.info().alias() + " is in no database");
	}

	@Override
	public Database database() {
		return file;
	}

	/** Whether a Parquet folder has the accesses. */
	@Override
	public boolean isInFolder() {
		return rows != null;
	}

	private void checkRows() throws StoreException {
		boolean elsewhere = properties.containsKey(InfoProperties.IN_FOLDER);
		if (elsewhere && rows == null) {
			throw new StoreException(file + " belongs to a Parquet folder, which has the accesses: name the folder");
		}
		if (!elsewhere && rows != null) {
			throw new StoreException(file + " does not belong to " + rows.name() + ": it has accesses of its own");
		}
		if (rows != null && rows.rows() != accessCount) {
			throw new StoreException(rows.name() + " has " + rows.rows() + " accesses, but " + file + " is about " + accessCount
					+ ": files are missing, or come from another trace");
		}
	}

	@Override
	public boolean writeRest(Path database, Progress progress) throws MemtraceException {
		if (!ours || space != AddressSpace.VIRTUAL || accessCount == 0
				|| ChunkAccesses.orderOf(cells().producers()) != InfoProperties.number(properties, ChunkTables.ORDER)) {
			return false;
		}
		StoredChunks all = chunks();
		if (all.firstRow(all.size()) != accessCount || !losses().isNone()) {
			return false;
		}
		int[] kept = new int[all.size()];
		int sets = storedCpuSets().stream().anyMatch(BitSet::isEmpty) ? StoredChunks.CPU_SETS : 0; // rows do not tell it from an unknown one
		AccessChunk scratch = new AccessChunk();
		progress.begin("Looking for what the folder does not have", all.size());
		for (int c = 0; c < kept.length; c++) {
			progress.check();
			kept[c] = all.notInRows(c, scratch) | sets;
			progress.worked(1);
		}
		TableCopy.rest(this, kept, database, progress);
		return true;
	}

	@Override
	public boolean isOurs() {
		return ours;
	}

	@Override
	public boolean hasAccesses() {
		return accessCount > 0;
	}

	@Override
	public boolean hasOtherEvents() {
		return otherEvents;
	}

	private static TraceInfo foreignInfo(Connection db, String name) throws SQLException {
		long events = Sqlite.number(db, 0, "SELECT COUNT(*) FROM EVENT");
		long start = Sqlite.number(db, 0, "SELECT MIN(TIMESTAMP) FROM EVENT");
		long end = Math.max(Sqlite.number(db, 0, "SELECT MAX(TIMESTAMP) FROM EVENT"),
				Sqlite.number(db, 0, "SELECT MAX(LPAR) FROM EVENT WHERE CATEGORY <> 0"));
		// as FrameSoc's importer of Moca's files names them
		boolean moca = Sqlite.number(db, 0, "SELECT COUNT(*) FROM EVENT_TYPE WHERE CATEGORY = 3 AND NAME LIKE 'Private%Read'") > 0;
		int pageSize = moca ? MocaDatabase.PAGE_BYTES : 0;
		int producers = (int) Sqlite.number(db, 0, "SELECT COUNT(*) FROM EVENT_PRODUCER");
		return new TraceInfo(-1, name, name, moca ? "Moca" : "unknown", "unknown", "unknown", "unknown", 0, events, producers, start,
				Math.max(end, start + 1), Instant.EPOCH, pageSize, "", Map.of());
	}

	private synchronized <T> T load(Loader<T> loader) throws MemtraceException {
		try {
			return loader.load(db);
		} catch (SQLException e) {
			throw file.explain(e);
		}
	}

	/** Compares small tables with their checksums, each once. */
	private synchronized void check(String... tables) throws MemtraceException {
		for (String table : tables) {
			if (!checked.contains(table)) {
				load(connection -> {
					checksums.check(file, connection, table);
					return null;
				});
				checked.add(table);
			}
		}
	}

	private <T> List<T> list(String sql, RowReader<T> reader, Object... values) throws MemtraceException {
		return load(connection -> {
			List<T> result = new ArrayList<>();
			try (PreparedStatement statement = connection.prepareStatement(sql)) {
				for (int i = 0; i < values.length; i++) {
					statement.setObject(i + 1, values[i]);
				}
				try (ResultSet rows = statement.executeQuery()) {
					while (rows.next()) {
						result.add(reader.read(rows));
					}
				}
			}
			return List.copyOf(result);
		});
	}

	@Override
	public TraceInfo info() {
		return info;
	}

	/** Not under the lock of the connection: that is free while the tree is built. */
	@Override
	public ProducerTree producers() throws MemtraceException {
		synchronized (producersLock) {
			if (producers == null) {
				check(TableChecksums.TREE);
				producers = ours ? PackedTree.read(load(connection -> PackedTree.parts(connection, space)), info.pageSizeBytes())
						: foreignTree();
				if (producers == null) {
					throw new StoreException(file + " has no " + space.id() + " tree of event producers");
				}
			}
			return producers;
		}
	}

	private ProducerTree foreignTree() throws MemtraceException {
		ProducerTree plain = foreignProducers().tree();
		return MocaDatabase.isOne(eventTypes()) ? MocaDatabase.tree(plain) : plain;
	}

	/** Null when this is no foreign database of accesses. Under no other lock. */
	private MemoryTraceStore moca(Progress progress) throws MemtraceException {
		if (ours || !MocaDatabase.isOne(eventTypes())) {
			return null;
		}
		ProducerTree tree = producers();
		ForeignProducers ids = foreignProducers();
		synchronized (mocaLock) {
			if (moca == null) {
				try (Connection own = file.scan()) {
					moca = MocaDatabase.read(own, eventTypes(), ids, tree, info, progress);
				} catch (SQLException e) {
					throw file.explain(e);
				}
			}
			return moca;
		}
	}

	@Override
	public synchronized Set<AddressSpace> addressSpaces() throws MemtraceException {
		if (spaces == null) {
			Set<AddressSpace> found = EnumSet.of(AddressSpace.VIRTUAL);
			if (ours) {
				list("SELECT DISTINCT SPACE FROM MT_TREE", row -> row.getInt(1)).stream()
						.filter(s -> s >= 0 && s < AddressSpace.values().length).forEach(s -> found.add(AddressSpace.values()[s]));
			}
			spaces = Collections.unmodifiableSet(found);
		}
		return spaces;
	}

	@Override
	public synchronized TraceStore in(AddressSpace wanted) throws MemtraceException {
		if (wanted == space) {
			return this;
		}
		if (!addressSpaces().contains(wanted)) {
			throw Spaces.missing(info, wanted);
		}
		SqlTraceStore other = new SqlTraceStore(file, rows, info, replaced, wanted, first == null ? this : first);
		others.add(other);
		return other;
	}

	/** Checked, so that whatever was done to the database, a row can only refer to a producer that there is. */
	private CellMap cells() throws MemtraceException {
		synchronized (producersLock) {
			return loadedCells();
		}
	}

	private CellMap loadedCells() throws MemtraceException {
		if (cells == null) {
			int count = producers().size();
			CellMap map = load(connection -> TreeTables.cells(connection, space));
			checksums.checkCells(file, space, map.producers());
			for (int cell = 0; cell < map.size(); cell++) {
				if (map.producer(cell) < 0 || map.producer(cell) >= count) {
					throw new StoreException(file + " is damaged: page " + cell + " belongs to event producer " + map.producer(cell)
							+ " of " + count);
				}
			}
			cells = map;
		}
		return cells;
	}

	@Override
	public int[] producersOfCells() throws MemtraceException {
		return cells().producers();
	}

	@Override
	public Optional<MemoryLayout> layout() throws MemtraceException {
		check(TableChecksums.CELL, "MT_AREA", "MT_IMAGE", "MT_RULE");
		return !ours ? Optional.empty()
				: Optional.ofNullable(load(connection -> TreeTables.layout(connection, InfoProperties.all(connection), info.pageSizeBytes())));
	}

	@Override
	public void replaceTrees(MemoryTrees made, List<String> rules, Progress progress) throws MemtraceException {
		if (!ours) {
			throw new StoreException(file + " is no memory trace");
		}
		if (rows != null) {
			throw new StoreException(rows.name() + " is divided by its tree of memory, which cannot be changed: change the trace and export it"
					+ " again");
		}
		if (otherEvents) {
			throw new StoreException(info.alias() + " has events other than accesses; their event producers cannot be replaced");
		}
		if (!file.isWritable()) {
			throw new StoreException(file + " cannot be written: no permission");
		}
		if (made.virtualLeaf().length != cells().size()) {
			throw new IllegalArgumentException("trees of " + made.virtualLeaf().length + " cells");
		}
		try (Connection own = file.change()) {
			own.setAutoCommit(false);
			boolean ok = false;
			try {
				TreeTables.replace(own, made, rules, progress);
				TableChecksums.rewrite(file, own, properties);
				own.commit();
				ok = true;
			} finally {
				if (!ok) {
					own.rollback();
				}
			}
		} catch (SQLException e) {
			throw file.explain(e);
		}
		replaced.replaced(made.virtual().size());
	}

	private synchronized ForeignProducers foreignProducers() throws MemtraceException {
		if (foreign == null) {
			foreign = load(ForeignProducers::read);
		}
		return foreign;
	}

	@Override
	public synchronized List<EventType> eventTypes() throws MemtraceException {
		if (eventTypes == null) {
			check(TableChecksums.EVENT_TYPE);
			eventTypes = list("SELECT ID, CATEGORY, NAME FROM EVENT_TYPE ORDER BY ID", row -> {
				int category = Math.clamp(row.getInt(2), 0, EventCategory.values().length - 1);
				return new EventType(row.getInt(1), EventCategory.values()[category], row.getString(3));
			});
		}
		return eventTypes;
	}

	@Override
	public List<ThreadInfo> threads() throws MemtraceException {
		MemoryTraceStore foreignAccesses = moca(Progress.NONE);
		return foreignAccesses != null ? foreignAccesses.threads() : storedThreads();
	}

	private synchronized List<ThreadInfo> storedThreads() throws MemtraceException {
		if (threads == null) {
			check(TableChecksums.THREAD);
			threads = !ours ? List.of() : list("SELECT * FROM MT_THREAD ORDER BY ID",
					row -> new ThreadInfo(row.getInt(1), row.getInt(2), row.getLong(3), row.getString(4),
							row.getLong(5), row.getLong(6), row.getString(7), row.getInt(8) != 0));
		}
		return threads;
	}

	@Override
	public synchronized List<Structure> structures() throws MemtraceException {
		if (structures == null) {
			check(TableChecksums.STRUCTURE);
			structures = !ours ? List.of() : list("SELECT * FROM MT_STRUCTURE ORDER BY ID",
					row -> new Structure(row.getInt(1), row.getInt(2), StructureKind.values()[row.getInt(3)],
							row.getString(4), row.getLong(5), row.getLong(6), row.getLong(7), row.getLong(8),
							row.getLong(9), row.getInt(10), row.getString(11),
							/* databases that were made before types, their members, or advice were recorded have no such columns */
							row.getMetaData().getColumnCount() > 11 ? row.getString(12) : "",
							row.getMetaData().getColumnCount() > 12 ? row.getString(13) : "",
							row.getMetaData().getColumnCount() > 13 ? row.getLong(14) : -1,
							row.getMetaData().getColumnCount() > 14 ? row.getLong(15) : -1));
		}
		return structures;
	}

	@Override
	public List<CallFrame> stack(int stackId) throws MemtraceException {
		check(TableChecksums.FRAME);
		return !ours ? List.of() : list("SELECT IP, OBJECT, FUNCTION, FILE, LINE FROM MT_FRAME WHERE STACK = ?"
				+ " ORDER BY DEPTH", row -> new CallFrame(row.getLong(1), row.getString(2), row.getString(3),
						row.getString(4), row.getInt(5)), stackId);
	}

	@Override
	public List<BitSet> cpuSets() throws MemtraceException {
		MemoryTraceStore foreignAccesses = moca(Progress.NONE);
		return foreignAccesses != null ? foreignAccesses.cpuSets() : storedCpuSets();
	}

	private synchronized List<BitSet> storedCpuSets() throws MemtraceException {
		if (cpuSets == null) {
			check(TableChecksums.CPU_SET);
			cpuSets = !ours ? List.of()
					: list("SELECT CPUS FROM MT_CPU_SET ORDER BY ID", row -> cpus(row.getString(1)));
		}
		return cpuSets;
	}

	private static BitSet cpus(String mask) {
		byte[] big = new BigInteger(mask, 16).toByteArray();
		byte[] little = new byte[big.length];
		for (int i = 0; i < big.length; i++) {
			little[i] = big[big.length - 1 - i];
		}
		return BitSet.valueOf(little);
	}

	@Override
	public List<Interval> intervals() throws MemtraceException {
		check(TableChecksums.INTERVAL);
		return !ours ? List.of() : list("SELECT * FROM MT_INTERVAL ORDER BY ID", row -> new Interval(row.getInt(2), row.getLong(3),
				row.getLong(4), row.getLong(5), row.getLong(6), row.getLong(7), row.getLong(8), row.getString(9), measured(row)));
	}

	/** Databases that were made earlier have no such columns. */
	private static Interval.Measured measured(ResultSet row) throws SQLException {
		return row.getMetaData().getColumnCount() < 20 ? Interval.Measured.NOTHING
				: new Interval.Measured(row.getLong(10), row.getLong(11), row.getLong(12), row.getLong(13), row.getLong(14), row.getLong(15),
						row.getLong(16), row.getLong(17), row.getLong(18), row.getLong(19), row.getLong(20));
	}

	@Override
	public ThreadTimes threadTimes() throws MemtraceException {
		if (!ours) {
			return ThreadTimes.NONE;
		}
		ThreadTimes.Builder times = new ThreadTimes.Builder();
		check(Schema.THREAD_TIMES);
		list("SELECT THREAD, TIME_NS, CPU_NS FROM " + Schema.THREAD_TIMES + " ORDER BY THREAD, TIME_NS",
				row -> times.add(row.getInt(1), row.getLong(2), row.getLong(3)));
		return times.build();
	}

	@Override
	public Optional<String> importReport() throws MemtraceException {
		check(TableChecksums.REPORT);
		return !ours ? Optional.empty()
				: list("SELECT JSON FROM MT_REPORT ORDER BY ID", row -> row.getString(1)).stream().findFirst();
	}

	@Override
	public long accessCount() throws MemtraceException {
		MemoryTraceStore foreignAccesses = moca(Progress.NONE);
		return foreignAccesses != null ? foreignAccesses.accessCount() : accessCount;
	}

	private StoredChunks chunks() throws MemtraceException {
		synchronized (chunksLock) {
			if (chunks == null) {
				List<ChunkEntry> index = load(ChunkTables::index);
				if (ChunkTables.checksum(index) != InfoProperties.number(properties, ChunkTables.CHECKSUM)) {
					throw new StoreException(file + " is damaged: the index of its accesses is not what was written");
				}
				chunkDb = file.read();
				if (rows != null) {
					rows.cpuSets(storedCpuSets());
				}
				chunks = new StoredChunks(file.toString(), index, ChunkTables.blobs(file, chunkDb), rows);
				damage = first == null ? damage(chunks) : first.damage(chunks);
			}
			return chunks;
		}
	}

	/** What is damaged, for the stores of all address spaces: their chunks are the same. */
	private Damage damage(StoredChunks all) {
		synchronized (chunksLock) {
			if (damage == null) {
				damage = new Damage(all);
			}
			return damage;
		}
	}

	private ChunkAccesses chunkAccesses() throws MemtraceException {
		CellMap map = cells();
		int size = producers().size();
		synchronized (chunksLock) {
			if (chunkAccesses == null) {
				StoredChunks all = chunks();
				boolean inOrder = space == AddressSpace.VIRTUAL
						&& ChunkAccesses.orderOf(map.producers()) == InfoProperties.number(properties, ChunkTables.ORDER);
				chunkAccesses = new ChunkAccesses(all, map.producers(), inOrder, size, Path.of(System.getProperty("java.io.tmpdir")),
						file.toString(), damage);
			}
			return chunkAccesses;
		}
	}

	@Override
	public AccessSource accessSource(Progress progress) throws MemtraceException {
		return ours ? chunkAccesses().source(progress) : HeapAccessSource.of(this, progress);
	}

	@Override
	public Losses losses() {
		synchronized (chunksLock) {
			return damage == null ? Losses.NONE : damage.losses();
		}
	}

	/** Something that can be read. */
	private interface Part {
		void read() throws MemtraceException;
	}

	/** Reads something; what goes wrong is a problem of the database. */
	private void verify(Part part, Consumer<String> problems) throws CancelledException {
		try {
			part.read();
		} catch (CancelledException e) {
			throw e;
		} catch (MemtraceException e) {
			problems.accept(e.getMessage());
		} catch (RuntimeException e) {
			problems.accept(file + " is damaged: " + e.getMessage());
		}
	}

	@Override
	public void verify(Consumer<String> problems, Progress progress) throws MemtraceException {
		if (dbms == Dbms.SQLITE) {
			progress.begin("Checking the database", -1);
			verify(() -> list("PRAGMA integrity_check(100)", row -> row.getString(1)).stream().filter(text -> !text.equals("ok"))
					.forEach(text -> problems.accept(file + ": " + text.strip().lines().findFirst().orElse(""))), problems);
		}
		for (String table : checksums.tables()) {
			verify(() -> check(table), problems);
		}
		if (load(connection -> dbms.hasTable(connection, Schema.NOTE_TABLE))) {
			verify(() -> NoteChecksums.checkAll(file, notes("")), problems);
		}
		for (Part part : List.<Part>of(this::producers, this::cells, this::threads, this::structures, this::cpuSets, this::intervals,
				this::threadTimes, this::layout, this::eventTypes)) {
			verify(part, problems);
		}
		verify(() -> verifyAccesses(problems, progress), problems);
		if (otherEvents) {
			verify(() -> verifyOtherEvents(problems, progress), problems);
		}
	}

	private void verifyAccesses(Consumer<String> problems, Progress progress) throws MemtraceException {
		if (!ours) {
			return;
		}
		StoredChunks all = chunks();
		long rows = all.firstRow(all.size());
		if (rows != accessCount) {
			problems.accept(file + " is damaged: its chunks have " + rows + " accesses of " + accessCount);
		}
		progress.begin("Checking accesses", rows);
		AccessChunk chunk = new AccessChunk();
		ChunkCells cellsOfRows = new ChunkCells();
		long reads = 0;
		long writes = 0;
		for (int c = 0; c < all.size(); c++) {
			progress.check();
			reads += all.entry(c).reads();
			writes += all.entry(c).writes();
			try {
				all.verify(c, chunk, cellsOfRows);
				if (all.entry(c).cellTo() > cells().size()) {
					throw all.damaged(c, "it has a page that is not known");
				}
			} catch (DamagedChunkException e) {
				damage.accept(e);
				problems.accept(e.getMessage());
			}
			progress.worked(all.entry(c).rows());
		}
		verifyEvents(reads, writes, problems);
	}

	private void verifyOtherEvents(Consumer<String> problems, Progress progress) throws MemtraceException {
		OtherEventReader.Lookup tables = otherLookup();
		progress.begin("Checking events", OtherEventReader.toRead(tables, AccessQuery.ALL));
		try (Connection own = file.scan()) {
			new OtherEventReader(own, tables).verify(problems, progress);
		} catch (SQLException e) {
			throw file.explain(e);
		}
	}

	/** FrameSoc's rows, if there are any, count what the chunks count. */
	private void verifyEvents(long reads, long writes, Consumer<String> problems) throws MemtraceException {
		try {
			long[] found = load(connection -> new long[] {Sqlite.number(connection, 0, "SELECT COUNT(*) FROM MT_EVENT"),
					Sqlite.number(connection, 0,
							"SELECT SUM(e.COUNT) FROM MT_EVENT e, MT_CONTEXT c WHERE c.ID = e.CONTEXT AND c.IS_WRITE = 0"),
					Sqlite.number(connection, 0,
							"SELECT SUM(e.COUNT) FROM MT_EVENT e, MT_CONTEXT c WHERE c.ID = e.CONTEXT AND c.IS_WRITE = 1")});
			if (found[0] > 0 && (found[1] != reads || found[2] != writes)) {
				problems.accept(file + " is damaged: FrameSoc's events count " + found[1] + " reads and " + found[2] + " writes, the accesses "
						+ reads + " and " + writes);
			}
		} catch (StoreException e) {
			problems.accept(e.getMessage());
		}
	}

	/** Rows that were left out are an error when all others were given. */
	private void tellLosses() throws StoreException {
		Losses lost = losses();
		if (!lost.isNone()) {
			throw new StoreException(lost.text() + ". The rest is right; \"memtrace verify\" names all damaged chunks");
		}
	}

	private ChunkAccesses.EventNumbers eventNumbers() throws MemtraceException {
		return new ChunkAccesses.EventNumbers(InfoProperties.number(properties, InfoProperties.TYPES_BY_THREAD) == 1, threads(), cpuSets());
	}

	@Override
	public void visitAccesses(AccessQuery query, AccessVisitor visitor, Progress progress) throws MemtraceException {
		visitAccesses(query, Long.MIN_VALUE, 0, Long.MAX_VALUE, Integer.MAX_VALUE, visitor, progress);
	}

	@Override
	public void visitAccesses(AccessQuery query, long fromNs, int fromId, long toNs, int toId, AccessVisitor visitor,
			Progress progress) throws MemtraceException {
		MemoryTraceStore foreignAccesses = moca(progress);
		if (foreignAccesses != null) {
			foreignAccesses.visitAccesses(query, fromNs, fromId, toNs, toId, visitor, progress);
			return;
		}
		if (!ours) {
			progress.begin("Reading accesses", 0);
			return;
		}
		ChunkAccesses accesses = chunkAccesses();
		progress.begin("Reading accesses", accesses.rowsToRead(query));
		accesses.visit(query, fromNs, fromId, toNs, toId, visitor, progress);
		tellLosses();
	}

	@Override
	public void readAccesses(int[] ids, AccessVisitor visitor) throws MemtraceException {
		MemoryTraceStore foreignAccesses = moca(Progress.NONE);
		if (foreignAccesses != null) {
			foreignAccesses.readAccesses(ids, visitor);
			return;
		}
		if (ours) {
			chunkAccesses().read(ids, visitor);
			tellLosses();
		}
	}

	private OtherEventReader.Lookup otherLookup() throws MemtraceException {
		int count = producers().size(); // under no lock: it has one of its own
		synchronized (this) {
			if (otherLookup == null) {
				check(OtherEventTables.CONTEXT, OtherEventTables.SPAN, OtherEventTables.CHECK);
				otherLookup = load(connection -> OtherEventReader.Lookup.read(file, connection, count));
			}
			return otherLookup;
		}
	}

	/** Events refer to producers of the virtual tree, and are in no other one. */
	private void visitOtherEvents(AccessQuery query, long fromId, long toId, EventVisitor visitor, Progress progress)
			throws MemtraceException {
		if (space != AddressSpace.VIRTUAL) {
			progress.begin("Reading events", 0);
			return;
		}
		OtherEventReader.Lookup tables = otherLookup();
		try (Connection own = file.scan()) {
			progress.begin("Reading events", OtherEventReader.toRead(tables, query));
			new OtherEventReader(own, tables).events(query, fromId, toId, visitor, progress);
		} catch (SQLException e) {
			throw file.explain(e);
		}
	}

	@Override
	public void visitEvents(AccessQuery query, EventVisitor visitor, Progress progress) throws MemtraceException {
		if (otherEvents) {
			visitOtherEvents(query, 0, Long.MAX_VALUE, visitor, progress);
			return;
		}
		if (ours) {
			progress.begin("Reading events", chunkAccesses().rowsToRead(query));
			visitEvents(query, Long.MIN_VALUE, 0, Long.MAX_VALUE, Long.MAX_VALUE, visitor, progress);
			return;
		}
		ForeignProducers ids = foreignProducers();
		try (Connection own = file.scan()) {
			progress.begin("Reading events", info.events());
			ids.events(own, query, visitor, progress);
		} catch (SQLException e) {
			throw file.explain(e);
		}
	}

	@Override
	public void visitEvents(AccessQuery query, long fromNs, long fromId, long toNs, long toId, EventVisitor visitor,
			Progress progress) throws MemtraceException {
		if (otherEvents) { // in the order of ids
			visitOtherEvents(query, fromId, toId, visitor, progress);
			return;
		}
		if (ours) {
			chunkAccesses().events(eventNumbers(), query, fromNs, fromId, toNs, toId, visitor, progress);
			tellLosses();
			return;
		}
		ForeignProducers ids = foreignProducers();
		try (Connection own = file.scan()) {
			ids.events(own, query, fromNs, fromId, toNs, toId, visitor, progress);
		} catch (SQLException e) {
			throw file.explain(e);
		}
	}

	@Override
	public void readEvents(long[] ids, EventVisitor visitor) throws MemtraceException {
		if (otherEvents) {
			OtherEventReader.Lookup contexts = otherLookup();
			try (Connection own = file.scan()) {
				new OtherEventReader(own, contexts).events(ids, visitor);
			} catch (SQLException e) {
				throw file.explain(e);
			}
			return;
		}
		if (ours) {
			chunkAccesses().events(eventNumbers(), ids, visitor);
			tellLosses();
			return;
		}
		ForeignProducers producerIds = foreignProducers();
		try (Connection own = file.scan()) {
			producerIds.events(own, ids, visitor);
		} catch (SQLException e) {
			throw file.explain(e);
		}
	}

	@Override
	public List<String> eventParameters(long[] ids) throws MemtraceException {
		if (ours && !otherEvents) {
			return chunkAccesses().parameters(eventNumbers(), ids);
		}
		try (Connection own = file.scan()) {
			return dbms.hasTable(own, "EVENT_PARAM") && dbms.hasTable(own, "EVENT_PARAM_TYPE") ? EventParameters.read(own, ids)
					: Collections.nCopies(ids.length, "");
		} catch (SQLException e) {
			throw file.explain(e);
		}
	}

	/** Databases that were written before there were stamps get one. */
	@Override
	public String contentStamp() throws MemtraceException {
		if (!ours) {
			return "";
		}
		String stamp = load(db -> ContentStamp.of(dbms, db));
		if (!stamp.isEmpty() || !dbms.countsChanges() || !file.isWritable()) {
			return stamp;
		}
		try (Connection own = file.change()) {
			own.setAutoCommit(false);
			ContentStamp.make(own, new Random().nextLong() >>> 2);
			own.commit();
		} catch (SQLException | MemtraceException e) {
			return ""; // as with a cache
		}
		return load(db -> ContentStamp.of(dbms, db));
	}

	@Override
	public Optional<byte[]> readCache(String key) throws MemtraceException {
		return !ours ? Optional.empty()
				: list("SELECT VALUE FROM MT_CACHE WHERE NAME = ?", row -> row.getBytes(1), Spaces.cacheKey(space, key)).stream()
						.findFirst();
	}

	@Override
	public void writeCache(String key, byte[] value) {
		if (!ours || !file.isWritable()) {
			return;
		}
		try (Connection own = file.change()) {
			dbms.replaceCache(own, Spaces.cacheKey(space, key), value);
		} catch (SQLException | MemtraceException e) {
			// a cache is only a convenience: read-only media, a full disk or another writer are no errors here
		}
	}

	@Override
	public Optional<byte[]> readNote(String key) throws MemtraceException {
		if (!load(connection -> dbms.hasTable(connection, Schema.NOTE_TABLE))) {
			return Optional.empty();
		}
		Map<String, byte[]> notes = notes("WHERE NAME IN (?, ?)", key, NoteChecksums.name(key));
		NoteChecksums.check(file, notes, key);
		return Optional.ofNullable(notes.get(key));
	}

	private Map<String, byte[]> notes(String which, Object... values) throws MemtraceException {
		Map<String, byte[]> notes = new TreeMap<>();
		list("SELECT NAME, VALUE FROM MT_NOTE " + which, row -> {
			notes.put(row.getString(1), row.getBytes(2));
			return row.getString(1);
		}, values);
		return notes;
	}

	@Override
	public void writeNote(String key, byte[] value) throws MemtraceException {
		if (!file.isWritable()) {
			throw new StoreException(file + " cannot be written: no permission");
		}
		try (Connection own = file.change()) {
			own.setAutoCommit(false);
			NoteChecksums.replace(dbms, own, key, value);
			own.commit();
		} catch (SQLException e) {
			throw file.explain(e);
		}
	}

	@Override
	public synchronized void close() {
		others.forEach(TraceStore::close);
		synchronized (chunksLock) {
			if (chunkAccesses != null) {
				chunkAccesses.close();
			}
			if (chunkDb != null) {
				try {
					chunkDb.close();
				} catch (SQLException e) {
					// nothing was written through it
				}
			}
		}
		if (rows != null && first == null) {
			rows.close();
		}
		try {
			db.close();
		} catch (SQLException e) {
			// nothing was written through it
		}
	}
}
