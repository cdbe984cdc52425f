// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** A trace on the heap. */
package org.memtrace.storage.memory;
