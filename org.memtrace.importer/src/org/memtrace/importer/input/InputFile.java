// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.input;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import org.memtrace.model.RegularFile;

/** A file that an import reads, or a stream (standard input, a pipe), which can be read only once. */
public final class InputFile {
	/** Bytes of content that are enough to recognise a format. */
	private static final int HEAD = 1 << 16;

	private final Path path;
	private final String name;
	private CountedInput stream;

	private InputFile(Path path, String name, CountedInput stream) {
		this.path = path;
		this.name = name;
		this.stream = stream;
	}

	/** @param name the file as the user knows it */
	public static InputFile of(Path path, String name) {
		return new InputFile(path, name, null);
	}

	/** Something that can be read once; it is closed with the input. */
	public static InputFile of(InputStream stream, String name) throws IOException {
		return new InputFile(null, name, new CountedInput(stream, name));
	}

	/** What another program writes, whose errors are not those of a disk. */
	public static InputFile ofProgram(InputStream stream, String name) throws IOException {
		return new InputFile(null, name, new CountedInput(stream, null));
	}

	/** Null for a stream. */
	public Path path() {
		return path;
	}

	public String name() {
		return name;
	}

	/** Bytes of the file as it is stored, 0 when not known. */
	public long size() {
		try {
			return path == null ? 0 : Files.size(path);
		} catch (IOException e) {
			return 0; // told when it is opened
		}
	}

	/** Opens it; of a stream only once. */
	public CountedInput open() throws IOException {
		if (path != null) {
			return new CountedInput(RegularFile.open(path), name);
		}
		if (stream == null) {
			throw new IOException("it can be read only once");
		}
		CountedInput result = stream;
		stream = null;
		return result;
	}

	/** The beginning of its content, decompressed. It is still there to be read afterwards. */
	public String head() throws IOException {
		if (path != null) {
			try (CountedInput in = open()) {
				return text(in.peek(HEAD));
			}
		}
		return text(stream.peek(HEAD));
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.ISO_8859_1);
	}
}
