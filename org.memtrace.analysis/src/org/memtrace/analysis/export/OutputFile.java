// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.export;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.CopyOption;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.UUID;
import java.util.stream.Stream;

import org.memtrace.model.StoreException;

/** A file or folder that a command makes: complete or not at all. What goes wrong names it, and not the temporary one beside it. */
public final class OutputFile {
	/** Makes the content. */
	public interface Content {
		/** @param temporary does not exist yet; becomes the output */
		public void write(Path temporary) throws Exception;
	}

	private OutputFile() {
	}

	/** @param options of the move into place; without any, an existing file is an error */
	public static void write(Path output, Content content, CopyOption... options) throws Exception {
		Path temporary = output.toAbsolutePath().resolveSibling(".memtrace-" + UUID.randomUUID() + ".tmp");
		try {
			try {
				content.write(temporary);
				Files.move(temporary, output, options);
			} finally {
				delete(temporary);
			}
		} catch (UncheckedIOException e) {
			throw named(output, e.getCause());
		} catch (IOException e) {
			throw named(output, e);
		}
	}

	private static Exception named(Path output, IOException e) {
		IOException root = e;
		while (root.getCause() instanceof IOException cause) {
			root = cause;	// ImageIO says less than what it was told
		}
		if (root instanceof AccessDeniedException) {
			return new AccessDeniedException(output.toString());
		}
		if (root instanceof FileAlreadyExistsException) {
			return new FileAlreadyExistsException(output.toString());
		}
		boolean folder = root instanceof NoSuchFileException || root instanceof NotDirectoryException;
		return new StoreException(output + " cannot be written: " + (folder ? "its folder does not exist" : reason(root)), root);
	}

	/** Without the name of the temporary file, which the exceptions of NIO put before the reason. */
	private static String reason(IOException e) {
		String text = e instanceof java.nio.file.FileSystemException f ? f.getReason() : e.getMessage();
		return text == null ? e.getClass().getSimpleName() : text;
	}

	private static void delete(Path path) throws IOException {
		if (!Files.exists(path)) {
			return;
		}
		try (Stream<Path> all = Files.walk(path)) {
			for (Path p : all.sorted(Comparator.reverseOrder()).toList()) {
				Files.delete(p);
			}
		}
	}
}
