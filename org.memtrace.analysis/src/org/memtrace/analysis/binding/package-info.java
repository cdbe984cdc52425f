// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** On which CPUs the threads that share pages would be near to each other. */
package org.memtrace.analysis.binding;
