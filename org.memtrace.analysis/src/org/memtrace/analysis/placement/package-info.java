// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What the same accesses would cost if the pages were on other NUMA nodes. */
package org.memtrace.analysis.placement;
