// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import java.nio.file.Path;

import org.junit.jupiter.api.io.TempDir;
import org.memtrace.model.store.TraceCatalogue;

class SqliteStoreTest extends StoreContract {
	@TempDir
	Path directory;

	@Override
	TraceCatalogue openCatalogue() throws Exception {
		return Stores.openCatalogue(directory.resolve("a catalogue"), notice -> {
			throw new AssertionError(notice);
		});
	}
}
