// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Facts about the memory of a program, from one pass over its accesses: what the rules judge. */
package org.memtrace.analysis.findings.facts;
