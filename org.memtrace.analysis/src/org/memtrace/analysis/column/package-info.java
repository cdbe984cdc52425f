// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What tables have which columns: names, units and values, for the command line, files, JSON and views. docs/reference/columns.md */
package org.memtrace.analysis.column;
