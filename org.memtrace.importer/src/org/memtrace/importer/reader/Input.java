// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.reader;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

import org.memtrace.importer.input.InputFile;
import org.memtrace.model.CancellableStream;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.RegularFile;
import org.memtrace.model.TraceFormatException;

/**
 * What a user gave to be imported: one folder, or files, of which one may be standard input. All readers look at the same files, so
 * that a stream can be recognised and read. Used by one thread.
 */
public final class Input {
	private static final String STREAM = "-";

	private final List<Path> paths;
	private final InputStream standardInput;
	private List<InputFile> files;
	private Input withoutFolders;
	/** What was given, when its only file is read by way of another program; else null. */
	private Input original;
	/** Null: nothing is read but for a look, which must not wait. */
	private Progress progress;

	/** @param paths at least one; {@code -} stands for standard input */
	public Input(List<Path> paths, InputStream standardInput) {
		this.paths = List.copyOf(paths);
		this.standardInput = standardInput;
	}

	/** From now on streams are read, too, and waiting for them can be cancelled. Before {@link #files}. */
	public void readBy(Progress importing) {
		progress = importing;
	}

	/** As they were given. */
	public List<Path> paths() {
		return paths;
	}

	/** For messages. */
	public String text() {
		return String.join(" ", paths.stream().map(Path::toString).toList());
	}

	/** Whether it is one folder. */
	public boolean isFolder() {
		return paths.size() == 1 && Files.isDirectory(paths.get(0));
	}

	/** The same without the folders that are among the files; itself when there is none. Always the same object. */
	public Input withoutFolders() {
		if (withoutFolders == null) {
			List<Path> rest = paths.stream().filter(path -> !Files.isDirectory(path)).toList();
			withoutFolders = rest.size() == paths.size() ? this : new Input(rest, standardInput);
			withoutFolders.progress = progress;
		}
		return withoutFolders;
	}

	/** The same for a reader of what another program makes of it: its only file is {@code text}. */
	public Input reading(InputFile text) {
		Input result = new Input(paths, standardInput);
		result.files = List.of(text);
		result.original = this;
		return result;
	}

	/** The folder, or the first file. */
	public Path first() {
		return paths.get(0);
	}

	/** The first path for a person; of a file without the end of its name that only tells the format. */
	public String name() {
		if (first().toString().equals(STREAM)) {
			return "standard input";
		}
		String name = String.valueOf(first().toAbsolutePath().normalize().getFileName());
		return isFolder() ? name : name.replaceFirst("\\.(gz|zst)$", "").replaceFirst("\\.csv$", "");
	}

	/**
	 * The files that were given, or those of the folder in order of their names.
	 *
	 * @throws MemtraceException when one is not there, is given twice, or is a folder, a device or a socket
	 */
	public List<InputFile> files() throws MemtraceException {
		if (files == null) {
			files = isFolder() ? folder() : given();
		}
		return files;
	}

	private List<InputFile> folder() throws MemtraceException {
		List<Path> sorted = new ArrayList<>();
		try (DirectoryStream<Path> entries = Files.newDirectoryStream(first(), Files::isRegularFile)) {
			entries.forEach(sorted::add);
		} catch (IOException e) {
			throw new TraceFormatException(first().toString(), 0, "cannot be read: " + e.getMessage());
		}
		sorted.sort(null);
		return sorted.stream().map(file -> InputFile.of(file, first() + "/" + file.getFileName())).toList();
	}

	private List<InputFile> given() throws MemtraceException {
		List<InputFile> all = new ArrayList<>();
		Set<Path> seen = new HashSet<>();
		for (Path path : paths) {
			if (Files.isDirectory(path)) {
				throw new TraceFormatException(path.toString(), 0, "is a directory; give it alone, or the files in it");
			}
			try {
				if (path.toString().equals(STREAM)) {
					all.add(InputFile.of(new CancellableStream(() -> standardInput, progress == null ? Progress.NONE : progress), "standard input"));
				} else if (RegularFile.isPipe(path)) {
					if (progress == null) {
						throw new TraceFormatException(path.toString(), 0, "is a named pipe, which can be read only once: by 'memtrace import'");
					}
					all.add(InputFile.of(RegularFile.pipe(path, progress), path.toString()));
				} else if (RegularFile.otherKind(path) != null) {
					throw new TraceFormatException(path.toString(), 0, RegularFile.otherKind(path)
							+ "; files, folders and pipes can be imported");
				} else if (!Files.exists(path)) {
					throw new TraceFormatException(path.toString(), 0, "does not exist");
				} else {
					if (!seen.add(path.toRealPath())) {
						throw new TraceFormatException(path.toString(), 0, "is given twice");
					}
					all.add(InputFile.of(path, path.toString()));
				}
			} catch (IOException e) {
				throw new TraceFormatException(path.toString(), 0, "cannot be read: " + e.getMessage());
			}
		}
		return all;
	}

	/** Another text when a file was changed, as far as its size and time tell. */
	public String identity() throws MemtraceException, IOException {
		if (original != null) {
			return original.identity();
		}
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			for (InputFile file : files()) {
				long time = file.path() == null ? 0 : Files.getLastModifiedTime(file.path()).toMillis();
				digest.update((file.name() + " " + file.size() + " " + time + "\n").getBytes(StandardCharsets.UTF_8));
			}
			return HexFormat.of().formatHex(digest.digest()).substring(0, 32);
		} catch (NoSuchAlgorithmException e) {
			throw new IllegalStateException(e); // every JDK has it
		}
	}
}
