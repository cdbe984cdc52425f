// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.columns;

/** The columns of an {@link AccessChunk}. Event producers are always there: rows are grouped by them. */
public enum AccessColumn {
	/** {@link AccessChunk#time} and the table of times that it refers to. */
	TIME,
	/** {@link AccessChunk#thread}. */
	THREAD,
	/** {@link AccessChunk#cpuSet}. */
	CPU_SET,
	/** {@link AccessChunk#reads}. */
	READS,
	/** {@link AccessChunk#writes}. */
	WRITES,
	/** {@link AccessChunk#sharing}. */
	SHARING,
	/** {@link AccessChunk#node}. */
	NODE,
	/** {@link AccessChunk#flags}. */
	FLAGS,
	/** {@link AccessChunk#ip}. */
	IP,
	/** {@link AccessChunk#readOffset}. */
	READ_OFFSET,
	/** {@link AccessChunk#writeOffset}. */
	WRITE_OFFSET,
	/** {@link AccessChunk#firstNs}. */
	FIRST
}
