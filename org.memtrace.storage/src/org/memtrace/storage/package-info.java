// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Opens and makes catalogues and traces. With org.memtrace.sql the only bundle with SQL. */
package org.memtrace.storage;
