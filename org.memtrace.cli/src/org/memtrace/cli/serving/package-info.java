// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** {@code memtrace serve}: which traces a browser can choose from. */
package org.memtrace.cli.serving;
