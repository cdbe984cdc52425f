// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The commands on a JVM, and what several of them have in common. */
package org.memtrace.cli.commands;
