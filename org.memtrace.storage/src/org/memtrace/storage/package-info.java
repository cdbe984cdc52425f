// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** SQLite and in-memory trace stores; the only bundle with SQL. */
package org.memtrace.storage;
