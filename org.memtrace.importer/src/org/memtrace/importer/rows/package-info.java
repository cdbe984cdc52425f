// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Rows of accesses between parser and store: batches, their order, and where they wait between the two passes. */
package org.memtrace.importer.rows;
