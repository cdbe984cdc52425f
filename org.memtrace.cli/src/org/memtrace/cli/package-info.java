// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Commands on a plain JVM. */
package org.memtrace.cli;
