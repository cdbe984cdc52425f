// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

import java.nio.file.Files;
import java.nio.file.Path;

import org.memtrace.analysis.export.FolderCache;
import org.memtrace.analysis.export.ParquetFolder;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.store.TraceStore;
import org.memtrace.sql.DuckDbLibrary;
import org.memtrace.sql.FolderRows;
import org.memtrace.sql.ObjectStorage;
import org.memtrace.sql.RemoteFolder;
import org.memtrace.storage.Stores;

/** Traces that are in no catalogue: database files, and Parquet folders on this machine or in object storage. Any thread. */
public final class TraceFiles {
	private TraceFiles() {
	}

	/** Whether a path is a Parquet folder. */
	public static boolean isFolder(Path path) {
		return ParquetFolder.isFolder(path);
	}

	/** Whether there is something that may be opened. */
	public static boolean isThere(Path path) {
		return Files.isRegularFile(path) || isFolder(path);
	}

	/** Whether a name is the address of a folder in object storage. */
	public static boolean isAddress(String name) {
		return ObjectStorage.isAddress(name);
	}

	/** The folder on this machine that stands for one in object storage; what is needed of it is fetched the first time. */
	static Path local(String address, Progress progress) throws MemtraceException {
		return RemoteFolder.local(engine(address), FolderCache.home(), Stores.defaultCatalogueDirectory().resolve("folders"), address,
				ParquetFolder.META, ParquetFolder.REST, ParquetFolder.ADDRESS, progress)
				.orElseThrow(() -> new StoreException(address + ParquetFolder.NOT_WHOLE + "."));
	}

	/** Opens a database, or a folder, of which no accesses are read. */
	public static TraceStore open(Path path) throws MemtraceException {
		if (!isFolder(path)) {
			return Stores.openFile(path);
		}
		ParquetFolder folder = ParquetFolder.open(path);
		if (!Files.isRegularFile(path.resolve(ParquetFolder.REST))) {
			throw new StoreException(path + ParquetFolder.NOT_WHOLE + ".");
		}
		return Stores.openFolder(path.resolve(ParquetFolder.REST), new FolderRows(engine(path.toString()), FolderCache.home(), folder.path(),
				folder.info().pageSizeBytes()));
	}

	private static Path engine(String name) throws MemtraceException {
		return DuckDbLibrary.find(Stores.defaultCatalogueDirectory())
				.orElseThrow(() -> new StoreException(name + " is a Parquet folder. " + DuckDbLibrary.advice() + "."));
	}
}
