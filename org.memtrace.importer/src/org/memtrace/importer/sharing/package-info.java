// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** How many threads use a page at the same time. */
package org.memtrace.importer.sharing;
