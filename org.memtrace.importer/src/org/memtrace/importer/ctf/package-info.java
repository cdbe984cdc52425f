// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Traces in the Common Trace Format (LTTng, barectf), as babeltrace2 prints them. */
package org.memtrace.importer.ctf;
