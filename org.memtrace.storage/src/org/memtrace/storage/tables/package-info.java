// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The small tables of a trace and their checksums, and what tells its contents apart. */
package org.memtrace.storage.tables;
