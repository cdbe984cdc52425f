// Copyright memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli;

import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

import org.memtrace.importer.ImportOperation;
import org.memtrace.model.TraceCatalogue;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.TraceStore;
import org.memtrace.storage.Stores;

/** Opens what a command calls TRACE. */
final class TraceArguments {
	private TraceArguments() {
	}

	static TraceStore open(String argument, Console console) throws Exception {
		Path path = Path.of(argument);
		if (Files.isDirectory(path)) {
			if (!ImportOperation.isTraceDirectory(path)) {
				throw new TraceFormatException(argument, 0, "this directory is no trace directory: it has no manifest.json");
			}
			TraceCatalogue memory = Stores.inMemory();
			new ImportOperation(path, memory::create).call(console.progress());
			return memory.open(memory.list().get(0).id());
		}
		if (!Files.exists(path)) {
			throw new NoSuchFileException(argument);
		}
		return Stores.openFile(path);
	}
}
