// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The accesses or events themselves as a table of any length. */
package org.memtrace.views.events;
