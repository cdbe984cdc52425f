// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Questions in words on the command line. */
package org.memtrace.cli.asking;
