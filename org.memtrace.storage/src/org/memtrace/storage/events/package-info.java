// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Events beside the accesses of a trace. */
package org.memtrace.storage.events;
