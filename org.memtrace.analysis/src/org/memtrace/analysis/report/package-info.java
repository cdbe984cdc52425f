// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** One page about a trace that needs nothing else: findings, tables, and pictures that are drawn from the numbers in it. */
package org.memtrace.analysis.report;
