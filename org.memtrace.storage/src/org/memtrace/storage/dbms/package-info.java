// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What differs between SQLite, H2 and PostgreSQL, and how a database appears when it is complete. */
package org.memtrace.storage.dbms;
