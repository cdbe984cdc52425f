// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import org.memtrace.model.store.TraceCatalogue;

class HeapOtherEventsTest extends OtherEventsContract {
	@Override
	TraceCatalogue openCatalogue() {
		return Stores.inMemory();
	}
}
