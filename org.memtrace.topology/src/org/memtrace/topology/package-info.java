// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Topologies of machines, read by the native library hwloc; the only package that calls native code. */
package org.memtrace.topology;
