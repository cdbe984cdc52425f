// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.dbms;

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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.model.StoreException;

/**
 * A file that is being written in a directory of databases: {@code .memtrace-ID.tmp}, beside it {@code .memtrace-ID.lock}.
 * The lock file is locked as long as the writing process lives, however it dies, and holds the final name from the moment
 * when that name may exist without being registered. So a later process can tell leftovers from work in progress and
 * remove the former: see {@link #removeLeftovers}. Several files under one lock ({@code .memtrace-ID-1.tmp}, …) are leftovers together.
 */
public final class PendingFile {
	private static final String PREFIX = ".memtrace-";
	private static final String LOCK = ".lock";
	private static final String TEMPORARY = ".tmp";
	/** Lock files of this process: opening and closing one again would release its lock (POSIX). */
	private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

	/** Before a name in a lock file: is a leftover only as long as it is the same file as a temporary one. */
	private static final String LINKED = "=";
	/** A temporary file of a group; an export that is being written has another name. */
	private static final Pattern MEMBER = Pattern.compile("(\\.memtrace-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-\\d+\\.tmp.*");
	private static final int LONGEST_LOCK = 1 << 16;

	private final Path lockFile;
	private final FileChannel channel;
	private final String suffix;
	public final Path temporary;
	private List<String> intended = List.of();
	private boolean ended;
	private boolean kept;

	/** @param channel null for a file under the lock of another */
	private PendingFile(Path lockFile, FileChannel channel, String number, String suffix) {
		this.lockFile = lockFile;
		this.channel = channel;
		this.suffix = suffix;
		this.temporary = temporaryOf(lockFile, number + TEMPORARY + suffix);
	}

	public static PendingFile begin(Path directory) throws StoreException {
		return begin(directory, "");
	}

	/** @param suffix that the name of the temporary file needs */
	public static PendingFile begin(Path directory, String suffix) throws StoreException {
		try {
			Path real = directory.toRealPath();
			while (true) {
				Path lockFile = real.resolve(PREFIX + UUID.randomUUID() + LOCK);
				HELD.add(lockFile);
				FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
				FileLock lock = channel.tryLock();
				// between the two calls another process may have taken it for a leftover
				if (lock != null && Files.exists(lockFile)) {
					return new PendingFile(lockFile, channel, "", suffix);
				}
				channel.close();
				HELD.remove(lockFile);
			}
		} catch (IOException e) {
			throw new StoreException(directory + " cannot be written: " + reason(e), e);
		}
	}

	/** Another file, which is a leftover when this one is. */
	public PendingFile member(int number) {
		return new PendingFile(lockFile, null, "-" + number, suffix);
	}

	/** The file will appear under this name, and is a leftover unless it becomes registered. */
	public void intend(String finalName) throws IOException {
		intend(List.of(finalName));
	}

	/** The files will appear under these names, and are leftovers unless they become registered. */
	public void intend(List<String> finalNames) throws IOException {
		write(finalNames);
		intended = List.copyOf(finalNames);
	}

	/** Links with these names are leftovers as long as the lock file is there. */
	public void intendLinks(List<String> finalNames) throws IOException {
		write(finalNames.stream().map(name -> LINKED + name).toList());
	}

	private void write(List<String> lines) throws IOException {
		channel.truncate(0);
		channel.write(ByteBuffer.wrap(String.join("\n", lines).getBytes(StandardCharsets.UTF_8)), 0);
		channel.force(true);
	}

	/** The names given to {@link #intend}. */
	public List<String> intended() {
		return intended;
	}

	/** From now on {@link #end} does nothing; only {@link #release} removes the temporary file. */
	public void keep() {
		kept = true;
	}

	public void release() {
		kept = false;
		end();
	}

	/** Removes the lock first: what was made of the temporary files stays. */
	public void endLinked() {
		ended = true;
		try {
			Files.deleteIfExists(lockFile);
			channel.close();
		} catch (IOException e) {
			// then a later process removes the links
		} finally {
			HELD.remove(lockFile);
		}
	}

	/** Removes the temporary file, if it is still there, and the lock. */
	public void end() {
		if (kept) {
			return;
		}
		try {
			deleteDatabase(temporary);
			if (channel != null && !ended) {
				Files.deleteIfExists(lockFile);
				channel.close();
			}
		} catch (IOException e) {
			// whatever remains is removed by a later process
		} finally {
			if (channel != null) {
				HELD.remove(lockFile);
			}
		}
	}

	/**
	 * Removes what killed processes left behind.
	 *
	 * @param registered whether a final name is that of a complete database
	 * @return sentences that say what was removed
	 */
	public static List<String> removeLeftovers(Path directory, Predicate<String> registered) {
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
			removeWithoutLock(directory.toRealPath());
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
			if (!Files.exists(lockFile)) {
				return; // it has ended since the file was opened, and left nothing
			}
			ByteBuffer text = ByteBuffer.allocate(LONGEST_LOCK);
			channel.read(text, 0);
			List<Path> temporary = temporaryFiles(lockFile);
			long size = 0;
			boolean some = !temporary.isEmpty();
			for (String line : new String(text.array(), 0, text.position(), StandardCharsets.UTF_8).split("\n")) {
				boolean linked = line.startsWith(LINKED);
				String name = linked ? line.substring(LINKED.length()) : line;
				if (name.isBlank() || name.indexOf('/') >= 0) {
					continue;
				}
				Path file = lockFile.resolveSibling(name);
				if (linked ? isAnyOf(file, temporary) : !registered.test(name)) {
					size += !linked && Files.exists(file) ? Files.size(file) : 0;
					some |= Files.exists(file);
					deleteDatabase(file);
				}
			}
			for (Path file : temporary) {
				size += Files.size(file);
				deleteDatabase(file);
			}
			Files.deleteIfExists(lockFile);
			// a lock alone is of a process that has written nothing, or all, or that lives and has not locked it yet: it takes another one
			if (some) {
				notices.add("removed what an interrupted import had left in " + lockFile.getParent() + " ("
						+ String.format(java.util.Locale.ROOT, "%.1f MB", size / 1e6) + ")");
			}
		} catch (NoSuchFileException e) {
			// another process was faster
		}
	}

	private static boolean isAnyOf(Path file, List<Path> others) throws IOException {
		for (Path other : others) {
			if (Files.exists(file) && Files.isSameFile(file, other)) {
				return true;
			}
		}
		return false;
	}

	/** All that are written under a lock. */
	private static List<Path> temporaryFiles(Path lockFile) throws IOException {
		List<Path> found = new ArrayList<>();
		String id = lockFile.getFileName().toString().substring(0, lockFile.getFileName().toString().length() - LOCK.length());
		try (DirectoryStream<Path> files = Files.newDirectoryStream(lockFile.getParent(), id + "*" + TEMPORARY + "*")) {
			for (Path file : files) {
				if (!file.getFileName().toString().endsWith("-journal")) {
					found.add(file);
				}
			}
		}
		return found;
	}

	/** Of a process that was killed after its links had become valid: a lock is made before, and removed after, everything else. */
	private static void removeWithoutLock(Path directory) throws IOException {
		try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, PREFIX + "*" + TEMPORARY + "*")) {
			for (Path file : files) {
				Matcher name = MEMBER.matcher(file.getFileName().toString());
				if (name.matches() && !Files.exists(file.resolveSibling(name.group(1) + LOCK))) {
					Files.deleteIfExists(file);
				}
			}
		}
	}

	public static void deleteDatabase(Path file) throws IOException {
		Files.deleteIfExists(file);
		Files.deleteIfExists(file.resolveSibling(file.getFileName() + "-journal"));
	}

	/** Makes a file, or the entries of a directory, survive a power failure. */
	public static void force(Path path) throws IOException {
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

	public static String reason(IOException e) {
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

	private static Path temporaryOf(Path lockFile, String ending) {
		String name = lockFile.getFileName().toString();
		return lockFile.resolveSibling(name.substring(0, name.length() - LOCK.length()) + ending);
	}
}
