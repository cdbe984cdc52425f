// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.args.ExitCode;

/** Complete or not at all, and errors that name the file. */
class OutputFileTest {
	private static final String FULL = "No space left on device";

	@TempDir
	Path directory;

	private List<String> names() throws IOException {
		try (Stream<Path> files = Files.list(directory)) {
			return files.map(f -> f.getFileName().toString()).sorted().toList();
		}
	}

	private Exception failure(Path output, OutputFile.Content content) {
		return assertThrows(Exception.class, () -> OutputFile.write(output, content));
	}

	@Test
	void aFullDiskNamesTheOutputAndLeavesNothing() throws Exception {
		Path output = directory.resolve("x.csv");
		List<IOException> reasons = List.of(new IOException(FULL), new FileSystemException("/t/.part", null, FULL),
				new IOException("I/O error writing PNG file!", new IOException(FULL)));
		for (IOException reason : reasons) {
			for (boolean unchecked : new boolean[] { false, true }) {
				Exception e = failure(output, temporary -> {
					Files.createDirectory(temporary);
					Files.writeString(temporary.resolve("half"), "of it");
					throw unchecked ? new UncheckedIOException(reason) : reason;
				});
				assertEquals(output + " cannot be written: " + FULL, ExitCode.sentence(e));
				assertEquals(ExitCode.INTERNAL, ExitCode.of(e));
				assertEquals(List.of(), names());
			}
		}
	}

	@Test
	void otherReasons() throws Exception {
		Path file = Files.writeString(directory.resolve("there"), "old");
		Exception e = failure(file, temporary -> Files.writeString(temporary, "new"));
		assertEquals(file + ": exists already", ExitCode.sentence(e));
		assertEquals("old", Files.readString(file));
		OutputFile.write(file, temporary -> Files.writeString(temporary, "new"), StandardCopyOption.REPLACE_EXISTING);
		assertEquals("new", Files.readString(file));
		Path lost = directory.resolve("no/where");
		e = failure(lost, temporary -> Files.writeString(temporary, "new"));
		assertEquals(lost + " cannot be written: its folder does not exist", ExitCode.sentence(e));
		assertEquals(ExitCode.INPUT, ExitCode.of(e));
		assertEquals(List.of("there"), names());
	}
}
