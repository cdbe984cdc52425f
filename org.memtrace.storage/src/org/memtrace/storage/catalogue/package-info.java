// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Which traces there are: in a directory, on a server, on the heap. */
package org.memtrace.storage.catalogue;
