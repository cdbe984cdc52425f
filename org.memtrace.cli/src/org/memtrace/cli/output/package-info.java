// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Where a command writes: the console with its progress, tables, and files that are complete or not there. */
package org.memtrace.cli.output;
