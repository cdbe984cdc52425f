// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Which NUMA node each CPU of the recorded machine belongs to, and how far nodes are from each other. */
package org.memtrace.analysis.node;
