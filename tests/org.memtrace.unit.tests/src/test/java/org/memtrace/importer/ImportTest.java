// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.storage.Stores;

/** What tests of input formats have alike: a folder, and a catalogue into which files are imported. */
public abstract class ImportTest {
	@TempDir
	protected Path directory;
	protected final TraceCatalogue catalogue = Stores.inMemory();

	@AfterEach
	void closeCatalogue() {
		catalogue.close();
	}

	/** A file in the folder. */
	protected Path file(String name, String content) throws Exception {
		return Files.writeString(directory.resolve(name), content);
	}

	/** Imports files as one trace. */
	protected ImportReport read(Path... files) throws MemtraceException {
		return new ImportOperation(List.of(files), System.in, catalogue::create).call(Progress.NONE);
	}
}
