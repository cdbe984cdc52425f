// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import java.nio.file.Files;
import java.nio.file.Path;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.export.FolderCache;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.output.Console;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.UnsupportedVersionException;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/**
 * What a user may give where a command wants a trace: a database file, a trace directory (imported into the catalogue once,
 * and again when it has changed), or a number, database name or display name in the catalogue.
 */
final class TraceArgument {
	private TraceArgument() {
	}

	/** Opens the trace for reading; an import shows its progress and its warnings. What of it turns out to be damaged is said in the end. */
	static TraceStore open(String argument, Console console) throws MemtraceException {
		TraceStore store = find(argument, console);
		console.watch(store::losses);
		return store;
	}

	private static TraceStore find(String argument, Console console) throws MemtraceException {
		Path path = path(argument);
		if (path != null && Files.isDirectory(path)) {
			return imported(path, console);
		}
		Path directory = Stores.defaultCatalogueDirectory();
		if (path != null && Files.exists(path)) {
			try {
				return Stores.openFile(path);
			} catch (StoreException e) {
				// the program of a recording often stands beside it under the name that its trace has in the catalogue
				if (argument.indexOf('/') >= 0 || Stores.isDatabase(path) || !Files.isDirectory(directory)) {
					throw e;
				}
				try (TraceCatalogue catalogue = Stores.openCatalogue(directory, console::hint)) {
					TraceStore named = catalogue.open(catalogue.find(argument).id());
					console.hint("note: the file " + argument + " is no trace; this is the trace " + argument + " of the catalogue");
					return named;
				} catch (StoreException none) {
					throw e;
				}
			}
		}
		if (argument.indexOf('/') >= 0 || !Files.isDirectory(directory)) {
			throw new StoreException(argument + " is neither a file nor a trace in the catalogue " + directory);
		}
		try (TraceCatalogue catalogue = Stores.openCatalogue(directory, console::hint)) {
			return catalogue.open(catalogue.find(argument).id());
		}
	}

	/** The file of a trace in the default catalogue. */
	static Path defaultDatabase(TraceInfo info) {
		return Stores.defaultCatalogueDirectory().resolve(info.databaseName());
	}

	/** The database of a trace that was opened for an argument; null when it is only in memory. */
	static Path file(String argument, TraceStore store) {
		Path path = path(argument);
		if (path != null && Files.isRegularFile(path) && Stores.isDatabase(path)) {
			return path;
		}
		Path database = defaultDatabase(store.info());
		return Files.isRegularFile(database) ? database : null;
	}

	/** The trace with the tree that --tree asks for; it ends with the given one. The machine is no tree of the trace. */
	static TraceStore tree(TraceStore store, CommandLine args) throws MemtraceException {
		return args.get("tree").equals("machine") ? store : store.in(AddressSpace.byId(args.get("tree")));
	}

	/**
	 * The Parquet folder that is kept of a trace; it is made when there is none.
	 *
	 * @param argument what the trace was opened for
	 * @param args with --tree
	 */
	static Path folder(String argument, TraceStore opened, CommandLine args, Console console) throws Exception {
		Path database = file(argument, opened);
		if (database == null) {
			throw new StoreException(argument + " is in no database: import it first, with 'memtrace import'");
		}
		TraceStore store = tree(opened, args);
		return FolderCache.folder(store, database, args.get("tree"), () -> AccessOptions.load(store, console), console.progress());
	}

	/** The directory of the catalogue that a command line asks for. */
	static TraceCatalogue catalogue(CommandLine args, Console console) throws MemtraceException {
		return catalogue(args, DatabaseKind.SQLITE, console);
	}

	/** The catalogue of the command line. New traces in it are of the given kind. */
	static TraceCatalogue catalogue(CommandLine args, DatabaseKind kind, Console console) throws MemtraceException {
		Path directory = args.getPath("catalogue");
		return Stores.openCatalogue(directory == null ? Stores.defaultCatalogueDirectory() : directory, kind,
				console::hint);
	}

	/** Null when the text cannot be a path. */
	static Path path(String argument) {
		try {
			return Path.of(argument);
		} catch (java.nio.file.InvalidPathException e) {
			return null;
		}
	}

	private static TraceStore imported(Path directory, Console console) throws MemtraceException {
		String identity = ImportOperation.identity(directory);
		Path home = Stores.defaultCatalogueDirectory();
		try (TraceCatalogue catalogue = Stores.openCatalogue(home, console::hint)) {
			for (TraceInfo trace : catalogue.list()) {
				if (identity.equals(trace.properties().get(ImportOperation.PROPERTY_SOURCE_IDENTITY))
						&& Files.exists(home.resolve(trace.databaseName()))) {
					try {
						return catalogue.open(trace.id());
					} catch (UnsupportedVersionException e) {
						console.hint("note: " + e.getMessage()); // the directory is there: import it again
					}
				}
			}
			if (Files.isWritable(home)) {
				TraceInfo info = call(new ImportOperation(directory, catalogue::create).setScratchDirectory(home), console);
				console.hint("imported " + directory + " as trace " + info.id());
				TraceStore store = catalogue.open(info.id());
				AccessTable.save(store, Dimensions.firstPictures(), console.progress());
				return store;
			}
		} catch (StoreException e) {
			if (Files.isWritable(home)) {
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
