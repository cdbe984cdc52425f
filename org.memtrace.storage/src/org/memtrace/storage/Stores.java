// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import java.nio.file.Path;
import java.util.function.Consumer;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.StoreException;
import org.memtrace.model.columns.AccessRows;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceGroup;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.AccessCoding;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.catalogue.MemoryCatalogue;
import org.memtrace.storage.catalogue.PostgresCatalogue;
import org.memtrace.storage.catalogue.SqliteCatalogue;
import org.memtrace.storage.dbms.Database;
import org.memtrace.storage.dbms.Dbms;
import org.memtrace.storage.dbms.H2;
import org.memtrace.storage.dbms.Sqlite;
import org.memtrace.storage.trace.SqlTraceStore;

/** Makes stores. The only class of this bundle that others use; what it returns are the interfaces of the model. */
public final class Stores {
	/** Variable of the environment with the place of the catalogue. */
	public static final String CATALOGUE = "MEMTRACE_CATALOGUE";

	private Stores() {
	}

	/** Where memtrace keeps what belongs to the user on this machine: MEMTRACE_HOME, else memtrace in the XDG data home. */
	public static Path defaultCatalogueDirectory() {
		String home = System.getenv("MEMTRACE_HOME");
		if (home != null && !home.isBlank()) {
			return Path.of(home);
		}
		String data = System.getenv("XDG_DATA_HOME");
		Path base = data != null && Path.of(data).isAbsolute() ? Path.of(data)
				: Path.of(System.getProperty("user.home"), ".local", "share");
		return base.resolve("memtrace");
	}

	/**
	 * The user's catalogue: MEMTRACE_CATALOGUE, a directory or the address of a PostgreSQL database, else
	 * {@link #defaultCatalogueDirectory}.
	 */
	public static CataloguePlace defaultCatalogue() throws StoreException {
		String place = System.getenv(CATALOGUE);
		return place != null && !place.isBlank() ? CataloguePlace.parse(place) : CataloguePlace.of(defaultCatalogueDirectory());
	}

	/**
	 * Opens a catalogue wherever it is, and makes it when there is none. On a server new traces are schemas there.
	 *
	 * @param kind of the traces that {@link TraceCatalogue#create} makes in a directory
	 */
	public static TraceCatalogue openCatalogue(CataloguePlace place, DatabaseKind kind, Consumer<String> notices)
			throws MemtraceException {
		return place.isServer() ? new PostgresCatalogue(place, notices) : openCatalogue(place.directory(), kind, notices);
	}

	/**
	 * Opens the catalogue in a directory, and makes it when there is none. Removes what killed imports left behind.
	 *
	 * @param notices receives a sentence about each thing that was removed
	 */
	public static TraceCatalogue openCatalogue(Path directory, Consumer<String> notices) throws MemtraceException {
		return openCatalogue(directory, DatabaseKind.SQLITE, notices);
	}

	/**
	 * Opens a catalogue whose new traces are kept in a chosen kind of database. Traces of both kinds can be in one catalogue.
	 *
	 * @param kind of the traces that {@link TraceCatalogue#create} makes
	 */
	public static TraceCatalogue openCatalogue(Path directory, DatabaseKind kind, Consumer<String> notices)
			throws MemtraceException {
		return new SqliteCatalogue(directory, Dbms.of(kind), notices);
	}

	/** An empty catalogue on the heap; its traces live as long as it is referenced. */
	public static TraceCatalogue inMemory() {
		return new MemoryCatalogue();
	}

	/** Codes accesses that databases take later. */
	public static AccessCoding coding() {
		return new ChunkCoding();
	}

	/** Opens a trace database without its catalogue; one that FrameSoc wrote, too. */
	public static TraceStore openFile(Path file) throws MemtraceException {
		return SqlTraceStore.open(file);
	}

	/**
	 * Opens what {@link TraceStore#writeRest} wrote.
	 *
	 * @param rows has the accesses; ends with the store, also when there is none because of an exception
	 */
	public static TraceStore openFolder(Path database, AccessRows rows) throws MemtraceException {
		return new SqlTraceStore(Database.of(database), rows);
	}

	/**
	 * Starts a trace database that will be in no catalogue. The file appears at commit; an existing one is never replaced.
	 *
	 * @param notices receives a sentence about each leftover of a killed import that was removed
	 */
	public static TraceWriter createFile(Path file, Consumer<String> notices) throws MemtraceException {
		return createFile(file, DatabaseKind.SQLITE, notices);
	}

	/** Makes a database of a chosen kind. The file of an H2 database must be called {@code *.mv.db}. */
	public static TraceWriter createFile(Path file, DatabaseKind kind, Consumer<String> notices) throws MemtraceException {
		return SqliteCatalogue.createFile(file, Dbms.of(kind), notices);
	}

	/**
	 * Starts trace databases that will be in no catalogue and appear together, under the names that are given to
	 * {@link TraceGroup#create}; an existing file is never replaced.
	 *
	 * @param directory of all of them
	 */
	public static TraceGroup createFiles(Path directory, DatabaseKind kind, Consumer<String> notices) throws MemtraceException {
		return SqliteCatalogue.createFiles(directory, Dbms.of(kind), notices);
	}

	/** Whether a file looks like an SQLite database. */
	public static boolean isSqlite(Path file) {
		return Sqlite.isSqlite(file);
	}

	/** Whether a file looks like an SQLite or H2 database (by its first bytes). */
	public static boolean isDatabase(Path file) {
		return Sqlite.isSqlite(file) || H2.isH2(file);
	}
}
