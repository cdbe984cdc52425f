// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * The accesses of a trace as rows, by what they can be told apart, and sums of them. The other packages go on to the microscopic model and
 * the best partition. Nothing but the JDK and org.memtrace.model: no files, no SQL, no colours. docs/how/microscopic-model.md
 */
package org.memtrace.aggregation;
