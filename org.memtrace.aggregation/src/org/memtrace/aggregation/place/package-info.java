// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Where: on which CPUs and NUMA nodes accesses and memory were. */
package org.memtrace.aggregation.place;
