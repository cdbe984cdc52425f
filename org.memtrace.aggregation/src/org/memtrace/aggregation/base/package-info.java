// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Tools that know no trace: work on all processors, entropy, numbers in few bytes. */
package org.memtrace.aggregation.base;
