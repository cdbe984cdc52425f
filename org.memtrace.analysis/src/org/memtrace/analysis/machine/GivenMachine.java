// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.RegularFile;

/**
 * What somebody gave for a machine that is not that of a trace.
 *
 * @param text name of a file that {@code lstopo file.xml} wrote, or a description such as {@code pack:2 [numa] core:4 pu:1}
 * @param xml the contents of the file, null for a description
 */
public record GivenMachine(String text, byte[] xml) {
	/**
	 * Reads the file, if the text is the name of one.
	 *
	 * @throws MemtraceException if there is no such file, or it cannot be read, a sentence
	 */
	public static GivenMachine of(String text) throws MemtraceException {
		Path file = file(text);
		if (file == null && text.endsWith(".xml")) {
			throw new MemtraceException("there is no file " + text);
		}
		try {
			return new GivenMachine(text, file == null ? null : RegularFile.bytes(file));
		} catch (IOException e) {
			throw new MemtraceException(text + " cannot be read: " + e.getMessage(), e);
		}
	}

	/** The file of this name; null when there is none, as of a description of a machine. */
	private static Path file(String name) {
		try {
			Path file = Path.of(name);
			return Files.isRegularFile(file) ? file : null;
		} catch (InvalidPathException e) {
			return null;
		}
	}
}
