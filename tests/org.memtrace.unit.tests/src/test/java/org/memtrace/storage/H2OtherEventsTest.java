// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.io.TempDir;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.model.store.TraceCatalogue;

class H2OtherEventsTest extends OtherEventsContract {
	@TempDir
	Path directory;

	@Override
	TraceCatalogue openCatalogue() throws Exception {
		return Stores.openCatalogue(directory, DatabaseKind.H2, notice -> {
			throw new AssertionError(notice);
		});
	}

	@Override
	void nothingIsLeft() throws Exception {
		try (Stream<Path> files = Files.list(directory)) {
			assertEquals(List.of("SOCTRACE_SYSTEM_DB"), files.map(f -> f.getFileName().toString()).toList());
		}
	}
}
