// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The commands on a JVM, a class for each. */
package org.memtrace.cli.commands;
