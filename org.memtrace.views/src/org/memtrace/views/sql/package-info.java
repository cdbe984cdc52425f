// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The page for questions in SQL. */
package org.memtrace.views.sql;
