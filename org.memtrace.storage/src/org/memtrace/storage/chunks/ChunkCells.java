// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

/** Cells of the rows of a chunk. */
public final class ChunkCells {
	/** Cell of each row. */
	public int[] cell = {};
	/** Whether each leaf has one cell, so that the cell of a leaf is that of its rows. */
	public boolean one;
}
