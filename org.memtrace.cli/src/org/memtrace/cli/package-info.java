// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The entry point of the commands on a plain JVM. */
package org.memtrace.cli;
