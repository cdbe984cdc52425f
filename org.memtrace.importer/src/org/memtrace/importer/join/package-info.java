// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** A trace of another tool of the same run is put beside accesses, on one clock. */
package org.memtrace.importer.join;
