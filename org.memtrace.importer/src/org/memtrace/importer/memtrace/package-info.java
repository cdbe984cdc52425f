// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The trace directory of our own collector (docs/reference/trace-format.md). */
package org.memtrace.importer.memtrace;
