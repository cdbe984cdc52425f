// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.options;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

import org.memtrace.aggregation.build.Preparation;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.export.FolderCache;
import org.memtrace.analysis.export.ParquetFolder;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.output.Console;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.UnavailableException;
import org.memtrace.model.UnsupportedVersionException;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.sql.DuckDbLibrary;
import org.memtrace.sql.FolderRows;
import org.memtrace.sql.FolderStore;
import org.memtrace.sql.ObjectStorage;
import org.memtrace.sql.RemoteFolder;
import org.memtrace.sql.SqlSession;
import org.memtrace.storage.Stores;

/**
 * What a user may give where a command wants a trace: a database file, a trace directory (imported into the catalogue once,
 * and again when it has changed), a Parquet folder, also in object storage, a number, database name or display name in the catalogue, or
 * the address of a trace on a server.
 */
public final class TraceArgument {
	private TraceArgument() {
	}

	/** Opens the trace for reading; an import shows its progress and its warnings. What of it turns out to be damaged is said in the end. */
	public static TraceStore open(String argument, Console console) throws MemtraceException {
		return open(argument, null, console);
	}

	/** @param place where names and numbers are looked up; null for the catalogue of the user */
	public static TraceStore open(String argument, CataloguePlace place, Console console) throws MemtraceException {
		TraceStore store = place == null ? find(argument, console) : named(place, argument, console);
		console.watch(store::losses);
		return store;
	}

	/** The library of the SQL engine. */
	static Path engine(String about) throws MemtraceException {
		return DuckDbLibrary.find(Stores.defaultCatalogueDirectory())
				.orElseThrow(() -> new UnavailableException(about + DuckDbLibrary.advice()));
	}

	/** The Parquet folder that an argument names, in a file system or in object storage; null if it names something else. */
	public static ParquetFolder parquet(String argument, Console console) throws MemtraceException {
		if (ObjectStorage.isAddress(argument)) {
			String folder = argument.replaceFirst("/+$", "");
			return ParquetFolder.parse(folder, SqlSession.readText(engine(argument + " is in object storage. "), ParquetFolder.meta(folder),
					FolderCache.home(), console.progress()));
		}
		Path path = path(argument);
		return path != null && ParquetFolder.isFolder(path) ? ParquetFolder.open(path.toAbsolutePath()) : null;
	}

	/**
	 * Opens what {@link #open(String, Console)} opens, or a Parquet folder that cannot stand for a trace, for commands that look at accesses
	 * as columns only.
	 */
	public static TraceStore openOrFolder(String argument, Console console) throws MemtraceException {
		ParquetFolder folder = parquet(argument, console);
		return folder == null || whole(argument, console) != null ? open(argument, console)
				: new FolderStore(engine(argument + " is a Parquet folder. "), FolderCache.home(), folder.path(), folder.info(), console.progress());
	}

	/** Whether an argument names a Parquet folder. */
	static boolean isFolder(String argument) {
		Path path = ObjectStorage.isAddress(argument) ? null : path(argument);
		return path == null ? ObjectStorage.isAddress(argument) : ParquetFolder.isFolder(path);
	}

	/** The Parquet folder on this machine that an argument names, or that stands for the named one; null if it cannot stand for a trace. */
	private static Path whole(String argument, Console console) throws MemtraceException {
		if (ObjectStorage.isAddress(argument)) {
			return RemoteFolder.local(engine(argument + " is in object storage. "), FolderCache.home(),
					Stores.defaultCatalogueDirectory().resolve("folders"), argument, ParquetFolder.META, ParquetFolder.REST, ParquetFolder.ADDRESS,
					console.progress()).orElse(null);
		}
		Path path = path(argument).toAbsolutePath();
		return Files.isRegularFile(path.resolve(ParquetFolder.REST)) ? path : null;
	}

	/** A Parquet folder as a trace. */
	private static TraceStore folder(String argument, Console console) throws MemtraceException {
		Path path = whole(argument, console);
		if (path == null) {
			throw new StoreException(argument + ParquetFolder.NOT_WHOLE + ", or aggregate, render, model-part and sql for it");
		}
		ParquetFolder folder = ParquetFolder.open(path);
		return Stores.openFolder(path.resolve(ParquetFolder.REST), new FolderRows(engine(argument + " is a Parquet folder. "), FolderCache.home(),
				folder.path(), folder.info().pageSizeBytes()));
	}

	private static TraceStore find(String argument, Console console) throws MemtraceException {
		if (isFolder(argument)) {
			return folder(argument, console);
		}
		if (CataloguePlace.isServer(argument)) {
			CataloguePlace.Trace trace = CataloguePlace.parseTrace(argument);
			if (trace.name().isEmpty()) {
				throw new StoreException(argument + " is a catalogue; a trace of it is " + trace.place().trace("NAME"));
			}
			return named(trace.place(), trace.name(), console);
		}
		Path path = path(argument);
		if (path != null && Files.isDirectory(path)) {
			return imported(path, console);
		}
		CataloguePlace home = Stores.defaultCatalogue();
		boolean catalogue = home.isServer() || Files.isDirectory(home.directory()); // looking must not make one
		if (path != null && Files.exists(path)) {
			try {
				return Stores.openFile(path);
			} catch (StoreException e) {
				// the program of a recording often stands beside it under the name that its trace has in the catalogue
				if (argument.indexOf('/') >= 0 || Stores.isDatabase(path) || !catalogue) {
					throw e;
				}
				try {
					TraceStore named = named(home, argument, console);
					console.hint("note: the file " + argument + " is no trace; this is the trace " + argument + " of the catalogue");
					return named;
				} catch (StoreException none) {
					throw e;
				}
			}
		}
		if (argument.indexOf('/') >= 0 || !catalogue) {
			throw new StoreException(argument + " is neither a file nor a trace in the catalogue " + home);
		}
		return named(home, argument, console);
	}

	private static TraceStore named(CataloguePlace place, String name, Console console) throws MemtraceException {
		try (TraceCatalogue catalogue = Stores.openCatalogue(place, DatabaseKind.SQLITE, console::hint)) {
			return catalogue.open(catalogue.find(name).id());
		}
	}

	/**
	 * Where the database of a trace is.
	 *
	 * @param file null on a server, or when the trace is only in memory
	 * @param name a file or an address; null when the trace is only in memory
	 * @param bytes -1 when they are not known
	 */
	public record Database(Path file, String name, long bytes) {
	}

	/** The database of a trace that was opened for an argument. */
	public static Database database(String argument, TraceStore store, Console console) throws MemtraceException {
		if (isFolder(argument)) {
			return new Database(null, argument, ObjectStorage.isAddress(argument) ? -1 : folderBytes(path(argument)));
		}
		Path path = CataloguePlace.isServer(argument) ? null : path(argument);
		if (path != null && Files.isRegularFile(path) && Stores.isDatabase(path)) {
			return new Database(path, path.toString(), bytes(path));
		}
		CataloguePlace place = CataloguePlace.isServer(argument) ? CataloguePlace.parseTrace(argument).place() : Stores.defaultCatalogue();
		if (!place.isServer()) {
			Path database = place.directory().resolve(store.info().databaseName());
			return Files.isRegularFile(database) ? new Database(database, database.toString(), bytes(database)) : new Database(null, null, -1);
		}
		if (store.info().id() < 0) {
			return new Database(null, null, -1);
		}
		try (TraceCatalogue catalogue = Stores.openCatalogue(place, DatabaseKind.SQLITE, console::hint)) {
			return new Database(null, place.trace(store.info().databaseName()), catalogue.databaseBytes(store.info()).orElse(-1));
		}
	}

	private static long folderBytes(Path folder) {
		try (Stream<Path> files = Files.walk(folder)) {
			return files.filter(Files::isRegularFile).mapToLong(TraceArgument::bytes).sum();
		} catch (IOException | UncheckedIOException e) {
			return -1;
		}
	}

	private static long bytes(Path file) {
		try {
			return Files.size(file);
		} catch (IOException e) {
			return -1;
		}
	}

	/** The trace with the tree that --tree asks for; it ends with the given one. The machine is no tree of the trace. */
	public static TraceStore tree(TraceStore store, CommandLine args) throws MemtraceException {
		return args.get("tree").equals("machine") ? store : store.in(AddressSpace.byId(args.get("tree")));
	}

	/**
	 * The Parquet folder that is kept of a trace; it is made when there is none.
	 *
	 * @param argument what the trace was opened for
	 * @param args with --tree
	 */
	public static Path folder(String argument, TraceStore opened, CommandLine args, Console console) throws Exception {
		if (isFolder(argument) && !ObjectStorage.isAddress(argument)) {
			return path(argument);
		}
		Database database = database(argument, opened, console);
		if (database.name == null) {
			throw new StoreException(argument + " is in no database: import it first, with 'memtrace import'");
		}
		TraceStore store = tree(opened, args);
		return database.file != null
				? FolderCache.folder(store, database.file, args.get("tree"), () -> AccessOptions.load(store, console), console.progress())
				: FolderCache.folder(store, database.name, args.get("tree"), () -> AccessOptions.load(store, console), console.progress());
	}

	/** Where the catalogue is that a command line asks for. */
	public static CataloguePlace place(CommandLine args) throws MemtraceException {
		return args.has("catalogue") ? CataloguePlace.parse(args.get("catalogue")) : Stores.defaultCatalogue();
	}

	/** The catalogue that a command line asks for. */
	public static TraceCatalogue catalogue(CommandLine args, Console console) throws MemtraceException {
		return catalogue(args, DatabaseKind.SQLITE, console);
	}

	/** The catalogue of the command line. New traces in it are of the given kind. */
	public static TraceCatalogue catalogue(CommandLine args, DatabaseKind kind, Console console) throws MemtraceException {
		return Stores.openCatalogue(place(args), kind, console::hint);
	}

	/** Null when the text cannot be a path. */
	public static Path path(String argument) {
		try {
			return Path.of(argument);
		} catch (java.nio.file.InvalidPathException e) {
			return null;
		}
	}

	private static TraceStore imported(Path directory, Console console) throws MemtraceException {
		String identity = ImportOperation.identity(directory);
		CataloguePlace home = Stores.defaultCatalogue();
		try (TraceCatalogue catalogue = Stores.openCatalogue(home, DatabaseKind.SQLITE, console::hint)) {
			boolean writable = home.isServer() || Files.isWritable(home.directory()); // a server says no by itself
			for (TraceInfo trace : catalogue.list()) {
				if (identity.equals(trace.properties().get(ImportSource.PROPERTY_SOURCE_IDENTITY))
						&& (home.isServer() || Files.exists(home.directory().resolve(trace.databaseName())))) {
					try {
						return catalogue.open(trace.id());
					} catch (UnsupportedVersionException e) {
						console.hint("note: " + e.getMessage()); // the directory is there: import it again
					}
				}
			}
			if (writable) {
				ImportOperation operation = new ImportOperation(directory, catalogue::create);
				TraceInfo info = call(home.isServer() ? operation : operation.setScratchDirectory(home.directory()), console);
				console.hint("imported " + directory + " as trace " + info.id());
				TraceStore store = catalogue.open(info.id());
				Preparation.save(store, Dimensions.firstPictures(), console.progress());
				return store;
			}
		} catch (StoreException e) {
			if (home.isServer() || Files.isWritable(home.directory())) {
				throw e;
			}
		}
		console.hint("note: the catalogue " + home + " cannot be written, so this import is not kept");
		TraceCatalogue memory = Stores.inMemory();
		return memory.open(call(new ImportOperation(directory, memory::create), console).id());
	}

	private static TraceInfo call(ImportOperation operation, Console console) throws MemtraceException {
		ImportReport report = operation.call(console.progress());
		report.warnings().forEach(warning -> console.hint("warning: " + warning));
		return report.trace();
	}
}
