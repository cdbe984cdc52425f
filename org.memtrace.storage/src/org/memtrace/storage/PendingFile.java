// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

import org.memtrace.model.StoreException;

/**
 * A file that is being written in a directory of databases: {@code .memtrace-ID.tmp}, beside it {@code .memtrace-ID.lock}.
 * The lock file is locked as long as the writing process lives, however it dies, and holds the final name from the moment
 * when that name may exist without being registered. So a later process can tell leftovers from work in progress and
 * remove the former: see {@link #removeLeftovers}.
 */
final class PendingFile {
	private static final String PREFIX = ".memtrace-";
	private static final String LOCK = ".lock";
	private static final String TEMPORARY = ".tmp";
	/** Lock files of this process: opening and closing one again would release its lock (POSIX). */
	private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

	private final Path lockFile;
	private final FileChannel channel;
	final Path temporary;
	private String intended;

	private PendingFile(Path lockFile, FileChannel channel, String suffix) {
		this.lockFile = lockFile;
		this.channel = channel;
		this.temporary = temporaryOf(lockFile, suffix);
	}

	static PendingFile begin(Path directory) throws StoreException {
		return begin(directory, "");
	}

	/** @param suffix that the name of the temporary file needs */
	static PendingFile begin(Path directory, String suffix) throws StoreException {
		try {
			Path real = directory.toRealPath();
			while (true) {
				Path lockFile = real.resolve(PREFIX + UUID.randomUUID() + LOCK);
				HELD.add(lockFile);
				FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
				FileLock lock = channel.tryLock();
				// between the two calls another process may have taken it for a leftover
				if (lock != null && Files.exists(lockFile)) {
					return new PendingFile(lockFile, channel, suffix);
				}
				channel.close();
				HELD.remove(lockFile);
			}
		} catch (IOException e) {
			throw new StoreException(directory + " cannot be written: " + reason(e), e);
		}
	}

	/** The file will appear under this name, and is a leftover unless it becomes registered. */
	void intend(String finalName) throws IOException {
		channel.truncate(0);
		channel.write(ByteBuffer.wrap(finalName.getBytes(StandardCharsets.UTF_8)), 0);
		channel.force(true);
		intended = finalName;
	}

	/** The name given to {@link #intend}, or null. */
	String intended() {
		return intended;
	}

	/** Removes the temporary file, if it is still there, and the lock. */
	void end() {
		try {
			deleteDatabase(temporary);
			Files.deleteIfExists(lockFile);
			channel.close();
		} catch (IOException e) {
			// whatever remains is removed by a later process
		} finally {
			HELD.remove(lockFile);
		}
	}

	/**
	 * Removes what killed processes left behind.
	 *
	 * @param registered whether a final name is that of a complete database
	 * @return sentences that say what was removed
	 */
	static List<String> removeLeftovers(Path directory, Predicate<String> registered) {
		List<String> notices = new ArrayList<>();
		if (!Files.isWritable(directory)) {
			return notices;
		}
		try (DirectoryStream<Path> files = Files.newDirectoryStream(directory.toRealPath(), PREFIX + "*" + LOCK)) {
			for (Path lockFile : files) {
				if (!HELD.contains(lockFile)) {
					removeLeftover(lockFile, registered, notices);
				}
			}
		} catch (IOException e) {
			// the directory went away or cannot be listed: then there is nothing to remove
		}
		return notices;
	}

	private static void removeLeftover(Path lockFile, Predicate<String> registered, List<String> notices)
			throws IOException {
		try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			if (channel.tryLock() == null) {
				return; // its process lives
			}
			ByteBuffer text = ByteBuffer.allocate(4096);
			channel.read(text, 0);
			String name = new String(text.array(), 0, text.position(), StandardCharsets.UTF_8);
			long size = 0;
			for (Dbms dbms : Dbms.values()) {
				Path temporary = temporaryOf(lockFile, dbms.suffix());
				size += Files.exists(temporary) ? Files.size(temporary) : 0;
				deleteDatabase(temporary);
			}
			if (!name.isBlank() && name.indexOf('/') < 0 && !registered.test(name)) {
				Path file = lockFile.resolveSibling(name);
				size += Files.exists(file) ? Files.size(file) : 0;
				deleteDatabase(file);
			}
			Files.deleteIfExists(lockFile);
			notices.add("removed what an interrupted import had left in " + lockFile.getParent() + " ("
					+ String.format(java.util.Locale.ROOT, "%.1f MB", size / 1e6) + ")");
		} catch (NoSuchFileException e) {
			// another process was faster
		}
	}

	static void deleteDatabase(Path file) throws IOException {
		Files.deleteIfExists(file);
		Files.deleteIfExists(file.resolveSibling(file.getFileName() + "-journal"));
	}

	/** Makes a file, or the entries of a directory, survive a power failure. */
	static void force(Path path) throws IOException {
		boolean directory = Files.isDirectory(path);
		try (FileChannel channel = FileChannel.open(path,
				directory ? StandardOpenOption.READ : StandardOpenOption.WRITE)) {
			channel.force(true);
		} catch (IOException e) {
			if (!directory) {
				throw e; // not every file system can do it for a directory
			}
		}
	}

	static String reason(IOException e) {
		if (e instanceof java.nio.file.AccessDeniedException) {
			return "no permission";
		}
		if (e instanceof NoSuchFileException) {
			return "it does not exist";
		}
		if (e instanceof java.nio.file.FileSystemException f && f.getReason() != null) {
			return f.getReason().toLowerCase(java.util.Locale.ROOT);
		}
		return e.getMessage();
	}

	private static Path temporaryOf(Path lockFile, String suffix) {
		String name = lockFile.getFileName().toString();
		return lockFile.resolveSibling(name.substring(0, name.length() - LOCK.length()) + TEMPORARY + suffix);
	}
}
