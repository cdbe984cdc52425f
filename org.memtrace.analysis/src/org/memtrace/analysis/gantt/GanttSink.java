// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

/** One record of a type. Records with reads and writes come twice when these are different types. */
@FunctionalInterface
public interface GanttSink {
	/**
	 * @param row number of the record in its table
	 * @param slot the source tells its type
	 * @param amount accesses; nanoseconds in a state; value times nanoseconds of a variable; 1 for an instant
	 */
	void event(int row, long startNs, long endNs, int slot, double amount);
}
