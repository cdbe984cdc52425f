// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

/** FrameSoc's four categories of events; the ordinal is the number in the database. */
public enum EventCategory {
	/** Happens at an instant. */
	PUNCTUAL,
	/** Holds for an interval. */
	STATE,
	/** Goes from one producer to another. */
	LINK,
	/** A value that holds for an interval. */
	VARIABLE
}
