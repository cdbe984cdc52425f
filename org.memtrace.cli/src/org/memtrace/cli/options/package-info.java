// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What several commands take: a trace, a window, filters, parts, a picture; and what they open. */
package org.memtrace.cli.options;
