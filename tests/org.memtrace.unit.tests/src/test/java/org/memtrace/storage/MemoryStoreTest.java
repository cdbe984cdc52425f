// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import org.memtrace.model.store.TraceCatalogue;

class MemoryStoreTest extends StoreContract {
	@Override
	TraceCatalogue openCatalogue() {
		return Stores.inMemory();
	}

	@Override
	boolean cancelsReplacement() {
		return false;
	}
}
