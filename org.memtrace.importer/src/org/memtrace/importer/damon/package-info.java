// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What DAMON, the monitor of memory in the kernel of Linux, tells of ranges of addresses. */
package org.memtrace.importer.damon;
