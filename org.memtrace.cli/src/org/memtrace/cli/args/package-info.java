// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The command table, a command line that is checked against it, help, and exit codes. */
package org.memtrace.cli.args;
