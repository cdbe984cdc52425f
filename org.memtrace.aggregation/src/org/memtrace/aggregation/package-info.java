// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Microscopic model and aggregation; pure computation. */
package org.memtrace.aggregation;
