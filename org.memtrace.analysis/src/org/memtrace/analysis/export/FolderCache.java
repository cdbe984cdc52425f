// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.export;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.column.TraceTable;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;

/**
 * Parquet folders of traces, for {@code sql}, {@code export --cached} and who calls it, and the view <em>SQL</em>, made once for each
 * state of a database and tree: {@code folders/NAME-DATABASE-STATE} in the cache of the user.
 * Earlier states of the same database go when a new one is made; of all others the ones that were used longest ago, above a limit.
 * A folder that was used within a day stays: another process may read it.
 */
public final class FolderCache {
	/** Changes when folders must be made again although neither trace nor schema changed: other rules, other columns. */
	private static final int CONTENT = 5;
	private static final long LIMIT_BYTES = 20L << 30;
	private static final Duration IN_USE = Duration.ofDays(1);

	private FolderCache() {
	}

	/** As for the native program: MEMTRACE_CACHE, else memtrace in the XDG cache folder; tests set a property. */
	public static Path home() {
		String own = System.getProperty("memtrace.cache", System.getenv("MEMTRACE_CACHE"));
		if (own != null && !own.isBlank()) {
			return Path.of(own);
		}
		String cache = System.getenv("XDG_CACHE_HOME");
		return (cache != null && Path.of(cache).isAbsolute() ? Path.of(cache) : Path.of(System.getProperty("user.home"), ".cache"))
				.resolve("memtrace");
	}

	/** Reads the accesses that a folder is made of; asked only when one is made. */
	public interface Accesses {
		AccessTable read() throws MemtraceException;
	}

	/**
	 * The folder of a trace; it is made when there is none. Any thread, also of several processes.
	 *
	 * @param store the trace with the tree that is wanted
	 * @param database file of the trace
	 * @param tree which tree of memory the store has, as the id of its address space
	 * @throws Exception a {@link MemtraceException}, or what a file system says of a folder that cannot be read or written
	 */
	public static Path folder(TraceStore store, Path database, String tree, Accesses accesses, Progress progress) throws Exception {
		return folder(store, database.toRealPath().toString(), state(database), tree, accesses, progress);
	}

	/**
	 * The folder of a trace that is no file.
	 *
	 * @param address names the trace and its catalogue
	 */
	public static Path folder(TraceStore store, String address, String tree, Accesses accesses, Progress progress) throws Exception {
		return folder(store, address, store.contentStamp(), tree, accesses, progress);
	}

	private static Path folder(TraceStore store, String database, String state, String tree, Accesses accesses, Progress progress)
			throws Exception {
		return made(store, database, state, tree, "", temporary -> ParquetExport.byMemory(store, accesses.read(),
				AccessFilter.of(AccessQuery.ALL), temporary, false, progress));
	}

	/**
	 * The file of one table that a pass over the accesses makes, without the rest of the folder; that of the folder if there is one.
	 *
	 * @param name as in a folder
	 */
	static Path table(TraceStore store, Path database, String tree, String name, Accesses accesses, Progress progress) throws Exception {
		String path = database.toRealPath().toString();
		String state = state(database);
		Path whole = home().resolve("folders").resolve(prefix(store, path, tree) + name(state, ""));
		String file = name + ".parquet";
		if (Files.isRegularFile(whole.resolve(file))) {
			used(whole);
			return whole.resolve(file);
		}
		return made(store, path, state, tree, name, temporary -> ParquetExport.table(store, accesses.read(), TraceTable.find(name), temporary,
				progress)).resolve(file);
	}

	/** Writes a folder. */
	private interface Writer {
		void write(Path temporary) throws MemtraceException, IOException;
	}

	private static String prefix(TraceStore store, String database, String tree) {
		String of = store.info().alias().replaceAll("[^A-Za-z0-9._-]", "_").replaceFirst("^[.-]", "_");
		return of.substring(0, Math.min(40, of.length())) + "-" + crc(database + "\n" + tree) + "-";
	}

	private static String name(String state, String part) {
		return crc(state + ParquetFolder.SCHEMA_VERSION + " " + CONTENT) + (part.isEmpty() ? "" : "-" + part);
	}

	/** @param part the table that is all of the folder; empty for a whole folder */
	private static Path made(TraceStore store, String database, String state, String tree, String part, Writer writer) throws Exception {
		Path all = home().resolve("folders");
		String prefix = prefix(store, database, tree);
		Path folder = all.resolve(prefix + name(state, part));
		if (Files.isDirectory(folder)) {
			used(folder);
			return folder;
		}
		if (store.accessCount() == 0) {
			throw new MemtraceException(store.info().alias() + " is no memory trace, it has no accesses");
		}
		try {
			Files.createDirectories(all);
		} catch (IOException e) {
			throw new StoreException(all + " cannot be made: " + e.getMessage() + "; MEMTRACE_CACHE names another folder", e);
		}
		try {
			OutputFile.write(folder, temporary -> {
				Files.createDirectory(temporary);
				writer.write(temporary);
			});
		} catch (IOException | StoreException e) {
			if (Files.isDirectory(folder)) {
				return folder; // somebody else has made it in the meantime
			}
			throw e;
		}
		tidy(all, folder, prefix);
		return folder;
	}

	/** What changes when the database is written. */
	private static String state(Path database) throws IOException {
		StringBuilder state = new StringBuilder();
		for (String suffix : new String[] { "", "-wal" }) {
			Path file = Path.of(database + suffix);
			if (Files.exists(file) && (suffix.isEmpty() || Files.size(file) > 0)) {
				state.append(Files.size(file)).append(' ').append(Files.getLastModifiedTime(file).toInstant()).append('\n');
			}
		}
		return state.toString();
	}

	private static String crc(String text) {
		CRC32 crc = new CRC32();
		crc.update(text.getBytes(StandardCharsets.UTF_8));
		return String.format(java.util.Locale.ROOT, "%08x", crc.getValue());
	}

	private static void used(Path folder) throws IOException {
		Files.setLastModifiedTime(folder, FileTime.from(Instant.now()));
	}

	/** Removes what nobody needs; what cannot be removed stays. */
	private static void tidy(Path all, Path made, String prefix) throws IOException {
		List<Path> others;
		try (Stream<Path> list = Files.list(all)) {
			others = list.filter(p -> !p.equals(made) && Files.isDirectory(p)).sorted(Comparator.comparing(FolderCache::lastUsed).reversed())
					.toList();
		}
		Instant old = Instant.now().minus(IN_USE);
		long bytes = bytes(made);
		for (Path folder : others) {
			bytes += bytes(folder);
			boolean earlier = folder.getFileName().toString().startsWith(prefix);
			if ((earlier || bytes > LIMIT_BYTES || folder.getFileName().toString().startsWith(".")) && lastUsed(folder).isBefore(old)) {
				delete(folder);
			}
		}
	}

	private static Instant lastUsed(Path folder) {
		try {
			return Files.getLastModifiedTime(folder).toInstant();
		} catch (IOException e) {
			return Instant.MAX;
		}
	}

	private static long bytes(Path folder) throws IOException {
		try (Stream<Path> files = Files.walk(folder)) {
			return files.mapToLong(f -> f.toFile().length()).sum();
		} catch (java.io.UncheckedIOException e) {
			return 0; // another process has removed it
		}
	}

	private static void delete(Path folder) {
		try (Stream<Path> files = Files.walk(folder)) {
			for (Path p : files.sorted(Comparator.reverseOrder()).toList()) {
				Files.deleteIfExists(p);
			}
		} catch (IOException | java.io.UncheckedIOException e) {
			// the next one tries again
		}
	}
}
