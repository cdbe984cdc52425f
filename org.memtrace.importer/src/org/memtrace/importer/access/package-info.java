// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Accesses become a trace: the readers of their formats, both passes, the report, and the same in parts. */
package org.memtrace.importer.access;
