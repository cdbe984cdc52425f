// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

/**
 * One of the K dimensions of a cell.
 *
 * @param name what a person reads, unique in the model
 * @param role what it stands for; colours are chosen by role and index
 * @param index index of the thread, CPU, node or other type; 0 for roles that occur once
 */
public record ModelType(String name, Role role, int index) {
	public enum Role {
		PRIVATE_READ, PRIVATE_WRITE, SHARED_READ, SHARED_WRITE, READ, WRITE, THREAD, CPU, NODE,
		/** Accesses of which the property is not known. */
		UNKNOWN,
		/** A type of a trace that is not a memory trace. */
		OTHER
	}
}
