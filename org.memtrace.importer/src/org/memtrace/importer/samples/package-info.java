// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Accesses that any tool tells one by one: as CSV, and what other readers make a trace directory of. */
package org.memtrace.importer.samples;
