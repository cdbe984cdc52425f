// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

/** What a trace database is kept in. The catalogue (FrameSoc's System DB) is SQLite in any case. */
public enum DatabaseKind {
	/** The default: the original FrameSoc opens it, and many processes read it at the same time. */
	SQLITE,
	/** Needs no native library. One process at a time, and the original FrameSoc does not know it. */
	H2
}
