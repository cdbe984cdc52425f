// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Address spaces, areas and cells of memory, and the structures in it. */
package org.memtrace.model.memory;
