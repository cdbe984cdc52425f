// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** One trace in tables: read, written, copied. */
package org.memtrace.storage.trace;
