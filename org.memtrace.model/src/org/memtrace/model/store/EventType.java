// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

/**
 * A kind of event, such as {@code Private_Read}.
 *
 * @param id number in the database, from 0
 * @param category category of all its events
 * @param name unique in the trace; colours are keyed by it
 */
public record EventType(int id, EventCategory category, String name) {
	public static final String PRIVATE_READ = "Private_Read";
	public static final String PRIVATE_WRITE = "Private_Write";
	public static final String SHARED_READ = "Shared_Read";
	public static final String SHARED_WRITE = "Shared_Write";
	/** One thread was seen to read, and whether another one used the memory is not known. */
	public static final String NOT_KNOWN_READ = "NotKnown_Read";
	/** The same of writes. */
	public static final String NOT_KNOWN_WRITE = "NotKnown_Write";
}
