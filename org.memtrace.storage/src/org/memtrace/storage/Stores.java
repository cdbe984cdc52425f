// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import org.memtrace.model.TraceCatalogue;

/** Makes stores. The only class of this bundle that others use; what it returns are the interfaces of the model. */
public final class Stores {
	private Stores() {
	}

	/** An empty catalogue on the heap; its traces live as long as it is referenced. */
	public static TraceCatalogue inMemory() {
		return new MemoryCatalogue();
	}
}
