// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.catalogue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.UnsupportedVersionException;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceGroup;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.dbms.Database;
import org.memtrace.storage.dbms.Dbms;
import org.memtrace.storage.dbms.Names;
import org.memtrace.storage.dbms.PendingDatabase;
import org.memtrace.storage.dbms.PendingFile;
import org.memtrace.storage.dbms.Schema;
import org.memtrace.storage.dbms.Sqlite;
import org.memtrace.storage.tables.SystemTables;
import org.memtrace.storage.trace.SqlTraceStore;
import org.memtrace.storage.trace.SqlTraceWriter;
import org.memtrace.storage.trace.TableCopy;

/**
 * A directory with FrameSoc's System DB. Each method opens the System DB for itself, so that nothing is held between calls;
 * changes are one transaction each.
 */
public final class SqliteCatalogue implements TraceCatalogue {
	/** Copied between two questions whether to go on. */
	private static final long COPY_BYTES = 8 << 20;

	private final Path directory;
	private final Path systemDb;
	private final Dbms dbms;

	/** @param dbms of new traces */
	public SqliteCatalogue(Path directory, Dbms dbms, Consumer<String> notices) throws MemtraceException {
		this.directory = directory;
		this.dbms = dbms;
		this.systemDb = directory.resolve(Names.SYSTEM_DB);
		try {
			Files.createDirectories(directory);
		} catch (IOException e) {
			throw new StoreException(directory + " cannot be used as a catalogue: " + PendingFile.reason(e), e);
		}
		if (!Files.exists(systemDb) && !Files.isWritable(directory)) {
			throw new StoreException(directory + " has no catalogue, and none can be made there: no permission");
		}
		if (Files.isWritable(directory) && (!Files.exists(systemDb) || Files.isWritable(systemDb))) {
			prepare();
			PendingFile.removeLeftovers(directory, this::mayBeRegistered).forEach(notices);
		}
		try (Connection db = Sqlite.read(systemDb)) {
			long version = Sqlite.number(db, 0, "PRAGMA user_version");
			if (version > Schema.SYSTEM_VERSION) {
				throw new UnsupportedVersionException(systemDb.toString(), (int) version, Schema.SYSTEM_VERSION);
			}
			if (!Sqlite.hasTable(db, "TRACE")) {
				throw new StoreException(systemDb + " is not a FrameSoc System DB");
			}
		} catch (SQLException e) {
			throw Sqlite.explain(systemDb, e);
		}
	}

	/** Asked when the process that wrote the file is known to be dead, so a list that was read before would not do. */
	private boolean mayBeRegistered(String databaseName) {
		try {
			return list().stream().anyMatch(trace -> trace.databaseName().equals(databaseName));
		} catch (MemtraceException e) {
			return true;
		}
	}

	private void prepare() throws MemtraceException {
		try (Connection db = Sqlite.make(systemDb)) {
			if (Sqlite.number(db, 0, "PRAGMA user_version") == 0) {
				inTransaction(db, () -> {
					if (Sqlite.number(db, 0, "SELECT COUNT(*) FROM sqlite_master") == 0) {
						Sqlite.execute(db, Schema.SYSTEM);
						Sqlite.execute(db, "PRAGMA user_version = " + Schema.SYSTEM_VERSION);
					}
					return null;
				});
			}
		} catch (SQLException e) {
			throw Sqlite.explain(systemDb, e);
		}
	}

	private interface Action<T> {
		T run() throws SQLException, MemtraceException, IOException;
	}

	/** Takes the write lock first, so that what is read inside stays true until the end. */
	private <T> T inTransaction(Connection db, Action<T> action) throws MemtraceException, SQLException {
		Sqlite.execute(db, "BEGIN IMMEDIATE");
		boolean ok = false;
		try {
			T result = action.run();
			Sqlite.execute(db, "COMMIT");
			ok = true;
			return result;
		} catch (IOException e) {
			throw new StoreException(directory + " cannot be written: " + PendingFile.reason(e), e);
		} finally {
			if (!ok) {
				try {
					Sqlite.execute(db, "ROLLBACK");
				} catch (SQLException e) {
					// SQLite rolled back by itself, or the first error says what is wrong
				}
			}
		}
	}

	@Override
	public Path directory() {
		return directory;
	}

	@Override
	public List<TraceInfo> list() throws MemtraceException {
		try (Connection db = Sqlite.read(systemDb)) {
			return SystemTables.list(db);
		} catch (SQLException e) {
			throw Sqlite.explain(systemDb, e);
		}
	}

	@Override
	public OptionalLong databaseBytes(TraceInfo info) {
		try {
			return OptionalLong.of(Files.size(directory.resolve(info.databaseName())));
		} catch (IOException e) {
			return OptionalLong.empty();
		}
	}

	@Override
	public TraceWriter create(String databaseName) throws MemtraceException {
		return new SqlTraceWriter(dbms, directory, Names.database(databaseName) + dbms.suffix(),
				(file, info) -> publish(file, info, dbms));
	}

	@Override
	public TraceGroup group() throws MemtraceException {
		return new PendingGroup(dbms, directory, name -> Names.database(name) + dbms.suffix(),
				(lock, files, infos) -> publish(lock, files, infos, dbms));
	}

	@Override
	public TraceInfo add(TraceStore trace, Progress progress) throws MemtraceException {
		String name = Names.database(Dbms.withoutSuffix(trace.info().databaseName())) + dbms.suffix();
		return TableCopy.copy(SqlTraceStore.stored(trace), PendingDatabase.of(dbms, PendingFile.begin(directory, dbms.suffix()),
				(file, info) -> publish(file, info, dbms)), name, progress);
	}

	@Override
	public TraceInfo add(Path database, Progress progress) throws MemtraceException {
		TraceInfo info;
		try (TraceStore store = SqlTraceStore.open(database)) { // refuses what is none, or too new
			info = store.info();
		}
		Dbms kind = Dbms.of(database);
		PendingFile pending = PendingFile.begin(directory, kind.suffix());
		try {
			copy(database, kind, pending.temporary, progress);
			PendingFile.force(pending.temporary);
			String name = Names.database(Dbms.withoutSuffix(database.getFileName().toString()).replaceFirst("\\.db$", ""));
			return publish(pending, info.stored(-1, info.alias(), name, info.events(), info.producers()), kind);
		} catch (IOException e) {
			throw new StoreException(database + " cannot be copied to " + directory + ": " + PendingFile.reason(e), e);
		} finally {
			pending.end();
		}
	}

	/** Copies a file while a connection keeps others from changing it. */
	private static void copy(Path from, Dbms kind, Path to, Progress progress) throws MemtraceException, IOException {
		try (Connection reading = kind.read(from);
				FileChannel in = FileChannel.open(from, StandardOpenOption.READ);
				FileChannel out = FileChannel.open(to, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
			reading.setAutoCommit(false);
			kind.hasTable(reading, "EVENT_TYPE");
			long size = in.size();
			progress.beginBytes("Copying the database", size);
			for (long at = 0; at < size;) {
				progress.check();
				long copied = in.transferTo(at, Math.min(COPY_BYTES, size - at), out);
				if (copied <= 0) {
					throw new IOException("it became shorter while it was read");
				}
				at += copied;
				progress.worked(copied);
			}
			reading.rollback();
		} catch (SQLException e) {
			throw kind.explain(from, e);
		}
	}

	private TraceInfo publish(PendingFile file, TraceInfo info, Dbms kind) throws MemtraceException, IOException {
		return publish(file, List.of(file.temporary), List.of(info), kind).get(0);
	}

	/**
	 * Renames the files and registers them. Killed before the end of the transaction, they are leftovers that the intent
	 * names; killed after it, only the lock file remains. Names that begin with the first one still do so when that had to be changed.
	 */
	private List<TraceInfo> publish(PendingFile lock, List<Path> files, List<TraceInfo> infos, Dbms kind)
			throws MemtraceException, IOException {
		try (Connection db = Sqlite.change(systemDb)) {
			return inTransaction(db, () -> {
				List<TraceInfo> traces = new ArrayList<>(SystemTables.list(db));
				List<TraceInfo> published = new ArrayList<>();
				for (TraceInfo info : infos) {
					TraceInfo named = named(info, SystemTables.wanted(info, infos.get(0), published), traces, kind);
					published.add(named);
					traces.add(named);
					traces.sort(Comparator.comparingInt(TraceInfo::id));
				}
				lock.intend(published.stream().map(TraceInfo::databaseName).toList());
				for (int i = 0; i < files.size(); i++) {
					Files.move(files.get(i), directory.resolve(published.get(i).databaseName()), StandardCopyOption.ATOMIC_MOVE);
				}
				PendingFile.force(directory);
				for (TraceInfo info : published) {
					SystemTables.insert(db, info);
				}
				return published;
			});
		} catch (SQLException e) {
			removeUnregistered(lock);
			throw Sqlite.explain(systemDb, e);
		} catch (MemtraceException e) {
			removeUnregistered(lock);
			throw e;
		}
	}

	/** With a number and a name of its own; traces are sorted by number. */
	private TraceInfo named(TraceInfo info, String wanted, List<TraceInfo> traces, Dbms kind) {
		String name = Names.unique(wanted, candidate -> Files.exists(directory.resolve(candidate + kind.suffix()))
				|| traces.stream().anyMatch(t -> Dbms.withoutSuffix(t.databaseName()).equalsIgnoreCase(candidate))) + kind.suffix();
		return info.stored(SystemTables.freeId(traces), info.alias(), name, info.events(), info.producers());
	}

	/** After a failed transaction: the renamed files must not stay. */
	private void removeUnregistered(PendingFile lock) throws IOException, MemtraceException {
		for (String name : lock.intended()) {
			if (list().stream().noneMatch(t -> t.databaseName().equals(name))) {
				PendingFile.deleteDatabase(directory.resolve(name));
			}
		}
	}

	@Override
	public TraceStore open(int traceId) throws MemtraceException {
		TraceInfo info = SystemTables.get(list(), traceId, directory);
		Path file = directory.resolve(info.databaseName());
		if (!Files.exists(file)) {
			throw new StoreException("the database " + file + " of trace " + traceId + " is missing");
		}
		return new SqlTraceStore(Database.of(file), info, producers -> setProducers(traceId, producers));
	}

	private void setProducers(int traceId, int producers) throws MemtraceException {
		try (Connection db = Sqlite.change(systemDb)) {
			SystemTables.setProducers(db, traceId, producers);
		} catch (SQLException e) {
			throw Sqlite.explain(systemDb, e);
		}
	}

	@Override
	public void delete(int traceId) throws MemtraceException {
		PendingFile pending = PendingFile.begin(directory);
		try (Connection db = Sqlite.change(systemDb)) {
			String name = inTransaction(db, () -> {
				TraceInfo info = SystemTables.get(SystemTables.list(db), traceId, directory);
				pending.intend(info.databaseName()); // from the commit on the file is a leftover
				SystemTables.delete(db, traceId);
				return info.databaseName();
			});
			PendingFile.deleteDatabase(directory.resolve(name));
		} catch (SQLException e) {
			throw Sqlite.explain(systemDb, e);
		} catch (IOException e) {
			throw new StoreException("the trace was removed from the catalogue, but its file in " + directory
					+ " cannot be deleted: " + PendingFile.reason(e), e);
		} finally {
			pending.end();
		}
	}

	@Override
	public void rename(int traceId, String alias) throws MemtraceException {
		String name = Names.alias(alias);
		try (Connection db = Sqlite.change(systemDb)) {
			if (SystemTables.rename(db, traceId, name) == 0) {
				SystemTables.get(List.of(), traceId, directory);
			}
		} catch (SQLException e) {
			throw Sqlite.explain(systemDb, e);
		}
	}

	@Override
	public void describe(int traceId, String description) throws MemtraceException {
		try (Connection db = Sqlite.change(systemDb)) {
			if (SystemTables.describe(db, traceId, description) == 0) {
				SystemTables.get(List.of(), traceId, directory);
			}
		} catch (SQLException e) {
			throw Sqlite.explain(systemDb, e);
		}
	}

	@Override
	public void setProperty(int traceId, String name, String value) throws MemtraceException {
		SystemTables.checkProperty(name);
		try (Connection db = Sqlite.change(systemDb)) {
			inTransaction(db, () -> {
				SystemTables.get(SystemTables.list(db), traceId, directory);
				SystemTables.setProperty(db, traceId, name, value);
				return null;
			});
		} catch (SQLException e) {
			throw Sqlite.explain(systemDb, e);
		}
	}

	@Override
	public TraceInfo find(String nameOrId) throws MemtraceException {
		return Names.find(list(), nameOrId);
	}

	@Override
	public void close() {
		// nothing is held
	}

	/** A writer of one database that is in no catalogue; refuses to replace a file. */
	public static TraceWriter createFile(Path target, Dbms dbms, Consumer<String> notices) throws MemtraceException {
		Path absolute = target.toAbsolutePath().normalize();
		Path parent = prepareFiles(absolute.getParent(), target + " cannot be written: its directory does not exist", notices);
		return new SqlTraceWriter(dbms, parent, free(target, dbms), (file, info) -> {
			link(file.temporary, absolute, target);
			PendingFile.force(parent);
			return info;
		});
	}

	/** Databases beside each other that are in no catalogue; no file is replaced. */
	public static TraceGroup createFiles(Path directory, Dbms dbms, Consumer<String> notices) throws MemtraceException {
		Path parent = prepareFiles(directory.toAbsolutePath().normalize(), directory + " cannot be written: it does not exist",
				notices);
		return new PendingGroup(dbms, parent, name -> free(directory.resolve(name), dbms), (lock, files, infos) -> {
			List<String> names = infos.stream().map(TraceInfo::databaseName).toList();
			lock.intendLinks(names);
			List<Path> linked = new ArrayList<>();
			boolean ok = false;
			try {
				for (int i = 0; i < files.size(); i++) {
					Path target = parent.resolve(names.get(i));
					link(files.get(i), target, directory.resolve(names.get(i)));
					linked.add(target);
				}
				PendingFile.force(parent);
				ok = true;
			} finally {
				if (!ok) {
					for (Path file : linked) {
						PendingFile.deleteDatabase(file);
					}
				}
			}
			lock.endLinked();
			PendingFile.force(parent);
			return infos;
		});
	}

	private static Path prepareFiles(Path directory, String problem, Consumer<String> notices) throws StoreException {
		if (directory == null || !Files.isDirectory(directory)) {
			throw new StoreException(problem);
		}
		if (!Files.exists(directory.resolve(Names.SYSTEM_DB))) {
			PendingFile.removeLeftovers(directory, name -> true).forEach(notices);
		}
		return directory;
	}

	/** The name of a file that can be made. */
	private static String free(Path target, Dbms dbms) throws StoreException {
		if (!target.toString().endsWith(dbms.suffix())) {
			throw new StoreException(target + " cannot be made: the name of an H2 database must end in " + dbms.suffix());
		}
		if (Files.exists(target)) {
			throw new StoreException(target + " exists already");
		}
		return target.getFileName().toString();
	}

	private static void link(Path temporary, Path target, Path shown) throws StoreException, IOException {
		try {
			Files.createLink(target, temporary); // unlike a move it never replaces
		} catch (FileAlreadyExistsException e) {
			throw new StoreException(shown + " exists already", e);
		} catch (UnsupportedOperationException | IOException e) {
			Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
		}
	}
}
