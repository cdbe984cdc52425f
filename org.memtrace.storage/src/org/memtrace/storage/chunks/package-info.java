// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * Accesses in chunks of columns: rows are put in the order of the tree ({@link org.memtrace.storage.chunks.RowSorter}), coded
 * ({@link org.memtrace.storage.chunks.ChunkEncoder}), and read back ({@link org.memtrace.storage.chunks.StoredChunks}). Knows no
 * database: a {@link org.memtrace.storage.chunks.Blobs} keeps the bytes. docs/reference/database-chunks.md describes them.
 */
package org.memtrace.storage.chunks;
