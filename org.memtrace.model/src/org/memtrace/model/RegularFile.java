// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Files whose names somebody gave, or that stand in a folder somebody gave. Opening a named pipe waits until somebody writes to it, and a
 * device may never end; neither can be cancelled. So what reads such files opens them here: what is no file is an error, at once. A link
 * counts as what it leads to. Safe for all threads.
 */
public final class RegularFile {
	private static final int TYPE = 0170000;
	private static final int PIPE = 0010000;
	private static final int CHARACTERS = 0020000;
	private static final int BLOCKS = 0060000;
	private static final int SOCKET = 0140000;
	/** Bytes of what a person writes or another tool describes: a statement, a machine. */
	public static final int LONGEST_GIVEN = 64 << 20;

	private RegularFile() {
	}

	/**
	 * What something is that is neither a file nor a folder, behind its name in a sentence: "is a named pipe".
	 *
	 * @return null for a file, a folder, and what is not there
	 */
	public static String otherKind(Path path) {
		if (Files.isRegularFile(path) || Files.isDirectory(path)) {
			return null;
		}
		if (!Files.exists(path)) {
			return Files.isSymbolicLink(path) ? "is a link that leads to nothing" : null;
		}
		int type;
		try {
			type = ((Integer) Files.getAttribute(path, "unix:mode")).intValue() & TYPE;
		} catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
			type = 0; // a system with other kinds
		}
		return switch (type) {
		case PIPE -> "is a named pipe";
		case SOCKET -> "is a socket";
		case CHARACTERS, BLOCKS -> "is a device";
		default -> "is neither a file nor a folder";
		};
	}

	/** Whether it is a named pipe, which somebody may want to be read. */
	public static boolean isPipe(Path path) {
		return "is a named pipe".equals(otherKind(path));
	}

	/**
	 * Must be a file, if it is there.
	 *
	 * @return the path
	 * @throws IOException whose message goes behind the name of the file: "it is a named pipe, no file"
	 */
	public static Path check(Path path) throws IOException {
		String kind = otherKind(path);
		if (kind != null) {
			throw new IOException("it " + kind + ", no file");
		}
		return path;
	}

	/**
	 * Opens a file.
	 *
	 * @throws NoSuchFileException when it is not there
	 * @throws IOException when it is no file, with a message that goes behind its name and "cannot be read: "
	 */
	public static InputStream open(Path path) throws IOException {
		return Files.newInputStream(check(path));
	}

	/** All bytes of a file, as {@link #open}. */
	public static byte[] bytes(Path path) throws IOException {
		return Files.readAllBytes(check(path));
	}

	/** All of a file as UTF-8, as {@link #open}. */
	public static String text(Path path) throws IOException {
		return Files.readString(check(path));
	}

	/** All of a file as text, as {@link #open}. */
	public static String text(Path path, Charset charset) throws IOException {
		return Files.readString(check(path), charset);
	}

	/** Opens a named pipe when it is read; waiting for what is written to it can be cancelled. */
	public static InputStream pipe(Path path, Progress progress) {
		return new CancellableStream(() -> Files.newInputStream(path), progress);
	}

	/**
	 * All bytes of a short file, or of what comes through a pipe; waiting for it can be cancelled.
	 *
	 * @throws IOException when it is neither, or longer than {@link #LONGEST_GIVEN}
	 */
	public static byte[] given(Path path, Progress progress) throws IOException, CancelledException {
		try (InputStream in = isPipe(path) ? pipe(path, progress) : open(path)) {
			return given(in);
		} catch (InterruptedIOException e) {
			progress.check();
			throw e;
		}
	}

	/** All bytes of a short stream. @throws IOException when it is longer than {@link #LONGEST_GIVEN} */
	public static byte[] given(InputStream in) throws IOException {
		byte[] bytes = in.readNBytes(LONGEST_GIVEN + 1);
		if (bytes.length > LONGEST_GIVEN) {
			throw new IOException("it is longer than " + (LONGEST_GIVEN >> 20) + " MiB");
		}
		return bytes;
	}
}
