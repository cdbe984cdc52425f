// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import org.memtrace.model.MemtraceException;

/** Where the bytes of columns are. Used by any number of threads. */
@FunctionalInterface
public interface Blobs {
	/** The bytes of one column of a chunk; null when they are not there. */
	byte[] read(int chunk, int column) throws MemtraceException;

	/** The bytes of all columns of a chunk; null for those that are not there. */
	default byte[][] readAll(int chunk) throws MemtraceException {
		byte[][] all = new byte[StoredColumn.COUNT][];
		for (int c = 0; c < all.length; c++) {
			all[c] = read(chunk, c);
		}
		return all;
	}
}
