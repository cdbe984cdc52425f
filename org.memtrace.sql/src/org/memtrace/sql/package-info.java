// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** How are Parquet files asked questions in SQL? By DuckDB, a library that is not shipped and need not be there. */
package org.memtrace.sql;
